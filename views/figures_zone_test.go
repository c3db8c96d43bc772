package views

import (
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// A step ends before its To: the day under "Up to and including" is the last day inside
// it, by the reader's calendar.
func TestLastDayOfAStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone        string
		step        operation.FigureStep
		first, last string
	}{
		{"Asia/Tokyo", operation.StepDay, "2026-03-09", "2026-03-09"},
		{"Asia/Tokyo", operation.StepWeek, "2026-03-02", "2026-03-08"},
		{"Asia/Tokyo", operation.StepMonth, "2026-02-01", "2026-02-28"},
		{"America/New_York", operation.StepDay, "2026-03-08", "2026-03-08"}, // 23 hours long
		{"America/New_York", operation.StepDay, "2026-11-01", "2026-11-01"}, // 25 hours long
		{"America/New_York", operation.StepWeek, "2026-03-02", "2026-03-08"},
		{"America/New_York", operation.StepMonth, "2026-03-01", "2026-03-31"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		first, err := time.ParseInLocation(time.DateOnly, c.first, zone)
		if err != nil {
			t.Fatal(err)
		}
		last, err := time.ParseInLocation(time.DateOnly, c.last, zone)
		if err != nil {
			t.Fatal(err)
		}
		p := text.New("en", zone, last.AddDate(0, 0, 10))
		cell := FigureCell{From: c.step.Floor(first).UTC(), To: c.step.Next(first).UTC()} // as they are read from the store
		line := FigureLine{Figure: operation.FigureAttempts, Cells: []FigureCell{cell}}
		var out strings.Builder
		if err := figureTable(line).Render(text.With(t.Context(), p), &out); err != nil {
			t.Fatal(err)
		}
		for _, day := range []time.Time{first, last} {
			if want := ">" + p.Date(day.Add(12*time.Hour)) + "</time>"; !strings.Contains(out.String(), want) {
				t.Errorf("%s, %s from %s: %s is not in %s", c.zone, c.step, c.first, want, out.String())
			}
		}
		if after := ">" + p.Date(last.Add(36*time.Hour)) + "</time>"; strings.Contains(out.String(), after) {
			t.Errorf("%s, %s from %s: %s, the day after, is shown", c.zone, c.step, c.first, after)
		}
		if title := DrawFigure(p, line, "x", nil, false).Title; !strings.Contains(title, p.Date(last.Add(12*time.Hour))) {
			t.Errorf("%s, %s from %s: the chart is headed %q", c.zone, c.step, c.first, title)
		}
	}
}
