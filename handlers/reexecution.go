package handlers

import (
	"net/http"

	"holdpoint/views"

	"github.com/labstack/echo/v4"
)

// decideReexecution takes the second person's decision on one more attempt.
func (s *site) decideReexecution(c echo.Context) error {
	t, at, err := s.open(c)
	if err != nil {
		return err
	}
	approve := t.val("decision") == "approve"
	switch {
	case !approve && t.val("decision") != "refuse":
		t.wrong("decision", views.Sentence(views.ErrorRequired))
	case approve && !t.yes("confirm"):
		t.wrong("confirm", views.Sentence(views.ErrorConfirm))
	}
	if len(t.errors) > 0 {
		return s.showOperation(c, http.StatusUnprocessableEntity, at.p, t)
	}
	err = s.Store.DecideReexecution(at.ctx, at.actor, t.shown(at.p.ID, "comment"), approve)
	key := views.FlashReexecutionRefused
	if approve {
		key = views.FlashReexecutionApproved
	}
	return s.answer(c, at.p, t, err, key)
}
