package views

import (
	"holdpoint/operation"
	"holdpoint/views/text"
)

// figureTitle names a figure, and the destination that it is of.
func figureTitle(p *text.Printer, l FigureLine) string {
	name := p.T("limits.figure." + string(l.Figure))
	if l.Destination == "" {
		return name
	}
	return p.T("figures.title_of", "Figure", name, "Destination", Plain(l.Destination))
}

// chartTop says the highest value that a chart's height stands for.
func chartTop(p *text.Printer, l FigureLine) string {
	top := l.Chart.top()
	switch l.Kind() {
	case operation.KindRate:
		return p.Percent(int64(top*10_000 + 0.5))
	case operation.KindDuration:
		return p.Amount("duration", int64(top))
	}
	return p.Number(int(top))
}

// listWord is the word for what a figure counts.
func listWord(f operation.Figure) string {
	switch f {
	case operation.FigureEvents, operation.FigureDeliveries:
		return string(f)
	case operation.FigureAttempts, operation.FigureDestinationErrors, operation.FigureKeyReuse:
		return "attempts"
	case operation.FigureInHand, operation.FigureActive:
		return "cases"
	case operation.FigureApprovalDelay:
		return "approvals"
	case operation.FigureReexecutionErrors:
		return "reexecutions"
	}
	return "operations"
}

// figureDetail heads the last column of the list behind a figure.
func figureDetail(p *text.Printer, f operation.Figure) string {
	switch listWord(f) {
	case "attempts":
		return p.T("figures.col.attempt")
	case "cases", "approvals":
		return p.T("figures.col.took")
	}
	return ""
}
