package handlers

import (
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// people lists everybody and their roles.
func (s *site) people(c echo.Context) error {
	list, err := s.Store.ListUsers(c.Request().Context())
	if err != nil {
		return err
	}
	m := views.PeopleModel{}
	for _, u := range list {
		m.Rows = append(m.Rows, personRow(u))
	}
	m.Frame = web.Frame(c, views.SectionPeople)
	return web.Render(c, views.PeoplePage(m))
}

func personRow(u store.User) views.PersonRow {
	row := views.PersonRow{ID: u.ID, Name: u.Name, Email: u.Email, URL: pathPerson(u.ID), Active: u.Active, LastSeen: u.SeenAt, PasswordSet: u.HasPassword}
	for _, g := range u.Roles {
		row.Roles = append(row.Roles, views.RoleGrant{Role: g.Role, Flow: g.Flow})
	}
	return row
}

// person shows one person: what was changed about them, and what was refused to them. It
// is for admins and auditors of every flow; to others there is no such page.
func (s *site) person(c echo.Context) error {
	ctx := c.Request().Context()
	who, err := s.viewer(c, "")
	if err != nil {
		return err
	}
	if !who.Has(operation.RoleAdmin) && !who.Has(operation.RoleAuditor) {
		return store.ErrNotFound
	}
	u, err := s.Store.FindUser(ctx, operation.UserID(c.Param("id")))
	if err != nil {
		return err
	}
	rows, broken, err := s.Store.ListHistory(ctx, operation.SubjectUser, string(u.ID))
	if err != nil {
		return err
	}
	m := views.PersonModel{Person: personRow(u), History: historyOf(rows, names{viewer: who}, broken == 0)}
	for _, h := range m.History.Entries {
		if h.Action == "decision_refused" {
			id := operation.ID(h.Links["operation"])
			m.Refused = append(m.Refused, views.RefusedAttempt{At: h.At, Operation: views.Link{Label: shortID(string(id)), URL: pathOperation(id)}, Code: operation.Code(h.Links["code"])})
		}
	}
	m.Frame = web.Frame(c, views.SectionPeople)
	return web.Render(c, views.PersonPage(m))
}
