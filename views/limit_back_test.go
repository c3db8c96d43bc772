package views

import (
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// TestBackRule: a breach that is over at once is not said to last for nothing.
func TestBackRule(t *testing.T) {
	for _, lang := range text.Languages {
		p := text.New(lang, time.UTC, time.Now())
		r := LimitRule{Figure: operation.FigureUnresolved, Margin: 7}
		now := backRule(p, r)
		r.Hold = 15 * time.Minute
		later := backRule(p, r)
		if strings.Contains(now, p.Duration(0)) || !strings.Contains(now, "7") || !strings.Contains(later, p.Duration(r.Hold)) {
			t.Errorf("%s: %q, %q", lang, now, later)
		}
	}
}
