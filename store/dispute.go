package store

import (
	"context"
	"errors"
	"slices"

	"holdpoint/operation"
)

// DisputeLimit bounds how many effects are listed, and disputed, together.
const DisputeLimit = 200

// DisputeList are confirmed operations that a person may dispute.
type DisputeList struct {
	Rows []InboxRow // newest first
	More bool       // there are more than DisputeLimit
	Left int        // that were looked at and that this person may not dispute
}

// ListDisputable lists the confirmed operations that a filter finds and that the viewer may
// dispute, by the same rule that decides.
func (s *Store) ListDisputable(ctx context.Context, viewer Actor, f OperationFilter) (*DisputeList, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	f.State, f.Open, f.Closed, f.Cursor, f.Limit = operation.Confirmed, false, false, "", 500
	page, err := s.operationsPage(ctx, v, f)
	if err != nil {
		return nil, err
	}
	out, reviewers := &DisputeList{More: page.Next != ""}, map[string]operation.Selector{}
	for _, r := range page.Rows {
		rv, known := reviewers[r.Flow]
		if !known {
			flow, err := s.FindFlow(ctx, r.Flow)
			if err != nil {
				return nil, err
			}
			rv = flow.Flow.Reviewer
			reviewers[r.Flow] = rv
		}
		switch {
		case !mayDispute(rv, v.In(r.Flow)):
			out.Left++
		case len(out.Rows) == DisputeLimit:
			out.More = true
		default:
			out.Rows = append(out.Rows, r)
		}
	}
	return out, nil
}

// mayDispute lets the flow's reviewer, its approvers and ops owners dispute.
func mayDispute(reviewer operation.Selector, who operation.Person) bool {
	return reviewer.Matches(who) || who.Has(operation.RoleApprover) || who.Has(operation.RoleOpsOwner)
}

// DisputeOne is one operation of a set, as it was shown.
type DisputeOne struct {
	Operation operation.ID
	Revision  int64
}

// DisputeSet disputes each of a list alone, with the same evidence, and records what became
// of it (ListTogetherResults gives it). What changed meanwhile, or is not confirmed any
// more, is refused alone. The same form again gives the same results. Operations that the
// person may not know of are left out, as missing ones are. An error that is no refusal ends
// it; what was recorded before stands, and the form can be sent again.
func (s *Store) DisputeSet(ctx context.Context, a Actor, form, evidence, link string, list []DisputeOne) error {
	if len(list) > DisputeLimit {
		return &Invalid{Field: "pick", Code: "dispute_many", Limit: DisputeLimit}
	}
	v, err := s.readViewer(ctx, a)
	if err != nil {
		return err
	}
	decided := map[operation.ID]bool{}
	before, err := s.ListTogetherResults(ctx, a, form)
	if err != nil {
		return err
	}
	for _, r := range before {
		decided[r.Operation] = r.Code == operation.CodeOK
	}
	for i, x := range list {
		if decided[x.Operation] {
			continue
		}
		code, err := s.disputeOne(ctx, a, v, form, evidence, link, x)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if err := s.noteTogether(ctx, a, form, x.Operation, i, code); err != nil {
			return err
		}
		decided[x.Operation] = code == operation.CodeOK
	}
	return nil
}

// disputeOne gives the code of the refusal; "" = it is disputed.
func (s *Store) disputeOne(ctx context.Context, a Actor, v Viewer, form, evidence, link string, x DisputeOne) (operation.Code, error) {
	var r *operation.Refusal
	err := s.disputeVerb(ctx, a, Shown{Operation: x.Operation, Revision: x.Revision, FormID: form + "/" + string(x.Operation), Said: evidence + "\n" + link, Reason: evidence}, link, func(u *unit) error {
		if !v.Sees(u.op.Flow, u.op.Destination) {
			return ErrNotFound
		}
		if u.op.State != operation.Confirmed {
			return operation.Refuse(operation.CodeForbiddenMove, "state", string(u.op.State))
		}
		return nil
	})
	if errors.As(err, &r) {
		if slices.Contains(operation.Codes, r.Code) {
			return r.Code, nil
		}
		return operation.CodeForbiddenMove, nil
	}
	return operation.CodeOK, err
}
