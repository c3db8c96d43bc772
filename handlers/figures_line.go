package handlers

import (
	"net/url"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// line makes the line of one figure, and of each destination where it is never judged
// over all of them.
func (d *figureDrawing) line(series store.FigureSeries, large bool) views.FigureLine {
	l := d.one(series, d.ask.Destination, large)
	if series.Figure == operation.FigureDestinationErrors {
		for _, e := range d.board.Errors {
			if d.ask.Destination == "" || d.ask.Destination == e.Destination {
				x := d.one(e, e.Destination, large)
				x.Destination = d.title(e.Destination)
				l.Each = append(l.Each, x)
			}
		}
	}
	return l
}

// one is the line of one series, of one destination or all that are asked for.
func (d *figureDrawing) one(series store.FigureSeries, destination string, large bool) views.FigureLine {
	f := series.Figure
	l := views.FigureLine{Figure: f, Now: figureAmount(series.Total), Before: figureAmount(series.Before), Exact: series.Exact,
		URL: d.pageURL(f, destination), ListURL: d.listURL(f, destination, series.From, series.To, false)}
	if f.Kind() == operation.KindRate {
		l.OfURL = d.listURL(f, destination, series.From, series.To, true)
	}
	for _, p := range series.Parts {
		l.Cells = append(l.Cells, views.FigureCell{From: p.From, To: p.To, FigureAmount: figureAmount(p.FigureValue), ListURL: d.listURL(f, destination, p.From, p.To, false)})
	}
	limit, dashed := d.limit(f, destination)
	if l.Limit = limit; limit == nil {
		l.Parts = d.parts(f, destination)
	}
	id := "c-" + string(f)
	if destination != "" {
		id += "-" + rowSafe(destination)
		l.Destination = d.title(destination)
	}
	l.Chart = views.DrawFigure(d.p, l, id, dashed, large)
	if f != operation.FigureDestinationErrors {
		l.Destination = ""
	}
	return l
}

// rowSafe keeps what may stand in an id.
func rowSafe(s string) string { return url.PathEscape(s) }

func figureAmount(v store.FigureValue) views.FigureAmount {
	return views.FigureAmount{N: v.N, Of: v.Of, Median: v.Median, P90: v.P90}
}

// limit finds the limit that a figure is held against as it is asked for, and, where the
// steps of its chart can be compared with it, in their unit.
func (d *figureDrawing) limit(f operation.Figure, destination string) (*views.FigureLimit, *float64) {
	var found *store.LimitSeen
	for i := range d.limits {
		l := &d.limits[i]
		if l.Figure != f || l.Flow != d.ask.Flow || l.Destination != destination || l.Source != "" {
			continue
		}
		if found == nil || found.Breach == nil && l.Breach != nil {
			found = l
		}
	}
	if found == nil {
		return nil, nil
	}
	out := &views.FigureLimit{Words: d.words(*found),
		URL: views.PathLimits + "/" + url.PathEscape(string(found.ID))}
	if found.Breach != nil {
		out.Over, out.Since = true, found.Breach.OpenedAt
	}
	if found.Side == operation.LimitUnder {
		return out, nil
	}
	v := float64(found.Value)
	switch f.Kind() {
	case operation.KindRate:
		v /= operation.RateUnit
	case operation.KindCount:
		if found.SpanHours != 24 || d.ask.Step != operation.StepDay {
			return out, nil
		}
	}
	return out, &v
}

// parts are the limits of a figure for less than it is asked for: for one flow, destination or
// source; nil = there is none.
func (d *figureDrawing) parts(f operation.Figure, destination string) *views.FigureParts {
	var out *views.FigureParts
	for _, l := range d.limits {
		if l.Figure != f || d.ask.Flow != "" && l.Flow != d.ask.Flow || destination != "" && l.Destination != destination {
			continue
		}
		if out == nil {
			out = &views.FigureParts{Scope: d.scope(l, destination), Words: d.words(l), URL: views.PathLimits + "/" + url.PathEscape(string(l.ID))}
		} else {
			out.Scope, out.Words, out.URL = "", "", views.PathLimits
		}
		out.N++
		out.Over = out.Over || l.Breach != nil
	}
	return out
}

// scope names what a limit is narrowed to, besides what is asked for.
func (d *figureDrawing) scope(l store.LimitSeen, destination string) string {
	var parts []string
	if l.Flow != d.ask.Flow {
		parts = append(parts, titledOr(d.flows, l.Flow))
	}
	if l.Destination != destination {
		parts = append(parts, d.title(l.Destination))
	}
	if l.Source != "" {
		parts = append(parts, l.Source)
	}
	return strings.Join(parts, " · ")
}

func (d *figureDrawing) words(l store.LimitSeen) string {
	return d.p.LimitWords(string(l.Figure.Kind()), l.Side == operation.LimitUnder, l.Value, l.SpanHours)
}

// pageURL is a figure's own page for what is asked for.
func (d *figureDrawing) pageURL(f operation.Figure, destination string) string {
	a := d.ask
	a.Destination = destination
	return withQuery(pathFigure(f), a.query())
}

// listURL is the list behind a number: exactly its stretch of time.
func (d *figureDrawing) listURL(f operation.Figure, destination string, from, to time.Time, whole bool) string {
	a := d.ask
	a.Destination, a.Step = destination, ""
	q := a.query()
	q.Set("since", from.UTC().Format(time.RFC3339Nano))
	q.Set("until", to.UTC().Format(time.RFC3339Nano))
	if whole {
		q.Set("whole", "yes")
	}
	return withQuery(pathFigure(f)+"/list", q)
}
