package storetest

import (
	"database/sql"
	"testing"
	"time"

	"holdpoint/operation"
)

// Age makes the history of an operation or a run older, as if it had been written then:
// turn gives the time of each entry. All hashes are computed anew, and the subject's row
// has the times of its first and its last entry.
func (f *Fixture) Age(t testing.TB, kind operation.SubjectKind, id string, turn func(n int, at time.Time) time.Time) {
	t.Helper()
	rows, broken, err := f.Store.ListHistory(t.Context(), kind, id)
	if err != nil || broken != 0 || len(rows) == 0 {
		t.Fatalf("%d entries, broken at %d: %v", len(rows), broken, err)
	}
	f.asOwner(t, func(tx *sql.Tx) error {
		var prev [32]byte
		for i := range rows {
			e := rows[i].Entry()
			e.At, e.Prev = turn(i, e.At).UTC().Truncate(time.Microsecond), prev
			prev = e.Hash()
			rows[i].At = e.At
			if _, err := tx.ExecContext(t.Context(), `UPDATE history SET at = $2, prev_hash = $3, hash = $4 WHERE id = $1`, rows[i].ID, e.At, e.Prev[:], prev[:]); err != nil {
				return err
			}
		}
		first, last := rows[0].At, rows[len(rows)-1].At
		if kind == operation.SubjectRun {
			_, err := tx.ExecContext(t.Context(), `UPDATE runs SET created_at = $2, chain_hash = $3 WHERE id = $1`, id, first, prev[:])
			return err
		}
		_, err := tx.ExecContext(t.Context(), `UPDATE operations SET created_at = $2, updated_at = $3, chain_hash = $4 WHERE id = $1`, id, first, last, prev[:])
		return err
	})
}

// asOwner changes old rows in one transaction, without the triggers that forbid it.
func (f *Fixture) asOwner(t testing.TB, fn func(*sql.Tx) error) {
	t.Helper()
	tx, err := f.Owner.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	triggers := func(what string) {
		for _, table := range []string{"history", "operations", "runs"} {
			if err == nil {
				_, err = tx.ExecContext(t.Context(), `ALTER TABLE `+table+` `+what+` TRIGGER USER`)
			}
		}
	}
	if triggers("DISABLE"); err == nil {
		if err = fn(tx); err == nil {
			triggers("ENABLE")
		}
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ByMonths moves the history of all months of the last years, which a new installation has
// in its first partition, into partitions of their own.
func (f *Fixture) ByMonths(t testing.TB, years int) {
	t.Helper()
	month := time.Now().UTC()
	month = time.Date(month.Year(), month.Month(), 1, 0, 0, 0, 0, time.UTC)
	first := month.AddDate(-years, 0, 0)
	columns := ""
	err := f.Owner.QueryRowContext(t.Context(), `SELECT string_agg(column_name, ', ' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 'history' AND is_generated = 'NEVER'`).Scan(&columns)
	var q []string
	part := func(name, from, to string) {
		q = append(q, `SELECT make_partition('history', '`+name+`')`, `ALTER TABLE history ATTACH PARTITION `+name+` FOR VALUES FROM (`+from+`) TO (`+to+`)`)
	}
	bound := func(at time.Time) string { return "'" + at.Format(time.RFC3339) + "'" }
	q = append(q, `ALTER TABLE history DETACH PARTITION history_first`, `ALTER TABLE history_first RENAME TO history_all`)
	part("history_first", "MINVALUE", bound(first))
	for at := first; !at.After(month); at = at.AddDate(0, 1, 0) {
		part(at.Format("history_2006_01"), bound(at), bound(at.AddDate(0, 1, 0)))
	}
	q = append(q, `INSERT INTO history (`+columns+`) OVERRIDING SYSTEM VALUE SELECT `+columns+` FROM history_all`)
	for _, one := range q {
		if err == nil {
			_, err = f.Owner.ExecContext(t.Context(), one)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
