package handlers

import (
	"net/http"

	"holdpoint/operation"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// open reads the operation and the form of a POST about it.
func (s *site) open(c echo.Context) (typed, *operationAt, error) {
	p, err := s.find(c)
	if err != nil {
		return typed{}, nil, err
	}
	t, err := sent(c)
	return t, &operationAt{p, web.VisitOf(c).Actor(), c.Request().Context()}, err
}

// cancel withdraws an operation before anything was sent; afterwards it forbids any
// further attempt.
func (s *site) cancel(c echo.Context) error {
	t, at, err := s.open(c)
	if err != nil {
		return err
	}
	if !t.yes("confirm") {
		t.wrong("confirm", views.Sentence(views.ErrorConfirm))
		return s.showOperation(c, http.StatusUnprocessableEntity, at.p, t)
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
func (s *site) goOn(c echo.Context) error {
	t, at, err := s.open(c)
	if err != nil {
		return err
	}
	if !t.yes("confirm") {
		t.wrong("confirm", views.Sentence(views.ErrorConfirm))
		return s.showRun(c, http.StatusUnprocessableEntity, at.p.RunID, t)
	}
	err = s.Store.GoOnWithout(at.ctx, at.actor, t.shown(at.p.ID, "reason"))
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
