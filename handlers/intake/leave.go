package intake

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"holdpoint/store"

	"github.com/labstack/echo/v4"
)

// leave answers the question whether a sender may deliver here (HTTP 1.1 Web Hooks for
// CloudEvents, §4): OPTIONS with WebHook-Request-Origin. Leave is given to the origins
// that the source's file names, and to nobody else. No leave is no error of ours: the
// answer just does not hold it.
func (h handler) leave(c echo.Context) error {
	src, err := h.source(c)
	if errors.Is(err, store.ErrNotFound) {
		return writeProblem(c, http.StatusNotFound, "not_found", "There is no such source.", "")
	}
	if err != nil {
		return h.failed(c, err)
	}
	if len(src.Origins) == 0 {
		return h.otherMethod(c)
	}
	out := c.Response().Header()
	out.Set("Allow", "POST, OPTIONS")
	origin := strings.TrimSpace(c.Request().Header.Get("WebHook-Request-Origin"))
	if origin == "" {
		return c.NoContent(http.StatusNoContent)
	}
	if !allowed(src.Origins, origin) {
		h.Log.Info("no leave to deliver", "source", src.Name, "origin", Clip(origin, 200))
		return writeProblem(c, http.StatusForbidden, "origin", "This source does not take deliveries of that origin.", "")
	}
	out.Set("WebHook-Allowed-Origin", origin)
	if c.Request().Header.Get("WebHook-Request-Rate") != "" {
		out.Set("WebHook-Allowed-Rate", "*")
	}
	return c.NoContent(http.StatusOK)
}

func allowed(origins []string, origin string) bool {
	return slices.ContainsFunc(origins, func(o string) bool { return o == "*" || strings.EqualFold(o, origin) })
}
