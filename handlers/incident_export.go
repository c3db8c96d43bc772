package handlers

import (
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// markdownType is the media type of documents as text.
const markdownType = "text/markdown; charset=utf-8"

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
	return s.exportDocument(c, store.Export{What: "incident", Format: "markdown", Filter: "id=" + string(in.ID)}, markdownType, "holdpoint-"+incidentNumber(in.Number)+".md",
		[]byte(views.IncidentMarkdown(m, v.Printer())))
}
