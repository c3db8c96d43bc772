package handlers

import (
	"net/http"
	"net/url"
	"slices"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// home leads to the inbox, or to the sign-in.
func (s *site) home(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, views.PathInbox)
}

// inbox shows one of its tabs; one that does not exist is the first.
func (s *site) inbox(c echo.Context) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	m := views.InboxModel{Tab: views.InboxTab(c.QueryParam("tab"))}
	if !slices.Contains(views.InboxTabs, m.Tab) {
		m.Tab = views.TabMine
	}
	n, err := s.Store.CountInboxTabs(ctx, v.Actor())
	if err != nil {
		return err
	}
	m.Counts = views.InboxCounts(n)
	show := map[views.InboxTab]func(echo.Context, *views.InboxModel) error{views.TabMine: s.inboxMine, views.TabOthers: s.inboxOthers,
		views.TabChanges: s.inboxChanges, views.TabDone: s.inboxDone}
	if err := show[m.Tab](c, &m); err != nil {
		return err
	}
	m.Frame = web.Frame(c, views.SectionInbox)
	return web.Render(c, views.InboxPage(m))
}

// inboxGroups are the groups of decisions in their order, with the kind of decision in each.
var inboxGroups = []struct {
	group views.InboxGroupKind
	kind  operation.DecisionKind
}{
	{views.GroupOverdue, ""}, {views.GroupUnknown, operation.DecideReconcile}, {views.GroupReexecutions, operation.DecideReexecution}, {views.GroupHeld, ""},
	{views.GroupApprovals, operation.DecideApprove}, {views.GroupPaused, operation.DecideResume}, {views.GroupRemedies, operation.DecideRemedy},
	{views.GroupDrafts, operation.DecideComplete},
}

// inboxMine shows what needs this person's decision: all groups from their beginning, or
// one of them page by page.
func (s *site) inboxMine(c echo.Context, m *views.InboxModel) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	for _, g := range inboxGroups {
		if g.kind != "" && string(g.group) == c.QueryParam("group") {
			return s.inboxOf(c, m, g.group, g.kind)
		}
	}
	in, err := s.Store.ListInbox(ctx, v.Actor())
	if err != nil {
		return err
	}
	if m.Batches, err = s.inboxBatches(c); err != nil {
		return err
	}
	m.StillChecked, m.NextCheck, m.StillCheckedURL = in.Unknown, in.NextCheck, views.PathOperations+"?state=unknown"
	groups := map[operation.DecisionKind]*views.InboxGroup{}
	late := views.InboxGroup{Kind: views.GroupOverdue}
	for _, g := range inboxGroups {
		if g.kind == "" {
			continue
		}
		groups[g.kind] = &views.InboxGroup{Kind: g.group, Total: in.Waiting[g.kind], AlsoOverdue: in.Late[g.kind]}
		late.Total += in.Late[g.kind]
		if in.Waiting[g.kind] > store.InboxShown {
			groups[g.kind].MoreURL = groupURL(g.group, "")
		}
	}
	together := map[[2]string]*views.Together{}
	for _, r := range in.Rows {
		kind := operation.DecisionKind(r.NextKind)
		row := inboxRow(r, v)
		if kind == operation.DecideApprove {
			addTogether(together, r, row)
		}
		if r.Late {
			late.Rows = append(late.Rows, row)
		} else {
			groups[kind].Rows = append(groups[kind].Rows, row)
		}
	}
	groups[operation.DecideApprove].Together = togetherOf(in.Rows, together)
	held := views.InboxGroup{Kind: views.GroupHeld, Total: len(in.Held)}
	if held.Held, err = s.heldRows(c, in.Held); err != nil {
		return err
	}
	for _, g := range inboxGroups {
		x := groups[g.kind]
		switch g.group {
		case views.GroupOverdue:
			x = &late
		case views.GroupHeld:
			x = &held
		}
		if len(x.Rows)+len(x.Held)+len(x.Together) > 0 || x.MoreURL != "" {
			m.Groups = append(m.Groups, *x)
		}
	}
	return nil
}

// groupURL leads to one group of the inbox, page by page.
func groupURL(g views.InboxGroupKind, after string) string {
	q := url.Values{"group": {string(g)}}
	if after != "" {
		q.Set("after", after)
	}
	return views.PathInbox + "?" + q.Encode()
}

func (s *site) inboxOf(c echo.Context, m *views.InboxModel, group views.InboxGroupKind, kind operation.DecisionKind) error {
	v := web.VisitOf(c)
	in, err := s.Store.ListInboxOf(c.Request().Context(), v.Actor(), kind, c.QueryParam("after"))
	if err != nil {
		return err
	}
	g := views.InboxGroup{Kind: group, Total: in.Waiting[kind], Rest: c.QueryParam("after") != ""}
	together := map[[2]string]*views.Together{}
	for _, r := range in.Rows {
		row := inboxRow(r, v)
		g.Rows = append(g.Rows, row)
		if kind == operation.DecideApprove {
			addTogether(together, r, row)
		}
	}
	g.Together = togetherOf(in.Rows, together)
	m.Only = group
	if g.Rest {
		m.First = groupURL(group, "")
	}
	if in.Next != "" {
		m.Next = groupURL(group, in.Next)
	}
	if len(g.Rows) > 0 {
		m.Groups = []views.InboxGroup{g}
	}
	return nil
}

// addTogether counts an approval with the others of its flow and stage.
func addTogether(all map[[2]string]*views.Together, r store.InboxRow, row views.InboxRow) {
	key := [2]string{r.Flow, r.Stage}
	if all[key] == nil {
		all[key] = &views.Together{Stage: row.Stage, URL: pathTogether + "?" + url.Values{"flow": {r.Flow}, "stage": {r.Stage}}.Encode()}
	}
	all[key].N++
}

// pathTogether is where approvals of one flow and stage are reviewed together.
const pathTogether = "/approve-together"

// togetherOf offers what can be reviewed together, in the order of the rows.
func togetherOf(rows []store.InboxRow, all map[[2]string]*views.Together) []views.Together {
	var out []views.Together
	for _, r := range rows {
		key := [2]string{r.Flow, r.Stage}
		if x := all[key]; x != nil && x.N >= 2 && r.NextKind == string(operation.DecideApprove) {
			out = append(out, *x)
			delete(all, key)
		}
	}
	return out
}

func (s *site) heldRows(c echo.Context, held []store.HeldEvent) ([]views.HeldRow, error) {
	if len(held) == 0 {
		return nil, nil
	}
	sources, err := s.sourceTitles(c)
	var out []views.HeldRow
	for _, h := range held {
		row := heldRow(h, lang(c))
		if x := sources[h.Source]; x != "" {
			row.Source = x
		}
		out = append(out, row)
	}
	return out, err
}

// inboxOthers shows what the person worked on and what others decide now.
func (s *site) inboxOthers(c echo.Context, m *views.InboxModel) error {
	v := web.VisitOf(c)
	rows, err := s.Store.ListOthers(c.Request().Context(), v.Actor())
	if err != nil {
		return err
	}
	n, err := s.names(c, "", nextUsers(rows)...)
	if err != nil {
		return err
	}
	late, rest := views.InboxGroup{Kind: views.GroupOverdue}, views.InboxGroup{Kind: views.GroupWaiting}
	for _, r := range rows {
		row := decidedRow(r, v, n)
		to := &rest
		if r.Late {
			to = &late
		}
		to.Rows = append(to.Rows, row)
		to.Total++
	}
	for _, g := range []views.InboxGroup{late, rest} {
		if len(g.Rows) > 0 {
			m.Groups = append(m.Groups, g)
		}
	}
	return nil
}

// inboxChanges shows what was sent back and not submitted again.
func (s *site) inboxChanges(c echo.Context, m *views.InboxModel) error {
	v := web.VisitOf(c)
	rows, err := s.Store.ListChanges(c.Request().Context(), v.Actor())
	if err != nil {
		return err
	}
	var people []string
	for _, r := range rows {
		people = append(people, string(r.By), string(r.NextUser))
	}
	n, err := s.names(c, "", people...)
	if err != nil {
		return err
	}
	for _, r := range rows {
		m.Changes = append(m.Changes, views.ChangedRow{InboxRow: decidedRow(r.InboxRow, v, n), By: n.person(string(r.By)), Reason: r.Reason, At: r.At})
	}
	return nil
}

// inboxDone shows what the person did, newest first.
func (s *site) inboxDone(c echo.Context, m *views.InboxModel) error {
	v, after := web.VisitOf(c), c.QueryParam("after")
	list, err := s.Store.ListDone(c.Request().Context(), v.Actor(), after)
	if err != nil {
		return err
	}
	n, err := s.names(c, "")
	if err != nil {
		return err
	}
	for _, r := range list.Rows {
		act := historyLine(r.Entry, n)
		if act.Action == string(operation.EvExpire) { // of a person: they took their approval back
			act.Action = string(operation.Withdraw)
		}
		m.Done = append(m.Done, views.DoneRow{InboxRow: inboxRow(r.InboxRow, v), Act: act, ConfirmedBy: views.ConfirmedBy(r.ConfirmedBy)})
	}
	if after != "" {
		m.First = m.Tab.URL()
	}
	if list.Next != "" {
		m.Next = m.Tab.URL() + "&" + url.Values{"after": {list.Next}}.Encode()
	}
	return nil
}

func nextUsers(rows []store.InboxRow) []string {
	var out []string
	for _, r := range rows {
		out = append(out, string(r.NextUser))
	}
	return out
}

// decidedRow is a row that says who must decide.
func decidedRow(r store.InboxRow, v *web.Visit, n names) views.InboxRow {
	row := inboxRow(r, v)
	if row.Also = nil; !row.OnlyYou {
		row.Also = []views.Who{n.responsible(r.Next().Who)}
	}
	return row
}

func inboxRow(r store.InboxRow, v *web.Visit) views.InboxRow {
	lang := v.Printer().Lang
	out := views.InboxRow{
		ID: r.ID, Revision: r.Revision, URL: pathOperation(r.ID), State: r.State, Flow: titled(r.FlowTitle, lang, r.Flow), Stage: titled(r.StageTitle, lang, r.Stage), Title: r.Title,
		Destination: titled(r.DestinationTitle, lang, r.Destination), Attempts: r.AttemptsEver, Since: timeOf(r.NextSince), Due: timeOf(r.NextAt), Late: r.Late, For: r.For,
		Duplicate: views.Duplicate(r.Duplicate), OnlyYou: r.NextUser == v.User.ID && r.NextUser != "",
	}
	if out.Title == "" {
		out.Title = out.Stage
	}
	if out.Since.IsZero() {
		out.Since = r.UpdatedAt
	}
	if !out.OnlyYou {
		out.Also = []views.Who{views.RoleWho(r.NextRole, false)}
	}
	switch {
	case r.Remedy == store.RemedyBlocked:
		out.URL, out.Note = pathRun(r.RunID), "inbox.blocked"
	case r.Blocked:
		out.Note = "inbox.earlier_closed"
	}
	if r.NextKind == string(operation.DecideApprove) {
		out.Version, out.Given, out.Required = r.VersionNo, r.Given, r.Required
	}
	return out
}

// titled gives a title in the reader's language, or the name.
func titled(t map[string]string, lang, name string) string {
	if x := definition.Text(t).In(lang); x != "" {
		return x
	}
	return name
}
