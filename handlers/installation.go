package handlers

import (
	"errors"
	"net/http"

	"holdpoint/operation"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// installation shows whether all sends are paused.
func (s *site) installation(c echo.Context) error {
	t, _ := kept(c)
	return s.showInstallation(c, http.StatusOK, t)
}

func (s *site) showInstallation(c echo.Context, status int, t typed) error {
	in, err := s.Store.FindInstallation(c.Request().Context())
	if err != nil {
		return err
	}
	figures, err := s.Store.FindFigures(c.Request().Context())
	if err != nil {
		return err
	}
	by := ""
	if in.Paused != nil {
		by = in.Paused.By
	}
	n, err := s.names(c, "", by)
	if err != nil {
		return err
	}
	var barred *operation.Refusal
	if !n.viewer.Has(operation.RoleAdmin) {
		barred = operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleAdmin)).By(operation.Responsible{Role: operation.RoleAdmin})
	}
	m := views.InstallationModel{InFlight: figures.Open[operation.InProgress]}
	if list := pausedBy(views.PauseAll, in.Paused, n); len(list) > 0 {
		m.Paused = &list[0]
	}
	m.Pause, m.Resume = pauseForms(views.PathInstallation, m.Paused != nil, barred, m.InFlight, t)
	if m.Checkpoints, err = s.checkpoints(c); err != nil {
		return err
	}
	if m.Restore, err = s.restoreNote(c); err != nil {
		return err
	}
	if m.Resume != nil {
		m.Resume.Confirm = m.Restore != nil
	}
	m.Frame = web.Frame(c, "")
	return web.RenderStatus(c, status, views.InstallationPage(m))
}

// pauseAll stops all sends of the installation.
func (s *site) pauseAll(c echo.Context) error {
	return s.switchAll(c, func(t typed) error {
		_, err := s.Store.PauseAll(c.Request().Context(), web.VisitOf(c).Actor(), t.text("reason"))
		return err
	}, views.FlashPaused)
}

// errConfirm is a confirmation that was not ticked.
var errConfirm = errors.New("not confirmed")

// resumeAll lets sends go on. A reason must be given: it says what was reconciled.
func (s *site) resumeAll(c echo.Context) error {
	return s.switchAll(c, func(t typed) error {
		if t.text("reason") == "" {
			return operation.Refuse(operation.CodeReasonMissing)
		}
		restored, err := s.restoreNote(c)
		if err != nil {
			return err
		}
		if restored != nil && !t.yes("confirm") {
			return errConfirm
		}
		return s.Store.ResumeAll(c.Request().Context(), web.VisitOf(c).Actor(), t.text("reason"))
	}, views.FlashResumed)
}

func (s *site) switchAll(c echo.Context, verb func(typed) error, flash string) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	err = verb(t)
	if err == nil {
		web.PauseChanged(c)
		return done(c, views.PathInstallation, flash)
	}
	if r := refusalOf(err); r != nil && r.Code == operation.CodeReasonMissing {
		t.wrong("reason", views.Refused(r))
		return s.showInstallation(c, http.StatusUnprocessableEntity, t)
	} else if r != nil && r.Code == operation.CodeRestoreOpen {
		t.wrong("", views.Refused(r))
		return s.showInstallation(c, http.StatusConflict, t)
	}
	if errors.Is(err, errConfirm) {
		t.wrong("confirm", views.Sentence(views.ErrorConfirm))
		return s.showInstallation(c, http.StatusUnprocessableEntity, t)
	}
	return err
}
