package handlers

import (
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"

	"github.com/labstack/echo/v4"
)

// decide takes an approver's decision on exactly the version that they were shown. The
// server never fills in the current one (FC-15).
func (s *site) decide(c echo.Context, at *operationAt, t typed) error {
	d := operation.Decision(t.val("decision"))
	if d != operation.Approve && d != operation.RequestChanges && d != operation.Reject {
		t.wrong("decision", views.Sentence(views.ErrorRequired))
		return s.showAgain(c, at.p, t)
	}
	if err := s.Store.Decide(at.ctx, at.actor, decided(at.p, t, d, "comment")); err != nil {
		return s.answer(c, at.p, t, err, "")
	}
	key, args := s.decidedFlash(c, d)
	return s.answer(c, at.p, t, nil, key, args...)
}

func decided(p *store.OperationPage, t typed, d operation.Decision, reason string) store.Decided {
	return store.Decided{Operation: p.ID, Version: operation.VersionID(t.val("version")), Hash: t.val("hash"), Revision: t.revision(),
		Decision: d, Reason: t.text(reason), FormID: t.val("form_id")}
}

// decidedFlash names what the decision did: with an approval, whether it was the last
// one needed.
func (s *site) decidedFlash(c echo.Context, d operation.Decision) (key string, args []string) {
	switch d {
	case operation.RequestChanges:
		return views.FlashChangesRequested, nil
	case operation.Reject:
		return views.FlashRejected, nil
	}
	now, err := s.find(c)
	if err != nil || now.State != operation.PendingApproval || now.Policy == nil {
		return views.FlashApproved, nil
	}
	given := 0
	for _, a := range now.Standing {
		if a.Decision == operation.Approve {
			given++
		}
	}
	return views.FlashApprovalCounted, []string{"Given", itoa(given), "Required", itoa(max(now.Policy.Required, 1))}
}

// withdraw takes one's own approval back, until dispatch.
func (s *site) withdraw(c echo.Context, at *operationAt, t typed) error {
	err := s.Store.Decide(at.ctx, at.actor, decided(at.p, t, operation.Withdraw, "reason"))
	return s.answer(c, at.p, t, err, views.FlashWithdrawn)
}
