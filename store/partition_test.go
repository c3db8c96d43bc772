package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// months are the beginnings of the coming months, as the database counts them.
func months(t *testing.T, f *storetest.Fixture, n int) []time.Time {
	t.Helper()
	var first time.Time
	ok(t, f.Owner.QueryRow(`SELECT date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`).Scan(&first))
	first = first.UTC()
	out := make([]time.Time, n)
	for i := range out {
		out[i] = first.AddDate(0, i+1, 0)
	}
	return out
}

// partitionOf says in which partition of a table the rows of a condition are; "" = there is none.
func partitionOf(t *testing.T, f *storetest.Fixture, table, where string, args ...any) string {
	t.Helper()
	var in string
	ok(t, f.Owner.QueryRow(`SELECT COALESCE(string_agg(DISTINCT tableoid::regclass::text, ' '), '') FROM `+table+` WHERE `+where, args...).Scan(&in))
	return in
}

// TestPartitionsOfManyMonths writes rows over 18 months: each goes to its month's
// partition, beyond them to the last resort, and an operation's page, its history and
// the lists read them all in order.
func TestPartitionsOfManyMonths(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	_, err := f.Owner.Exec(`SELECT add_partitions(18)`)
	ok(t, err)
	id := f.Ready(t)
	rows := whole(t, f.Store, operation.SubjectOperation, string(id))
	last := rows[len(rows)-1].Entry()
	ahead := months(t, f, 20)
	for i, month := range ahead {
		at := month.Add(time.Hour)
		e := last
		e.Seq, e.Prev, e.At, e.Action, e.From, e.To, e.Links = last.Seq+1, last.Hash(), at, "lookup", operation.Ready, operation.Ready, nil
		e.Words = nil // as the first format was
		h := e.Hash()
		_, err := f.Owner.Exec(`INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, '{}', $14, $15, $16, $17)`, string(e.SubjectKind), e.SubjectID, e.Seq, e.At, string(e.ActorKind), e.ActorID, e.ActorName,
			string(e.Role), e.Channel, e.Action, string(e.From), string(e.To), e.Reason, string(e.VersionID), e.EvidenceHash, e.Prev[:], h[:])
		ok(t, err)
		last = e
		evidence, delivery := idAt("evi", at, i), idAt("dlv", at, i)
		_, err = f.Owner.Exec(`INSERT INTO evidence (id, operation_id, kind, given_by, hash, at) VALUES ($1, $2, 'lookup', 'job', sha256(''), $3)`, evidence, string(id), at)
		ok(t, err)
		_, err = f.Owner.Exec(`INSERT INTO deliveries (id, source, verdict, status, body_hash, received_at) VALUES ($1, 'demo', 'refused', 401, sha256(''), $2)`, delivery, at)
		ok(t, err)
		name := at.Format("_2006_01")
		if i >= 18 {
			name = "_rest"
		}
		for table, where := range map[string]string{"history": fmt.Sprintf("seq = %d AND subject_id = '%s'", e.Seq, id), "evidence": "id = '" + evidence + "'", "deliveries": "id = '" + delivery + "'"} {
			if got := partitionOf(t, f, table, where); got != table+name {
				t.Errorf("%s of %s is in %q, want %s", table, at.Format("2006-01"), got, table+name)
			}
		}
	}
	_, err = f.Owner.Exec(`UPDATE operations SET chain_seq = $2, chain_hash = $3 WHERE id = $1`, string(id), last.Seq, func() []byte { h := last.Hash(); return h[:] }())
	ok(t, err)
	p, err := f.Store.FindOperation(t.Context(), f.As("ops"), id)
	ok(t, err)
	if !p.ChainOK || len(p.History) != len(rows)+len(ahead) || len(p.Evidence) != len(ahead) {
		t.Errorf("the page has %d entries (whole: %v) and %d pieces of evidence; want %d and %d", len(p.History), p.ChainOK, len(p.Evidence), len(rows)+len(ahead), len(ahead))
	}
	for i := 1; i < len(p.Evidence); i++ {
		if p.Evidence[i].At.Before(p.Evidence[i-1].At) {
			t.Error("evidence is out of order")
		}
	}
	// An operation that is made later is looked for in the later months only.
	var plan strings.Builder
	q, err := f.Owner.Query(`EXPLAIN SELECT * FROM evidence WHERE operation_id = 'op_x' AND id >= '` + operation.FirstID("evi", ahead[15]) + `'`)
	ok(t, err)
	defer q.Close()
	for q.Next() {
		var line string
		ok(t, q.Scan(&line))
		plan.WriteString(line + "\n")
	}
	if strings.Contains(plan.String(), "evidence_first") || strings.Contains(plan.String(), ahead[3].Format("evidence_2006_01")) || !strings.Contains(plan.String(), ahead[16].Format("evidence_2006_01")) {
		t.Errorf("the wrong months are read:\n%s", &plan)
	}
}

// idAt is an identifier as it would be made at that time.
func idAt(prefix string, at time.Time, n int) string {
	u := uuid.Must(uuid.NewV7())
	for i := range 6 {
		u[i] = byte(at.UnixMilli() >> (8 * (5 - i)))
	}
	u[15] = byte(n)
	return operation.FormatID(prefix, u)
}

// TestAddPartitions: any number of processes make them once; the application's role may
// do that and nothing else to them; rows that came before their partition do not stop it.
func TestAddPartitions(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ahead := months(t, f, store.PartitionsAhead+2)
	if got := partitionOf(t, f, "pg_class", "relname = $1", ahead[0].Format("history_2006_01")); got == "" {
		t.Fatal("a new database has no partition for the coming month")
	}
	_, err := f.Owner.Exec(`DROP TABLE ` + ahead[1].Format("history_2006_01") + `, ` + ahead[2].Format("history_2006_01"))
	ok(t, err)
	_, err = f.Owner.Exec(`INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash)
		VALUES ('task', 'x', 1, $1, 'job', 'x', 'x', '', 'job', 'x', '', '', '', '{}', '', '', '', '')`, ahead[2].Add(time.Hour))
	ok(t, err)
	var wg sync.WaitGroup
	made := make([]int, 4)
	for i := range made {
		wg.Go(func() {
			n, err := f.Store.AddPartitions(t.Context())
			if err != nil {
				t.Error(err)
			}
			made[i] = n
		})
	}
	wg.Wait()
	if total := made[0] + made[1] + made[2] + made[3]; total != 1 {
		t.Errorf("%v partitions were made, want the one whose rows are not in the last resort", made)
	}
	app, err := sql.Open("postgres", f.AppURL)
	ok(t, err)
	t.Cleanup(func() { app.Close() })
	for _, q := range []string{`SELECT add_partitions(25)`, `SELECT make_partition('history', 'history_x')`, `DROP TABLE ` + ahead[0].Format("history_2006_01"),
		`DELETE FROM history_first`, `UPDATE ` + ahead[1].Format("evidence_2006_01") + ` SET body = ''`, `INSERT INTO history_rest SELECT * FROM history`, `SELECT 1 FROM deliveries_first`} {
		if _, err := app.Exec(q); err == nil {
			t.Errorf("%s is let through", q)
		}
	}
	for _, part := range []string{"history_first", ahead[0].Format("deliveries_2006_01"), "evidence_rest"} {
		var p *pq.Error
		if _, err := f.Owner.Exec(`DELETE FROM ` + part); !errors.As(err, &p) || p.Constraint != part+"_append_only" {
			t.Errorf("the owner deletes from %s: %v", part, err)
		}
	}
}

// TestPartitionKeepsNumbers: a number of a chain is taken once, and says so by the name
// of the whole table's key.
func TestPartitionKeepsNumbers(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := f.Ready(t)
	var p *pq.Error
	_, err := f.Owner.Exec(`INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash)
		SELECT subject_kind, subject_id, seq, at + interval '1 microsecond', actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash
		FROM history WHERE subject_id = $1 AND seq = 1`, string(id))
	if !errors.As(err, &p) || !strings.HasPrefix(p.Table, "history_") || p.Code != "23505" {
		t.Errorf("a second entry takes the first one's number: %v", err)
	}
}
