package handlers

import (
	"net/url"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// operations lists what this person may see, with filters.
func (s *site) operations(c echo.Context) error {
	v := web.VisitOf(c)
	q := c.QueryParams()
	f := store.OperationFilter{
		State: operation.State(q.Get("state")), Flow: q.Get("flow"), Destination: q.Get("destination"), Source: q.Get("source"), Duplicate: q.Get("duplicate") == "yes",
		Search: q.Get("q"), Open: q.Get("open") == "yes", Overdue: q.Get("overdue") == "yes", Cursor: q.Get("after") + q.Get("before"),
	}
	f.From, f.To = day0(q.Get("from"), 0, v), day0(q.Get("to"), 1, v)
	if !f.State.Valid() {
		f.State = ""
	}
	if r := operation.Role(q.Get("responsible")); r.Valid() {
		f.Responsible = r
	}
	list, err := s.Store.ListOperations(c.Request().Context(), v.Actor(), f)
	if err != nil {
		return err
	}
	n, err := s.names(c, "")
	if err != nil {
		return err
	}
	m := views.OperationsModel{Filter: operationsFilter(f, list, v), Pager: pagerOf(c, list.Prev, list.Next), MayAdopt: v.Has(operation.RoleOpsOwner)}
	for _, r := range list.Rows {
		m.Rows = append(m.Rows, operationRow(r, n, v.Printer().Lang))
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.Render(c, views.OperationsPage(m))
}

func operationsFilter(f store.OperationFilter, list *store.OperationList, v *web.Visit) views.OperationsFilter {
	p := v.Printer()
	out := views.OperationsFilter{Q: f.Search, States: views.StateOptions(f.State), Duplicate: f.Duplicate, From: dayText(f.From, 0, v), To: dayText(f.To, -1, v),
		Flows: options(list.Flows, f.Flow, p), Destinations: options(list.Destinations, f.Destination, p), Sources: options(list.Sources, f.Source, p)}
	for _, r := range operation.Roles {
		if r != operation.RoleAuditor {
			out.Responsible = append(out.Responsible, views.Option{Value: string(r), Label: p.T("role." + string(r)), Selected: r == f.Responsible})
		}
	}
	f.Cursor = ""
	out.Active = f != store.OperationFilter{}
	return out
}

// options are definitions to choose from, by the titles that people know them by.
func options(names []store.Named, selected string, p *text.Printer) []views.Option {
	var out []views.Option
	for _, n := range names {
		out = append(out, views.Option{Value: n.Name, Label: namedTitle(n, p), Selected: n.Name == selected})
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
		ID: r.ID, URL: pathOperation(r.ID), State: r.State, ConfirmedBy: views.ConfirmedBy(r.ConfirmedBy), Duplicate: views.Duplicate(r.Duplicate), Overdue: r.Late, Paused: r.Paused,
		Flow: titled(r.FlowTitle, lang, r.Flow), Stage: titled(r.StageTitle, lang, r.Stage), Title: r.Title, Destination: titled(r.DestinationTitle, lang, r.Destination),
		Attempts: r.AttemptsEver, Next: next.Kind, Responsible: n.responsible(next.Who), Due: next.At, Changed: r.UpdatedAt,
	}
	if next.Who.User != "" {
		out.Responsible = views.RoleWho(next.Who.Role, next.Who.User == n.viewer.ID)
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
