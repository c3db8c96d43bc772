package handlers

import (
	"net/url"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// operations lists what this person may see, with filters.
func (s *site) operations(c echo.Context) error {
	v := web.VisitOf(c)
	q := c.QueryParams()
	f := store.OperationFilter{
		State: operation.State(q.Get("state")), Flow: q.Get("flow"), Destination: q.Get("destination"), Duplicate: q.Get("duplicate") == "yes",
		Search: q.Get("q"), Open: q.Get("open") == "yes", Overdue: q.Get("overdue") == "yes", Cursor: q.Get("after") + q.Get("before"),
	}
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
	out := views.OperationsFilter{Q: f.Search, States: views.StateOptions(f.State), Duplicate: f.Duplicate,
		Flows: options(list.Flows, f.Flow), Destinations: options(list.Destinations, f.Destination)}
	for _, r := range operation.Roles {
		if r != operation.RoleAuditor {
			out.Responsible = append(out.Responsible, views.Option{Value: string(r), Label: v.Printer().T("role." + string(r)), Selected: r == f.Responsible})
		}
	}
	f.Cursor = ""
	out.Active = f != store.OperationFilter{}
	return out
}

func options(names []string, selected string) []views.Option {
	var out []views.Option
	for _, n := range names {
		out = append(out, views.Option{Value: n, Label: n, Selected: n == selected})
	}
	return out
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
