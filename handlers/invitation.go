package handlers

import (
	"net/http"

	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

func (s *site) invitePage(c echo.Context) error {
	t, _ := kept(c)
	return s.showInvite(c, http.StatusOK, t)
}

func (s *site) showInvite(c echo.Context, status int, t typed) error {
	if _, err := s.overall(c); err != nil {
		return err
	}
	titles, err := s.flowNames(c)
	if err != nil {
		return err
	}
	m := views.InviteModel{Form: newForm(t, views.PathInvite), Email: t.val("email"), Name: t.val("name"), Reason: t.val("reason"),
		Grants: titles.choices(grantsOf(t.fields["grant"]))}
	m.Frame = web.Frame(c, views.SectionPeople)
	m.Path = views.PathInvite
	return web.RenderStatus(c, status, views.InvitePage(m))
}

// invite makes an account and the link of its invitation, which the next page shows
// once. Whoever sends mail may send it from here too.
func (s *site) invite(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if page := web.OnceOf(c, t.val("form_id")); page != "" {
		return calm(c, page, views.FlashInvitedTwice)
	}
	if t.text("reason") == "" {
		t.wrong("reason", views.Invalid("reason_missing", 0))
	}
	if t.tooLong() || len(t.errors) > 0 {
		return s.showInvite(c, http.StatusUnprocessableEntity, t)
	}
	n := store.NewUser{Email: t.text("email"), Name: t.text("name"), Roles: grantsOf(t.fields["grant"])}
	l, err := s.Store.Invite(c.Request().Context(), web.VisitOf(c).Actor(), n, t.text("reason"))
	if say, status, ok := accessTrouble(err); ok {
		t.wrong(say.field, say.Say)
		return s.showInvite(c, status, t)
	}
	if err != nil {
		return err
	}
	if err := web.ShowOnce(c, pathPerson(l.User), t.val("form_id"), linkAddress(c, l)); err != nil {
		return err
	}
	return done(c, pathPerson(l.User), views.FlashInvited, "Name", n.Name)
}
