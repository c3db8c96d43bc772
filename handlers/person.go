package handlers

import (
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
		row := views.PersonRow{ID: u.ID, Name: u.Name, Email: u.Email, Active: u.Active, LastSeen: u.SeenAt, PasswordSet: u.HasPassword}
		for _, g := range u.Roles {
			row.Roles = append(row.Roles, views.RoleGrant{Role: g.Role, Flow: g.Flow})
		}
		m.Rows = append(m.Rows, row)
	}
	m.Frame = web.Frame(c, views.SectionPeople)
	return web.Render(c, views.PeoplePage(m))
}
