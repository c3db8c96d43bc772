package handlers

import (
	"errors"
	"net/http"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

func (s *site) editIncidentPage(c echo.Context) error {
	t, _ := kept(c)
	return s.showIncidentEdit(c, http.StatusOK, t.of("edit"))
}

// showIncidentEdit draws the form about what people write, with what was typed; after a
// conflict with what stands there now beside it.
func (s *site) showIncidentEdit(c echo.Context, status int, t typed) error {
	in, err := s.writtenIncident(c)
	if err != nil {
		return err
	}
	if in.State != operation.IncidentOpen {
		return calm(c, pathIncident(in.ID), "flash.incident_is_signed")
	}
	v, ctx := web.VisitOf(c), c.Request().Context()
	names, err := s.Store.FilterNames(ctx, v.Actor())
	if err != nil {
		return err
	}
	clock := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return at.In(v.Printer().Zone).Format(inputTime)
	}
	m := views.IncidentEditModel{Form: shownTo(newForm(t, pathIncident(in.ID)+"/edit"), v.User.ID), ID: string(in.ID), Number: incidentNumber(in.Number), URL: pathIncident(in.ID),
		Title: t.or("title", in.Title), Summary: t.or("summary", in.Summary), Pattern: t.or("pattern", in.Pattern), PatternID: t.or("pattern_id", string(in.PatternID)),
		Cause: t.or("cause", in.Cause), Response: t.or("response", in.Response), Prevention: t.or("prevention", in.Prevention),
		First: t.or("first", clock(in.Corrected.First)), Last: t.or("last", clock(in.Corrected.Last)), Detected: t.or("detected", clock(in.Corrected.Detected)), Settled: t.or("settled", clock(in.Corrected.Settled)),
		Proposed: map[string]time.Time{"first": in.Proposed.First, "last": in.Proposed.Last, "detected": in.Proposed.Detected, "settled": in.Proposed.Settled},
		Classes:  pick(operation.CauseClasses, operation.CauseClass(t.or("class", string(in.Class))))}
	m.Revision = in.Rev
	owner := t.or("owner", string(in.OwnerID))
	for _, x := range names.People {
		m.People = append(m.People, views.Option{Value: string(x.ID), Label: x.Name, Selected: string(x.ID) == owner})
	}
	if m.Patterns, err = s.patternOptions(c, in, names.Destinations, m.PatternID); err != nil {
		return err
	}
	if status == http.StatusConflict {
		m.Changed = changedFields(in, t, v)
	}
	m.Frame = web.Frame(c, views.SectionReports)
	return web.RenderStatus(c, status, views.IncidentEditPage(m))
}

// patternOptions are the patterns of the library that cases of the incident's operations
// belong to.
func (s *site) patternOptions(c echo.Context, in *store.Incident, places []store.Named, selected string) ([]views.Option, error) {
	v := web.VisitOf(c)
	list, err := s.Store.PatternsOfIncident(c.Request().Context(), v.Actor(), in.ID)
	var out []views.Option
	other := selected != ""
	for _, n := range list {
		other = other && string(n.ID) != selected
		line := views.PatternLine(v.Printer(), *libraryPattern(n, places, v.Printer()))
		out = append(out, views.Option{Value: string(n.ID), Label: views.Plain(line), Selected: string(n.ID) == selected})
	}
	if other { // chosen by somebody who sees more: saving the form keeps it
		out = append(out, views.Option{Value: selected, Label: v.Printer().T("incidents.pattern_other"), Selected: true})
	}
	return out, err
}

// changedFields gives what stands in the fields in which something else was typed.
func changedFields(in *store.Incident, t typed, v *web.Visit) []views.ChangedField {
	p := v.Printer()
	var out []views.ChangedField
	for _, f := range [][3]string{{"title", "incidents.field.title", in.Title}, {"summary", "incidents.field.summary", in.Summary}, {"pattern", "incidents.pattern", in.Pattern},
		{"cause", "incidents.field.cause", in.Cause}, {"response", "incidents.field.response", in.Response}, {"prevention", "incidents.field.prevention", in.Prevention}} {
		if t.text(f[0]) != f[2] {
			now := f[2]
			if now == "" {
				now = "–"
			}
			out = append(out, views.ChangedField{Label: p.T(f[1]), Now: now})
		}
	}
	return out
}

func (s *site) editIncident(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if t.ofAnother(web.VisitOf(c).User.ID) {
		return web.ErrFormOfAnother
	}
	e := store.IncidentEdit{Title: t.text("title"), Summary: t.text("summary"), Owner: operation.UserID(t.val("owner")), Class: operation.CauseClass(t.val("class")), Pattern: t.text("pattern"),
		PatternID: operation.PatternID(t.val("pattern_id")), Cause: t.text("cause"), Response: t.text("response"), Prevention: t.text("prevention"),
		Times: operation.IncidentTimes{First: localTime(c, &t, "first"), Last: localTime(c, &t, "last"), Detected: localTime(c, &t, "detected"), Settled: localTime(c, &t, "settled")}}
	if len(t.errors) > 0 {
		return s.showIncidentEdit(c, http.StatusUnprocessableEntity, t)
	}
	id := operation.IncidentID(c.Param("id"))
	err = s.Store.EditIncident(c.Request().Context(), web.VisitOf(c).Actor(), store.IncidentShown{ID: id, Rev: t.revision(), FormID: t.once()}, e)
	switch {
	case err == nil:
		return done(c, pathIncident(id), "flash.incident_saved")
	case errors.Is(err, store.ErrChanged):
		return s.showIncidentEdit(c, http.StatusConflict, t)
	case wrongOf(&t, err):
		return s.showIncidentEdit(c, http.StatusUnprocessableEntity, t)
	}
	return err
}
