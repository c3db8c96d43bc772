package jobs

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestSweepFailuresFromTheStart: a series that is not there before its first failure has no
// growth at it, so that no alarm would ring.
func TestSweepFailuresFromTheStart(t *testing.T) {
	r := prometheus.NewRegistry()
	w := &Worker{metrics: newMetrics(r)}
	w.swept("limit", 0, nil)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "holdpoint_sweep_failures_total" {
			if m := f.GetMetric(); len(m) != 1 || m[0].GetLabel()[0].GetValue() != "limit" || m[0].GetCounter().GetValue() != 0 {
				t.Errorf("%v", m)
			}
			return
		}
	}
	t.Error("the counter is not there")
}
