package handlers

import (
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// peopleRoutes are people, their access, and the tokens of programs. What changes access
// asks for a proof of the person that is not old.
func (s *site) peopleRoutes() []route {
	const who, tokens = views.PathPeople + "/:id", views.PathTokens
	managers := admins.again()
	return []route{
		{get, views.PathPeople, readers, "", s.people},
		{get, views.PathInvite, admins, "", s.invitePage},
		{post, views.PathInvite, managers, views.PathInvite, s.invite},
		{get, tokens, readers, "", s.tokens},
		{post, tokens + "/add", managers, tokens, s.addToken},
		{get, tokens + "/:id", readers, "", s.token},
		{post, tokens + "/:id/revoke", managers, tokens + "/:id", s.revokeToken},
		{get, who, readers, "", s.person},
		{post, who + "/roles", managers, who, s.setRoles},
		{post, who + "/disable", managers, who, s.changeAccount(s.disableUser)},
		{post, who + "/enable", managers, who, s.changeAccount(s.enableUser)},
		{post, who + "/reset", managers, who, s.changeAccount(s.resetPassword)},
		{post, who + "/sign-out", managers, who, s.changeAccount(s.signOutUser)},
		{post, who + "/resend", managers, who, s.changeAccount(s.resendInvitation)},
		{post, who + "/revoke", managers, who, s.changeAccount(s.revokeInvitation)},
	}
}

// overall is the viewer with the roles that they hold for every flow. People and tokens
// are for admins and auditors of every flow; to others there is no such page.
func (s *site) overall(c echo.Context) (operation.Person, error) {
	who, err := s.viewer(c, "")
	if err == nil && !who.Has(operation.RoleAdmin) && !who.Has(operation.RoleAuditor) {
		err = store.ErrNotFound
	}
	return who, err
}

// people lists everybody, their roles and the state of their accounts.
func (s *site) people(c echo.Context) error {
	ctx := c.Request().Context()
	viewer, err := s.overall(c)
	if err != nil {
		return err
	}
	list, err := s.Store.ListUsers(ctx)
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
	f := peopleFilter{q: folded(c.QueryParam("q")), role: operation.Role(c.QueryParam("role")), flow: c.QueryParam("flow"), account: views.AccountState(c.QueryParam("account"))}
	m := views.PeopleModel{Total: len(list), MayChange: viewer.Has(operation.RoleAdmin), Filter: f.form(c.QueryParam("q"), titles)}
	for _, u := range list {
		row := personRow(u, invited, titles, web.VisitOf(c).Now)
		if f.fits(u, row.State) {
			m.Rows = append(m.Rows, row)
		}
	}
	m.Frame = web.Frame(c, views.SectionPeople)
	return web.Render(c, views.PeoplePage(m))
}

// peopleFilter narrows the list of people.
type peopleFilter struct {
	q       string // folded
	role    operation.Role
	flow    string
	account views.AccountState
}

func folded(s string) string { return strings.ToLower(strings.TrimSpace(operation.Normalize(s))) }

func (f peopleFilter) fits(u store.User, state views.AccountState) bool {
	holds := slices.ContainsFunc(u.Roles, func(g store.RoleGrant) bool {
		return (f.role == "" || g.Role == f.role) && (f.flow == "" || g.Flow == "" || g.Flow == f.flow)
	})
	return (f.q == "" || strings.Contains(folded(u.Name), f.q) || strings.Contains(u.Email, f.q)) &&
		(f.role == "" && f.flow == "" || holds) && (f.account == "" || f.account == state)
}

func (f peopleFilter) form(q string, titles flowNames) views.PeopleFilter {
	m := views.PeopleFilter{Q: q, Accounts: views.AccountOptions(string(f.account)), Active: f != peopleFilter{}}
	for _, r := range operation.Roles {
		m.Roles = append(m.Roles, views.Option{Value: string(r), Selected: r == f.role})
	}
	m.Flows = titles.options(f.flow)
	return m
}

func personRow(u store.User, invited map[operation.UserID]store.Invitation, titles flowNames, now time.Time) views.PersonRow {
	row := views.PersonRow{ID: u.ID, Name: u.Name, Email: u.Email, URL: pathPerson(u.ID), LastSeen: u.SeenAt}
	row.State, row.Until = accountState(u, invited, now)
	for _, g := range u.Roles {
		row.Roles = append(row.Roles, views.RoleGrant{Role: g.Role, Flow: titles.of(g.Flow)})
	}
	return row
}

// accountState says what an account can do now; until is how long its invitation holds.
func accountState(u store.User, invited map[operation.UserID]store.Invitation, now time.Time) (state views.AccountState, until time.Time) {
	i, waits := invited[u.ID]
	switch {
	case !u.Active:
		return views.AccountDisabled, time.Time{}
	case u.HasPassword || !u.SeenAt.IsZero() && !waits:
		return views.AccountActive, time.Time{}
	case waits && i.Expires.After(now):
		return views.AccountInvited, i.Expires
	case waits:
		return views.AccountExpired, time.Time{}
	}
	return views.AccountNoPassword, time.Time{}
}
