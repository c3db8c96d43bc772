package handlers

import (
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// look records that an auditor has content before their eyes, before they have.
func (s *site) look(c echo.Context, l store.Look) error {
	return s.Store.RecordLook(c.Request().Context(), web.VisitOf(c).Actor(), l)
}

// lookAt records a look at an operation: at the version or the attempt that the address
// names, or at the version that its page shows and those that it compares.
func (s *site) lookAt(c echo.Context, p *store.OperationPage) error {
	l := store.Look{Operation: p.ID, Flow: p.Flow, Version: operation.VersionID(c.Param("version")), Attempt: operation.AttemptID(c.Param("attempt"))}
	if l.Version != "" && versionByID(p, l.Version) == nil {
		l.Version = "" // an address may name anything
	}
	if l.Version != "" || l.Attempt != "" && operation.ValidID("att", string(l.Attempt)) {
		return s.look(c, l)
	}
	l.Version, l.Attempt = p.VersionID, ""
	if err := s.look(c, l); err != nil {
		return err
	}
	want := shownOf(c)
	for _, v := range p.Versions {
		if want.changes && v.ID != p.VersionID && (v.Number == want.since || v.Number == want.to) {
			l.Version = v.ID
			if err := s.look(c, l); err != nil {
				return err
			}
		}
	}
	return nil
}
