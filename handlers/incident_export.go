package handlers

import (
	"net/http"

	"holdpoint/operation"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// incidentMarkdown gives an incident as a Markdown file, as the viewer may see it.
func (s *site) incidentMarkdown(c echo.Context) error {
	v := web.VisitOf(c)
	in, err := s.Store.FindIncident(c.Request().Context(), v.Actor(), operation.IncidentID(c.Param("id")))
	if err != nil {
		return err
	}
	m, _, err := s.incidentModel(c, in)
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentDisposition, `attachment; filename="holdpoint-`+incidentNumber(in.Number)+`.md"`)
	return c.Blob(http.StatusOK, "text/markdown; charset=utf-8", []byte(views.IncidentMarkdown(m, v.Printer())))
}
