package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// releaseHeadSQL locks the batch $1 against other releases; nobody waits for another.
const releaseHeadSQL = `SELECT released, cleared, number FROM batches WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED`

// releaseItemsSQL reads the next items of the batch $1: of version $2, behind $3, up to $4.
// $5 names the stages whose same item each waits for, of the run $6.
var releaseItemsSQL = `SELECT i.position, i.item_key, i.hash, i.excluded, CASE WHEN cardinality(CAST($5 AS text[])) > 0 THEN COALESCE((SELECT json_agg(s.j)::text FROM (
		SELECT ` + stageRowJSON + ` AS j FROM operations s WHERE s.run_id = $6 AND s.stage = ANY ($5) AND s.item_key = i.item_key
		UNION ALL ` + batchRows("CAST($6 AS text)", "i.item_key") + ` AND z.stage = ANY ($5)) s), '') ELSE '' END AS same
	FROM batch_items i WHERE i.batch_id = $1 AND i.number = $2 AND i.position > $3 AND i.position <= $4 ORDER BY i.position`

// releaseSQL makes operations of items: $1 their history, $2 their identifiers, $3 what they
// have in common, $4 batch, $5 version, $6 up to which position the batch is released then.
// Content and request are the item's own, whose hash the clearance repeats.
const releaseSQL = `WITH k AS MATERIALIZED (SELECT * FROM jsonb_to_record(CAST($3 AS jsonb)) AS k(run text, flow text, fv int, stage text, no int, stages int, dest text, action text, effect text, account text, env text,
		source text, max int, expires timestamptz, at timestamptz, clearance text, upto int, required int, policy text)),
	i AS MATERIALIZED (SELECT x.*, y.item_key, y.title, y.hash FROM jsonb_to_recordset(CAST($2 AS jsonb)) AS x(n int, id text, ver text, clr text, st text, seq bigint, head text, nk text, nr text, nu text, ns boolean, na timestamptz)
		CROSS JOIN LATERAL (SELECT * FROM batch_items y WHERE y.batch_id = $4 AND y.number = $5 AND y.position = x.n OFFSET 0) y),
	op AS (INSERT INTO operations (id, run_id, flow, flow_version, stage, stage_no, stages, item_key, destination, action, effect_type, account, environment, title, state, version_id, version_no, clearance_id,
		attempts_max, next_kind, next_role, next_user, next_system, next_at, next_since, expires_at, chain_seq, chain_hash, created_at, updated_at, source, batch_id, batch_no)
		SELECT i.id, k.run, k.flow, k.fv, k.stage, k.no, k.stages, i.item_key, k.dest, k.action, k.effect, k.account, k.env, i.title, i.st, i.ver, 1, i.clr,
		k.max, i.nk, COALESCE(i.nr, ''), i.nu, COALESCE(i.ns, false), i.na, k.at, k.expires, i.seq, decode(i.head, 'hex'), k.at, k.at, k.source, $4, i.n FROM i CROSS JOIN k RETURNING id),
	ver AS (INSERT INTO content_versions (id, operation_id, number, author_kind, author_id, prompted_by, model, note, hash, account, environment, credential, flow_version, destination_version, created_at)
		SELECT i.ver, i.id, 1, v.author_kind, v.author_id, v.prompted_by, v.model, v.note, i.hash, k.account, k.env, v.credential, v.flow_version, v.destination_version, k.at
		FROM k CROSS JOIN (SELECT * FROM batch_versions v WHERE v.batch_id = $4 AND v.number = $5) v CROSS JOIN i RETURNING id),
	bod AS (INSERT INTO version_bodies (version_id, content, request, salt) SELECT i.ver, y.content, y.request, y.salt FROM i
		CROSS JOIN LATERAL (SELECT * FROM batch_bodies y WHERE y.batch_id = $4 AND y.number = $5 AND y.position = i.n OFFSET 0) y RETURNING version_id),
	clr AS (INSERT INTO clearances (id, operation_id, version_id, hash, kind, required, policy, expires_at, created_at, batch_clearance_id, batch_id, batch_number, batch_upto, batch_no)
		SELECT i.clr, i.id, i.ver, i.hash, 'content', k.required, k.policy, k.expires, k.at, k.clearance, $4, $5, k.upto, i.n FROM i CROSS JOIN k RETURNING id),
	cnt AS (INSERT INTO batch_counts AS c (batch_id, state, n) SELECT $4, i.st, count(*) FROM i GROUP BY i.st ORDER BY i.st ON CONFLICT (batch_id, state) DO UPDATE SET n = c.n + EXCLUDED.n),
	bat AS (UPDATE batches SET released = $6 WHERE id = $4 RETURNING id),
	h AS (` + historyInto + ` WHERE EXISTS (SELECT 1 FROM bat))
	SELECT (SELECT count(*) FROM op) AS ops, (SELECT count(*) FROM bod) AS bodies`

// releaseItem is an item that is about to become an operation.
type releaseItem struct {
	Position int                 `db:"position"`
	Key      string              `db:"item_key"`
	Hash     []byte              `db:"hash"`
	Excluded operation.Exclusion `db:"excluded"`
	Same     string              `db:"same"`
}

// releasing is one slice of a batch on its way to become operations.
type releasing struct {
	*heldBatch
	clearance *batchCleared
	released  int // up to which position
	rows      []map[string]any
	entries   []operation.Entry
	where     placed
	now       time.Time
	next      map[operation.State]operation.NextDecision
}

// ReleaseBatch makes operations of the next items of a batch that people have cleared, at
// most slice of them, in the order of the list: each with its own version, clearance and
// history, in one transaction. Nothing is released of a batch that is paused or stopped, or
// before the stages before it are satisfied. Where a stage's items follow the same item of
// another stage, it goes on up to the first one whose item is still under way there. Several
// processes may try at once; one does it. It gives how many became operations.
func (s *Store) ReleaseBatch(ctx context.Context, a Actor, id operation.BatchID, slice int) (int, error) {
	n := 0
	err := s.write(ctx, func(t *tx) error {
		n = 0
		h, err := t.lockBatch(a, id, false)
		if err != nil {
			return err
		}
		r := &releasing{heldBatch: h, now: h.at(), next: map[operation.State]operation.NextDecision{}}
		if n, err = r.release(slice); err == nil && r.released == 0 {
			err = errDone
		}
		return err
	})
	if errors.Is(err, errDone) {
		err = nil
	}
	return n, err
}

func (r *releasing) release(slice int) (int, error) {
	if r.mayGo() != nil || !r.State.Cleared() || slice < 1 {
		return 0, nil
	}
	var at []struct{ Released, Cleared, Number int }
	if err := r.list(&at, releaseHeadSQL, string(r.ID)); err != nil || len(at) == 0 {
		return 0, err
	}
	r.clearance = r.cleared[r.ClearanceID]
	if at[0].Released >= at[0].Cleared || r.clearance == nil || r.lapsed() {
		return 0, nil
	}
	var items []releaseItem
	err := r.list(&items, releaseItemsSQL, string(r.ID), at[0].Number, at[0].Released, min(at[0].Released+slice, at[0].Cleared), pq.Array(followed(r.flow, r.Stage)), string(r.RunID))
	if err != nil {
		return 0, err
	}
	for _, i := range items {
		goes, err := r.item(i)
		if err != nil {
			return 0, err
		}
		if !goes {
			break
		}
		r.released = i.Position
	}
	if r.released == 0 {
		return 0, nil
	}
	return len(r.rows), r.write(at[0].Number)
}

// lapsed reports that the clearance holds no longer: people approve the rest anew.
func (r *releasing) lapsed() bool {
	return r.clearance.Expires != nil && !r.now.Before(*r.clearance.Expires)
}

// item prepares one item; goes is false when the release ends before it.
func (r *releasing) item(i releaseItem) (goes bool, err error) {
	if i.Excluded != "" {
		return true, nil
	}
	state, goes, err := r.begins(i)
	if err != nil || !goes {
		return goes, err
	}
	o := &opRow{ID: operation.DeriveID(r.s.secret, operation.Intent{Flow: r.Flow, RunKeyHash: hash32(r.RunKeyHash), Stage: r.Stage, ItemKey: i.Key}), RunID: r.RunID, Flow: r.Flow, FlowVersion: r.FlowVersion,
		Stage: r.Stage, Destination: r.Destination, VersionID: operation.VersionID(newID("ver")), ClearanceID: operation.ClearanceID(newID("clr")), ChainHash: make([]byte, 32)}
	u := &unit{tx: r.tx, actor: r.actor, now: r.now, op: o, flow: r.flow, who: r.who}
	u.enter(o, "create", "", operation.Ready, "", "event", r.EventID, "run", string(r.RunID), versionHash, hex.EncodeToString(i.Hash), "batch", string(r.ID), "clearance", string(r.clearance.ID))
	o.State = operation.Ready
	if state == operation.Waiting {
		if err := u.move(o, operation.EvStageReopened, ""); err != nil {
			return false, err
		}
	}
	r.entries, r.where = append(r.entries, u.entries...), r.where.with(o)
	d, known := r.next[o.State]
	if !known {
		d = operation.NextFor(operation.Facts{State: o.State}, u.people(o), u.due(o), operation.Responsible{Role: r.flow.Owner.Role}, time.Time{}, time.Time{}, r.now)
		r.next[o.State] = d
	}
	r.rows = append(r.rows, map[string]any{"n": i.Position, "id": o.ID, "ver": o.VersionID, "clr": o.ClearanceID, "st": o.State, "seq": o.ChainSeq, "head": hexOf(o.ChainHash),
		"nk": d.Kind, "nr": d.Who.Role, "nu": nilIfEmpty(string(d.Who.User)), "ns": d.Who.System, "na": d.At})
	return true, nil
}

// begins says in which state an item begins: ready, or waiting where the same item of an
// earlier stage got stuck. One whose item is still under way there, or is none yet, comes
// later, and so does all behind it.
func (r *releasing) begins(i releaseItem) (operation.State, bool, error) {
	if i.Same == "" {
		return operation.Ready, true, nil
	}
	var same []stageRow
	if err := json.Unmarshal([]byte(i.Same), &same); err != nil {
		return "", false, err
	}
	o := &opRow{ID: "new", Stage: r.Stage, StageNo: r.StageNo, ItemKey: i.Key}
	if len(earlierOpen(r.flow, o, same)) == 0 {
		return operation.Ready, true, nil
	}
	stuck := false
	for _, x := range same {
		switch {
		case x.Batch != "":
		case x.State == operation.Waiting || x.State == operation.Ready || x.State == operation.InProgress:
			return "", false, nil
		default:
			stuck = true
		}
	}
	return operation.Waiting, stuck, nil
}

func (r *releasing) write(number int) error {
	history, err := r.encodeEntries(r.entries, r.where)
	if err != nil {
		return err
	}
	st := r.stage()
	common, err := jsonText(map[string]any{"run": r.RunID, "flow": r.Flow, "fv": r.FlowVersion, "stage": r.Stage, "no": r.StageNo, "stages": r.Stages, "dest": r.Destination, "action": r.Action,
		"effect": r.EffectType, "account": r.Account, "env": r.Environment, "source": r.Source, "max": max(st.MaxAttempts, 1), "expires": r.clearance.Expires, "at": r.now,
		"clearance": r.clearance.ID, "upto": r.clearance.Upto, "required": max(r.clearance.Required, 1), "policy": r.clearance.Policy})
	if err != nil {
		return err
	}
	rows, err := jsonText(slices.Concat([]map[string]any{}, r.rows))
	if err != nil {
		return err
	}
	var n struct{ Ops, Bodies int }
	if err := r.get(&n, releaseSQL, history, rows, common, string(r.ID), number, r.released); err != nil {
		return err
	}
	if n.Ops != len(r.rows) || n.Bodies != len(r.rows) {
		return errAgain
	}
	return r.noteBatch(r.actor, r.now, &r.Batch, "release", r.State, r.State, "", "count", strconv.Itoa(len(r.rows)), "until", strconv.Itoa(r.released))
}
