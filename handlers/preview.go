package handlers

import (
	"net/http"

	"holdpoint/store"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// preview gives the HTML part of a mail, for a sandboxed frame: under its own policy it
// loads, runs and sends nothing.
func (s *site) preview(c echo.Context) error {
	_, v, err := s.findVersion(c)
	if err != nil {
		return err
	}
	body := shownValue(v.Content()["html"])
	if body == "" {
		return store.ErrNotFound
	}
	web.PreviewHeaders(c)
	return c.HTML(http.StatusOK, body)
}
