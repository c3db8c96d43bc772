package operation

import (
	"testing"
	"time"
)

func TestShown(t *testing.T) {
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		since time.Time
		probe ProbeFact
		want  bool
	}{
		"the profile alone":               {day, ProbeFact{}, true},
		"the profile does not say":        {time.Time{}, ProbeFact{}, false},
		"a probe held, but not the file":  {time.Time{}, ProbeFact{ProbeHeld, day}, false},
		"held later":                      {day, ProbeFact{ProbeHeld, day.Add(time.Hour)}, true},
		"broken on the same day":          {day, ProbeFact{ProbeBroken, day.Add(time.Hour)}, false},
		"broken as the day begins":        {day, ProbeFact{ProbeBroken, day}, false},
		"broken later":                    {day, ProbeFact{ProbeBroken, day.AddDate(0, 1, 0)}, false},
		"broken before, and shown anew":   {day, ProbeFact{ProbeBroken, day.Add(-time.Second)}, true},
		"broken, and nobody ever said so": {time.Time{}, ProbeFact{ProbeBroken, day}, false},
	} {
		if got := Shown(c.since, c.probe); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
