package bench

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

// TestRun measures for a moment: the report has every figure, and none is nought.
func TestRun(t *testing.T) {
	var out, log bytes.Buffer
	err := Run(t.Context(), Options{Slices: 1, Slice: time.Second, Workers: []int{2}, Wake: time.Second, JSON: true, Out: &out, Log: &log})
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	var r Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Gate) != 1 || r.Gate[0].OpsPerS <= 0 || r.Gate[0].PgbenchTPS <= 0 || r.Gate[0].Ratio <= 0 || r.Gate[0].P99 < r.Gate[0].P50 {
		t.Errorf("gate: %+v", r.Gate)
	}
	if len(r.Intake) != 1 || r.Intake[0].Ratio <= 0 || r.Wake.Count == 0 || r.Wake.P99 <= 0 || r.Memory.UnderLoadMB <= 0 {
		t.Errorf("report: %+v", r)
	}
}
