package store

import (
	"context"
	"errors"
	"slices"

	"holdpoint/operation"
)

// DisputeLimit bounds how many effects are listed, and disputed, together; DisputeFiles the
// bytes that the files of a set take, which are kept with each of its operations.
const (
	DisputeLimit = 200
	DisputeFiles = 200 << 20
)

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
		case operation.MayBeginDispute(rv, v.In(r.Flow)) != nil:
			out.Left++
		case len(out.Rows) == DisputeLimit:
			out.More = true
		default:
			out.Rows = append(out.Rows, r)
		}
	}
	return out, nil
}

// DisputeOne is one operation of a set, as it was shown.
type DisputeOne struct {
	Operation operation.ID
	Revision  int64
}

// DisputedWith is what a set is disputed with: a statement, a link, files. Each operation
// gets all of it.
type DisputedWith struct {
	Evidence string
	Link     string
	Files    []Attachment
}

// said is all of it, by its hashes: the same form with other files is another form.
func (w DisputedWith) said() string {
	said := w.Evidence + "\n" + w.Link
	for _, f := range w.Files {
		said += "\n" + hexOf(f.hash[:])
	}
	return said
}

// fits refuses more files than can be kept with so many operations.
func (w DisputedWith) fits(operations int) error {
	size := 0
	for _, f := range w.Files {
		size += len(f.data)
	}
	if size*operations > DisputeFiles {
		return &Invalid{Field: "files", Code: "dispute_files", Limit: DisputeFiles >> 20}
	}
	return nil
}

// DisputeSet disputes each of a list alone, with the same evidence, and records what became
// of it (ListTogetherResults gives it). What changed meanwhile, or is not confirmed any
// more, is refused alone. The same form again gives the same results. Operations that the
// person may not know of are left out, as missing ones are. An error that is no refusal ends
// it; what was recorded before stands, and the form can be sent again.
func (s *Store) DisputeSet(ctx context.Context, a Actor, form string, with DisputedWith, list []DisputeOne) error {
	if len(list) > DisputeLimit {
		return &Invalid{Field: "pick", Code: "dispute_many", Limit: DisputeLimit}
	}
	if err := with.fits(len(list)); err != nil {
		return err
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
		code, err := s.disputeOne(ctx, a, v, form, with, x)
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
func (s *Store) disputeOne(ctx context.Context, a Actor, v Viewer, form string, with DisputedWith, x DisputeOne) (operation.Code, error) {
	shown := Shown{Operation: x.Operation, Revision: x.Revision, FormID: form + "/" + string(x.Operation), Said: with.said(), Reason: with.Evidence,
		Files: Attached{Evidence: slices.Clone(with.Files)}}
	err := s.disputeVerb(ctx, a, shown, with.Link, func(u *unit) error {
		if !v.Sees(u.op.Flow, u.op.Destination) {
			return ErrNotFound
		}
		if u.op.State != operation.Confirmed {
			return operation.Refuse(operation.CodeForbiddenMove, "state", string(u.op.State))
		}
		return nil
	})
	if r, no := operation.RefusalIn(err); no {
		if slices.Contains(operation.Codes, r.Code) {
			return r.Code, nil
		}
		return operation.CodeForbiddenMove, nil
	}
	return operation.CodeOK, err
}
