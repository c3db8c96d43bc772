package store

import (
	"context"

	"holdpoint/operation"
)

// Replacement is a new operation for an old one's intent: other content, or a second
// effect that is wanted deliberately.
type Replacement struct {
	Content    map[string]any
	Missing    []string
	Deliberate bool // a second effect although the original's exists
	Submit     bool
}

// Replace makes a replacement with its own ID and approval. It is refused while the
// original is unresolved. Replacing one that was ever dispatched follows the
// re-execution rule: its approvers decide, and nobody who was a party to the case.
func (s *Store) Replace(ctx context.Context, a Actor, sh Shown, n Replacement) (operation.ID, error) {
	var id operation.ID
	err := s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if r := u.mayManage(who); r != nil && !who.Has(u.people(u.op).Author.Role) {
			return r
		}
		if sh.Reason == "" {
			return operation.Refuse(operation.CodeReasonMissing)
		}
		var err error
		id, err = u.replace(sh, n)
		return err
	})
	return id, err
}

func (u *unit) replace(sh Shown, n Replacement) (operation.ID, error) {
	o := u.op
	line, err := u.readLineage()
	if err != nil {
		return "", err
	}
	was, next := line.original(o, n.Deliberate), len(line)
	second, r := operation.MayReplace(was)
	if r != nil {
		return "", r
	}
	var key []byte
	if err := u.get(&key, `SELECT run_key_hash FROM runs WHERE id = $1`, string(o.RunID)); err != nil {
		return "", err
	}
	id := operation.DeriveID(u.s.secret, operation.Intent{Flow: o.Flow, RunKeyHash: hash32(key), Stage: o.Stage, ItemKey: o.ItemKey, Replacement: next})
	c := &opRow{ID: id, RunID: o.RunID, Flow: o.Flow, FlowVersion: o.FlowVersion, Stage: o.Stage, StageNo: o.StageNo, Stages: o.Stages, ItemKey: o.ItemKey,
		Replacement: next, Replaces: string(o.ID), Destination: o.Destination, Action: o.Action, EffectType: o.EffectType, Deliberate: n.Deliberate}
	u.note(o, "replaced", sh.Reason, "replacement", string(id))
	if o.Remedy == RemedyBlocked {
		o.Remedy = "" // the replacement is the owner's answer
	}
	o.replanned = true
	return id, u.insertOperation(c, newContent{content: n.Content, missing: n.Missing, author: Author{Kind: "person", ID: u.actor.ID, Note: sh.Reason}, submit: n.Submit, second: second, reason: sh.Reason})
}

// newContent is the first content of an operation that a person makes by hand.
type newContent struct {
	content map[string]any
	missing []string
	author  Author
	submit  bool
	second  bool            // a second person of the re-execution approvers must approve
	state   operation.State // "" = draft, or pending_approval when submitted
	reason  string
}

// insertOperation writes a hand-made operation with version 1 and its history.
func (u *unit) insertOperation(o *opRow, n newContent) error {
	act, err := u.profile.Action(o.Action)
	if err != nil {
		return err
	}
	v, err := makeVersion(u.profile, act, n.content, n.missing, u.now)
	if err != nil {
		return err
	}
	st, _ := stageOf(u.flow, o.Stage)
	o.Account, o.Environment = u.profile.Account, u.profile.Environment
	o.Title, o.AttemptsMax = titleOf(n.content), max(st.MaxAttempts, 1)
	o.VersionID, o.VersionNo, o.KeyGeneration = operation.VersionID(newID("ver")), 1, 1
	o.ChainHash, o.CreatedAt = make([]byte, 32), u.now
	policy := st.Approval
	if n.second {
		policy = policy.DecidedBy(u.flow.Reexecution.Approvers, u.flow.Reexecution.Required)
	}
	o.State = n.state
	if o.State == "" {
		o.State = operation.Draft
		if n.submit && v.hash != nil {
			o.State = operation.PendingApproval
		}
	}
	made := ""
	if v.hash != nil {
		made = hexOf(v.hash[:])
	}
	u.enter(o, "create", "", o.State, n.reason, "replaces", o.Replaces, versionHash, made)
	who := u.people(o)
	if n.second {
		who.Approvers = responsible(policy.Approvers, u.who)
	}
	d := operation.NextFor(operation.Facts{State: o.State}, who, u.due(o), operation.Responsible{}, timeOf(nil), timeOf(nil), u.now)
	_, err = u.exec(`INSERT INTO operations (id, run_id, flow, flow_version, stage, stage_no, stages, item_key, replacement, replaces, destination, action, effect_type, account, environment,
		title, adopted, deliberate, state, version_id, version_no, attempts_max, ever_unproven, disputed, next_kind, next_role, next_user, next_at, next_since, chain_seq, chain_hash, created_at, updated_at, source)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULLIF($10, ''), $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, 1, $21, $22, $23, $24, $25, NULLIF($26, ''), $27, $28, $29, $30, $28, $28, COALESCE((SELECT s.source FROM operations s WHERE s.id = $10), ''))`,
		string(o.ID), string(o.RunID), o.Flow, o.FlowVersion, o.Stage, o.StageNo, o.Stages, o.ItemKey, o.Replacement, o.Replaces, o.Destination, o.Action, o.EffectType, o.Account, o.Environment,
		o.Title, o.Adopted, o.Deliberate, string(o.State), string(o.VersionID), o.AttemptsMax, o.Adopted, o.Adopted, string(d.Kind), string(d.Who.Role), string(d.Who.User), timePtr(d.At), u.now, o.ChainSeq, o.ChainHash)
	if err != nil {
		return err
	}
	if o.Adopted {
		stop := operation.Stop{Kind: operation.StopReview, Destination: o.Destination, Why: operation.WhyAdopted}
		if err := u.writeStops([]map[string]any{stopRow(o, stop, 0, u.now)}); err != nil {
			return err
		}
	}
	cur := u.op
	u.op = o
	err = u.insertVersion(v, n.author)
	if err == nil && o.State == operation.PendingApproval {
		err = u.insertSubmission(policy)
	}
	u.op = cur
	return err
}
