package handlers_test

import (
	"encoding/csv"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
)

var sizeOf = regexp.MustCompile(`data-size="(\d+)"`)

// TestFiguresPages: every figure has its line, its page and its list, whose size is the
// number that leads to it; the file has them all.
func TestFiguresPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Ready(t)
	d, err := h.Store.ClaimAndDispatch(t.Context(), store.Job("hand"), id, "hand")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Store.Record(t.Context(), store.Job("hand"), d.Attempt, d.Fence, operation.Result{Proof: operation.Proof{Code: "timeout", Phase: operation.PhaseSent}}); err != nil {
		t.Fatal(err)
	}
	b := h.as(t, "ops")
	page := b.get("/figures?span=7")
	if page.status != http.StatusOK {
		t.Fatalf("the page of figures answers %d", page.status)
	}
	for _, f := range operation.Figures {
		if !strings.Contains(page.body, `data-figure="`+string(f)+`"`) {
			t.Errorf("%s has no line", f)
		}
		if one := b.get("/figures/" + string(f) + "?span=365&step=month"); one.status != http.StatusOK || !strings.Contains(one.body, `data-testid="steps"`) {
			t.Errorf("the page of %s answers %d", f, one.status)
		}
		if list := b.get("/figures/" + string(f) + "/list?span=7"); list.status != http.StatusOK || !sizeOf.MatchString(list.body) {
			t.Errorf("the list of %s answers %d", f, list.status)
		}
	}
	for f, want := range map[operation.Figure]string{operation.FigureAttempts: "1", operation.FigureUnresolved: "1", operation.FigureDestinationErrors: "1", operation.FigureEvents: "1", operation.FigureEffectsPerson: "0"} {
		list := b.get("/figures/" + string(f) + "/list?span=7&flow=newsletter-coupon")
		if size := sizeOf.FindStringSubmatch(list.body); size == nil || size[1] != want {
			t.Errorf("the list of %s has %v rows, want %s", f, size, want)
		}
	}
	if strings.Contains(page.body, "style=") {
		t.Error("a drawing has a style attribute, which the policy forbids")
	}
	file := b.get("/figures/export.csv?span=7")
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(file.body, "\uFEFF"))).ReadAll()
	if err != nil || len(rows) < len(operation.Figures)*9 || rows[0][0] != "figure" {
		t.Errorf("the file has %d rows: %v", len(rows), err)
	}
	for _, missing := range []string{"/figures/success_rate", "/figures/success_rate/list", "/figures/events/list?destination=billing"} {
		if a := b.get(missing); a.status != http.StatusNotFound {
			t.Errorf("%s answers %d", missing, a.status)
		}
	}
	for _, odd := range []string{"/figures?from=2026-13-90&span=x&step=y", "/figures?from=0001-01-01&to=9999-12-31&step=day", "/figures/events/list?after=bm8&since=x"} {
		if a := b.get(odd); a.status != http.StatusOK {
			t.Errorf("%s answers %d", odd, a.status)
		}
	}
}
