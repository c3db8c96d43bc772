package views

import (
	"context"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// PathFigures is the page of all figures; a figure's own page and the list behind it lie
// below it.
const (
	PathFigures       = "/figures"
	PathFiguresExport = "/figures/export.csv"
)

// FigureAmount is a figure in one stretch of time.
type FigureAmount struct {
	N, Of       int64
	Median, P90 time.Duration
}

// FigureCell is a figure in one step of its span, with the list behind it.
type FigureCell struct {
	From, To time.Time
	FigureAmount
	ListURL string
	Over    bool
}

// FigureLimit is the limit that a figure is held against.
type FigureLimit struct {
	Words string // "5 at any time"
	Over  bool
	Since time.Time // of the open breach
	URL   string
}

// FigureParts are limits that hold for parts of what a figure counts, where none holds for the
// whole.
type FigureParts struct {
	N     int
	Scope string // of the only one: the flow, destination or source; "" = there are several
	Words string // of the only one: "at most 5 at any time"
	Over  bool   // one of them is passed
	URL   string
}

// FigureLine is one figure, or one destination's share of it.
type FigureLine struct {
	Figure      operation.Figure
	Destination string // title; "" = it is of all that is asked for
	Now, Before FigureAmount
	Exact       bool // false = quantiles come from cells
	Chart       Chart
	Cells       []FigureCell
	URL         string // its own page
	ListURL     string // what stands behind the number
	OfURL       string // what stands behind the number that a rate is of
	Limit       *FigureLimit
	Parts       *FigureParts // nil = a limit holds for the whole, or none for any part
	// Each are its parts by destination; the line itself is a heading then.
	Each []FigureLine
}

// Kind is the figure's kind.
func (f FigureLine) Kind() operation.FigureKind { return f.Figure.Kind() }

// FigureGroup is one part of the table.
type FigureGroup struct {
	Key   string // coming_in, going_out, in_doubt, people
	Lines []FigureLine
}

// FigureBar narrows the figures.
type FigureBar struct {
	Action              string // where the form leads
	Span                string // of FigureSpans
	Spans               []Link
	Flows, Destinations []Option
	Steps               []Option
	From, To            string // days, of one's own span
	Export              string
	Active              bool
}

// FigureSpans are the spans that are offered, by the number of their days; "own" has
// days of its own.
var FigureSpans = []string{"7", "30", "90", "365", "own"}

// FiguresModel is the page of all figures.
type FiguresModel struct {
	Frame
	Bar      FigureBar
	Groups   []FigureGroup
	Over     []FigureLine
	From, To time.Time
	// Counted is up to where figures are counted ahead; zero = nothing is yet.
	Counted time.Time
	Limits  bool // the viewer may set limits
}

// FigureModel is one figure's own page.
type FigureModel struct {
	Frame
	Bar      FigureBar
	Line     FigureLine
	From, To time.Time
	Counted  time.Time
	Back     string
}

// FigureItem is one of the things that a figure counts.
type FigureItem struct {
	At          time.Time
	Operation   *OperationRow
	Attempt     int    // its number; 0 = none
	Outcome     string // of the attempt; "" = open
	Code        string
	Event       string // key
	Source      string
	Topic       string
	Run         *Link
	Case        *Link
	Took        time.Duration
	ShowsTook   bool
	ShowsEffort bool
}

// FigureListModel is the list behind a number.
type FigureListModel struct {
	Frame
	Figure      operation.Figure
	Whole       bool
	Flow        string
	Destination string
	From, To    time.Time
	Size        int64
	Items       []FigureItem
	Deliveries  []DeliveryRow
	Next, First string
	Back        string
}

// amountText says a figure by its kind; "–" stands where nothing was measured.
func amountText(p *text.Printer, f operation.Figure, a FigureAmount) string {
	switch f.Kind() {
	case operation.KindRate:
		return p.Share(a.N, a.Of)
	case operation.KindDuration:
		if a.N == 0 {
			return "–"
		}
		return p.Amount("duration", int64(a.Median/time.Second))
	}
	return p.Number(int(a.N))
}

// ofText says of how many a rate is, or of how many times a median is, and their ninth
// decile.
func ofText(p *text.Printer, f operation.Figure, a FigureAmount) string {
	switch f.Kind() {
	case operation.KindRate:
		return p.T("figures.of", "N", p.Number(int(a.N)), "Of", p.Number(int(a.Of)))
	case operation.KindDuration:
		if a.N == 0 {
			return ""
		}
		return p.N("figures.p90", int(a.N), "P90", p.Amount("duration", int64(a.P90/time.Second)))
	}
	return ""
}

func amount(ctx context.Context, f operation.Figure, a FigureAmount) string {
	return amountText(text.From(ctx), f, a)
}

func amountOf(ctx context.Context, f operation.Figure, a FigureAmount) string {
	return ofText(text.From(ctx), f, a)
}

// number is the figure's value for a drawing.
func (a FigureAmount) number(kind operation.FigureKind) (v float64, none bool) {
	switch kind {
	case operation.KindRate:
		if a.Of == 0 {
			return 0, true
		}
		return float64(a.N) / float64(a.Of), false
	case operation.KindDuration:
		return a.Median.Seconds(), a.N == 0
	}
	return float64(a.N), false
}

// DrawFigure makes the chart of a line: bars for counts and levels, a line for rates and
// durations. limit, in the unit of the points, is nil where steps cannot be compared with it.
func DrawFigure(p *text.Printer, f FigureLine, id string, limit *float64, large bool) Chart {
	c := Chart{ID: id, Form: ChartBars, Limit: limit, Large: large}
	kind := f.Kind()
	if kind == operation.KindRate || kind == operation.KindDuration {
		c.Form = ChartLine
	}
	low, high := -1, -1
	for i, x := range f.Cells {
		v, none := x.number(kind)
		c.Points = append(c.Points, ChartPoint{Value: v, None: none, Over: limit != nil && !none && v > *limit})
		if none {
			continue
		}
		if low < 0 || v < c.Points[low].Value {
			low = i
		}
		if high < 0 || v > c.Points[high].Value {
			high = i
		}
	}
	name := p.T("limits.figure." + string(f.Figure))
	if f.Destination != "" {
		name += ", " + Plain(f.Destination)
	}
	if n := len(f.Cells); n > 0 {
		c.Title = p.T("figures.chart", "Figure", name, "From", p.Date(f.Cells[0].From), "To", p.Date(f.Cells[n-1].To.Add(-time.Microsecond)))
	}
	c.Desc = p.T("figures.chart_nothing")
	if high >= 0 {
		last := f.Cells[len(f.Cells)-1]
		c.Desc = p.T("figures.chart_says", "Low", amountText(p, f.Figure, f.Cells[low].FigureAmount), "LowOn", p.Date(f.Cells[low].From),
			"High", amountText(p, f.Figure, f.Cells[high].FigureAmount), "HighOn", p.Date(f.Cells[high].From), "Last", amountText(p, f.Figure, last.FigureAmount))
	}
	return c
}
