package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// operations lists what this person may see, with filters. Without any, it opens with the
// view that they chose for it.
func (s *site) operations(c echo.Context) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	saved, err := s.Store.ListViews(ctx, v.Actor())
	if err != nil {
		return err
	}
	if c.Request().URL.RawQuery == "" {
		for _, x := range saved {
			if x.Default {
				return c.Redirect(http.StatusSeeOther, viewURL(x))
			}
		}
	}
	f := operationFilter(c.QueryParams(), v)
	list, err := s.Store.ListOperations(ctx, v.Actor(), f)
	if err != nil {
		return err
	}
	n, err := s.names(c, "", nextUsers(list.Rows)...)
	if err != nil {
		return err
	}
	filters := filterQuery(c.QueryParams())
	m := views.OperationsModel{Filter: operationsFilter(f, list, v), Pager: pagerOf(c, list.Prev, list.Next), MayAdopt: v.Has(operation.RoleOpsOwner),
		ViewsURL: pathViews + "?" + filters, ExportURL: pathExport + "?" + filters}
	m.Filter.Active = filters != ""
	if v.Has(owners.roles...) && filters != "" {
		m.IncidentURL = views.PathIncidents + "/new?" + filters
	}
	if v.Has(owners.roles...) && (f.State == "" || f.State == operation.Confirmed) && !f.Open {
		m.DisputeURL = views.PathDisputes + "?" + filters
	}
	for _, x := range saved {
		m.Views = append(m.Views, views.SavedView{ID: string(x.ID), Name: x.Name, URL: viewURL(x), Current: x.Filters == filters})
	}
	for _, r := range list.Rows {
		m.Rows = append(m.Rows, operationRow(r, n, v.Printer().Lang))
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.Render(c, views.OperationsPage(m))
}

// filterNames are the query fields that narrow the list; place and view are none.
var filterNames = []string{"destination", "duplicate", "flow", "from", "open", "overdue", "q", "responsible", "source", "state", "to"}

// filterQuery gives the filters of an address alone, always in the same order.
func filterQuery(q url.Values) string {
	out := url.Values{}
	for _, name := range filterNames {
		if x := strings.TrimSpace(q.Get(name)); x != "" {
			out.Set(name, x)
		}
	}
	return out.Encode()
}

// The values of the responsible filter besides roles and people.
const (
	responsibleMe     = "me"
	responsibleSystem = "system"
)

// operationFilter reads the filters of an address. What it does not know does not narrow.
func operationFilter(q url.Values, v *web.Visit) store.OperationFilter {
	f := store.OperationFilter{
		Flow: q.Get("flow"), Destination: q.Get("destination"), Source: q.Get("source"), Duplicate: q.Get("duplicate") == "yes",
		Search: strings.TrimSpace(q.Get("q")), Open: q.Get("open") == "yes", Overdue: q.Get("overdue") == "yes", Cursor: q.Get("after") + q.Get("before"),
		From: day0(q.Get("from"), 0, v), To: day0(q.Get("to"), 1, v),
	}
	switch state := operation.State(q.Get("state")); {
	case state == views.StateOpen:
		f.Open = true
	case state == views.StateClosed:
		f.Closed = true
	case state.Valid():
		f.State = state
	}
	switch r := q.Get("responsible"); {
	case r == responsibleMe:
		f.Person = v.User.ID
	case r == responsibleSystem:
		f.System = true
	case operation.Role(r).Valid():
		f.Responsible = operation.Role(r)
	case operation.ValidID("usr", r):
		f.Person = operation.UserID(r)
	}
	return f
}

func operationsFilter(f store.OperationFilter, list *store.OperationList, v *web.Visit) views.OperationsFilter {
	p := v.Printer()
	state := f.State
	switch {
	case f.Open:
		state = views.StateOpen
	case f.Closed:
		state = views.StateClosed
	}
	return views.OperationsFilter{Q: f.Search, States: views.StateOptions(state), Duplicate: f.Duplicate, Overdue: f.Overdue, From: dayText(f.From, 0, v), To: dayText(f.To, -1, v),
		Flows: options(list.Flows, f.Flow, p), Destinations: options(list.Destinations, f.Destination, p), Sources: options(list.Sources, f.Source, p),
		Responsible: responsibleOptions(f, list.People, v)}
}

// responsibleOptions are whose decisions the list can be narrowed to: one's own, a
// role's, the system's, a person's.
func responsibleOptions(f store.OperationFilter, people []store.PersonName, v *web.Visit) []views.Option {
	p := v.Printer()
	out := []views.Option{{Value: responsibleMe, Label: p.T("views.me"), Selected: f.Person == v.User.ID}}
	for _, r := range operation.Roles {
		if r != operation.RoleAuditor {
			out = append(out, views.Option{Value: string(r), Label: p.T("role." + string(r)), Selected: r == f.Responsible})
		}
	}
	out = append(out, views.Option{Value: responsibleSystem, Label: p.T("who.system"), Selected: f.System})
	for _, x := range people {
		if x.ID != v.User.ID {
			out = append(out, views.Option{Value: string(x.ID), Label: x.Name, Selected: f.Person == x.ID})
		}
	}
	return out
}

// options are definitions to choose from, by the titles that people know them by. One
// that is chosen and not there is named as it is, so that the form says what is asked.
func options(names []store.Named, selected string, p *text.Printer) []views.Option {
	var out []views.Option
	for _, n := range names {
		out = append(out, views.Option{Value: n.Name, Label: namedTitle(n, p), Selected: n.Name == selected})
	}
	if selected != "" && !slices.ContainsFunc(names, func(n store.Named) bool { return n.Name == selected }) {
		out = append(out, views.Option{Value: selected, Label: selected, Selected: true})
	}
	return out
}

// namedTitle is a definition's title. The job API has none of its own.
func namedTitle(n store.Named, p *text.Printer) string {
	if n.Name == store.JobSource {
		return p.T("source.job_api")
	}
	return titled(n.Title, p.Lang, n.Name)
}

// day0 is the beginning of a day in the viewer's zone, some days later; zero when the
// text is no day.
func day0(text string, later int, v *web.Visit) time.Time {
	at, err := time.ParseInLocation(time.DateOnly, text, v.Printer().Zone)
	if err != nil {
		return time.Time{}
	}
	return at.AddDate(0, 0, later)
}

// dayText is the day of a moment in the viewer's zone, some days later.
func dayText(at time.Time, later int, v *web.Visit) string {
	if at.IsZero() {
		return ""
	}
	return at.In(v.Printer().Zone).AddDate(0, 0, later).Format(time.DateOnly)
}

func operationRow(r store.InboxRow, n names, lang string) views.OperationRow {
	next := r.Next()
	out := views.OperationRow{
		ID: r.ID, Revision: r.Revision, URL: pathOperation(r.ID), State: r.State, ConfirmedBy: views.ConfirmedBy(r.ConfirmedBy), Duplicate: views.Duplicate(r.Duplicate), Overdue: r.Late, Paused: r.Paused,
		Flow: titled(r.FlowTitle, lang, r.Flow), Stage: titled(r.StageTitle, lang, r.Stage), Title: r.Title, Destination: titled(r.DestinationTitle, lang, r.Destination),
		Attempts: r.AttemptsEver, Next: next.Kind, Responsible: n.responsible(next.Who), Due: next.At, Changed: r.UpdatedAt,
	}
	if out.Title == "" {
		out.Title = out.Stage
	}
	return out
}

// pagerOf leads to the neighbouring pages with the filters kept.
func pagerOf(c echo.Context, prev, next string) views.Pager {
	at := func(name, cursor string) string {
		if cursor == "" {
			return ""
		}
		q := url.Values{}
		for k, v := range c.QueryParams() {
			if k != "after" && k != "before" {
				q[k] = v
			}
		}
		q.Set(name, cursor)
		return c.Request().URL.Path + "?" + q.Encode()
	}
	return views.Pager{Prev: at("before", prev), Next: at("after", next)}
}

// names gives the viewer and the names of these people.
func (s *site) names(c echo.Context, flow string, ids ...string) (names, error) {
	who, err := s.viewer(c, flow)
	n := names{people: map[string]string{}, viewer: who}
	for _, id := range ids {
		if _, ok := n.people[id]; ok || len(id) < 4 || id[:4] != "usr_" {
			continue
		}
		u, ferr := s.Store.FindUser(c.Request().Context(), operation.UserID(id))
		if ferr == nil {
			n.people[id] = u.Name
		}
	}
	return n, err
}
