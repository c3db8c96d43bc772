package store

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// gateFacts turns what was locked into the facts that operation.Permit looks at.
func (u *unit) gateFacts() (operation.Facts, error) {
	o := u.op
	f := operation.Facts{ID: o.ID, State: o.State, Revision: o.Revision,
		Version:      operation.VersionFacts{ID: o.VersionID, Number: o.VersionNo, Hash: hash32(u.facts.VersionHash), Account: u.facts.VerAccount, Environment: u.facts.VerEnv},
		OpenAttempt:  o.OpenAttempt,
		AttemptsUsed: o.AttemptsUsed, AttemptsMax: o.AttemptsMax, AttemptsEver: o.AttemptsEver,
		RetryAt: timeOf(o.RetryAt), LookupAt: timeOf(o.LookupAt), Misses: o.Misses,
		Key: operation.DestinationKey(o.ID, o.KeyGeneration), KeyFirst: timeOf(o.KeyFirst),
		KeyAnswered: o.KeyAnswered, LastSend: timeOf(o.LastSend), LastDispatch: timeOf(o.LastDispatch), Stated: o.Stated, Disputed: o.Disputed, Stopped: o.Stopped,
		PausedAll: u.facts.PausedWhy != "", PausedOperation: o.Paused, PausedFlow: u.facts.FlowPaused, PausedDestination: u.facts.DestPaused,
		PausedBatch: u.facts.BatchHeld == batchPaused, StoppedBatch: u.facts.BatchHeld == batchStopped, Item: o.BatchID != "",
		Account: u.facts.DestAccount, Environment: u.facts.DestEnv,
	}
	if o.LastLookupAt != nil {
		f.LastLookup = &operation.LookupFact{Result: operation.LookupResult(o.LastLookup), At: *o.LastLookupAt}
	}
	rev := u.flow.Reviewer
	f.ReviewRole = rev.Role
	act, err := u.profile.Action(o.Action)
	if err != nil {
		return f, operation.Refuse(operation.CodeAccountChanged, "is", o.Destination+"/"+o.Action)
	}
	f.Protection = u.shown(act)
	if err := u.pinnedProtection(&f); err != nil {
		return f, err
	}
	if f.Unsettled, err = u.unsettled(); err != nil {
		return f, err
	}
	if f.Clearance, err = u.clearance(); err != nil {
		return f, err
	}
	stages, err := u.otherStages()
	if err != nil {
		return f, err
	}
	f.EarlierOpen = earlierOpen(u.flow, o, stages)
	stand(&f, o, stages)
	if f.Suppressed, err = u.suppressed(); err != nil {
		return f, err
	}
	if f.Clearance != nil && f.Clearance.Kind == operation.ClearReexecution {
		f.Reexecution = &operation.ReexecutionFacts{Request: o.RequestID, HasLookup: act.HasLookup(), CheckedAt: timeOf(u.facts.CheckedAt)}
	}
	return f, nil
}

// pinnedProtection takes the stricter of the current profile and the one that the
// current version was made with (MODEL §5.2).
func (u *unit) pinnedProtection(f *operation.Facts) error {
	if u.op.VersionID == "" || u.op.Unsettled == 0 {
		return nil
	}
	var pinned int
	if err := u.get(&pinned, `SELECT destination_version FROM content_versions WHERE id = $1`, string(u.op.VersionID)); err != nil {
		return err
	}
	if pinned == u.facts.DestVersion {
		return nil
	}
	p, err := u.s.profileVersion(u.ctx, u.Tx, u.op.Destination, pinned)
	if err != nil {
		return err
	}
	act, err := p.Action(u.op.Action)
	if err != nil {
		f.Protection = operation.Protection{}
		return nil
	}
	f.Protection = f.Protection.Stricter(u.shown(act))
	return nil
}

// shown gives an action's protection as probes leave it.
func (u *unit) shown(act *definition.Action) operation.Protection {
	p := act.Protection()
	if u.facts.BrokenAt != nil {
		p.Proven = p.Proven && operation.Shown(act.ProvenSince(), operation.ProbeFact{Result: operation.ProbeBroken, At: *u.facts.BrokenAt})
	}
	return p
}

func (u *unit) unsettled() ([]operation.UnsettledAttempt, error) {
	if u.facts.UnsettledJS == "" || u.op.Unsettled == 0 {
		return nil, nil // none, or settled in this very decision
	}
	var rows []struct {
		ID         operation.AttemptID
		Key        string
		Account    string
		Protected  bool
		Dispatched time.Time
		Lease      time.Time
		Resolved   string
	}
	if err := json.Unmarshal([]byte(u.facts.UnsettledJS), &rows); err != nil {
		return nil, err
	}
	out := make([]operation.UnsettledAttempt, len(rows))
	for i, r := range rows {
		h, _ := hex.DecodeString(r.Resolved)
		out[i] = operation.UnsettledAttempt{ID: r.ID, Key: r.Key, Account: r.Account, Protected: r.Protected, DispatchedAt: r.Dispatched, LeaseEnd: r.Lease, ResolvedHash: hash32(h)}
	}
	return out, nil
}

// clearance reads the current clearance with its approvers as they stand now.
func (u *unit) clearance() (*operation.Clearance, error) {
	if u.batch != nil {
		return u.batch.clearance(u.op, u.read.Clr)
	}
	if u.facts.Clearance == "" {
		return nil, nil
	}
	var row struct {
		ID        operation.ClearanceID
		Kind      operation.ClearanceKind
		Version   operation.VersionID
		Hash      string
		Expires   *time.Time
		Required  int
		Policy    string
		Spent     bool
		Batch     operation.ClearanceID // the batch's that it rests on; "" = it stands by itself
		Approvers []approverRow
	}
	if err := json.Unmarshal([]byte(u.facts.Clearance), &row); err != nil {
		return nil, err
	}
	var p operation.Policy
	if err := json.Unmarshal([]byte(row.Policy), &p); err != nil {
		return nil, err
	}
	var err error
	if p, err = u.presentPolicy(p); err != nil {
		return nil, err
	}
	people, err := u.persons()
	if err != nil {
		return nil, err
	}
	h, _ := hex.DecodeString(row.Hash)
	c := &operation.Clearance{ID: row.ID, Kind: row.Kind, VersionID: row.Version, Hash: hash32(h), ExpiresAt: timeOf(row.Expires), Required: row.Required, Spent: row.Spent}
	if p.Grouped() {
		c.Groups = p.Groups
		if row.Batch != "" {
			c.Approvers, err = u.batchGroupApprovers(row.Batch, p, people)
		} else {
			c.Approvers, err = u.groupApprovers(row.ID, p, people)
		}
		return c, err
	}
	c.Approvers = approversOf(row.Approvers, p, people)
	return c, nil
}

// stageRow is another operation of the same run, as far as the gate looks at it.
type stageRow struct {
	ID          operation.ID
	Stage       string
	No          int
	Item        string
	Replacement int
	Replaces    operation.ID
	Deliberate  bool
	Doubt       bool // see operation.Member
	State       operation.State
	Delivery    string
	Reference   string
	Waived      bool
	// Batch: the row stands for a batch with all its items, and is no operation.
	Batch operation.BatchID
	// Here: the item that is asked for is in the batch's list and goes out. Open: the list
	// can still change.
	Here, Open bool
}

func (u *unit) otherStages() ([]stageRow, error) {
	if u.batch != nil {
		return u.batch.beside(u.op), nil
	}
	if u.facts.Earlier == "" {
		return nil, nil
	}
	var rows []stageRow
	if err := json.Unmarshal([]byte(u.facts.Earlier), &rows); err != nil {
		return nil, err
	}
	return rows, nil
}

// stageFacts groups the operations of a run by stage, in the flow's order.
func stageFacts(flow *definition.Flow, rows []stageRow) []operation.StageFacts {
	out := make([]operation.StageFacts, 0, len(flow.Stages))
	for _, st := range flow.Stages {
		f := operation.StageFacts{Key: st.Key, Need: needOf(st)}
		for _, r := range rows {
			if r.Stage != st.Key {
				continue
			}
			f.GoOn = f.GoOn || r.Waived
			if r.Batch != "" {
				f.Need = operation.NeedConfirmed // the batch's own row says so when its rule holds
			}
			f.Operations = append(f.Operations, operation.StageOperation{Item: r.Item, State: r.State, Delivery: operation.Delivery(r.Delivery)})
		}
		if len(f.Operations) > 0 {
			out = append(out, f)
		}
	}
	return out
}

func needOf(st definition.Stage) operation.Need {
	switch st.SatisfiedBy {
	case definition.SatisfiedDelivered:
		return operation.NeedDelivered
	case definition.SatisfiedEveryClosed:
		return operation.NeedEveryClosed
	case definition.SatisfiedEveryConfirmed:
		return operation.NeedEveryConfirmed
	}
	return operation.NeedConfirmed
}

// earlierOpen lists the earlier stages that are not satisfied.
func earlierOpen(flow *definition.Flow, o *opRow, rows []stageRow) []string {
	var earlier []stageRow
	for _, r := range seenBy(flow, o.Stage, o.ItemKey, rows) {
		if r.No < o.StageNo {
			earlier = append(earlier, r)
		}
	}
	facts := stageFacts(flow, earlier)
	return operation.EarlierOpen(facts, len(facts))
}

// stageOf gives the flow's stage of an operation.
func stageOf(flow *definition.Flow, key string) (definition.Stage, bool) {
	for _, st := range flow.Stages {
		if st.Key == key {
			return st, true
		}
	}
	return definition.Stage{}, false
}

// people names who decides about this operation.
func (u *unit) people(o *opRow) operation.People {
	f := u.flow
	p := operation.People{Author: operation.Responsible{Role: operation.RoleAuthor}, Reviewer: responsible(f.Reviewer, u.who),
		Reexecute: responsible(f.Reexecution.Approvers, u.who), Owner: operation.Responsible{Role: f.Owner.Role}}
	if f.Author.Role != "" {
		p.Author = responsible(f.Author, u.who)
	}
	if st, ok := stageOf(f, o.Stage); ok {
		p.Approvers = responsible(st.Approval.Asks(nil), u.who)
	}
	return p
}

func (u *unit) due(o *opRow) operation.Due {
	d := u.flow.Due
	if st, ok := stageOf(u.flow, o.Stage); ok && st.Approval.Due > 0 {
		d.Approve = st.Approval.Due
	}
	def := operation.DefaultDue
	return operation.Due{Draft: orDur(d.Draft, def.Draft), Approve: orDur(d.Approve, def.Approve), Review: orDur(d.Review, def.Review), Reexecute: orDur(d.Reexecute, def.Reexecute)}
}

func orDur(a, b time.Duration) time.Duration {
	if a > 0 {
		return a
	}
	return b
}

func joinOr(ss []string, def string) string {
	if len(ss) == 0 {
		return def
	}
	return strings.Join(ss, ", ")
}
