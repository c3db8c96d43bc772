package handlers

import (
	"net/http"

	"holdpoint/operation"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// cancel withdraws an operation before anything was sent; afterwards it forbids any
// further attempt.
func (s *site) cancel(c echo.Context, at *operationAt, t typed) error {
	if !t.yes("confirm") {
		t.wrong("confirm", views.Sentence(views.ErrorConfirm))
		return s.showAgain(c, at.p, t)
	}
	if err := s.Store.Cancel(at.ctx, at.actor, t.shown(at.p.ID, "reason")); err != nil {
		return s.answer(c, at.p, t, err, "")
	}
	if now, err := s.find(c); err == nil && now.State != operation.Cancelled {
		return calm(c, pathOperation(at.p.ID), "refusal."+string(operation.CodeStopped))
	}
	return s.answer(c, at.p, t, nil, views.FlashCancelled)
}

// goOn records the owner's decision to let a run go on without a stage. Its form stands
// on the run's page.
func (s *site) goOn(c echo.Context, at *operationAt, t typed) error {
	if !t.yes("confirm") {
		t.wrong("confirm", views.Sentence(views.ErrorConfirm))
		return s.showRun(c, http.StatusUnprocessableEntity, at.p.RunID, t)
	}
	err := s.Store.GoOnWithout(at.ctx, at.actor, t.shown(at.p.ID, "reason"))
	if err == nil {
		return done(c, pathRun(at.p.RunID), views.FlashWentOn)
	}
	r := refusalOf(err)
	if r == nil || web.RefusalStatus(r.Code) == http.StatusForbidden {
		return err
	}
	field := ""
	if r.Code == operation.CodeReasonMissing {
		field = "reason"
	}
	t.wrong(field, views.Refused(r))
	return s.showRun(c, web.RefusalStatus(r.Code), at.p.RunID, t)
}
