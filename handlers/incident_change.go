package handlers

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// aboutIncident carries out something about one incident, and shows its page again where
// that cannot be done: 409 where somebody else changed it meanwhile, with what was typed.
func (s *site) aboutIncident(c echo.Context, flash string, verb func(*typed, store.IncidentShown) error) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if t.ofAnother(web.VisitOf(c).User.ID) {
		return web.ErrFormOfAnother
	}
	id := operation.IncidentID(c.Param("id"))
	err = verb(&t, store.IncidentShown{ID: id, Rev: t.revision(), FormID: t.once()})
	switch {
	case len(t.errors) > 0:
		return s.showIncident(c, http.StatusUnprocessableEntity, t)
	case err == nil:
		return done(c, pathIncident(id), flash)
	case errors.Is(err, store.ErrChanged):
		t.wrong("", views.Sentence("incidents.changed_meanwhile"))
		return s.showIncident(c, http.StatusConflict, t)
	case wrongOf(&t, err):
		return s.showIncident(c, http.StatusUnprocessableEntity, t)
	}
	return err
}

func (s *site) addLine(c echo.Context) error {
	return s.aboutIncident(c, "flash.incident_line", func(t *typed, sh store.IncidentShown) error {
		at := localTime(c, t, "at")
		if len(t.errors) > 0 {
			return nil
		}
		return s.Store.AddLine(c.Request().Context(), web.VisitOf(c).Actor(), sh, at, t.text("says"))
	})
}

func (s *site) removeLine(c echo.Context) error {
	return s.aboutIncident(c, "flash.incident_line_removed", func(t *typed, sh store.IncidentShown) error {
		return s.Store.RemoveLine(c.Request().Context(), web.VisitOf(c).Actor(), sh, store.IncidentLineID(t.val("line")))
	})
}

func (s *site) addOperations(c echo.Context) error {
	return s.aboutIncident(c, "flash.incident_operations", func(t *typed, sh store.IncidentShown) error {
		ctx, a := c.Request().Context(), web.VisitOf(c).Actor()
		named := idsIn(t.fields["operations"])
		if len(named) == 0 {
			t.wrong("operations", views.Sentence(views.ErrorRequired))
			return nil
		}
		p, err := s.Store.PickForIncident(ctx, a, named)
		if err != nil {
			return err
		}
		if p.Missing > 0 || len(p.Rows) == 0 {
			t.wrong("operations", views.Sentence("incidents.missing_named", "IDs", strings.Join(p.Unknown, ", ")))
			return nil
		}
		var ids []operation.ID
		for _, r := range p.Rows {
			ids = append(ids, r.ID)
		}
		return s.Store.AddToIncident(ctx, a, sh, ids)
	})
}

func (s *site) takeOperation(c echo.Context) error {
	return s.aboutIncident(c, "flash.incident_taken", func(t *typed, sh store.IncidentShown) error {
		return s.Store.TakeFromIncident(c.Request().Context(), web.VisitOf(c).Actor(), sh, operation.ID(t.val("operation")), t.text("reason"))
	})
}

func (s *site) addIncidentTask(c echo.Context) error {
	return s.aboutIncident(c, "flash.task_opened", func(t *typed, sh store.IncidentShown) error {
		n := newTask(c, t)
		notPast(c, t, "due", n.Due, time.Time{})
		if len(t.errors) > 0 {
			return nil
		}
		return s.Store.AddIncidentTask(c.Request().Context(), web.VisitOf(c).Actor(), sh, n)
	})
}

func (s *site) signIncident(c echo.Context) error {
	return s.aboutIncident(c, "flash.incident_signed", func(t *typed, sh store.IncidentShown) error {
		if !t.yes("sure") {
			t.wrong("sure", views.Sentence(views.ErrorRequired))
			return nil
		}
		return s.Store.SignIncident(c.Request().Context(), web.VisitOf(c).Actor(), sh, t.val("hash"), t.text("comment"))
	})
}

func (s *site) reviseIncident(c echo.Context) error {
	return s.aboutIncident(c, "flash.incident_revised", func(t *typed, sh store.IncidentShown) error {
		return s.Store.ReviseIncident(c.Request().Context(), web.VisitOf(c).Actor(), sh, t.text("reason"))
	})
}

// timelinePage chooses what of the history stands in the timeline.
func (s *site) timelinePage(c echo.Context) error { return s.showTimeline(c, http.StatusOK, typed{}) }

func (s *site) showTimeline(c echo.Context, status int, t typed) error {
	in, err := s.writtenIncident(c)
	if err != nil {
		return err
	}
	m := views.ChooseLinesModel{Form: shownTo(newForm(t, pathIncident(in.ID)+"/timeline"), web.VisitOf(c).User.ID), Number: incidentNumber(in.Number), URL: pathIncident(in.ID)}
	m.Revision = in.Rev
	for _, g := range in.Omitted {
		m.Lines = append(m.Lines, groupLine(g))
	}
	for _, l := range in.Timeline {
		if l.Group != nil {
			m.Lines = append(m.Lines, timelineLine(l))
		}
	}
	slices.SortStableFunc(m.Lines, func(a, b views.TimelineLine) int { return a.At.Compare(b.At) })
	m.Frame = web.Frame(c, views.SectionReports)
	return web.RenderStatus(c, status, views.ChooseLinesPage(m))
}

// writtenIncident finds the incident of a page on which it is written: it is open, and the
// viewer may write it.
func (s *site) writtenIncident(c echo.Context) (*store.Incident, error) {
	in, err := s.Store.FindIncident(c.Request().Context(), web.VisitOf(c).Actor(), operation.IncidentID(c.Param("id")))
	switch {
	case err != nil:
		return nil, err
	case !in.MayWrite:
		return nil, operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner})
	}
	return in, nil
}

// chooseTimeline takes the groups that were not ticked out of the timeline.
func (s *site) chooseTimeline(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	in, err := s.writtenIncident(c)
	if err != nil {
		return err
	}
	out, ok := omittedBy(in, t)
	sh := store.IncidentShown{ID: in.ID, Rev: t.revision(), FormID: t.once()}
	if ok {
		err = s.Store.ChooseEntries(c.Request().Context(), web.VisitOf(c).Actor(), sh, out)
	}
	switch {
	case err == nil && ok:
		return done(c, pathIncident(in.ID), "flash.incident_timeline")
	case !ok || errors.Is(err, store.ErrChanged): // the operations went on meanwhile: other lines
		t.wrong("", views.Sentence("incidents.changed_meanwhile"))
		return s.showTimeline(c, http.StatusConflict, t)
	}
	return err
}

// omittedBy gives the entries of the groups that were shown and not ticked; ok is false
// where the groups are others now.
func omittedBy(in *store.Incident, t typed) (out []int64, ok bool) {
	groups := map[string]operation.TimelineGroup{}
	for _, g := range in.Omitted {
		groups[lineKey(g)] = g
	}
	for _, l := range in.Timeline {
		if l.Group != nil {
			groups[lineKey(*l.Group)] = *l.Group
		}
	}
	shown := t.fields["shown"]
	if len(shown) != len(groups) {
		return nil, false
	}
	for _, key := range shown {
		g, known := groups[key]
		if !known {
			return nil, false
		}
		if !slices.Contains(t.fields["line"], key) {
			out = append(out, g.Entries...)
		}
	}
	return out, true
}
