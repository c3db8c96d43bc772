package web

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"holdpoint/store"
	"holdpoint/views"

	"github.com/gorilla/sessions"
	"github.com/labstack/echo/v4"
)

// Proven reports whether the person has proved in this session, not long ago, who they
// are. The store asks again in the transaction that decides.
func Proven(c echo.Context) bool {
	at, _ := VisitOf(c).session.Values[valueProven].(time.Time)
	return !at.IsZero() && VisitOf(c).Now.Sub(at) <= frameOf(c).Store.ConfirmAfter()
}

// AskConfirm leads to the page on which the person confirms who they are. The form that
// was posted is kept: its page comes back with what was typed, and nothing of it is
// decided by confirming. page is where it is shown.
func AskConfirm(c echo.Context, page, form string) error {
	kept, err := keep(c, page, form)
	if err != nil {
		return err
	}
	if kept {
		page += "?kept=1"
	}
	return c.Redirect(http.StatusSeeOther, views.PathConfirm+"?return="+url.QueryEscape(page))
}

// Confirmed goes on in the same session under a new token, as just proven.
func Confirmed(c echo.Context) error {
	v := VisitOf(c)
	if err := frameOf(c).replace(c, v, true); err != nil {
		return err
	}
	v.session.Values[valueProven] = v.Now
	return nil
}

// NewToken goes on in the same session under a new token: something about how the person
// signs in has changed.
func NewToken(c echo.Context) error { return frameOf(c).replace(c, VisitOf(c), false) }

// rotate makes a new token where the person's rights have changed since the old one was
// made. Requests that are under way with the old one are still answered.
func (f *frame) rotate(c echo.Context, v *Visit) error {
	due, _ := v.session.Values[valueRotate].(bool)
	if !due || v.User == nil || strings.HasPrefix(c.Request().Header.Get("Accept"), "text/event-stream") {
		return nil
	}
	err := f.replace(c, v, false)
	if errors.Is(err, ErrSessionGone) { // another request has done so
		return nil
	}
	return err
}

func (f *frame) replace(c echo.Context, v *Visit, proven bool) error {
	once, hasOnce := v.peekOnce()
	next := rand.Text()
	err := f.Store.ReplaceSession(c.Request().Context(), hashToken(v.session.ID), hashToken(next), proven)
	if errors.Is(err, store.ErrNotFound) {
		return ErrSessionGone
	}
	if err != nil {
		return err
	}
	v.session.ID = next
	v.session.Values[valueRotate] = false
	http.SetCookie(c.Response(), sessions.NewCookie(v.session.Name(), next, v.session.Options))
	if hasOnce { // it was sealed with the old token
		return v.seal(c, once)
	}
	return nil
}
