package handlers

import (
	"holdpoint/operation"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// live opens the stream of changes. Each event is told to those alone who may see what
// it names.
var live = permission{name: "open pages", roles: operation.Roles}

// liveRoutes are what open pages ask by themselves, and the keys.
func (s *site) liveRoutes() []route {
	return []route{
		{get, web.PathLive, live, "", s.live},
	}
}

func (s *site) live(c echo.Context) error { return web.Live(c) }
