package handlers

import (
	"net/http"

	"holdpoint/operation"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// live opens the stream of changes. Each event is told to those alone who may see what
// it names.
var live = permission{name: "open pages", roles: operation.Roles}

// liveRoutes are the stream of changes, and the list of keys.
func (s *site) liveRoutes() []route {
	return []route{
		{get, web.PathLive, live, "", s.live},
		{get, views.PathShortcuts, signedIn, "", s.shortcuts},
		{post, views.PathShortcuts + "/keys", signedIn, views.PathShortcuts, s.saveKeys},
	}
}

func (s *site) live(c echo.Context) error { return web.Live(c) }

// shortcuts lists the keys.
func (s *site) shortcuts(c echo.Context) error {
	t, _ := kept(c)
	m := views.ShortcutsModel{Switch: newForm(t.of("keys"), views.PathShortcuts+"/keys")}
	m.Frame = web.Frame(c, "")
	return web.RenderStatus(c, http.StatusOK, views.ShortcutsPage(m))
}

// saveKeys switches single keys on or off for oneself.
func (s *site) saveKeys(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if err := s.Store.SetSingleKeys(c.Request().Context(), web.VisitOf(c).Actor(), t.text("single") == "yes"); err != nil {
		return err
	}
	return done(c, views.PathShortcuts, views.FlashKeysSaved)
}
