package handlers

import (
	"net/http"
	"net/url"
	"strconv"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// patterns is the library of why operations stop.
func (s *site) patterns(c echo.Context) error {
	v, q := web.VisitOf(c), c.QueryParams()
	f := store.PatternFilter{Flow: q.Get("flow"), Destination: q.Get("destination"), Cursor: q.Get("after") + q.Get("before")}
	if x := operation.CauseClass(q.Get("class")); x.Valid() {
		f.Class = x
	}
	if x := operation.CausePhase(q.Get("phase")); x.Valid() {
		f.Phase = x
	}
	list, err := s.Store.ListPatterns(c.Request().Context(), v.Actor(), f)
	if err != nil {
		return err
	}
	p := v.Printer()
	m := views.PatternsModel{Flows: options(list.Flows, f.Flow, p), Destinations: options(list.Destinations, f.Destination, p), Pager: pagerOf(c, list.Prev, list.Next),
		Active: f.Flow != "" || f.Destination != "" || f.Class != "" || f.Phase != ""}
	for _, x := range operation.CauseClasses {
		m.Classes = append(m.Classes, views.Option{Value: string(x), Selected: x == f.Class})
	}
	for _, x := range operation.CausePhases {
		m.Phases = append(m.Phases, views.Option{Value: string(x), Selected: x == f.Phase})
	}
	for _, r := range list.Rows {
		row := views.PatternRow{PatternView: patternView(r.Pattern), Times: r.Times, LastAt: r.LastAt, Open: r.Open, Ended: r.Ended}
		row.Destination = patternDestination(r.Pattern, list.Destinations, p.Lang)
		if f.Flow != "" {
			row.URL += "?" + url.Values{"flow": {f.Flow}}.Encode()
		}
		m.Rows = append(m.Rows, row)
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.Render(c, views.PatternsPage(m))
}

func patternView(p store.Pattern) views.PatternView {
	return views.PatternView{ID: p.ID, URL: pathPattern(p.ID), Phase: p.Phase, Class: p.Class(), OwnClass: p.OwnClass, RuleClass: p.RuleClass, Code: p.Code, Status: p.Status, Error: p.Error,
		Note: p.Note, Runbook: p.Runbook, FirstAt: p.FirstAt, Destination: views.Link{Label: p.Destination, URL: pathDestination(p.Destination)}}
}

func patternDestination(p store.Pattern, names []store.Named, lang string) views.Link {
	l := views.Link{Label: p.Destination, URL: pathDestination(p.Destination)}
	for _, n := range names {
		if n.Name == p.Destination {
			l.Label = titled(n.Title, lang, n.Name)
		}
	}
	return l
}

func patternCase(r store.PatternCase) views.PatternCase {
	out := views.PatternCase{ID: r.Operation, URL: pathOperation(r.Operation), Title: r.Title, Flow: r.Flow, At: r.At, Changed: r.Changed, State: r.State, Ending: r.Ending()}
	if out.Title == "" {
		out.Title = r.Stage
	}
	if r.CaseID != "" {
		out.Case, out.CaseURL = "RC-"+strconv.FormatInt(r.CaseNo, 10), views.PathCases+"/"+r.CaseID
	}
	return out
}

// pattern is one pattern's page.
func (s *site) pattern(c echo.Context) error {
	t, _ := kept(c)
	return s.showPattern(c, http.StatusOK, t)
}

func (s *site) showPattern(c echo.Context, status int, t typed) error {
	if !operation.ValidID("pat", c.Param("id")) {
		return store.ErrNotFound
	}
	v, ctx := web.VisitOf(c), c.Request().Context()
	flow := c.QueryParam("flow")
	p, err := s.Store.FindPattern(ctx, v.Actor(), operation.PatternID(c.Param("id")), flow)
	if err != nil {
		return err
	}
	lang := v.Printer().Lang
	m := views.PatternModel{Pattern: patternView(p.Pattern), Times: p.Times, LastAt: p.LastAt, Ended: p.Ended, Window: p.Window}
	m.Pattern.Destination.Label = titled(p.DestinationTitle.Title, lang, p.Destination)
	titles, err := s.patternFlows(c, p)
	if err != nil {
		return err
	}
	for _, f := range p.Flows {
		link := views.PatternFlow{Link: views.Link{Label: titles[f.Name], URL: pathPattern(p.ID) + "?" + url.Values{"flow": {f.Name}}.Encode()}, Times: f.Times, Only: f.Name == flow}
		if link.Only {
			link.URL = pathPattern(p.ID)
		}
		m.Flows = append(m.Flows, link)
	}
	for _, r := range p.Open {
		m.Open = append(m.Open, named(patternCase(r), titles))
	}
	for _, r := range p.Closed {
		m.Closed = append(m.Closed, named(patternCase(r), titles))
	}
	if p.MayEdit {
		f := shownTo(newForm(t, pathPattern(p.ID)+"/words"), v.User.ID)
		f.Revision = p.Revision
		m.Edit = &views.PatternForm{Form: f, Note: t.or("note", p.Note), Runbook: t.or("runbook", p.Runbook), Class: operation.CauseClass(t.or("class", string(p.OwnClass))), Reason: t.val("reason")}
	}
	who, err := s.names(c, "")
	if err != nil {
		return err
	}
	m.History = historyOf(p.History, who, p.ChainOK())
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.PatternPage(m))
}

func named(c views.PatternCase, titles map[string]string) views.PatternCase {
	c.Flow = titles[c.Flow]
	return c
}

// patternFlows gives the titles of the flows that stopped by a pattern.
func (s *site) patternFlows(c echo.Context, p *store.PatternPage) (map[string]string, error) {
	out := map[string]string{}
	for _, f := range p.Flows {
		x, err := s.Store.FindFlow(c.Request().Context(), f.Name)
		if err != nil {
			return nil, err
		}
		out[f.Name] = titled(x.Flow.Title, lang(c), f.Name)
	}
	return out, nil
}

// writePattern keeps what a person wrote about a pattern.
func (s *site) writePattern(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	if t.ofAnother(v.User.ID) {
		return web.ErrFormOfAnother
	}
	if t.old(v.Now) {
		t.wrong("", views.Sentence("settling.form_old"))
		return s.showPattern(c, http.StatusUnprocessableEntity, t)
	}
	id := operation.PatternID(c.Param("id"))
	if !operation.ValidID("pat", string(id)) {
		return store.ErrNotFound
	}
	err = s.Store.WritePattern(c.Request().Context(), v.Actor(), store.PatternWords{ID: id, Revision: t.revision(), Note: t.text("note"), Runbook: t.text("runbook"),
		Class: operation.CauseClass(t.val("class")), Reason: t.text("reason")})
	if field, say, ok := invalidOf(err); ok {
		t.wrong(field, say)
		return s.showPattern(c, http.StatusUnprocessableEntity, t)
	}
	switch r := refusalOf(err); {
	case r != nil && r.Code == operation.CodeReasonMissing:
		t.wrong("reason", views.Refused(r))
		return s.showPattern(c, http.StatusUnprocessableEntity, t)
	case r != nil && r.Code == operation.CodeStaleRevision:
		t.wrong("", views.Refused(r))
		return s.showPattern(c, http.StatusConflict, t)
	case err != nil:
		return err
	}
	return done(c, pathPattern(id), views.FlashPatternSaved)
}
