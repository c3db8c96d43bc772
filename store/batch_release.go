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

// releaseSQL makes operations of items: $1 their history, $2 the operations, $3 what they
// have in common, $4 batch, $5 version, $6 up to which position the batch is released then, $7
// the epoch that was read. Content and request are the item's own, whose hash the clearance
// repeats. An operation may begin with an attempt under way: the part att follows then.
const releaseSQL = `WITH k AS MATERIALIZED (SELECT * FROM jsonb_to_record(CAST($3 AS jsonb)) AS k(run text, flow text, fv int, stage text, no int, stages int, dest text, action text, effect text, account text, env text,
		source text, max int, expires timestamptz, at timestamptz, clearance text, upto int, required int, policy text) WHERE (SELECT epoch FROM installation) = $7),
	i AS MATERIALIZED (SELECT x.*, y.title, y.hash FROM jsonb_to_recordset(CAST($2 AS jsonb)) AS x(n int, id text, key text, ver text, cl text, st text, au int, ae int, fe bigint, oa text, kf timestamptz, ld timestamptz,
		nk text, nr text, nu text, ns boolean, na timestamptz, cs bigint, ch text)
		CROSS JOIN LATERAL (SELECT * FROM batch_items y WHERE y.batch_id = $4 AND y.number = $5 AND y.position = x.n OFFSET 0) y WHERE y.item_key = x.key),
	op AS (INSERT INTO operations (id, run_id, flow, flow_version, stage, stage_no, stages, item_key, destination, action, effect_type, account, environment, title, state, version_id, version_no, clearance_id,
		attempts_used, attempts_ever, fence, open_attempt, key_first, last_dispatch,
		attempts_max, next_kind, next_role, next_user, next_system, next_at, next_since, expires_at, chain_seq, chain_hash, created_at, updated_at, source, batch_id, batch_no)
		SELECT i.id, k.run, k.flow, k.fv, k.stage, k.no, k.stages, i.key, k.dest, k.action, k.effect, k.account, k.env, i.title, i.st, i.ver, 1, i.cl,
		COALESCE(i.au, 0), COALESCE(i.ae, 0), COALESCE(i.fe, 0), i.oa, i.kf, i.ld,
		k.max, COALESCE(i.nk, ''), COALESCE(i.nr, ''), i.nu, COALESCE(i.ns, false), i.na, k.at, k.expires, i.cs, decode(i.ch, 'hex'), k.at, k.at, k.source, $4, i.n FROM i CROSS JOIN k RETURNING id),
	ver AS (INSERT INTO content_versions (id, operation_id, number, author_kind, author_id, prompted_by, model, note, hash, account, environment, credential, flow_version, destination_version, created_at)
		SELECT i.ver, i.id, 1, v.author_kind, v.author_id, v.prompted_by, v.model, v.note, i.hash, k.account, k.env, v.credential, v.flow_version, v.destination_version, k.at
		FROM k CROSS JOIN (SELECT * FROM batch_versions v WHERE v.batch_id = $4 AND v.number = $5) v CROSS JOIN i RETURNING id),
	bod AS (INSERT INTO version_bodies (version_id, content, request, salt) SELECT i.ver, y.content, y.request, y.salt FROM i
		CROSS JOIN LATERAL (SELECT * FROM batch_bodies y WHERE y.batch_id = $4 AND y.number = $5 AND y.position = i.n OFFSET 0) y RETURNING version_id),
	clr AS (INSERT INTO clearances (id, operation_id, version_id, hash, kind, required, policy, expires_at, created_at, batch_clearance_id, batch_id, batch_number, batch_upto, batch_no)
		SELECT i.cl, i.id, i.ver, i.hash, 'content', k.required, k.policy, k.expires, k.at, k.clearance, $4, $5, k.upto, i.n FROM i CROSS JOIN k RETURNING id),
	cnt AS (INSERT INTO batch_counts AS c (batch_id, state, n) SELECT $4, i.st, count(*) FROM i GROUP BY i.st ORDER BY i.st ON CONFLICT (batch_id, state) DO UPDATE SET n = c.n + EXCLUDED.n),
	bat AS (UPDATE batches SET released = $6 WHERE id = $4 RETURNING id),
	h AS (` + historyInto + ` WHERE EXISTS (SELECT 1 FROM bat))`

const releaseTail = `
	SELECT (SELECT count(*) FROM op) AS ops, (SELECT count(*) FROM bod) AS bodies`

// releaseItem is an item that is about to become an operation.
type releaseItem struct {
	Position int                 `db:"position"`
	Key      string              `db:"item_key"`
	Hash     []byte              `db:"hash"`
	Excluded operation.Exclusion `db:"excluded"`
	Same     string              `db:"same"`
}

// releaseRow is one operation as releaseSQL reads it.
type releaseRow struct {
	N   int                 `json:"n"`
	Key string              `json:"key"`
	Ver operation.VersionID `json:"ver"`
	groupOp
}

// releasing is one slice of a batch on its way to become operations.
type releasing struct {
	*heldBatch
	clearance *batchCleared
	released  int // up to which position
	rows      []releaseRow
	w         writes // what they begin with
	entries   []chained
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
		r := newReleasing(h)
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

func newReleasing(h *heldBatch) *releasing {
	return &releasing{heldBatch: h, now: h.at(), next: map[operation.State]operation.NextDecision{}, clearance: h.cleared[h.ClearanceID]}
}

// mayRelease reports that more may be released: people have cleared it, and their decision
// holds. When it holds no longer, they approve the rest anew.
func (r *releasing) mayRelease(released, cleared int) bool {
	return r.State.Cleared() && released < cleared && r.clearance != nil && r.clearance.lapsed(r.now) == nil
}

func (r *releasing) release(slice int) (int, error) {
	if r.mayGo() != nil || slice < 1 {
		return 0, nil
	}
	var at []struct{ Released, Cleared, Number int }
	if err := r.list(&at, releaseHeadSQL, string(r.ID)); err != nil || len(at) == 0 {
		return 0, err
	}
	if !r.mayRelease(at[0].Released, at[0].Cleared) {
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
	if err := r.write(at[0].Number); err != nil {
		return 0, err
	}
	return len(r.rows), r.noteRelease(strconv.Itoa(len(r.rows)))
}

// item prepares one item; goes is false when the release ends before it.
func (r *releasing) item(i releaseItem) (goes bool, err error) {
	if i.Excluded != "" {
		return true, nil
	}
	state, same, goes, err := r.begins(i)
	if err != nil || !goes {
		return goes, err
	}
	o, u := r.create(i)
	if state == operation.Waiting {
		if err := u.move(o, operation.EvStageReopened, ""); err != nil {
			return false, err
		}
		u.planSame(same)
	}
	r.add(i.Position, u)
	return true, nil
}

// create makes the operation of an item as its release leaves it, ready.
func (r *releasing) create(i releaseItem) (*opRow, *unit) {
	o := &opRow{ID: operation.DeriveID(r.s.secret, operation.Intent{Flow: r.Flow, RunKeyHash: hash32(r.RunKeyHash), Stage: r.Stage, ItemKey: i.Key}), RunID: r.RunID, Flow: r.Flow, FlowVersion: r.FlowVersion,
		Stage: r.Stage, StageNo: r.StageNo, Stages: r.Stages, ItemKey: i.Key, Destination: r.Destination, Action: r.Action, EffectType: r.EffectType, Account: r.Account, Environment: r.Environment,
		BatchID: r.ID, BatchNo: i.Position, VersionID: operation.VersionID(newID("ver")), VersionNo: 1, ClearanceID: operation.ClearanceID(newID("clr")), AttemptsMax: max(r.stage().MaxAttempts, 1), KeyGeneration: 1,
		ExpiresAt: r.clearance.Expires, ChainHash: make([]byte, 32), CreatedAt: r.now, UpdatedAt: r.now}
	u := &unit{tx: r.tx, actor: r.actor, now: r.now, op: o, flow: r.flow, who: r.who}
	u.enter(o, "create", "", operation.Ready, "", "event", r.EventID, "run", string(r.RunID), versionHash, hex.EncodeToString(i.Hash), "batch", string(r.ID), "clearance", string(r.clearance.ID))
	o.State = operation.Ready
	return o, u
}

// add adds an operation to what is written. What nothing was planned for has the next
// decision of its state, which is the same for all.
func (r *releasing) add(position int, u *unit) {
	o := u.op
	r.entries, r.where = append(r.entries, u.entries...), r.where.with(o)
	if o.NextKind == "" {
		d, known := r.next[o.State]
		if !known {
			d = operation.NextFor(operation.Facts{State: o.State}, u.people(o), u.due(o), operation.Responsible{Role: r.flow.Owner.Role}, time.Time{}, time.Time{}, r.now)
			r.next[o.State] = d
		}
		o.NextKind, o.NextRole, o.NextUser, o.NextSystem, o.NextAt = string(d.Kind), d.Who.Role, d.Who.User, d.Who.System, timePtr(d.At)
	}
	r.rows = append(r.rows, releaseRow{N: position, Key: o.ItemKey, Ver: o.VersionID, groupOp: groupOpOf(o)})
}

// planSame gives an item that waits for the same item of an earlier stage its next decision:
// that of whoever decides about that one.
func (u *unit) planSame(same []stageRow) {
	o, who, due := u.op, u.people(u.op), u.due(u.op)
	var rows []*opRow
	for _, x := range same {
		if x.Batch == "" {
			rows = append(rows, &opRow{Stage: x.Stage, StageNo: x.No, ItemKey: x.Item, Replacement: x.Replacement, State: x.State})
		}
	}
	holder := who.Owner
	if h := holderOf(o, "", rows); h != nil {
		holder = operation.NextFor(operation.Facts{State: h.State}, u.people(h), due, who.Owner, time.Time{}, time.Time{}, u.now).Who
	}
	d := operation.NextFor(operation.Facts{State: o.State}, who, due, holder, time.Time{}, time.Time{}, u.now)
	o.NextKind, o.NextRole, o.NextUser, o.NextSystem, o.NextAt = string(d.Kind), d.Who.Role, d.Who.User, d.Who.System, timePtr(d.At)
}

// begins says in which state an item begins: ready, or waiting where the same item of an
// earlier stage, which it gives too, got stuck. One whose item is still under way there, or is
// none yet, comes later, and so does all behind it.
func (r *releasing) begins(i releaseItem) (state operation.State, same []stageRow, goes bool, err error) {
	if i.Same == "" {
		return operation.Ready, nil, true, nil
	}
	if err := json.Unmarshal([]byte(i.Same), &same); err != nil {
		return "", nil, false, err
	}
	o := &opRow{ID: "new", Stage: r.Stage, StageNo: r.StageNo, ItemKey: i.Key}
	if len(earlierOpen(r.flow, o, same)) == 0 {
		return operation.Ready, nil, true, nil
	}
	stuck := false
	for _, x := range same {
		switch {
		case x.Batch != "":
		case x.State == operation.Waiting || x.State == operation.Ready || x.State == operation.InProgress:
			return "", nil, false, nil
		default:
			stuck = true
		}
	}
	return operation.Waiting, same, stuck, nil
}

func (r *releasing) write(number int) error {
	history, err := r.encodeEntries(r.entries, r.where)
	if err != nil {
		return err
	}
	common, err := jsonText(map[string]any{"run": r.RunID, "flow": r.Flow, "fv": r.FlowVersion, "stage": r.Stage, "no": r.StageNo, "stages": r.Stages, "dest": r.Destination, "action": r.Action,
		"effect": r.EffectType, "account": r.Account, "env": r.Environment, "source": r.Source, "max": max(r.stage().MaxAttempts, 1), "expires": r.clearance.Expires, "at": r.now,
		"clearance": r.clearance.ID, "upto": r.clearance.Upto, "required": max(r.clearance.Required, 1), "policy": r.clearance.Policy})
	if err != nil {
		return err
	}
	rows, err := jsonText(slices.Concat([]releaseRow{}, r.rows))
	if err != nil {
		return err
	}
	ctes, _, more, err := r.w.groupStatement(8, nil)
	if err != nil {
		return err
	}
	var n struct{ Ops, Bodies int }
	if err := r.get(&n, releaseSQL+ctes+releaseTail, append([]any{history, rows, common, string(r.ID), number, r.released, r.Epoch}, more...)...); err != nil {
		return err
	}
	if n.Ops != len(r.rows) || n.Bodies != len(r.rows) {
		return errAgain
	}
	return nil
}

// noteRelease says in the batch's history how far it is released, and where it is known, how
// many operations that made.
func (r *releasing) noteRelease(count string) error {
	return r.noteBatch(r.actor, r.now, &r.Batch, "release", r.State, r.State, "", "count", count, "until", strconv.Itoa(r.released))
}
