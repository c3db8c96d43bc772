package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// confirmPage asks a person who is signed in to prove once more who they are.
func (s *site) confirmPage(c echo.Context) error {
	back := s.back(c.QueryParam("return"))
	if web.Proven(c) {
		return c.Redirect(http.StatusSeeOther, back)
	}
	return s.showConfirm(c, http.StatusOK, typed{fields: url.Values{"return": {back}}})
}

func (s *site) showConfirm(c echo.Context, status int, t typed) error {
	u := web.VisitOf(c).Self()
	m := views.ConfirmModel{Form: newForm(t, views.PathConfirm), After: s.Store.ConfirmAfter(), Kept: web.HasKept(c),
		HasPassword: u.HasPassword && s.Provider.local(u.Email), Back: s.back(t.val("return"))}
	m.Return = m.Back
	if err := s.otherProofs(c, *u, &m); err != nil {
		return err
	}
	m.Frame = web.Frame(c, "")
	m.Path = views.PathConfirm
	return web.RenderStatus(c, status, views.ConfirmPage(m))
}

// confirm takes the proof and leads back to the form. It decides nothing: the form must
// be sent again.
func (s *site) confirm(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	err = s.confirmPassword(c, t)
	if status, say, ok := codeError(c, err); ok && errors.Is(err, store.ErrBadCode) {
		t.wrong("code", say)
		return s.showConfirm(c, status, t)
	}
	if p, ok := proofTrouble(c, err, views.ErrorCurrentPassword); ok {
		t.wrong("password", p.say)
		return s.showConfirm(c, p.status, t)
	}
	if err != nil {
		return err
	}
	return s.confirmed(c, t.val("return"))
}

// confirmed goes on after any proof of the person: under a new token, back to the form
// that waits.
func (s *site) confirmed(c echo.Context, to string) error {
	to, err := s.confirmedTo(c, to)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// confirmedTo is confirmed for whoever leads on themselves.
func (s *site) confirmedTo(c echo.Context, to string) (string, error) {
	if err := web.Confirmed(c); err != nil {
		return "", err
	}
	to = s.back(to)
	kind, key := views.FlashDone, views.FlashConfirmedPlain
	if web.HasKept(c) && strings.Contains(to, "kept=1") {
		kind, key = views.FlashInfo, views.FlashConfirmedSelf
	}
	return to, web.Flash(c, kind, key)
}

// trouble is why a proof of the person was not taken, and with which status its form
// comes back.
type trouble struct {
	say    views.Say
	status int
}

// proofTrouble says what was wrong with a password or another proof: a wrong one by the
// sentence given, too many tries, too many people at once. ok is false for another error.
func proofTrouble(c echo.Context, err error, wrong string) (trouble, bool) {
	var limited *store.LoginLimited
	switch {
	case errors.Is(err, store.ErrBadLogin):
		return trouble{views.Sentence(wrong), http.StatusUnprocessableEntity}, true
	case errors.As(err, &limited):
		return trouble{tooMany(limited, web.VisitOf(c)), http.StatusTooManyRequests}, true
	case errors.Is(err, store.ErrBusy):
		c.Response().Header().Set("Retry-After", "5")
		return trouble{views.Sentence(views.ErrorBusy), http.StatusServiceUnavailable}, true
	}
	return trouble{}, false
}

// tooMany says how long to wait after too many failed tries.
func tooMany(l *store.LoginLimited, v *web.Visit) views.Say {
	return views.Sentence(views.ErrorTooManyAttempts, "Wait", v.Printer().Duration(max(l.Until.Sub(v.Now), 0)))
}
