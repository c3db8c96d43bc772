package handlers

import (
	"context"
	"net/http"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// pauseOperation stops further attempts of one operation.
func (s *site) pauseOperation(c echo.Context, at *operationAt, t typed) error {
	err := s.Store.PauseOperation(at.ctx, at.actor, at.p.ID, t.text("reason"))
	return s.answer(c, at.p, t, err, views.FlashPaused)
}

// resumeOperation lets one operation go on.
func (s *site) resumeOperation(c echo.Context, at *operationAt, t typed) error {
	err := s.Store.ResumeOperation(at.ctx, at.actor, at.p.ID, t.text("reason"))
	return s.answer(c, at.p, t, err, views.FlashResumed)
}

// switchForm carries out the pause of a flow or destination, or its end, and shows its
// page again when the form is to be corrected.
func (s *site) switchForm(c echo.Context, verb func(context.Context, store.Actor, string, string) error, show func(echo.Context, int, typed) error, flash string) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if t.tooLong() {
		return show(c, http.StatusUnprocessableEntity, t)
	}
	err = verb(c.Request().Context(), web.VisitOf(c).Actor(), c.Param("name"), t.text("reason"))
	if err == nil {
		path := c.Request().URL.Path
		return done(c, path[:len(path)-len("/"+t.form)], flash)
	}
	if r := refusalOf(err); r != nil && r.Code == operation.CodeReasonMissing {
		t.wrong("reason", views.Refused(r))
		return show(c, http.StatusUnprocessableEntity, t)
	}
	return err
}

func (s *site) pauseFlow(c echo.Context) error {
	return s.switchForm(c, func(ctx context.Context, a store.Actor, name, why string) error {
		_, err := s.Store.PauseFlow(ctx, a, name, why)
		return err
	}, s.showFlow, views.FlashPaused)
}

func (s *site) resumeFlow(c echo.Context) error {
	return s.switchForm(c, s.Store.ResumeFlow, s.showFlow, views.FlashResumed)
}

func (s *site) pauseDestination(c echo.Context) error {
	return s.switchForm(c, func(ctx context.Context, a store.Actor, name, why string) error {
		_, err := s.Store.PauseDestination(ctx, a, name, why)
		return err
	}, s.showDestination, views.FlashPaused)
}

func (s *site) resumeDestination(c echo.Context) error {
	return s.switchForm(c, s.Store.ResumeDestination, s.showDestination, views.FlashResumed)
}

// mayPause says why the viewer may not pause; nil = they may. flow "" = everything.
func (s *site) mayPause(c echo.Context, flow string) (*operation.Refusal, error) {
	who, err := s.viewer(c, flow)
	if who.Has(operation.RoleOpsOwner) || who.Has(operation.RoleAdmin) {
		return nil, err
	}
	return operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner}), err
}

// pauseForms offers the pause, or its end.
func pauseForms(base string, paused bool, barred *operation.Refusal, inFlight int, t typed) (pause, resume *views.ReasonForm) {
	name := "pause"
	if paused {
		name = "resume"
	}
	f := &views.ReasonForm{Form: newForm(t.of(name), base+"/"+name), Reason: t.of(name).val("reason"), InFlight: inFlight}
	f.Barred = barred
	if paused {
		f.InFlight = 0
		return nil, f
	}
	return f, nil
}

// pausedBy shows a pause in force.
func pausedBy(scope views.PauseScope, p *store.Pause, n names) []views.PausedBy {
	if p == nil {
		return nil
	}
	return []views.PausedBy{{Scope: scope, Who: n.person(p.By), Since: p.At, Reason: p.Reason}}
}
