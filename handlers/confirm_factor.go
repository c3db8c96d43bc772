package handlers

import (
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// otherProofs adds the ways besides a password by which a person confirms who they are:
// the code of their app beside the password, a passkey or the provider in its place.
func (s *site) otherProofs(c echo.Context, u store.User, m *views.ConfirmModel) error {
	f, err := s.Store.FindFactors(c.Request().Context(), u.ID)
	if err != nil {
		return err
	}
	m.Code = m.HasPassword && !f.TOTPSince.IsZero()
	if len(f.Passkeys) > 0 && s.hasPasskeys(c) {
		m.Passkey = &views.PasskeyAsk{Start: views.PathConfirm + "/passkey/start", Finish: views.PathConfirm + "/passkey", Return: m.Back}
	}
	if s.Provider == nil {
		return nil
	}
	is, err := s.Store.HasIdentity(c.Request().Context(), s.Provider.Issuer, u.ID)
	if is {
		m.Provider = &views.ProviderLink{Name: s.Provider.name(), URL: returning(views.PathConfirm+"/provider", m.Back)}
	}
	return err
}

// confirmPassword checks the password and, where the person has an app, its code: whoever
// knows the password alone proves no more here than at the sign-in.
func (s *site) confirmPassword(c echo.Context, t typed) error {
	ctx, v := c.Request().Context(), web.VisitOf(c)
	u := v.Self()
	if !s.Provider.local(u.Email) {
		return store.ErrBadLogin
	}
	f, err := s.Store.FindFactors(ctx, u.ID)
	if err != nil {
		return err
	}
	if err := s.Store.ConfirmPassword(ctx, v.SelfActor(), t.val("password"), c.RealIP()); err != nil {
		return err
	}
	if f.TOTPSince.IsZero() {
		return nil
	}
	_, err = s.Store.VerifyCode(ctx, u.ID, t.val("code"), c.RealIP())
	return err
}
