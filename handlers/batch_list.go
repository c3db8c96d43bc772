package handlers

import (
	"net/url"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// batches lists the batches that this person may see, the newest first.
func (s *site) batches(c echo.Context) error {
	v, q := web.VisitOf(c), c.QueryParams()
	f := batchFilter(q)
	list, err := s.Store.ListBatches(c.Request().Context(), v.Actor(), f)
	if err != nil {
		return err
	}
	rows, err := s.batchLines(c, list.Rows)
	if err != nil {
		return err
	}
	m := views.BatchesModel{Flows: options(list.Flows, f.Flow, v.Printer()), Active: f.Flow != "" || f.State != "", Rows: rows, Pager: pagerOf(c, list.Prev, list.Next)}
	for _, x := range operation.BatchStates {
		m.States = append(m.States, views.Option{Value: string(x), Selected: x == f.State})
	}
	if v.Has(operation.RoleAuthor, operation.RoleAdmin) {
		m.StartURL = views.PathFlows
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.Render(c, views.BatchesPage(m))
}

func batchFilter(q url.Values) store.BatchFilter {
	f := store.BatchFilter{Flow: q.Get("flow"), Cursor: q.Get("after") + q.Get("before")}
	if x := operation.BatchState(q.Get("state")); x.Valid() {
		f.State = x
	}
	return f
}

// batchLines are batches as lists show them, with the names of who decides.
func (s *site) batchLines(c echo.Context, rows []store.BatchRow) ([]views.BatchLine, error) {
	ids := make([]string, 0, 2*len(rows))
	for _, r := range rows {
		ids = append(ids, string(r.Turn.Next.Who.User), r.PausedBy)
	}
	n, err := s.names(c, "", ids...)
	if err != nil {
		return nil, err
	}
	var out []views.BatchLine
	for _, r := range rows {
		out = append(out, batchLine(r, n, lang(c)))
	}
	return out, nil
}

func batchLine(r store.BatchRow, n names, lang string) views.BatchLine {
	next := r.Turn.Next
	out := views.BatchLine{ID: r.ID, Run: r.RunID, URL: pathBatch(r.ID), Revision: r.Revision, BatchStanding: standingOf(r.Batch, r.Counts, r.Turn, n), Flow: titled(r.FlowTitle, lang, r.Flow), Stage: titled(r.StageTitle, lang, r.Stage),
		Title: r.Title, Destination: r.Destination, Version: r.Number, Counts: batchCounts(r.Counts, ""), Next: next.Kind, Turn: lineTurn(r.Turn), Responsible: n.responsible(next.Who), Since: timeOf(r.NextSince), Due: next.At,
		Overdue: r.Late, Given: r.Given, Required: r.Required, Created: r.CreatedAt, For: r.ForName}
	if out.Title == "" {
		out.Title = out.Stage
	}
	return out
}

// lineTurn is whose turn a batch is as one line says it.
func lineTurn(t operation.BatchTurn) views.BatchTurn { return views.BatchTurn{Kind: t.Kind, N: t.N} }

// inboxBatches are the batches that wait for this person.
func (s *site) inboxBatches(c echo.Context) ([]views.BatchLine, error) {
	rows, err := s.Store.BatchesToDecide(c.Request().Context(), web.VisitOf(c).Actor())
	if err != nil {
		return nil, err
	}
	return s.batchLines(c, rows)
}
