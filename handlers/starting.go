package handlers

import (
	"errors"
	"net/http"
	"strings"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

var starters = permission{name: "authors", roles: []operation.Role{operation.RoleAuthor}}

// startingRoutes are the pages on which authors start runs by hand.
func (s *site) startingRoutes() []route {
	const flow, start = views.PathFlows + "/:name/start", "/starts/:id"
	return []route{
		{get, flow, starters, "", s.startPage},
		{post, flow, starters, flow, s.startRun},
		{post, flow + "/table", starters, flow, s.startUpload},
		{get, start, signedIn, "", s.startTable},
		{post, start + "/reading", starters, start, s.startReading},
		{post, start + "/begin", starters, start, s.startBegin},
		{post, start + "/drop", starters, start, s.startDrop},
		{get, start + "/results.csv", signedIn, "", s.startResults},
	}
}

func pathStart(flow string) string          { return pathFlow(flow) + "/start" }
func pathTable(id operation.StartID) string { return "/starts/" + string(id) }
func (s *site) startID(c echo.Context) operation.StartID {
	return operation.StartID(c.Param("id"))
}

// startable gives the flow that an author may start by hand.
func (s *site) startable(c echo.Context, name string) (*definition.Flow, error) {
	f, err := s.Store.FindFlow(c.Request().Context(), name)
	if err != nil {
		return nil, err
	}
	who, err := s.Store.FindViewer(c.Request().Context(), web.VisitOf(c).Actor())
	if err != nil {
		return nil, err
	}
	if !who.Sees(f.Name, "") {
		return nil, store.ErrNotFound
	}
	if !who.In(f.Name).Has(operation.RoleAuthor) {
		return nil, operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleAuthor)).By(operation.Responsible{Role: operation.RoleAuthor})
	}
	src, err := s.Store.Starter(c.Request().Context(), f.Flow)
	if err == nil && src == nil {
		err = store.ErrNotFound
	}
	return f.Flow, err
}

// startLink is where the viewer may start a flow by hand; "" = they may not.
func (s *site) startLink(c echo.Context, name string) (string, error) {
	_, err := s.startable(c, name)
	var no *operation.Refusal
	switch {
	case errors.Is(err, store.ErrNotFound), errors.As(err, &no):
		return "", nil
	case err != nil:
		return "", err
	}
	return pathStart(name), nil
}

func (s *site) startPage(c echo.Context) error {
	t, _ := kept(c)
	return s.showStart(c, http.StatusOK, t)
}

func (s *site) showStart(c echo.Context, status int, t typed) error {
	f, err := s.startable(c, c.Param("name"))
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	m := views.StartModel{FlowTitle: f.Title.In(v.Printer().Lang), FlowURL: pathFlow(f.Name), Rows: definition.MaxTableRows, MiB: definition.MaxTableBytes >> 20}
	m.Form = shownTo(newForm(t.of("start"), pathStart(f.Name)), v.User.ID)
	m.Upload = shownTo(newForm(t.of("table"), pathStart(f.Name)+"/table"), v.User.ID)
	one := t.of("start")
	for _, x := range f.InputFields() {
		field := draftField{path: x.Path, schema: x.Schema, need: x.Required}.view(one.val("content."+x.Path), nil)
		field.Missing = false // nothing was asked for yet
		m.Fields = append(m.Fields, field)
	}
	if m.Recent, err = s.recentStarts(c, f.Name); err != nil {
		return err
	}
	m.Frame = web.Frame(c, views.SectionFlows)
	return web.RenderStatus(c, status, views.StartPage(m))
}

func (s *site) recentStarts(c echo.Context, flow string) ([]views.StartLine, error) {
	list, err := s.Store.ListStarts(c.Request().Context(), flow, 10)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, st := range list {
		ids = append(ids, string(st.By))
	}
	n, err := s.names(c, flow, ids...)
	if err != nil {
		return nil, err
	}
	var out []views.StartLine
	for _, st := range list {
		out = append(out, views.StartLine{Name: st.Name, URL: pathTable(st.ID), At: st.At, By: n.person(string(st.By)), Rows: st.Rows, State: startState(st)})
	}
	return out, nil
}

func startState(st store.Start) string {
	switch {
	case st.EndedAt != nil && st.BegunAt == nil:
		return "dropped"
	case st.EndedAt != nil:
		return "done"
	case st.BegunAt != nil:
		return "going"
	}
	return "waiting"
}

// startRun starts one run with what was typed.
func (s *site) startRun(c echo.Context) error {
	t, err := sentMarked(c)
	if err != nil {
		return err
	}
	v, flow := web.VisitOf(c), c.Param("name")
	if t.ofAnother(v.User.ID) {
		return web.ErrFormOfAnother
	}
	if t.old(v.Now) {
		t.wrong("", views.Sentence("settling.form_old"))
	}
	if len(t.errors) > 0 {
		return s.showStart(c, http.StatusUnprocessableEntity, t)
	}
	f, err := s.startable(c, flow)
	if err != nil {
		return err
	}
	texts := map[string]string{}
	for _, x := range f.InputFields() {
		texts[x.Path] = strings.ReplaceAll(t.val("content."+x.Path), "\r\n", "\n")
	}
	rec, wrong, err := s.Store.StartRun(c.Request().Context(), v.Actor(), flow, t.val("form_id"), texts)
	for _, path := range wrong {
		key := views.ErrorInvalid
		if texts[path] == "" {
			key = views.ErrorRequired
		}
		t.wrong("content."+path, views.Sentence(key))
	}
	switch {
	case len(wrong) > 0:
		return s.showStart(c, http.StatusUnprocessableEntity, t)
	case refusalOf(err) != nil && refusalOf(err).Code == operation.CodeContentMissing:
		t.wrong("", views.Refused(refusalOf(err)))
		return s.showStart(c, http.StatusUnprocessableEntity, t)
	case err != nil:
		return err
	}
	to := pathFlow(flow)
	if len(rec.Runs) > 0 {
		to = pathRun(rec.Runs[0])
	}
	if rec.Verdict != store.VerdictAccepted {
		return calm(c, to, views.FlashRunKnown)
	}
	return done(c, to, views.FlashRunStarted)
}

// startUpload keeps a table to be looked at.
func (s *site) startUpload(c echo.Context) error {
	fields, files, err := web.PostFiles(c, web.UploadLimits{File: definition.MaxTableBytes, All: definition.MaxTableBytes, Count: 1})
	if err != nil {
		return err
	}
	t, err := typedBy(c, fields)
	if err != nil {
		return err
	}
	v, flow := web.VisitOf(c), c.Param("name")
	switch {
	case t.ofAnother(v.User.ID):
		return web.ErrFormOfAnother
	case len(files) == 0:
		t.wrong("table", views.Sentence("starting.table.none"))
	case files[0].Large:
		t.wrong("table", tableSentence(&definition.TableError{Code: "large", Limit: definition.MaxTableBytes}))
	}
	if len(t.errors) > 0 {
		return s.showStart(c, http.StatusUnprocessableEntity, t)
	}
	id, err := s.Store.AddStart(c.Request().Context(), v.Actor(), store.NewStart{Flow: flow, FormID: t.val("form_id"), Name: files[0].Name, Body: files[0].Data})
	var bad *definition.TableError
	if errors.As(err, &bad) {
		t.wrong("table", tableSentence(bad))
		return s.showStart(c, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	if err := web.DropKept(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, pathTable(id))
}

// tableSentence says why a file is no table that can be used.
func tableSentence(e *definition.TableError) views.Say {
	limit := e.Limit
	if e.Code == "large" {
		limit >>= 20
	}
	return views.Sentence("starting.table."+e.Code, "Line", e.Line, "Limit", limit)
}
