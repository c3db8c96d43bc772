package handlers

import (
	"net/http"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// accountActions are what may be done about an account in its state, each by a form of
// its own; the last part of the form's address is its name.
func accountActions(p views.PersonRow, t typed) []views.AccountAction {
	action := func(form, word string, danger bool) views.AccountAction {
		mine := t.of(form)
		return views.AccountAction{Word: word, Danger: danger, Form: views.ReasonForm{Form: newForm(mine, p.URL+"/"+form), Reason: mine.val("reason")}}
	}
	var list []views.AccountAction
	switch p.State {
	case views.AccountDisabled:
		return append(list, action("enable", "enable_user", false))
	case views.AccountInvited, views.AccountExpired:
		return append(list, action("resend", "resend_invitation", false), action("revoke", "revoke_invitation", true))
	case views.AccountActive:
		list = append(list, action("sign-out", "sign_out_user", false))
	}
	return append(list, action("reset", "reset_password", false), action("disable", "disable_user", true))
}

// accountChange is one change about a person's account. It gives the secret of a new
// link, and what to say.
type accountChange func(c echo.Context, a store.Actor, id operation.UserID, reason string) (secret, flash string, err error)

// changeAccount reads the form of a change about a person's account, which needs a
// reason. A link that it makes is shown once, on the person's page.
func (s *site) changeAccount(change accountChange) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := operation.UserID(c.Param("id"))
		t, err := sent(c)
		if err != nil {
			return err
		}
		if page := web.OnceOf(c, t.val("form_id")); page != "" {
			return calm(c, page, views.FlashInvitedTwice)
		}
		if _, err := s.Store.FindUser(c.Request().Context(), id); err != nil {
			return err
		}
		if t.text("reason") == "" {
			t.wrong("reason", views.Invalid("reason_missing", 0))
		}
		if t.tooLong() || len(t.errors) > 0 {
			return s.showPerson(c, http.StatusUnprocessableEntity, t)
		}
		secret, flash, err := change(c, web.VisitOf(c).Actor(), id, t.text("reason"))
		if say, status, ok := accessTrouble(err); ok {
			t.wrong(say.field, say.Say)
			return s.showPerson(c, status, t)
		}
		if err != nil {
			return err
		}
		if secret != "" {
			if err := web.ShowOnce(c, pathPerson(id), t.val("form_id"), secret); err != nil {
				return err
			}
		}
		return done(c, pathPerson(id), flash)
	}
}

func (s *site) disableUser(c echo.Context, a store.Actor, id operation.UserID, reason string) (string, string, error) {
	return "", views.FlashUserDisabled, s.Store.DisableUser(c.Request().Context(), a, id, reason)
}

func (s *site) enableUser(c echo.Context, a store.Actor, id operation.UserID, reason string) (string, string, error) {
	return "", views.FlashUserEnabled, s.Store.EnableUser(c.Request().Context(), a, id, reason)
}

func (s *site) signOutUser(c echo.Context, a store.Actor, id operation.UserID, reason string) (string, string, error) {
	return "", views.FlashSignedOutUser, s.Store.SignOutUser(c.Request().Context(), a, id, reason)
}

func (s *site) resetPassword(c echo.Context, a store.Actor, id operation.UserID, reason string) (string, string, error) {
	l, err := s.Store.ResetPassword(c.Request().Context(), a, id, reason)
	return linkAddress(c, l), views.FlashLinkMade, err
}

func (s *site) resendInvitation(c echo.Context, a store.Actor, id operation.UserID, reason string) (string, string, error) {
	l, err := s.Store.ResendInvitation(c.Request().Context(), a, id, reason)
	return linkAddress(c, l), views.FlashLinkMade, err
}

func (s *site) revokeInvitation(c echo.Context, a store.Actor, id operation.UserID, reason string) (string, string, error) {
	return "", views.FlashInvitationRevoked, s.Store.RevokeInvitation(c.Request().Context(), a, id, reason)
}

// linkAddress is the page on which a link sets a password.
func linkAddress(c echo.Context, l store.PasswordLink) string {
	return web.Address(c, pathSetPassword+"?token="+l.Secret)
}
