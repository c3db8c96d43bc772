package handlers

import (
	"bytes"
	"errors"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// sessionsOf lists where a person is signed in.
func (s *site) sessionsOf(c echo.Context, id operation.UserID) ([]views.SessionRow, error) {
	list, err := s.Store.ListSessions(c.Request().Context(), id)
	if err != nil {
		return nil, err
	}
	here := web.VisitOf(c).TokenHash()
	var out []views.SessionRow
	for _, x := range list {
		out = append(out, views.SessionRow{ID: x.ID(), Current: bytes.Equal(x.TokenHash, here), Since: x.CreatedAt, Seen: x.SeenAt, Agent: x.Agent, IP: x.IP})
	}
	return out, nil
}

// signInsOf lists the newest sign-ins to a person's account.
func (s *site) signInsOf(c echo.Context, u store.User) ([]views.SignInRow, error) {
	list, err := s.Store.ListSignIns(c.Request().Context(), u, signInsShown)
	if err != nil {
		return nil, err
	}
	var out []views.SignInRow
	for _, x := range list {
		out = append(out, views.SignInRow{At: x.At, How: string(x.How), OK: x.OK, IP: x.IP, Agent: x.Agent})
	}
	return out, nil
}

// endSession ends one of one's own sessions. One that has ended meanwhile is ended.
func (s *site) endSession(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	err = s.Store.EndSession(c.Request().Context(), web.VisitOf(c).Actor(), t.val("session"))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return done(c, views.PathAccountSecurity, views.FlashSessionEnded)
}

// endOthers ends all of one's own sessions but this one.
func (s *site) endOthers(c echo.Context) error {
	v := web.VisitOf(c)
	if _, err := s.Store.RevokeUserSessions(c.Request().Context(), v.Actor(), v.User.ID, v.TokenHash()); err != nil {
		return err
	}
	return done(c, views.PathAccountSecurity, views.FlashSessionsEnded)
}
