package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// caseRoutes are the recovery cases: their list, their pages, and what is done to a case
// alone. What is decided about its operation goes to the operation's own addresses.
func (s *site) caseRoutes() []route {
	const one = views.PathCases + "/:id"
	return []route{
		{get, views.PathCases, signedIn, "", s.cases},
		{post, views.PathCases, owners, views.PathCases, s.workOnCases},
		{get, views.PathCases + "/result", owners, "", s.casesResult},
		{get, views.PathCaseQueues + "/:id", owners, "", s.caseQueue},
		{get, one, signedIn, "", s.casePage},
		{post, one + "/take", owners, one, s.aboutCase(s.takeCase)},
		{post, one + "/release", owners, one, s.aboutCase(s.releaseCase)},
		{post, one + "/lookup", owners, one, s.aboutCase(s.lookUpCase)},
		{post, one + "/time", owners, one, s.aboutCase(s.correctCase)},
		{post, one + "/beat", owners, one, s.beat},
		{post, "/operations/:id/checklist", owners, "/operations/:id", s.aboutFiles(s.answerItem)},
	}
}

func pathCase(id operation.CaseID) string   { return views.PathCases + "/" + string(id) }
func pathQueue(id operation.QueueID) string { return views.PathCaseQueues + "/" + string(id) }
func caseView(c store.CaseRow) views.CaseView {
	return views.CaseView{ID: c.ID, Number: operation.CaseNumber(c.Number), URL: pathCase(c.ID), OpenedAt: c.OpenedAt, OpenedAs: c.OpenedAs,
		ClosedAt: timeOf(c.ClosedAt), ClosedAs: c.ClosedAs}
}

// caseAges are the ages that the list can be narrowed to.
var caseAges = []time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

func ageValue(d time.Duration) string { return itoa(int(d/time.Hour)) + "h" }

// cases lists the cases that this person may see.
func (s *site) cases(c echo.Context) error {
	t, _ := kept(c)
	return s.showCases(c, http.StatusOK, t)
}

func (s *site) showCases(c echo.Context, status int, t typed) error {
	v, ctx, q := web.VisitOf(c), c.Request().Context(), c.QueryParams()
	f := caseFilter(q, v.Now)
	list, err := s.Store.ListCases(ctx, v.Actor(), f)
	if err != nil {
		return err
	}
	queues, err := s.Store.ListQueues(ctx, v.Actor())
	if err != nil {
		return err
	}
	who, err := s.viewer(c, "")
	if err != nil {
		return err
	}
	n, p := names{people: list.People, viewer: who}, v.Printer()
	m := views.CasesModel{Form: shownTo(newForm(t, views.PathCases), v.User.ID), Total: list.Total, Pager: pagerOf(c, list.Prev, list.Next), Reason: t.val("reason"),
		MayAct: v.Has(owners.roles...), Filter: casesFilter(f, q, list, p.Lang, func(x []store.Named, sel string) []views.Option { return options(x, sel, p) })}
	for _, x := range queues {
		m.Queues = append(m.Queues, views.CaseQueueLine{URL: pathQueue(x.ID), At: x.At, Sums: queueSums(x)})
	}
	for _, r := range list.Rows {
		line := caseLine(r, n, p.Lang)
		line.Picked = slices.Contains(t.fields["case"], string(r.Case.ID))
		m.Rows = append(m.Rows, line)
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.CasesPage(m))
}

// caseFilter reads the filters of an address. What it does not know does not narrow.
func caseFilter(q url.Values, now time.Time) store.CaseFilter {
	f := store.CaseFilter{Closed: q.Get("closed") == "yes", Mine: q.Get("whose") == "mine", Untaken: q.Get("whose") == "untaken",
		Flow: q.Get("flow"), Destination: q.Get("destination"), Cursor: q.Get("after") + q.Get("before")}
	for _, d := range caseAges {
		if q.Get("age") == ageValue(d) {
			f.Before = now.Add(-d)
		}
	}
	f.Number, _ = operation.ParseCaseNumber(q.Get("q"))
	if p := q.Get("pattern"); operation.ValidID("pat", p) {
		f.Pattern = operation.PatternID(p)
	}
	return f
}

func casesFilter(f store.CaseFilter, q url.Values, list *store.CaseList, lang string, named func([]store.Named, string) []views.Option) views.CasesFilter {
	out := views.CasesFilter{Q: q.Get("q"), Closed: f.Closed, Flows: named(list.Flows, f.Flow), Destinations: named(list.Destinations, f.Destination),
		Whose: []views.Option{{Value: "mine", Selected: f.Mine}, {Value: "untaken", Selected: f.Untaken}}}
	if f.Pattern != "" {
		out.Pattern, out.PatternURL = f.Pattern, pathPattern(f.Pattern)
	}
	for _, d := range caseAges {
		out.Ages = append(out.Ages, views.Option{Value: ageValue(d), Selected: q.Get("age") == ageValue(d)})
	}
	for _, name := range []string{"q", "whose", "flow", "destination", "age", "closed", "pattern"} {
		out.Active = out.Active || q.Get(name) != ""
	}
	return out
}

func caseLine(r store.CaseLine, n names, lang string) views.CaseLine {
	next := r.Op.Next()
	out := views.CaseLine{CaseView: caseView(r.Case), Op: r.Op.ID, Revision: r.Op.Revision, State: r.Op.State, Flow: titled(r.Op.FlowTitle, lang, r.Op.Flow),
		Stage: titled(r.Op.StageTitle, lang, r.Op.Stage), Title: r.Op.Title, Destination: titled(r.Op.DestinationTitle, lang, r.Op.Destination),
		Next: next.Kind, Responsible: n.responsible(next.Who), Due: next.At, Overdue: r.Op.Late, InHand: r.Time.InHand}
	if r.Case.TakenBy != "" {
		out.TakenBy, out.TakenAt, out.From = n.person(string(r.Case.TakenBy)), timeOf(r.Case.TakenAt), r.Case.TakenBy
	}
	if out.Title == "" {
		out.Title = out.Stage
	}
	return out
}

// workOnCases takes or looks up each of the ticked cases alone, or freezes them into a
// list that is settled one by one. "All" are exactly the rows that were listed.
func (s *site) workOnCases(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	v, ctx := web.VisitOf(c), c.Request().Context()
	if t.ofAnother(v.User.ID) {
		return web.ErrFormOfAnother
	}
	ids := t.fields["case"]
	if t.yes("all") {
		ids = t.fields["listed"]
	}
	switch {
	case t.old(v.Now):
		t.wrong("", views.Sentence("settling.form_old"))
	case t.tooLong():
	case t.val("form_id") == "" || len(ids) == 0:
		t.wrong("", views.Sentence("cases.pick_some"))
	}
	if len(t.errors) > 0 {
		return s.showCases(c, http.StatusUnprocessableEntity, t)
	}
	if len(ids) > store.CaseListLimit {
		ids = ids[:store.CaseListLimit]
	}
	var list []store.PickedCase
	for _, id := range ids {
		list = append(list, store.PickedCase{ID: operation.CaseID(id), From: operation.UserID(t.val("from." + id))})
	}
	switch verb := store.BulkVerb(t.val("do")); verb {
	case store.BulkTake, store.BulkLookup:
		if err := s.Store.WorkOnCases(ctx, v.Actor(), t.val("form_id"), verb, list, t.text("reason")); err != nil {
			return err
		}
		if err := web.DropKept(c); err != nil {
			return err
		}
		return c.Redirect(http.StatusSeeOther, views.PathCases+"/result?"+url.Values{"form": {t.val("form_id")}}.Encode())
	case "settle":
		return s.settleCases(c, t, list)
	}
	return echo.NewHTTPError(http.StatusBadRequest) // no button of ours sends it
}

// settleCases freezes a list and leads to its first case.
func (s *site) settleCases(c echo.Context, t typed, list []store.PickedCase) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	ids := make([]operation.CaseID, len(list))
	for i, x := range list {
		ids[i] = x.ID
	}
	id, err := s.Store.NewQueue(ctx, v.Actor(), t.val("form_id"), ids)
	if r := refusalOf(err); r != nil {
		t.wrong("", views.Refused(r))
		return s.showCases(c, http.StatusConflict, t)
	}
	if err != nil {
		return err
	}
	_, items, err := s.Store.FindQueue(ctx, v.Actor(), id)
	if err != nil {
		return err
	}
	if err := web.DropKept(c); err != nil {
		return err
	}
	if next, ok := store.NextInQueue(items, ""); ok {
		return c.Redirect(http.StatusSeeOther, inQueue(next.ID, id))
	}
	return c.Redirect(http.StatusSeeOther, pathQueue(id))
}

// inQueue is the address of a case as a part of a frozen list. The mark says that its
// first answer has the focus.
func inQueue(id operation.CaseID, q operation.QueueID) string {
	return pathCase(id) + "?" + url.Values{"queue": {string(q)}, queryNext: {"1"}}.Encode()
}

// casesResult reports what became of each case of one's own list.
func (s *site) casesResult(c echo.Context) error {
	v := web.VisitOf(c)
	rows, err := s.Store.ListBulkResults(c.Request().Context(), v.Actor(), c.QueryParam("form"))
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return c.Redirect(http.StatusSeeOther, views.PathCases)
	}
	var ids []string
	for _, r := range rows {
		ids = append(ids, string(r.TakenBy))
	}
	n, err := s.names(c, "", ids...)
	if err != nil {
		return err
	}
	m := views.CasesResultModel{Form: shownTo(newForm(typed{}, views.PathCases), v.User.ID), Verb: string(rows[0].Verb)}
	for _, r := range rows {
		line := views.CaseResult{CaseView: caseView(r.CaseRow), Title: r.Title, State: r.State}
		if r.TakenBy != v.User.ID {
			line.From = r.TakenBy
		}
		if r.Code != operation.CodeOK {
			line.Refusal = operation.Refuse(r.Code, "at", r.TakenSince(), "name", n.people[string(r.TakenBy)]).By(operation.Responsible{User: r.TakenBy})
		}
		m.Rows = append(m.Rows, line)
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.Render(c, views.CasesResultPage(m))
}

func queueSums(q store.QueueRow) views.QueueSums {
	return views.QueueSums{Total: q.Total, Settled: q.Settled, Requested: q.Requested, Held: q.Held, Gone: q.Gone, Left: q.Left}
}

// caseQueue shows one's own frozen list.
func (s *site) caseQueue(c echo.Context) error {
	id := operation.QueueID(c.Param("id"))
	if !operation.ValidID("queue", string(id)) {
		return store.ErrNotFound
	}
	q, items, err := s.Store.FindQueue(c.Request().Context(), web.VisitOf(c).Actor(), id)
	if err != nil {
		return err
	}
	m := views.CaseQueueModel{At: q.At, Sums: queueSums(q)}
	for _, x := range items {
		row := views.QueueItem{CaseView: caseView(x.CaseRow), Place: x.Place, Title: x.Title, State: x.State, DoneAs: x.DoneAs, Gone: x.Gone}
		row.URL = pathCase(x.ID) + "?" + url.Values{"queue": {string(id)}}.Encode()
		m.Rows = append(m.Rows, row)
	}
	if next, ok := store.NextInQueue(items, ""); ok {
		m.Next = &views.Link{Label: operation.CaseNumber(next.Number), URL: inQueue(next.ID, id)}
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.Render(c, views.CaseQueuePage(m))
}
