package handlers

import (
	"strconv"

	"holdpoint/views"

	"github.com/labstack/echo/v4"
)

// shown is how a page of an operation is asked for: what stands in its address.
type shown struct {
	changes   bool   // the differences instead of the content
	since, to int    // versions to compare; 0 = not said
	all       string // the long list that is shown whole: attempts, lookups, history
}

func shownOf(c echo.Context) shown {
	s := shown{changes: c.QueryParam("view") == string(views.ViewChanges), all: c.QueryParam("all")}
	s.since, _ = strconv.Atoi(c.QueryParam("since"))
	s.to, _ = strconv.Atoi(c.QueryParam("to"))
	return s
}
