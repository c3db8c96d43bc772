package handlers

import (
	"net/http"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// person shows one person: what they may, where they are signed in, what was refused to
// them and what was changed about them.
func (s *site) person(c echo.Context) error {
	t, _ := kept(c)
	return s.showPerson(c, http.StatusOK, t)
}

func (s *site) showPerson(c echo.Context, status int, t typed) error {
	ctx := c.Request().Context()
	viewer, err := s.overall(c)
	if err != nil {
		return err
	}
	u, err := s.Store.FindUser(ctx, operation.UserID(c.Param("id")))
	if err != nil {
		return err
	}
	m := views.PersonModel{Barred: barredFrom(viewer, u)}
	if viewer.Has(operation.RoleAdmin) {
		m.SignIn = pathSignInOf(u.ID)
	}
	if err := s.accessOf(c, u, t, &m); err != nil {
		return err
	}
	rows, broken, err := s.Store.ListHistory(ctx, operation.SubjectUser, string(u.ID))
	if err != nil {
		return err
	}
	m.History = historyOf(rows, names{viewer: viewer}, broken == 0)
	for _, h := range m.History.Entries {
		if h.Action == "decision_refused" {
			id := operation.ID(h.Links["operation"])
			m.Refused = append(m.Refused, views.RefusedAttempt{At: h.At, Operation: views.Link{Label: shortID(string(id)), URL: pathOperation(id)}, Code: operation.Code(h.Links["code"])})
		}
	}
	secret, err := web.TakeOnce(c)
	if err != nil {
		return err
	}
	if secret != "" {
		m.Link = &views.OnceLink{Text: secret, Invitation: m.Person.State == views.AccountInvited, Until: m.Person.Until}
		if m.Person.State != views.AccountInvited {
			m.Link.Until = web.VisitOf(c).Now.Add(store.PasswordLinkLife)
		}
	}
	m.Frame = web.Frame(c, views.SectionPeople)
	return web.RenderStatus(c, status, views.PersonPage(m))
}

// barredFrom says why the viewer may not change somebody's access; empty = they may.
func barredFrom(viewer operation.Person, u store.User) views.Say {
	switch {
	case !viewer.Has(operation.RoleAdmin):
		return views.Sentence(views.BarredRole)
	case viewer.ID == u.ID || viewer.Natural != "" && (viewer.Natural == u.ID || viewer.Natural == u.SameAs) || u.SameAs == viewer.ID:
		return views.Sentence(views.BarredSelf)
	}
	return views.Say{}
}

// accessOf fills in what a person may, where they are signed in, and the forms that
// change it.
func (s *site) accessOf(c echo.Context, u store.User, t typed, m *views.PersonModel) error {
	ctx := c.Request().Context()
	held, err := s.Store.ListEntitlements(ctx, u.ID)
	if err != nil {
		return err
	}
	invited, err := s.Store.ListInvitations(ctx)
	if err != nil {
		return err
	}
	titles, err := s.flowNames(c)
	if err != nil {
		return err
	}
	m.Person = personRow(u, invited, titles, web.VisitOf(c).Now)
	m.Person.Roles = titles.grants(held)
	if u.SameAs != "" {
		same, err := s.Store.FindUser(ctx, u.SameAs)
		if err != nil {
			return err
		}
		m.Person.SameAs = &views.Link{Label: same.Email, URL: pathPerson(same.ID)}
	}
	m.Roles = rolesForm(u, held, titles, t.of("roles"))
	m.Actions = accountActions(m.Person, t)
	if m.Sessions, err = s.sessionsOf(c, u.ID); err != nil {
		return err
	}
	m.SignIns, err = s.signInsOf(c, u)
	return err
}

func rolesForm(u store.User, held []store.Entitlement, titles flowNames, t typed) views.RolesForm {
	var on []store.RoleGrant
	for _, g := range held {
		if !g.ByProvider {
			on = append(on, g.RoleGrant)
		}
	}
	f := views.RolesForm{Form: newForm(t, pathPerson(u.ID)+"/roles"), Was: grantValues(on), Reason: t.val("reason")}
	if t.fields != nil && t.errors[""].Empty() {
		on = grantsOf(t.fields["grant"])
	}
	f.Grants = titles.choices(on)
	return f
}

// setRoles changes what a person may.
func (s *site) setRoles(c echo.Context) error {
	id := operation.UserID(c.Param("id"))
	t, err := sent(c)
	if err != nil {
		return err
	}
	if t.tooLong() {
		return s.showPerson(c, http.StatusUnprocessableEntity, t)
	}
	n, err := s.Store.SetRoles(c.Request().Context(), web.VisitOf(c).Actor(), id, grantsOf(t.fields["was"]), grantsOf(t.fields["grant"]), t.text("reason"))
	if say, status, ok := accessTrouble(err); ok {
		t.wrong(say.field, say.Say)
		return s.showPerson(c, status, t)
	}
	if err != nil {
		return err
	}
	if n == 0 {
		return calm(c, pathPerson(id), views.FlashRolesSame)
	}
	return done(c, pathPerson(id), views.FlashRolesChanged)
}

// fieldSay is what is wrong with a field.
type fieldSay struct {
	field string
	views.Say
}

// accessTrouble says what the store finds wrong with a change of access: 409 when it
// stands against what is there now, 422 for what the form can put right.
func accessTrouble(err error) (fieldSay, int, bool) {
	field, say, ok := invalidOf(err)
	if !ok {
		return fieldSay{}, 0, false
	}
	switch field {
	case "role", "flow", "flows":
		field = "roles"
	case "user":
		field = ""
	}
	if field == "" {
		return fieldSay{"", say}, http.StatusConflict, true
	}
	return fieldSay{field, say}, http.StatusUnprocessableEntity, true
}
