package bench

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"
)

// TestRunPages fills a small database and opens every page for a moment.
func TestRunPages(t *testing.T) {
	var out, log bytes.Buffer
	if err := RunPages(t.Context(), PageOptions{Rows: 2000, Slice: 50 * time.Millisecond, JSON: true, Out: &out, Log: &log}); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	var r PageReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Pages) < 50 {
		t.Errorf("only %d pages", len(r.Pages))
	}
	size := map[string]int{}
	for _, p := range r.Pages {
		if p.One.Count == 0 || p.Eight.Count == 0 || p.One.P99 <= 0 || p.Eight.P99 < p.Eight.P50 {
			t.Errorf("%+v", p)
		}
		size[p.Page] = max(size[p.Page], p.Bytes)
	}
	// filters that find something show more than those that find nothing
	for _, name := range []string{"operations, state pending_approval", "operations, state confirmed", "operations, state rejected", "operations, responsible approver", "operations, flow", "operations, destination",
		"operations, source", "operations, overdue", "operations, one day"} {
		if size[name] <= size["operations, flow of none"] {
			t.Errorf("%s: %d bytes, no more than an empty list", name, size[name])
		}
	}
	if slices.ContainsFunc(r.Pages, func(p PageFigure) bool { return p.Bytes > 60<<10 }) {
		t.Error("a page is larger than 60 KB")
	}
}
