package handlers

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// figureRoutes are the figures, one of them, and the list behind a number.
func (s *site) figureRoutes() []route {
	return []route{
		{get, views.PathFigures, signedIn, "", s.figures},
		{get, views.PathFiguresExport, signedIn, "", s.figuresExport},
		{get, views.PathFigures + "/:figure", signedIn, "", s.figure},
		{get, views.PathFigures + "/:figure/list", signedIn, "", s.figureList},
	}
}

// defaultSpan is the span of the page as it opens, in days.
const defaultSpan = "30"

// longestSpan bounds a span of own days.
const longestSpan = 3 * 366

// figureAsk is what an address asks for.
type figureAsk struct {
	store.FigureQuery
	span     string // of views.FigureSpans
	from, to string // days, of a span of own
}

// askFigures reads an address. What it does not know is the default.
func askFigures(c echo.Context, v *web.Visit) figureAsk {
	q := c.QueryParams()
	a := figureAsk{FigureQuery: store.FigureQuery{Flow: q.Get("flow"), Destination: q.Get("destination"), Step: operation.FigureStep(q.Get("step")), Zone: v.Printer().Zone}, span: q.Get("span")}
	from, to := day0(q.Get("from"), 0, v), day0(q.Get("to"), 1, v)
	if !slices.Contains(views.FigureSpans, a.span) || a.span == "own" {
		a.span = defaultSpan
	}
	if !from.IsZero() && from.Before(v.Printer().Now) && (to.IsZero() || from.Before(to)) {
		a.span, a.from, a.From = "own", q.Get("from"), from
		if !to.IsZero() && to.Before(v.Printer().Now) {
			a.to, a.To = q.Get("to"), to
		}
	} else {
		days, _ := strconv.Atoi(a.span)
		a.From = operation.StepDay.Floor(v.Printer().Now.In(a.Zone).AddDate(0, 0, 1-days))
	}
	end := a.To
	if end.IsZero() {
		end = v.Printer().Now
	}
	if oldest := end.AddDate(0, 0, -longestSpan); a.From.Before(oldest) {
		a.From = operation.StepDay.Floor(oldest.In(a.Zone))
		if a.span == "own" {
			a.from = a.From.Format(time.DateOnly)
		}
	}
	if !a.Step.Valid() {
		a.Step = stepFor(end.Sub(a.From))
	}
	return a
}

// stepFor is the step in which a span can be taken in at a look.
func stepFor(span time.Duration) operation.FigureStep {
	switch days := span.Hours() / 24; {
	case days <= 45:
		return operation.StepDay
	case days <= 400:
		return operation.StepWeek
	}
	return operation.StepMonth
}

// query writes what is asked for as the query of an address.
func (a figureAsk) query() url.Values {
	q := url.Values{}
	set := func(name, v string) {
		if v != "" {
			q.Set(name, v)
		}
	}
	set("flow", a.Flow)
	set("destination", a.Destination)
	set("step", string(a.Step))
	if a.span == "own" {
		set("from", a.from)
		set("to", a.to)
	} else {
		set("span", a.span)
	}
	return q
}

func withQuery(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// figureBar is the bar above the figures.
func (s *site) figureBar(c echo.Context, a figureAsk, path string) (views.FigureBar, error) {
	v := web.VisitOf(c)
	p := v.Printer()
	b := views.FigureBar{Action: path, Span: a.span, From: a.from, To: a.to, Active: a.Flow != "" || a.Destination != "" || a.span == "own", Export: withQuery(views.PathFiguresExport, a.query())}
	for _, span := range views.FigureSpans {
		to := a
		to.span, to.from, to.to, to.Step = span, "", "", ""
		label := p.T("figures.own")
		switch span {
		case "365":
			label = p.T("figures.year")
		case "own":
			to = a
			to.span, to.from = "own", a.From.In(a.Zone).Format(time.DateOnly)
		default:
			days, _ := strconv.Atoi(span)
			label = p.N("figures.days", days)
		}
		b.Spans = append(b.Spans, views.Link{Label: label, URL: withQuery(path, to.query())})
	}
	for _, step := range []operation.FigureStep{operation.StepDay, operation.StepWeek, operation.StepMonth} {
		b.Steps = append(b.Steps, views.Option{Value: string(step), Selected: step == a.Step})
	}
	names, err := s.Store.FilterNames(c.Request().Context(), v.Actor())
	if err != nil {
		return b, err
	}
	b.Flows, b.Destinations = options(names.Flows, a.Flow, p), options(names.Destinations, a.Destination, p)
	return b, nil
}

// figureGroups are the parts of the page in their order.
var figureGroups = []struct {
	key     string
	figures []operation.Figure
}{
	{"coming_in", []operation.Figure{operation.FigureEvents, operation.FigureDeliveries, operation.FigureAdopted}},
	{"going_out", []operation.Figure{operation.FigureAttempts, operation.FigureEffectsDestination, operation.FigureEffectsPerson, operation.FigureKeyReuse, operation.FigureDestinationErrors}},
	{"in_doubt", []operation.Figure{operation.FigureUnresolved, operation.FigureUnresolvedOccurred, operation.FigureDuplicatesSuspected, operation.FigureDuplicatesConfirmed,
		operation.FigureDuplicateRate, operation.FigureReexecutionErrors}},
	{"people", []operation.Figure{operation.FigureApprovalDelay, operation.FigureInHand, operation.FigureActive}},
}

// figures shows all figures of a span.
func (s *site) figures(c echo.Context) error {
	v := web.VisitOf(c)
	a := askFigures(c, v)
	d, err := s.drawing(c, a)
	if err != nil {
		return err
	}
	m := views.FiguresModel{From: d.board.Query.From, To: d.board.Query.To, Counted: d.board.CountedUntil}
	for _, g := range figureGroups {
		group := views.FigureGroup{Key: g.key}
		for _, f := range g.figures {
			if series, ok := d.board.Series[f]; ok {
				l := d.line(series, false)
				group.Lines = append(group.Lines, l)
				for _, x := range append([]views.FigureLine{l}, l.Each...) {
					if x.Limit != nil && x.Limit.Over {
						m.Over = append(m.Over, x)
					}
				}
			}
		}
		m.Groups = append(m.Groups, group)
	}
	if m.Bar, err = s.figureBar(c, a, views.PathFigures); err != nil {
		return err
	}
	m.Frame = web.Frame(c, views.SectionFigures)
	return web.Render(c, views.FiguresPage(m))
}

// figure shows one figure with a large chart and its table.
func (s *site) figure(c echo.Context) error {
	f := operation.Figure(c.Param("figure"))
	if !f.Valid() {
		return store.ErrNotFound
	}
	a := askFigures(c, web.VisitOf(c))
	if !f.ByDestination() {
		a.Destination = ""
	}
	d, err := s.drawing(c, a)
	if err != nil {
		return err
	}
	line := d.line(d.board.Series[f], true)
	if f == operation.FigureDestinationErrors && a.Destination != "" {
		line.Destination = d.title(a.Destination)
		line.Each = nil
	}
	q := a.query()
	q.Del("step")
	m := views.FigureModel{Line: line, From: d.board.Query.From, To: d.board.Query.To, Counted: d.board.CountedUntil, Back: withQuery(views.PathFigures, q)}
	if m.Bar, err = s.figureBar(c, a, pathFigure(f)); err != nil {
		return err
	}
	m.Frame = web.Frame(c, views.SectionFigures)
	return web.Render(c, views.FigurePage(m))
}

func pathFigure(f operation.Figure) string {
	return views.PathFigures + "/" + url.PathEscape(string(f))
}

// figureDrawing makes lines out of a reading.
type figureDrawing struct {
	ask    figureAsk
	board  *store.FigureBoard
	limits []store.LimitSeen
	titles map[string]string // of destinations
	flows  map[string]string // titles of flows
	p      *text.Printer
}

func (s *site) drawing(c echo.Context, a figureAsk) (*figureDrawing, error) {
	v, ctx := web.VisitOf(c), c.Request().Context()
	d := &figureDrawing{ask: a, p: v.Printer(), titles: map[string]string{}, flows: map[string]string{}}
	var err error
	if d.board, err = s.Store.FindFigureBoard(ctx, v.Actor(), a.FigureQuery); err != nil {
		return nil, err
	}
	if d.limits, err = s.Store.ListLimits(ctx, v.Actor(), false); err != nil {
		return nil, err
	}
	names, err := s.Store.FilterNames(ctx, v.Actor())
	if err != nil {
		return nil, err
	}
	for _, n := range names.Destinations {
		d.titles[n.Name] = namedTitle(n, d.p)
	}
	for _, n := range names.Flows {
		d.flows[n.Name] = namedTitle(n, d.p)
	}
	return d, nil
}

func (d *figureDrawing) title(destination string) string { return titledOr(d.titles, destination) }

// titledOr is a title, else the name.
func titledOr(titles map[string]string, name string) string {
	return cmp.Or(titles[name], name)
}
