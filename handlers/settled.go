package handlers

import (
	"strings"

	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// The marks in an address by which settling leads from one operation to the next. They
// change nothing: they say what has the focus.
const (
	queryAfter = "settled" // the operation was just settled: offer the next
	queryNext  = "settle"  // opened from the one before: the first answer has the focus
)

// settled ends the POST of a case: carried out, it leads back to the operation, which
// offers the next unknown outcome that waits for this person.
func (s *site) settled(c echo.Context, p *store.OperationPage, t typed, err error, key string, args ...string) error {
	if err != nil {
		return s.answer(c, p, t, err, key, args...)
	}
	to := backFrom(p, t)
	if strings.Contains(to, "?") {
		return done(c, to+"&"+queryAfter+"=1", key, args...)
	}
	return done(c, to+"?"+queryAfter+"=1", key, args...)
}

// nextUnknown finds the next operation that this person must settle; nil = they have not
// just settled one.
func (s *site) nextUnknown(c echo.Context, p *store.OperationPage) (*views.NextUnknown, error) {
	if c.QueryParam(queryAfter) == "" {
		return nil, nil
	}
	o, left, err := s.Store.NextToSettle(c.Request().Context(), web.VisitOf(c).Actor(), p.ID)
	if err != nil || left == 0 {
		return &views.NextUnknown{}, err
	}
	m := &views.NextUnknown{ID: o.ID, URL: pathOperation(o.ID) + "?" + queryNext + "=1", Title: o.Title, Left: left}
	if m.Title == "" {
		m.Title = string(o.ID)
	}
	return m, nil
}
