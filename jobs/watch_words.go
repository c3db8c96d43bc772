package jobs

import (
	"cmp"
	"time"

	"holdpoint/store"
	"holdpoint/views/text"
)

// nameFor is what people know something by: its title, else its name; "" = nothing is named.
func nameFor(p *text.Printer, title map[string]string, name string) string {
	if name == "" {
		return ""
	}
	return cmp.Or(in(title, p.Lang), name)
}

// limitFigure names the figure of a limit with what it is narrowed to.
func limitFigure(p *text.Printer, l *store.LimitNotice) string {
	figure := p.T("limits.figure." + string(l.Figure))
	for _, name := range []string{nameFor(p, l.Titles.Flow, l.Flow), nameFor(p, l.Titles.Destination, l.Destination)} {
		if name != "" {
			figure = p.T("limits.of", "Figure", figure, "Name", plain(name))
		}
	}
	return figure
}

// limitHeading says in one line what was measured and what the limit is.
func limitHeading(p *text.Printer, l *store.LimitNotice) string {
	kind := string(l.Figure.Kind())
	measured := p.Amount(kind, l.Measured.Amount())
	if l.Measured.Rate {
		measured = p.ReviewNumber("rate", l.Measured.N, l.Measured.Of)
	}
	limit := p.LimitWords(kind, l.Side == "under", l.Value, l.SpanHours)
	switch {
	case l.Source != "" && l.Side == "under" && !l.Back:
		return p.T("limits.silent", "Source", plain(nameFor(p, l.Titles.Source, l.Source)), "Measured", measured, "Limit", limit)
	case l.Source != "":
		return p.T("limits.not_silent", "Source", plain(nameFor(p, l.Titles.Source, l.Source)), "Measured", measured, "Limit", limit)
	}
	return p.T("limits.heading", "Figure", limitFigure(p, l), "Measured", measured, "Limit", limit)
}

// limitFacts are the lines below it.
func limitFacts(p *text.Printer, l *store.LimitNotice) []string {
	if l.Back {
		return nil
	}
	out := []string{p.T("limits.since", "At", p.Exact(l.Since))}
	if l.Worst.Amount() != l.Measured.Amount() {
		out = append(out, p.T("limits.peak", "Measured", p.Amount(string(l.Figure.Kind()), l.Worst.Amount())))
	}
	return out
}

// reportHeading names a review: its kind, its days, its flow.
func reportHeading(p *text.Printer, i store.NoticeItem) string {
	r := i.Report
	zone, err := time.LoadLocation(r.Zone)
	if err != nil {
		zone = time.UTC
	}
	days := p.Days(r.From, r.To, zone)
	if flow := plain(in(i.FlowTitle, p.Lang)); flow != "" {
		return p.T("reports.heading_flow."+string(r.Kind), "Days", days, "Flow", flow)
	}
	return p.T("reports.heading."+string(r.Kind), "Days", days)
}

// reportLines are the numbers that a mail about a review holds.
var reportLines = []string{"open_at_end", "unresolved_at_end", "adopted", "key_reuse", "duplicates_suspected", "duplicates_confirmed", "destination_errors", "approval_delay", "tasks_overdue"}

// reportFacts are the main numbers of a review, each with that of the period before.
func reportFacts(p *text.Printer, r *store.ReportNotice) []string {
	var out []string
	for _, code := range reportLines {
		for _, l := range r.Lines {
			if l.Code != code {
				continue
			}
			name := p.T("reports.line." + l.Code)
			if l.Name != "" {
				name = p.T("limits.of", "Figure", name, "Name", plain(nameFor(p, r.Titles[l.Name], l.Name)))
			}
			out = append(out, p.T("reports.mail_line", "Line", name, "Now", p.ReviewNumber(string(l.Kind), l.Now.N, l.Now.Of), "Before", p.ReviewNumber(string(l.Kind), l.Before.N, l.Before.Of)))
		}
	}
	return out
}
