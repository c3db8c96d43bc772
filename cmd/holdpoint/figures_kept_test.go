package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus"
)

var metricName = regexp.MustCompile(`holdpoint_[a-z_]+`)

// shownMetrics gathers the names that the figures have at /metrics, those of a histogram's
// parts included.
func shownMetrics(t *testing.T) map[string]bool {
	t.Helper()
	r := prometheus.NewRegistry()
	cells := make([]int64, len(operation.DurationBounds)+1)
	cells[20] = 3
	r.MustRegister(&figures{scraped[store.Figures]{find: func(context.Context) (store.Figures, error) {
		return store.Figures{Open: map[operation.State]int{operation.Review: 1}, Overdue: map[string]int{"person": 1}, Paused: map[string]int{"all": 1}}, nil
	}}}, &keptFigures{scraped[store.FigureTotals]{find: func(context.Context) (store.FigureTotals, error) {
		return store.FigureTotals{CountedUntil: time.Now(), Rows: []store.FigureTotal{{Flow: "f", Destination: "d", Counts: map[string]int64{"attempts": 1}, Times: map[operation.Figure][]int64{operation.FigureApprovalDelay: cells}}}}, nil
	}}})
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range families {
		names[f.GetName()] = true
		if h := f.GetMetric()[0].GetHistogram(); h != nil {
			names[f.GetName()+"_bucket"] = true
			if n := len(h.GetBucket()); n < 10 || h.GetSampleCount() != 3 || h.GetBucket()[n-1].GetCumulativeCount() != 3 || h.GetBucket()[0].GetCumulativeCount() != 0 {
				t.Errorf("the histogram is wrong: %v", h)
			}
		}
	}
	return names
}

// chosen finds which series a question asks for, and grouped by what it gathers them.
var (
	chosen  = regexp.MustCompile(`(holdpoint_[a-z_]+)\{([^}]*)\}`)
	matcher = regexp.MustCompile(`([a-z_]+)\s*(=~|!=|!~|=)\s*"([^"]*)"`)
	grouped = regexp.MustCompile(`\bby \(([^)]*)\)`)
)

// wrongLabels says which labels of a question no series has, or not with such a value.
func wrongLabels(expr string) (wrong []string) {
	values := map[string][]string{"holdpoint_figure_total": store.FigureWords()}
	for _, part := range []string{"_bucket", "_count", "_sum"} {
		values["holdpoint_figure_seconds"+part] = []string{"approval_delay", "recovery_in_hand", "recovery_active"}
	}
	labels := map[string][]string{"holdpoint_figure_total": {"figure", "flow", "destination"}, "holdpoint_figure_unresolved": {"flow", "destination"}, "holdpoint_figure_seconds_bucket": {"figure", "flow", "destination", "le"},
		"holdpoint_operations_open": {"state"}, "holdpoint_decisions_overdue": {"by"}, "holdpoint_figures_counted_until_seconds": {}}
	for _, m := range chosen.FindAllStringSubmatch(expr, -1) {
		for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(labels[m[1]], l[1]) || l[1] == "figure" && !slices.Contains(values[m[1]], l[3]) {
				wrong = append(wrong, m[1]+"{"+l[0]+"}")
			}
		}
	}
	for _, g := range grouped.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(g[1], ",") {
			for _, name := range metricName.FindAllString(expr, -1) {
				if !slices.Contains(labels[name], strings.TrimSpace(label)) {
					wrong = append(wrong, "by "+strings.TrimSpace(label)+" of "+name)
				}
			}
		}
	}
	return wrong
}

// TestFigureWords: what the documentation lists is what /metrics counts.
func TestFigureWords(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "figures.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, row, found := strings.Cut(string(raw), "| `holdpoint_figure_total` |")
	_, row, listed := strings.Cut(row, "Figures: ")
	row, _, _ = strings.Cut(row, "\n")
	if !found || !listed {
		t.Fatal("the table of metrics is not there")
	}
	var told []string
	for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row, -1) {
		told = append(told, m[1])
	}
	slices.Sort(told)
	if got := store.FigureWords(); !slices.Equal(got, told) {
		t.Errorf("counted are %v, told are %v", got, told)
	}
}

// TestDashboard: the example dashboard and the alert rules can be read, and ask for
// metrics that exist.
func TestDashboard(t *testing.T) {
	names := shownMetrics(t)
	docs := filepath.Join("..", "..", "docs")
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	raw, err := os.ReadFile(filepath.Join(docs, "grafana", "figures.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &board); err != nil {
		t.Fatal(err)
	}
	asked := map[string]string{}
	for _, p := range board.Panels {
		for _, x := range p.Targets {
			asked["panel "+p.Title] = x.Expr
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if raw, err = os.ReadFile(filepath.Join(docs, "alerts", "figures.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(raw, &rules); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.Annotations["summary"] == "" {
				t.Errorf("a rule without a name or a sentence: %+v", r)
			}
			asked["alert "+r.Alert] = r.Expr
		}
	}
	if len(asked) < 20 {
		t.Errorf("only %d questions", len(asked))
	}
	for where, expr := range asked {
		found := metricName.FindAllString(expr, -1)
		if len(found) == 0 || strings.Count(expr, "(") != strings.Count(expr, ")") {
			t.Errorf("%s asks for nothing: %s", where, expr)
		}
		for _, w := range wrongLabels(expr) {
			t.Errorf("%s asks for %s, which no series has", where, w)
		}
		for _, m := range found {
			if !names[m] {
				t.Errorf("%s asks for %s, which does not exist", where, m)
			}
		}
	}
}
