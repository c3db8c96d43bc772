package store

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// turnShared and turnAlone let a verb about a batch wait for its turn at the run, in one
// queue with the decisions about single operations (runTurn).
const (
	turnShared = `pg_advisory_xact_lock_shared(` + runLock + `, hashtext(b.run_id)) IS NOT NULL`
	turnAlone  = `pg_advisory_xact_lock(` + runLock + `, hashtext(b.run_id)) IS NOT NULL`
)

// The statements that lock the run of the batch $1: shared by groups, alone by what changes
// the batch as a whole. The gate's shared lock follows, as in lockSQL. What is read in later
// statements of the transaction is the newest, and stays as it is until the end: pauses,
// rights and definitions change under the gate's exclusive lock, and what stages are
// satisfied changes under the run's own. A group's statements change many rows by their
// keys. No plan that was made for an empty table may read a grown one whole.
const (
	shareRunSQL = `WITH l AS MATERIALIZED (SELECT r.id, ` + gateShared + ` AS gate FROM batches b JOIN runs r ON r.id = b.run_id WHERE b.id = $1 AND ` + turnShared + ` FOR SHARE OF r)
		SELECT l.id, l.gate, ` + rowByRow + ` AS plans FROM l`
	aloneRunSQL = `WITH l AS MATERIALIZED (SELECT r.id, ` + gateShared + ` AS gate FROM batches b JOIN runs r ON r.id = b.run_id WHERE b.id = $1 AND ` + turnAlone + ` FOR UPDATE OF r)
		SELECT l.id, l.gate, ` + rowByRow + ` AS plans FROM l`
	rowByRow = `set_config('enable_seqscan', 'off', true) || set_config('enable_hashjoin', 'off', true) || set_config('enable_mergejoin', 'off', true) || set_config('jit', 'off', true)`
)

// commonSQL reads what all items of the batch $1 have in common.
var commonSQL = `SELECT ` + batchColumns + `, clock_timestamp() AS now, pg_current_xact_id()::text AS xid, i.epoch, i.paused_why AS all_paused, r.held AS run_held, r.state AS run_state, r.run_key_hash, COALESCE(r.event_id, '') AS event_id,
	r.chain_seq AS run_seq, r.chain_hash AS run_hash, COALESCE(f.paused, false) AS flow_paused, d.paused AS dest_paused, d.version AS dest_version, d.account AS dest_account, d.environment AS dest_environment,
	` + batchHeld("b.id") + ` AS batch_held,
	COALESCE((SELECT json_agg(s.j)::text FROM (SELECT ` + stageRowJSON + ` AS j FROM ` + beside("b.run_id", "''") + ` s UNION ALL ` + batchRows("b.run_id", "''") + `) s), '') AS earlier,
	COALESCE((SELECT json_object_agg(w.stage, true)::text FROM stage_waivers w WHERE w.run_id = b.run_id), '{}') AS waived,
	COALESCE((SELECT json_agg(` + batchClearanceJSON + `)::text FROM batch_clearances c WHERE c.batch_id = b.id), '[]') AS clearances,
	(SELECT CASE WHEN p.result = 'broken' THEN p.at END FROM probes p WHERE p.destination = b.destination AND p.action = b.action AND p.result <> 'unclear' ORDER BY p.at DESC LIMIT 1) AS broken_at
	FROM batches b JOIN runs r ON r.id = b.run_id CROSS JOIN installation i JOIN destinations d ON d.name = b.destination LEFT JOIN flows f ON f.name = b.flow WHERE b.id = $1`

// batchClearanceJSON is a clearance c of a batch with its approvers as they stand now.
const batchClearanceJSON = `json_build_object('id', c.id, 'policy', c.policy, 'required', c.required, 'expires', c.expires_at, 'upto', c.upto,
	'approvers', (SELECT json_agg(json_build_object('user', a.user_id, 'for', COALESCE(a.for_user, ''), 'email', u.email, 'active', u.active AND (a.for_user IS NULL OR (SELECT y.active FROM users y WHERE y.id = a.user_id)),
		'roles', (SELECT string_agg(DISTINCT ur.role, ',') FROM user_roles ur WHERE ur.user_id = u.id AND ur.flow IN ('', b.flow))))
		FROM batch_clearance_approvals ca JOIN batch_approvals a ON a.id = ca.approval_id JOIN users u ON u.id = COALESCE(a.for_user, a.user_id) WHERE ca.clearance_id = c.id))`

// commonRow is a batch as a transaction about it reads it.
type commonRow struct {
	Batch
	Now         time.Time  `db:"now"`
	XID         string     `db:"xid"`
	Epoch       int64      `db:"epoch"`
	AllPaused   string     `db:"all_paused"` // why; "" = sends go on
	RunHeld     bool       `db:"run_held"`
	RunState    string     `db:"run_state"`
	RunKeyHash  []byte     `db:"run_key_hash"`
	EventID     string     `db:"event_id"`
	RunSeq      int64      `db:"run_seq"`
	RunHash     []byte     `db:"run_hash"`
	FlowPaused  bool       `db:"flow_paused"`
	DestPaused  bool       `db:"dest_paused"`
	DestVersion int        `db:"dest_version"`
	DestAccount string     `db:"dest_account"`
	DestEnv     string     `db:"dest_environment"`
	Held        string     `db:"batch_held"`
	Earlier     string     `db:"earlier"`
	Waived      string     `db:"waived"`
	Clearances  string     `db:"clearances"`
	BrokenAt    *time.Time `db:"broken_at"`
}

// heldBatch is what a transaction about a batch holds: the locked run, and what all its items
// have in common.
type heldBatch struct {
	*tx
	commonRow

	actor   Actor
	flow    *definition.Flow
	who     map[string]operation.UserID
	profile *definition.Profile
	stages  []stageRow // of the run, as an operation of no item sees them
	waivers map[string]bool
	cleared map[operation.ClearanceID]*batchCleared
	items   map[operation.ID][]stageRow // of the same item, where the stage follows another
	open    bool                        // one of its operations is open, as advance has read it
}

// lockBatch locks the run of a batch, alone or shared with other groups, and reads what all
// items have in common.
func (t *tx) lockBatch(a Actor, id operation.BatchID, alone bool) (*heldBatch, error) {
	q := shareRunSQL
	if alone {
		q = aloneRunSQL
	}
	var l struct {
		ID    operation.RunID `db:"id"`
		Gate  any             `db:"gate"`
		Plans any             `db:"plans"`
	}
	if err := t.get(&l, q, string(id)); err != nil {
		return nil, err
	}
	c := &heldBatch{tx: t, actor: a}
	if err := t.get(&c.commonRow, commonSQL, string(id)); err != nil {
		return nil, err
	}
	t.xid = c.XID
	return c, c.definitions()
}

func (c *heldBatch) definitions() error {
	f, err := c.s.flowVersion(c.ctx, c.Tx, c.Flow, c.FlowVersion)
	if err != nil {
		return err
	}
	n, err := c.standIn(f, c.FlowVersion, c.Epoch)
	if err != nil {
		return err
	}
	c.flow, c.who = n.flow, maps.Clone(n.ids)
	if c.who == nil {
		c.who = map[string]operation.UserID{}
	}
	if c.profile, err = c.s.profileVersion(c.ctx, c.Tx, c.Destination, c.DestVersion); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(c.Waived), &c.waivers); err != nil {
		return err
	}
	if c.Earlier != "" {
		if err := json.Unmarshal([]byte(c.Earlier), &c.stages); err != nil {
			return err
		}
	}
	return c.readClearances()
}

// at is the database's time after the locks were held.
func (c *heldBatch) at() time.Time { return c.Now.UTC().Truncate(time.Microsecond) }

// stage gives the flow's stage that fans out into this batch.
func (c *heldBatch) stage() definition.Stage {
	st, _ := stageOf(c.flow, c.Batch.Stage)
	return st
}

// member gives one operation of the batch to decide about, with what it has in common with the
// others. now is the clock after all of them were locked.
func (c *heldBatch) member(r *groupRow, now time.Time) (*unit, error) {
	f := loaded{Now: now, XID: c.xid, Epoch: c.Epoch, RunState: c.RunState, RunHeld: c.RunHeld, RunSeq: c.RunSeq, RunHash: c.RunHash,
		PausedWhy: c.AllPaused, FlowPaused: c.FlowPaused, DestPaused: c.DestPaused, BatchHeld: c.Held, Suppressed: r.Suppressed,
		DestVersion: c.DestVersion, DestAccount: c.DestAccount, DestEnv: c.DestEnv, BrokenAt: c.BrokenAt,
		VersionHash: r.VersionHash, VerAccount: r.VerAccount, VerEnv: r.VerEnv}
	o := r.opRow
	o.was, o.wasWho = o.State, o.who()
	u := &unit{tx: c.tx, actor: c.actor, now: now, op: &o, facts: f, read: more{Body: r.Body, Clr: r.Clr, Att: r.Att, TakenBy: r.TakenBy},
		flow: c.flow, who: c.who, profile: c.profile, siblings: map[operation.ID]*opRow{}, waivers: c.waivers, batch: c}
	if u.now.Before(o.UpdatedAt) {
		u.now = o.UpdatedAt.UTC()
	}
	if r.Same == "" {
		return u, nil
	}
	var same []stageRow
	if err := json.Unmarshal([]byte(r.Same), &same); err != nil {
		return nil, err
	}
	if c.items == nil {
		c.items = map[operation.ID][]stageRow{}
	}
	c.items[o.ID] = same
	return u, nil
}

// beside gives what an item looks at of its run. Of a stage whose items it follows, that is
// its own item's part.
func (c *heldBatch) beside(o *opRow) []stageRow {
	same := c.items[o.ID]
	if len(same) == 0 {
		return c.stages
	}
	out := slices.Clone(same)
	for _, r := range c.stages {
		if !slices.ContainsFunc(same, func(x stageRow) bool { return x.Batch != "" && x.Batch == r.Batch }) {
			out = append(out, r)
		}
	}
	return out
}
