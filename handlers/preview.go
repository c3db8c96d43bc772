package handlers

import (
	"net/http"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// preview gives the HTML part of a mail, for a sandboxed frame: under its own policy it
// loads, runs and sends nothing.
func (s *site) preview(c echo.Context) error {
	p, err := s.find(c)
	if err != nil {
		return err
	}
	v := versionByID(p, operation.VersionID(c.Param("version")))
	if v == nil {
		return store.ErrNotFound
	}
	body := shownValue(v.Content()["html"])
	if body == "" {
		return store.ErrNotFound
	}
	web.PreviewHeaders(c)
	return c.HTML(http.StatusOK, body)
}
