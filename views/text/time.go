package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

var monthsPolish = [...]string{"stycznia", "lutego", "marca", "kwietnia", "maja", "czerwca", "lipca", "sierpnia",
	"września", "października", "listopada", "grudnia"}

var monthsPolishShort = [...]string{"sty", "lut", "mar", "kwi", "maj", "cze", "lip", "sie", "wrz", "paź", "lis", "gru"}

// Date says the day: "16 April 2026".
func (p *Printer) Date(t time.Time) string {
	t = t.In(p.Zone)
	switch p.Lang {
	case "ja":
		return fmt.Sprintf("%d年%d月%d日", t.Year(), t.Month(), t.Day())
	case "pl":
		return fmt.Sprintf("%d %s %d", t.Day(), monthsPolish[t.Month()-1], t.Year())
	}
	return t.Format("2 January 2006")
}

// DayMonth says the day without the year: "16 Apr".
func (p *Printer) DayMonth(t time.Time) string {
	t = t.In(p.Zone)
	switch p.Lang {
	case "ja":
		return fmt.Sprintf("%d月%d日", t.Month(), t.Day())
	case "pl":
		return fmt.Sprintf("%d %s", t.Day(), monthsPolishShort[t.Month()-1])
	}
	return t.Format("2 Jan")
}

// Clock says the time of day to the second: "14:52:07".
func (p *Printer) Clock(t time.Time) string { return t.In(p.Zone).Format("15:04:05") }

// Exact says day, time to the second and zone: "16 April 2026, 09:42:00 CEST".
func (p *Printer) Exact(t time.Time) string {
	sep := ", "
	if p.Lang == "ja" {
		sep = " "
	}
	return p.Date(t) + sep + t.In(p.Zone).Format("15:04:05 MST")
}

// Short says a moment as tables show it: "today 08:41", "14 Apr 14:52",
// "14 Apr 2025 14:52".
func (p *Printer) Short(t time.Time) string {
	t = t.In(p.Zone)
	now := p.Now.In(p.Zone)
	hm := t.Format("15:04")
	switch {
	case sameDay(t, now):
		return p.T("time.today", "Time", hm)
	case t.Year() == now.Year():
		return p.DayMonth(t) + " " + hm
	case p.Lang == "ja":
		return p.Date(t) + " " + hm
	}
	return p.DayMonth(t) + " " + strconv.Itoa(t.Year()) + " " + hm
}

func sameDay(a, b time.Time) bool { return a.YearDay() == b.YearDay() && a.Year() == b.Year() }

// ISO is the machine-readable form for datetime attributes and exports.
func (p *Printer) ISO(t time.Time) string { return t.In(p.Zone).Format(time.RFC3339) }

// Duration says a length of time with its two largest units: "1 h 18 min",
// "2 d 3 h", "30 s".
func (p *Printer) Duration(d time.Duration) string {
	if d < 0 {
		d = -d
	}
	if d < time.Second {
		return p.T("duration.ms", "N", int(d/time.Millisecond))
	}
	units := []struct {
		key  string
		size time.Duration
	}{{"duration.d", 24 * time.Hour}, {"duration.h", time.Hour}, {"duration.min", time.Minute}, {"duration.s", time.Second}}
	for i, u := range units {
		if d < u.size || (u.key == "duration.d" && d < 48*time.Hour) {
			continue // "24 h" is how retentions are written
		}
		parts := []string{p.N(u.key, int(d/u.size))}
		if i+1 < len(units) {
			next := units[i+1]
			if n := int(d % u.size / next.size); n > 0 {
				parts = append(parts, p.N(next.key, n))
			}
		}
		return strings.Join(parts, p.T("duration.join"))
	}
	return ""
}

// Length says how long something has lasted since t, to the minute: "19 h".
func (p *Printer) Length(t time.Time) string { return p.coarse(p.Now.Sub(t)) }

// Ago says how long ago t was: "18 min ago".
func (p *Printer) Ago(t time.Time) string {
	if d := p.Now.Sub(t); d >= time.Minute {
		return p.T("time.ago", "D", p.coarse(d))
	}
	return p.T("time.now")
}

// Until says how long it is to t: "in 1 h 18 min", or, when t has passed,
// "42 min late".
func (p *Printer) Until(t time.Time) string {
	d := t.Sub(p.Now)
	switch {
	case d <= -time.Minute:
		return p.T("time.late", "D", p.coarse(-d))
	case d < time.Minute:
		return p.T("time.now")
	}
	return p.T("time.in", "D", p.coarse(d))
}

// coarse leaves out what does not matter to people: seconds beyond a minute, minutes
// beyond six hours.
func (p *Printer) coarse(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		d = d.Truncate(24 * time.Hour)
	case d >= 6*time.Hour:
		d = d.Truncate(time.Hour)
	case d >= time.Minute:
		d = d.Truncate(time.Minute)
	}
	return p.Duration(d)
}
