package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
	"holdpoint/views/text"
)

// figureFixtures are all figures, one of each form, and lists behind numbers.
func figureFixtures() []Fixture {
	p := Printer("en")
	return []Fixture{
		{"figures", views.FiguresPage(figuresPage(p))},
		{"figures-empty", views.FiguresPage(views.FiguresModel{Frame: frame(views.SectionFigures, "/figures"), Bar: figuresBar("/figures"), From: ago(30 * 24 * time.Hour), To: ago(0)})},
		{"figure-count", views.FigurePage(figurePage(p, operation.FigureAttempts))},
		{"figure-rate", views.FigurePage(figurePage(p, operation.FigureReexecutionErrors))},
		{"figure-duration", views.FigurePage(figurePage(p, operation.FigureApprovalDelay))},
		{"figure-list", views.FigureListPage(figureListPage())},
		{"figure-list-none", views.FigureListPage(views.FigureListModel{Frame: frame(views.SectionFigures, "/figures/adopted/list"), Figure: operation.FigureAdopted, From: ago(time.Hour), To: ago(0), Back: "/figures/adopted"})},
	}
}

func figuresBar(path string) views.FigureBar {
	b := views.FigureBar{Action: path, Span: "30", Export: "/figures/export.csv?span=30", Flows: []views.Option{{Value: "campaign-follow-up", Label: "Campaign follow-up"}},
		Destinations: []views.Option{{Value: "northdesk", Label: "Northdesk CRM"}}, Steps: []views.Option{{Value: "day", Selected: true}, {Value: "week"}, {Value: "month"}}}
	for i, label := range []string{"7 days", "30 days", "90 days", "A year", "Own days"} {
		b.Spans = append(b.Spans, views.Link{Label: label, URL: path + "?span=" + views.FigureSpans[i]})
	}
	return b
}

// figureOf is a line whose steps rise at the end.
func figureOf(p *text.Printer, f operation.Figure, destination string, each int64, limit float64) views.FigureLine {
	l := views.FigureLine{Figure: f, Destination: destination, Exact: f != operation.FigureApprovalDelay, URL: "/figures/" + string(f), ListURL: "/figures/" + string(f) + "/list"}
	for i := range 30 {
		n := each * int64(70+(i*37)%60) / 100
		if i > 26 {
			n *= 3
		}
		c := views.FigureCell{From: ago(time.Duration(30-i) * 24 * time.Hour), To: ago(time.Duration(29-i) * 24 * time.Hour), ListURL: l.ListURL, FigureAmount: views.FigureAmount{N: n}}
		switch l.Kind() {
		case operation.KindRate:
			c.Of = 100 * each
		case operation.KindDuration:
			c.Median, c.P90 = time.Duration(n)*time.Minute, time.Duration(4*n)*time.Minute
		}
		if l.Kind() != operation.KindCount && l.Kind() != operation.KindLevel && i == 9 {
			c.FigureAmount = views.FigureAmount{} // a step without anything
		}
		l.Cells = append(l.Cells, c)
		l.Now.N, l.Now.Of, l.Now.Median, l.Now.P90 = l.Now.N+c.N, l.Now.Of+c.Of, c.Median, c.P90
	}
	if l.Kind() == operation.KindLevel {
		l.Now.N = l.Cells[29].N
	}
	l.Before = l.Now
	l.Before.N = l.Before.N * 9 / 10
	if l.Kind() == operation.KindRate {
		l.OfURL = l.ListURL + "?whole=yes"
	}
	var dashed *float64
	if limit > 0 {
		dashed = &limit
		l.Limit = &views.FigureLimit{Words: p.LimitWords(string(l.Kind()), false, inWords(l.Kind(), limit), 0), Over: each > 1, Since: ago(50 * time.Hour), URL: "/figures/limits/lim_1"}
	}
	id := "c-" + string(f)
	if destination != "" {
		id += "-" + destination[:4]
	}
	l.Chart = views.DrawFigure(p, l, id, dashed, false)
	return l
}

// inWords is a limit in the unit that LimitWords takes: a rate in hundredths of a percent.
func inWords(k operation.FigureKind, limit float64) int64 {
	if k == operation.KindRate {
		return int64(limit*10_000 + 0.5)
	}
	return int64(limit)
}

func figuresPage(p *text.Printer) views.FiguresModel {
	m := views.FiguresModel{Frame: frame(views.SectionFigures, "/figures"), Bar: figuresBar("/figures"), From: ago(30 * 24 * time.Hour), To: ago(0), Counted: ago(12 * time.Second)}
	errs := figureOf(p, operation.FigureDestinationErrors, "", 1, 0)
	errs.Each = []views.FigureLine{figureOf(p, operation.FigureDestinationErrors, "Northdesk CRM", 2, 0.02), figureOf(p, operation.FigureDestinationErrors, "Postrider Mail", 1, 0.09)}
	unresolved := figureOf(p, operation.FigureUnresolved, "", 3, 5)
	m.Groups = []views.FigureGroup{
		{Key: "coming_in", Lines: []views.FigureLine{figureOf(p, operation.FigureEvents, "", 160, 0), figureOf(p, operation.FigureDeliveries, "", 179, 0), figureOf(p, operation.FigureAdopted, "", 0, 0)}},
		{Key: "going_out", Lines: []views.FigureLine{figureOf(p, operation.FigureAttempts, "", 208, 0), figureOf(p, operation.FigureEffectsDestination, "", 200, 0), figureOf(p, operation.FigureEffectsPerson, "", 2, 0),
			figureOf(p, operation.FigureKeyReuse, "", 1, 0), errs}},
		{Key: "in_doubt", Lines: []views.FigureLine{unresolved, figureOf(p, operation.FigureUnresolvedOccurred, "", 2, 0), figureOf(p, operation.FigureDuplicatesSuspected, "", 0, 2),
			figureOf(p, operation.FigureDuplicatesConfirmed, "", 0, 0), figureOf(p, operation.FigureDuplicateRate, "", 0, 0), figureOf(p, operation.FigureReexecutionErrors, "", 0, 0)}},
		{Key: "people", Lines: []views.FigureLine{figureOf(p, operation.FigureApprovalDelay, "", 24, 0), figureOf(p, operation.FigureInHand, "", 112, 0), figureOf(p, operation.FigureActive, "", 0, 0)}},
	}
	m.Over = []views.FigureLine{unresolved, errs.Each[0]}
	m.Groups[0].Lines[1].Parts = &views.FigureParts{N: 1, Scope: "shop", Words: p.LimitWords("count", false, 900, 24), URL: "/figures/limits/lim_2"}
	m.Groups[1].Lines[0].Parts = &views.FigureParts{N: 3, URL: views.PathLimits}
	m.Groups[1].Lines[2].Parts = &views.FigureParts{N: 2, Over: true, URL: views.PathLimits}
	return m
}

func figurePage(p *text.Printer, f operation.Figure) views.FigureModel {
	limit := map[operation.FigureKind]float64{operation.KindRate: 0.02, operation.KindDuration: 3600}[f.Kind()]
	if limit == 0 {
		limit = 60
	}
	l := figureOf(p, f, "", 24, limit)
	l.Chart = views.DrawFigure(p, l, "c-"+string(f), &limit, true)
	return views.FigureModel{Frame: frame(views.SectionFigures, "/figures/"+string(f)), Bar: figuresBar("/figures/" + string(f)), Line: l, From: ago(30 * 24 * time.Hour), To: ago(0), Counted: ago(12 * time.Second), Back: "/figures"}
}

func figureListPage() views.FigureListModel {
	row := views.OperationRow{ID: opTask, URL: "/operations/" + string(opTask), State: operation.Review, Flow: "Campaign follow-up", Stage: "CRM task", Title: "Call back about order 10482", Destination: "Northdesk CRM"}
	m := views.FigureListModel{Frame: frame(views.SectionFigures, "/figures/destination_errors/list"), Figure: operation.FigureDestinationErrors, Destination: "Northdesk CRM", From: ago(30 * 24 * time.Hour), To: ago(0), Size: 72,
		Next: "/figures/destination_errors/list?after=x", First: "/figures/destination_errors/list", Back: "/figures/destination_errors"}
	for i, outcome := range []string{"unknown", "not_started", ""} {
		m.Items = append(m.Items, views.FigureItem{At: ago(time.Duration(i) * time.Hour), Operation: &row, Attempt: i + 1, Outcome: outcome, Code: "timeout"})
	}
	return m
}
