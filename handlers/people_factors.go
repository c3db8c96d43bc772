package handlers

import (
	"net/http"
	"slices"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// pathPeopleFactors is the rule about second factors, for everybody.
const pathPeopleFactors = views.PathPeople + "/factors"

// peopleFactorRoutes are how people sign in, for administrators.
func (s *site) peopleFactorRoutes() []route {
	const one = views.PathPeople + "/:id/sign-in"
	managers := admins.again()
	return []route{
		{get, pathPeopleFactors, admins, "", s.factorRule},
		{post, pathPeopleFactors, managers, pathPeopleFactors, s.setFactorRule},
		{get, one, admins, "", s.personSignIn},
		{post, one + "/reset-factors", managers, one, s.resetFactors},
		{post, one + "/link", managers, one, s.linkPerson},
		{post, one + "/unlink", managers, one, s.unlinkPerson},
		{post, one + "/forget", managers, one, s.forgetIdentity},
	}
}

// isAdmin reports whether the person manages people of every flow.
func (s *site) isAdmin(c echo.Context) (bool, error) {
	who, err := s.viewer(c, "")
	return who.Has(operation.RoleAdmin), err
}

// factorRule shows which roles must have a second factor, and who has one.
func (s *site) factorRule(c echo.Context) error {
	t, _ := kept(c)
	return s.showFactorRule(c, http.StatusOK, t)
}

func (s *site) showFactorRule(c echo.Context, status int, t typed) error {
	ctx := c.Request().Context()
	roles, err := s.Store.FactorRoles(ctx)
	if err != nil {
		return err
	}
	people, err := s.Store.ListUsers(ctx)
	if err != nil {
		return err
	}
	glass, err := s.Store.ListBreakGlass(ctx, 5)
	if err != nil {
		return err
	}
	all, err := s.isAdmin(c)
	if err != nil {
		return err
	}
	m := views.FactorRuleModel{Form: newForm(t, pathPeopleFactors), Reason: t.val("reason"), ProviderOnly: s.Provider.only(), Provider: s.Provider.name()}
	if !all {
		m.Barred = operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleAdmin)).By(operation.Responsible{Role: operation.RoleAdmin})
	}
	for _, r := range operation.Roles {
		on := slices.Contains(roles, r)
		if t.fields != nil {
			on = slices.Contains(t.fields["role"], string(r))
		}
		m.Roles = append(m.Roles, views.FactorRole{Role: r, Must: on})
	}
	for _, u := range people {
		if u.Active && all {
			m.People = append(m.People, views.FactorPerson{Name: u.Name, Email: u.Email, URL: pathSignInOf(u.ID), Has: u.HasFactor, Needs: u.NeedsFactor})
		}
	}
	for _, g := range glass {
		if all {
			m.BreakGlass = append(m.BreakGlass, views.BreakGlassRow{Name: g.Name, URL: pathPerson(g.User), At: g.At})
		}
	}
	m.Frame = web.Frame(c, views.SectionPeople)
	return web.RenderStatus(c, status, views.FactorRulePage(m))
}

func pathSignInOf(id operation.UserID) string { return pathPerson(id) + "/sign-in" }

// setFactorRule says which roles must have a second factor.
func (s *site) setFactorRule(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	var roles []operation.Role
	for _, r := range t.fields["role"] {
		roles = append(roles, operation.Role(r))
	}
	err = s.Store.SetFactorRoles(c.Request().Context(), web.VisitOf(c).Actor(), roles, t.text("reason"))
	if field, say, ok := invalidOf(err); ok {
		t.wrong(field, say)
		return s.showFactorRule(c, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	return done(c, pathPeopleFactors, views.FlashFactorRule)
}

// signInOf reads whom a page or a form is about. It is for admins of every flow; to
// others there is no such page.
func (s *site) signInOf(c echo.Context) (store.User, error) {
	id := c.Param("id")
	all, err := s.isAdmin(c)
	if err != nil {
		return store.User{}, err
	}
	if !all || !operation.ValidID("usr", id) {
		return store.User{}, store.ErrNotFound
	}
	return s.Store.FindUser(c.Request().Context(), operation.UserID(id))
}

// personSignIn shows how somebody signs in, and which accounts are theirs.
func (s *site) personSignIn(c echo.Context) error {
	u, err := s.signInOf(c)
	if err != nil {
		return err
	}
	t, _ := kept(c)
	return s.showSignInOf(c, http.StatusOK, u, t)
}

func (s *site) showSignInOf(c echo.Context, status int, u store.User, t typed) error {
	ctx := c.Request().Context()
	f, err := s.Store.FindFactors(ctx, u.ID)
	if err != nil {
		return err
	}
	identities, err := s.Store.ListIdentities(ctx, u.ID)
	if err != nil {
		return err
	}
	people, err := s.Store.ListUsers(ctx)
	if err != nil {
		return err
	}
	base := pathSignInOf(u.ID)
	form := func(name string) views.SignInForm {
		own := t.of(name)
		return views.SignInForm{Form: newForm(own, base+"/"+name), Reason: own.val("reason")}
	}
	m := views.PersonSignInModel{Name: u.Name, Email: u.Email, URL: pathPerson(u.ID), Password: u.HasPassword, TOTPSince: f.TOTPSince, Recovery: f.Recovery,
		Any: f.Any(), Needs: u.NeedsFactor, Provider: s.Provider.name(), Reset: form("reset-factors"), Link: form("link"), Unlink: form("unlink"), Forget: form("forget")}
	for _, k := range f.Passkeys {
		row := views.PasskeyRow{ID: k.ID, Name: k.Name, Created: k.CreatedAt}
		if k.ClonedAt != nil {
			row.Cloned = *k.ClonedAt
		}
		m.Passkeys = append(m.Passkeys, row)
	}
	for _, x := range identities {
		m.Identities = append(m.Identities, views.IdentityRow{Issuer: x.Issuer, Email: x.Email, Linked: x.LinkedAt, Used: x.UsedAt})
	}
	s.accountsOf(&m, u, people, t.of("link").val("same_as"))
	if me := web.VisitOf(c).User; oneOf(*me) == oneOf(u) {
		m.Own = true
	}
	m.Frame = web.Frame(c, views.SectionPeople)
	return web.RenderStatus(c, status, views.PersonSignInPage(m))
}

func oneOf(u store.User) operation.UserID {
	if u.SameAs != "" {
		return u.SameAs
	}
	return u.ID
}

// accountsOf lists the other accounts of the person, and those that could be.
func (s *site) accountsOf(m *views.PersonSignInModel, u store.User, people []store.User, chosen string) {
	for _, o := range people {
		switch {
		case o.ID == u.ID:
		case oneOf(o) == oneOf(u):
			m.Accounts = append(m.Accounts, views.Link{Label: o.Email, URL: pathSignInOf(o.ID)})
		case o.SameAs == "":
			m.Choices = append(m.Choices, views.Option{Value: string(o.ID), Label: o.Name + " · " + o.Email, Selected: string(o.ID) == chosen})
		}
	}
	m.Linked = u.SameAs != ""
}

// changeSignIn carries out one change and shows what is wrong with it.
func (s *site) changeSignIn(c echo.Context, flash string, verb func(store.Actor, operation.UserID, typed) error) error {
	u, err := s.signInOf(c)
	if err != nil {
		return err
	}
	t, err := sent(c)
	if err != nil {
		return err
	}
	if t.text("reason") == "" {
		t.wrong("reason", views.Refused(operation.Refuse(operation.CodeReasonMissing)))
		return s.showSignInOf(c, http.StatusUnprocessableEntity, u, t)
	}
	err = verb(web.VisitOf(c).Actor(), u.ID, t)
	if field, say, ok := invalidOf(err); ok {
		if field == "user" {
			field = ""
		}
		t.wrong(field, say)
		return s.showSignInOf(c, http.StatusUnprocessableEntity, u, t)
	}
	if err != nil {
		return err
	}
	return done(c, pathSignInOf(u.ID), flash)
}

// resetFactors takes all second factors of somebody away who has lost them.
func (s *site) resetFactors(c echo.Context) error {
	return s.changeSignIn(c, views.FlashFactorsReset, func(a store.Actor, id operation.UserID, t typed) error {
		return s.Store.ResetFactors(c.Request().Context(), a, id, t.text("reason"))
	})
}

// linkPerson records that an account is another one's person.
func (s *site) linkPerson(c echo.Context) error {
	return s.changeSignIn(c, views.FlashPersonLinked, func(a store.Actor, id operation.UserID, t typed) error {
		return s.Store.LinkPerson(c.Request().Context(), a, id, operation.UserID(t.val("same_as")), t.text("reason"))
	})
}

// unlinkPerson records that an account is a person of its own.
func (s *site) unlinkPerson(c echo.Context) error {
	return s.changeSignIn(c, views.FlashPersonUnlinked, func(a store.Actor, id operation.UserID, t typed) error {
		return s.Store.UnlinkPerson(c.Request().Context(), a, id, t.text("reason"))
	})
}

// forgetIdentity takes somebody's identity at a provider away.
func (s *site) forgetIdentity(c echo.Context) error {
	return s.changeSignIn(c, views.FlashIdentityForgotten, func(a store.Actor, id operation.UserID, t typed) error {
		return s.Store.UnlinkIdentity(c.Request().Context(), a, id, t.val("issuer"), t.text("reason"))
	})
}
