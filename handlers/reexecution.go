package handlers

import (
	"holdpoint/operation"
	"holdpoint/views"

	"github.com/labstack/echo/v4"
)

// decideReexecution takes the second person's decision on one more attempt.
func (s *site) decideReexecution(c echo.Context, at *operationAt, t typed) error {
	approve, more := t.val("decision") == "approve", t.val("decision") == "more_evidence"
	switch {
	case !approve && !more && t.val("decision") != "refuse":
		t.wrong("decision", views.Sentence(views.ErrorRequired))
	case approve && !t.yes("confirm"):
		t.wrong("confirm", views.Sentence(views.ErrorConfirm))
	}
	if t.text("comment") == "" {
		t.wrong("comment", views.Refused(operation.Refuse(operation.CodeReasonMissing)))
	}
	if len(t.errors) > 0 {
		return s.showAgain(c, at.p, t)
	}
	shown := t.shown(at.p.ID, "comment")
	shown.For = operation.UserID(t.val("for"))
	if more {
		return s.answer(c, at.p, t, s.Store.AskEvidence(at.ctx, at.actor, shown), views.FlashCaseEvidence)
	}
	err := s.Store.DecideReexecution(at.ctx, at.actor, shown, approve)
	key := views.FlashReexecutionRefused
	if approve {
		key = views.FlashReexecutionApproved
	}
	return s.answer(c, at.p, t, err, key)
}

// withdrawRequest takes an open request for one more attempt back to review.
func (s *site) withdrawRequest(c echo.Context, at *operationAt, t typed) error {
	err := s.Store.WithdrawRequest(at.ctx, at.actor, t.shown(at.p.ID, "reason"))
	return s.answer(c, at.p, t, err, views.FlashRequestWithdrawn)
}
