package handlers

import (
	"encoding/csv"
	"errors"
	"strconv"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// figureList lists exactly what a number counts.
func (s *site) figureList(c echo.Context) error {
	v, q := web.VisitOf(c), c.QueryParams()
	a := askFigures(c, v)
	ask := store.FigureListQuery{FigureQuery: a.FigureQuery, Figure: operation.Figure(c.Param("figure")), Whole: q.Get("whole") == "yes", Cursor: q.Get("after")}
	if !ask.Figure.Valid() || !ask.Figure.ByDestination() && ask.Destination != "" {
		return store.ErrNotFound
	}
	if at, err := time.Parse(time.RFC3339Nano, q.Get("since")); err == nil {
		ask.From = at
	}
	if at, err := time.Parse(time.RFC3339Nano, q.Get("until")); err == nil {
		ask.To = at
	}
	list, err := s.Store.ListFigure(c.Request().Context(), v.Actor(), ask)
	if err != nil {
		return err
	}
	m := views.FigureListModel{Figure: ask.Figure, Whole: ask.Whole, From: list.Query.From, To: list.Query.To, Size: list.Size(), Back: withQuery(pathFigure(ask.Figure), a.query())}
	names, err := s.Store.FilterNames(c.Request().Context(), v.Actor())
	if err != nil {
		return err
	}
	m.Flow, m.Destination = figureTitleOf(names.Flows, ask.Flow, v), figureTitleOf(names.Destinations, ask.Destination, v)
	// an address without bounds ends now: its later pages end where the first one did
	q.Set("since", list.Query.From.UTC().Format(time.RFC3339Nano))
	q.Set("until", list.Query.To.UTC().Format(time.RFC3339Nano))
	if list.Next != "" {
		q.Set("after", list.Next)
		m.Next = withQuery(c.Request().URL.Path, q)
	}
	if ask.Cursor != "" {
		q.Del("after")
		m.First = withQuery(c.Request().URL.Path, q)
	}
	if err := s.figureItems(c, list, &m); err != nil {
		return err
	}
	m.Frame = web.Frame(c, views.SectionFigures)
	return web.Render(c, views.FigureListPage(m))
}

func figureTitleOf(all []store.Named, name string, v *web.Visit) string {
	for _, n := range all {
		if n.Name == name && name != "" {
			return namedTitle(n, v.Printer())
		}
	}
	return name
}

// figureItems fills in the rows of the page.
func (s *site) figureItems(c echo.Context, list *store.FigureList, m *views.FigureListModel) error {
	v := web.VisitOf(c)
	var ids []string
	for _, r := range list.Rows {
		if r.Operation != nil && r.Operation.NextUser != "" {
			ids = append(ids, string(r.Operation.NextUser))
		}
	}
	n, err := s.names(c, "", ids...)
	if err != nil {
		return err
	}
	titles, err := s.sourceTitles(c)
	if err != nil {
		return err
	}
	for _, r := range list.Rows {
		if r.Delivery != nil {
			m.Deliveries = append(m.Deliveries, deliveryRow(*r.Delivery, n))
			continue
		}
		item := views.FigureItem{At: r.At, Took: r.Took, ShowsTook: m.Figure.Kind() == operation.KindDuration}
		if r.Operation != nil {
			row := operationRow(*r.Operation, n, v.Printer().Lang)
			item.Operation = &row
		}
		if b := r.Batch; b != nil {
			lang := v.Printer().Lang
			item.Operation = &views.OperationRow{URL: pathBatch(b.ID), Flow: definition.Text(b.FlowTitle).In(lang), Stage: definition.Text(b.StageTitle).In(lang), Title: b.Title, Destination: b.Destination}
		}
		if r.Attempt != nil {
			item.Attempt, item.Outcome, item.Code = r.Attempt.Number, r.Attempt.Outcome, r.Attempt.Code()
		}
		if e := r.Event; e != nil {
			item.Source, item.Topic, item.Event = e.Source, e.Topic, e.Key
			if t := titles[e.Source]; t != "" {
				item.Source = t
			}
			if e.Run != "" {
				item.Run = &views.Link{Label: shortID(string(e.Run)), URL: pathRun(e.Run)}
			}
		}
		if r.Case != nil {
			item.Case = &views.Link{Label: "RC-" + strconv.FormatInt(r.Case.Number, 10), URL: "/cases/" + r.Case.ID}
		}
		m.Items = append(m.Items, item)
	}
	return s.titleDeliveries(c, m.Deliveries)
}

// figureColumns are the columns of the file. docs/figures.md says what they mean.
var figureColumns = []string{"figure", "kind", "flow", "destination", "part", "from", "to", "n", "of", "median_seconds", "p90_seconds", "exact"}

// figuresExport writes all figures of a span as CSV: each in total, for the stretch
// before, and step by step.
func (s *site) figuresExport(c echo.Context) error {
	v := web.VisitOf(c)
	a := askFigures(c, v)
	return s.exporting(c, store.Export{What: "figures", Format: "csv", Filter: a.query().Encode()}, func(o *outgoing) error {
		b, err := s.Store.FindFigureBoard(c.Request().Context(), v.Actor(), a.FigureQuery)
		if err != nil {
			return err
		}
		fileHead(c, "text/csv; charset=utf-8; header=present", "figures", ".csv")
		if _, err := o.Write([]byte(byteOrderMark)); err != nil {
			return err
		}
		w := csv.NewWriter(o)
		err = w.Write(figureColumns)
		for _, f := range operation.Figures {
			if series, ok := b.Series[f]; ok && (f != operation.FigureDestinationErrors || a.Destination != "") {
				err = errors.Join(err, writeFigure(w, o, a, series))
			}
		}
		for _, e := range b.Errors {
			if a.Destination == "" {
				err = errors.Join(err, writeFigure(w, o, a, e))
			}
		}
		w.Flush()
		return errors.Join(err, w.Error())
	})
}

func writeFigure(w *csv.Writer, o *outgoing, a figureAsk, series store.FigureSeries) error {
	row := func(part string, from, to time.Time, v store.FigureValue) error {
		out := []string{string(series.Figure), string(series.Kind), a.Flow, series.Destination, part, isoTime(from), isoTime(to), strconv.FormatInt(v.N, 10), "", "", "", ""}
		switch series.Kind {
		case operation.KindRate:
			out[8] = strconv.FormatInt(v.Of, 10)
		case operation.KindDuration:
			out[9], out[10], out[11] = strconv.Itoa(int(v.Median.Seconds())), strconv.Itoa(int(v.P90.Seconds())), yesOr(series.Exact)
		}
		for i, cell := range out {
			out[i] = guarded(cell)
		}
		o.rows++
		return w.Write(out)
	}
	err := errors.Join(row("total", series.From, series.To, series.Total), row("before", time.Time{}, series.From, series.Before))
	for _, p := range series.Parts {
		err = errors.Join(err, row(string(a.Step), p.From, p.To, p.FigureValue))
	}
	return err
}
