package text

import (
	"strconv"
	"time"

	"golang.org/x/text/number"
)

// Percent writes hundredths of a percent: "3.1%", with a second decimal only where it
// says something: "0.25%".
func (p *Printer) Percent(hundredths int64) string {
	return p.T("amount.percent", "N", p.hundredths(hundredths))
}

// Points writes how far two rates lie apart, in hundredths of a percentage point.
func (p *Printer) Points(hundredths int64) string {
	return p.T("amount.points", "N", p.hundredths(hundredths))
}

func (p *Printer) hundredths(v int64) string {
	decimals := 1
	if v%10 != 0 {
		decimals = 2
	}
	return p.numbers.Sprint(number.Decimal(float64(v)/100, number.MinFractionDigits(decimals), number.MaxFractionDigits(decimals)))
}

// Share writes n of so many in percent, rounded to a tenth; "–" of nothing.
func (p *Printer) Share(n, of int64) string {
	if of == 0 {
		return "–"
	}
	return p.Percent((n*10_000/of + 5) / 10 * 10)
}

// Amount writes a number of a figure: a count and a level as they are, a rate as
// hundredths of a percent, a duration as seconds. kind is the figure's.
func (p *Printer) Amount(kind string, v int64) string {
	switch kind {
	case "rate":
		return p.Percent(v)
	case "duration":
		if v == 0 {
			return p.N("duration.s", 0)
		}
		return p.Duration(time.Duration(v) * time.Second)
	}
	return p.Number(int(v))
}

// LimitWords says a limit: "at most 5 at any time", "at most 60 in 30 days", "at least 1 in 24
// hours".
func (p *Printer) LimitWords(kind string, under bool, value int64, hours int) string {
	v, side := p.Amount(kind, value), "limits.at_most"
	if under {
		side = "limits.at_least"
	}
	v = p.T(side, "Value", v)
	switch {
	case hours == 0:
		return p.T("limits.at_any_time", "Value", v)
	case hours%24 == 0 && hours > 24:
		return p.N("limits.in_days", hours/24, "Value", v)
	}
	return p.N("limits.in_hours", hours, "Value", v)
}

// ReviewNumber says a number of a review: a count, "3.1%, 72 of 2,310", or a median and
// of how many. "–" stands where nothing was measured.
func (p *Printer) ReviewNumber(kind string, n, of int64) string {
	switch {
	case kind == "count":
		return p.Number(int(n))
	case of == 0:
		return "–"
	case kind == "rate":
		return p.T("limits.measured_of", "Share", p.Share(n, of), "N", int(n), "Of", int(of))
	}
	return p.N("reports.median", int(of), "Median", p.Amount("duration", n))
}

// Days says the days from a moment to before another in a zone: "6–12 April 2026", or
// "March 2026" of a whole month.
func (p *Printer) Days(from, to time.Time, zone *time.Location) string {
	q := *p
	q.Zone = zone
	first, last := from.In(zone), to.Add(-time.Nanosecond).In(zone)
	if next := last.AddDate(0, 0, 1); first.Day() == 1 && next.Day() == 1 && first.Month() == last.Month() && first.Year() == last.Year() {
		return p.T("reports.month."+strconv.Itoa(int(first.Month())), "Year", strconv.Itoa(first.Year()))
	}
	return p.T("reports.days", "From", q.Date(first), "To", q.Date(last))
}
