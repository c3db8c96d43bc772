package store

import (
	"context"
	"encoding/hex"
	"time"

	"holdpoint/operation"
)

// AdoptedJob is a stopped job of another system that had no operation here.
type AdoptedJob struct {
	Flow, Stage string         // whose people are responsible, and where it would have gone
	System      string         // where the job ran
	ItsID       string         // how that system names it
	StoppedAt   time.Time      // zero = not known
	Content     map[string]any // what is known of its content
	Missing     []string
	Reason      string
}

// Adopt enters a stopped job by hand. The operation starts in review with what is
// known; nothing is sent for it before a person has settled it. Entering the same job
// again gives the same operation.
func (s *Store) Adopt(ctx context.Context, a Actor, j AdoptedJob) (operation.ID, error) {
	var id operation.ID
	err := s.write(ctx, func(t *tx) error {
		u, no, err := t.adoptionUnit(a, j)
		if err != nil {
			return err
		}
		st := u.flow.Stages[no]
		who, err := t.person(a, j.Flow)
		if err != nil {
			return err
		}
		ad := operation.Adoption{Who: who, Reason: j.Reason, Destination: st.Destination, Action: st.Action, System: j.System, ItsID: j.ItsID, StoppedAt: j.StoppedAt}
		if r := operation.MayAdopt(ad, u.now); r != nil {
			return r
		}
		in := operation.AdoptedIntent(ad)
		id = operation.DeriveID(s.secret, in)
		return u.adopt(id, in, j, no)
	})
	return id, err
}

// adoptionUnit prepares a decision without a locked operation: there is none yet.
func (t *tx) adoptionUnit(a Actor, j AdoptedJob) (*unit, int, error) {
	var row struct {
		Now   time.Time `db:"now"`
		XID   string    `db:"xid"`
		Epoch int64     `db:"epoch"`
	}
	if err := t.get(&row, `WITH g AS MATERIALIZED (SELECT `+gateShared+` AS ok)
		SELECT clock_timestamp() AS now, pg_current_xact_id()::text AS xid, epoch FROM installation, g`); err != nil {
		return nil, 0, err
	}
	t.xid = row.XID
	defs, err := t.currentDefinitions(row.Epoch)
	if err != nil {
		return nil, 0, err
	}
	version, ok := defs.versions[j.Flow]
	if !ok {
		return nil, 0, ErrNotFound
	}
	u := &unit{tx: t, actor: a, now: row.Now.UTC().Truncate(time.Microsecond), op: &opRow{Flow: j.Flow, FlowVersion: version}, facts: loaded{Epoch: row.Epoch}}
	flow, err := t.s.flowVersion(t.ctx, t.Tx, j.Flow, version)
	if err != nil {
		return nil, 0, err
	}
	if err := u.named(flow, version); err != nil {
		return nil, 0, err
	}
	for i, st := range u.flow.Stages {
		if st.Key == j.Stage {
			u.facts.DestVersion = defs.dests[st.Destination]
			u.profile, err = t.s.profileVersion(t.ctx, t.Tx, st.Destination, u.facts.DestVersion)
			return u, i, err
		}
	}
	return nil, 0, ErrNotFound
}

func (u *unit) adopt(id operation.ID, in operation.Intent, j AdoptedJob, no int) error {
	st := u.flow.Stages[no]
	act, err := u.profile.Action(st.Action)
	if err != nil {
		return err
	}
	run := operation.RunID("run_" + string(id)[3:])
	n, err := u.exec(`INSERT INTO runs (id, flow, flow_version, run_key_hash, label, state, created_at) VALUES ($1, $2, $3, decode($4, 'hex'), $5, 'open', $6) ON CONFLICT DO NOTHING`,
		string(run), j.Flow, u.op.FlowVersion, hex.EncodeToString(in.RunKeyHash[:]), operation.Normalize(short(j.System+" "+j.ItsID, 120)), u.now)
	if err != nil {
		return err
	}
	if n == 0 {
		return errDone // entered before: the same operation
	}
	o := &opRow{ID: id, RunID: run, Flow: j.Flow, FlowVersion: u.op.FlowVersion, Stage: st.Key, StageNo: no, Stages: 1, ItemKey: in.ItemKey,
		Destination: st.Destination, Action: st.Action, EffectType: act.Effect, Adopted: true}
	reason := j.Reason
	if err := u.insertOperation(o, newContent{content: j.Content, missing: j.Missing, author: Author{Kind: "person", ID: u.actor.ID, Note: reason}, state: operation.Review, reason: reason}); err != nil {
		return err
	}
	return u.writeHistory(u.entries, u.places())
}
