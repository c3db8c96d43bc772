package handlers

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// incidentRoutes are the incidents.
func (s *site) incidentRoutes() []route {
	const one = views.PathIncidents + "/:id"
	return []route{
		{get, views.PathIncidents, signedIn, "", s.incidents},
		{get, views.PathIncidents + "/new", owners, "", s.pickPage},
		{post, views.PathIncidents + "/new", owners, views.PathIncidents + "/new", s.openIncident},
		{post, views.PathIncidents + "/pick", owners, views.PathIncidents + "/new", s.pickCases},
		{get, one, signedIn, "", s.incident},
		{get, one + "/incident.md", signedIn, "", s.incidentMarkdown},
		{get, one + "/edit", owners, "", s.editIncidentPage},
		{post, one + "/edit", owners, one + "/edit", s.editIncident},
		{get, one + "/timeline", owners, "", s.timelinePage},
		{post, one + "/timeline", owners, one + "/timeline", s.chooseTimeline},
		{post, one + "/line", owners, one, s.addLine},
		{post, one + "/remove-line", owners, one, s.removeLine},
		{post, one + "/operations", owners, one, s.addOperations},
		{post, one + "/take", owners, one, s.takeOperation},
		{post, one + "/task", owners, one, s.addIncidentTask},
		{post, one + "/sign", stoppers.again(), one, s.signIncident},
		{post, one + "/revise", owners, one, s.reviseIncident},
	}
}

func pathIncident(id operation.IncidentID) string { return views.PathIncidents + "/" + string(id) }

func incidentNumber(n int64) string { return "INC-" + strconv.FormatInt(n, 10) }

// incidents lists the incidents of flows that the viewer may see.
func (s *site) incidents(c echo.Context) error {
	v, ctx, q := web.VisitOf(c), c.Request().Context(), c.QueryParams()
	f := store.IncidentFilter{Flow: q.Get("flow"), Destination: q.Get("destination"), Owner: operation.UserID(q.Get("owner")), From: day0(q.Get("from"), 0, v), To: day0(q.Get("to"), 1, v),
		Search: strings.TrimSpace(q.Get("q")), Cursor: q.Get("after") + q.Get("before")}
	if x := operation.IncidentState(q.Get("state")); x.Valid() {
		f.State = x
	}
	list, err := s.Store.ListIncidents(ctx, v.Actor(), f)
	if err != nil {
		return err
	}
	names, err := s.Store.FilterNames(ctx, v.Actor())
	if err != nil {
		return err
	}
	p := v.Printer()
	m := views.IncidentsModel{Q: f.Search, Flows: options(names.Flows, f.Flow, p), Destinations: options(names.Destinations, f.Destination, p), States: pick(operation.IncidentStates, f.State),
		From: dayText(f.From, 0, v), To: dayText(f.To, -1, v), Active: c.Request().URL.RawQuery != "", MayOpen: v.Has(owners.roles...), Pager: pagerOf(c, list.Prev, list.Next)}
	for _, x := range names.People {
		m.Owners = append(m.Owners, views.Option{Value: string(x.ID), Label: x.Name, Selected: x.ID == f.Owner})
	}
	for _, r := range list.Rows {
		m.Rows = append(m.Rows, incidentView(r, v, names.Destinations))
	}
	m.Frame = web.Frame(c, views.SectionReports)
	return web.Render(c, views.IncidentsPage(m))
}

// incidentView is an incident of a list.
func incidentView(r store.IncidentItem, v *web.Visit, places []store.Named) views.IncidentView {
	out := views.IncidentView{ID: string(r.ID), Number: incidentNumber(r.Number), URL: pathIncident(r.ID), Title: r.Title, State: r.State, Began: r.BeganAt, Operations: r.Operations,
		OpenTasks: r.OpenTasks, LateTasks: r.LateTasks, Class: r.Class, Pattern: r.Pattern, SamePattern: r.SamePattern, Destinations: placeTitles(r.Destinations, places, v.Printer())}
	if r.OwnerID != "" {
		out.Owner = views.PersonWho(r.OwnerName, r.OwnerID == v.User.ID)
	}
	out.Library = libraryPattern(r.Library, places, v.Printer())
	return out
}

// libraryPattern is the pattern of the library that an incident names; nil = none.
func libraryPattern(n store.PatternName, places []store.Named, p *text.Printer) *views.PatternView {
	if n.ID == "" {
		return nil
	}
	return &views.PatternView{ID: n.ID, URL: pathPattern(n.ID), Destination: views.Link{Label: placeTitles([]string{n.Destination}, places, p)[0], URL: pathDestination(n.Destination)},
		Phase: n.Phase, Code: n.Code, Status: n.Status, Error: n.Error}
}

// placeTitles gives destinations, flows or sources by the titles that people know them by.
func placeTitles(names []string, places []store.Named, p *text.Printer) []string {
	var out []string
	for _, n := range names {
		title := n
		for _, x := range places {
			if x.Name == n {
				title = namedTitle(x, p)
			}
		}
		out = append(out, title)
	}
	return out
}

// pickPage shows what an incident would be about: the operations and cases that the
// address names, or those that a search or the list's filters find.
func (s *site) pickPage(c echo.Context) error {
	t, ok := kept(c)
	q := c.QueryParams()
	ids := q["operation"]
	if ok && t.form == "new" {
		ids = t.fields["shown"]
	}
	return s.showPick(c, http.StatusOK, append(ids, q["case"]...), t.of("new"))
}

// pickCases leads from cases that were ticked in their list to the form that lists exactly
// what is taken.
func (s *site) pickCases(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	q := url.Values{"case": t.fields["case"]}
	if t.yes("all") {
		q["case"] = t.fields["listed"]
	}
	return c.Redirect(http.StatusSeeOther, views.PathIncidents+"/new?"+q.Encode())
}

// pickedAtMost bounds how many operations a search offers.
const pickedAtMost = 200

func (s *site) showPick(c echo.Context, status int, named []string, t typed) error {
	v, ctx, q := web.VisitOf(c), c.Request().Context(), c.QueryParams()
	ids := idsIn(named)
	m := views.PickModel{Find: strings.TrimSpace(q.Get("q")), Title: t.val("title"), Summary: t.val("summary")}
	if len(ids) == 0 && filterQuery(q) != "" {
		f := operationFilter(q, v)
		f.Limit, f.Cursor = pickedAtMost, ""
		list, err := s.Store.ListOperations(ctx, v.Actor(), f)
		if err != nil {
			return err
		}
		for _, r := range list.Rows {
			ids = append(ids, r.ID)
		}
		m.More = list.Next != ""
	}
	p, err := s.Store.PickForIncident(ctx, v.Actor(), ids)
	if err != nil {
		if field, say, ok := invalidOf(err); ok {
			t.wrong(field, say)
			p, err = &store.IncidentPick{May: true}, nil
		} else {
			return err
		}
	}
	names, err := s.Store.FilterNames(ctx, v.Actor())
	if err != nil {
		return err
	}
	n, err := s.names(c, "")
	if err != nil {
		return err
	}
	m.Form, m.Missing = shownTo(newForm(t, views.PathIncidents+"/new"), v.User.ID), p.Missing
	for _, r := range p.Rows {
		m.Rows = append(m.Rows, views.PickRow{OperationRow: operationRow(r, n, lang(c)), Picked: t.fields == nil || contains(t.fields["operation"], string(r.ID))})
	}
	if len(p.Rows) > 0 && !p.May {
		m.Barred = operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner})
	}
	for _, x := range names.People {
		m.People = append(m.People, views.Option{Value: string(x.ID), Label: x.Name, Selected: string(x.ID) == t.or("owner", string(v.User.ID))})
	}
	for _, k := range p.Known {
		m.Known = append(m.Known, incidentView(k, v, names.Destinations))
	}
	open, err := s.Store.ListIncidents(ctx, v.Actor(), store.IncidentFilter{State: operation.IncidentOpen, Limit: 50})
	if err != nil {
		return err
	}
	for _, r := range open.Rows {
		m.Into = append(m.Into, views.Option{Value: string(r.ID), Label: incidentNumber(r.Number) + " " + views.Plain(r.Title), Selected: string(r.ID) == t.or("into", q.Get("into"))})
	}
	m.Frame = web.Frame(c, views.SectionReports)
	return web.RenderStatus(c, status, views.PickPage(m))
}

// idsIn finds identifiers of operations and cases in what people typed or an address holds.
func idsIn(list []string) []operation.ID {
	var out []operation.ID
	for _, x := range list {
		for _, id := range strings.FieldsFunc(x, func(r rune) bool { return strings.ContainsRune(" ,;\n\r\t", r) }) {
			out = append(out, operation.ID(id))
		}
	}
	return out
}

func contains(list []string, x string) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

// openIncident opens an incident over exactly what was ticked, or adds it to one.
func (s *site) openIncident(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	v, ctx := web.VisitOf(c), c.Request().Context()
	if t.ofAnother(v.User.ID) {
		return web.ErrFormOfAnother
	}
	ids := idsIn(t.fields["operation"])
	if into := operation.IncidentID(t.val("into")); into != "" {
		in, err := s.Store.FindIncident(ctx, v.Actor(), into)
		if err == nil {
			err = s.Store.AddToIncident(ctx, v.Actor(), store.IncidentShown{ID: into, Rev: in.Rev, FormID: t.once()}, ids)
		}
		if err == nil {
			return done(c, pathIncident(into), "flash.incident_operations")
		}
		return s.pickAgain(c, t, err)
	}
	id, err := s.Store.AddIncident(ctx, v.Actor(), store.NewIncident{Title: t.text("title"), Summary: t.text("summary"), Owner: operation.UserID(t.val("owner")), Operations: ids, FormID: t.val("form_id")})
	if err == nil {
		return done(c, pathIncident(id), "flash.incident_opened")
	}
	return s.pickAgain(c, t, err)
}

func (s *site) pickAgain(c echo.Context, t typed, err error) error {
	if !wrongOf(&t, err) {
		return err
	}
	return s.showPick(c, http.StatusUnprocessableEntity, append(t.fields["shown"], t.fields["operation"]...), t)
}
