package bench

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestRunBatch measures small batches for a moment: the report has every figure, and none is
// nought.
func TestRunBatch(t *testing.T) {
	var out, log bytes.Buffer
	o := BatchOptions{Slices: 1, Slice: time.Second, Lanes: 2, Clients: 2, Hands: 8, Items: 40, Import: 120, Large: 300, Look: 50 * time.Millisecond, JSON: true, Out: &out, Log: &log}
	if err := RunBatch(t.Context(), o); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	var r BatchReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Import.Items != 120 || r.Import.CreateS <= 0 || r.Import.ApproveS <= 0 || r.Large == nil || r.Large.Items != 300 {
		t.Errorf("import: %+v, %+v", r.Import, r.Large)
	}
	c := r.Cycle
	if c.Lanes != 2 || c.Hands != 8 || c.ItemsPerS <= 0 || c.PgbenchTPS <= 0 || c.Ratio <= 0 || c.PerCPU <= 0 || c.Kept != 1 {
		t.Errorf("cycle: %+v", c)
	}
	for _, step := range []string{"create", "approve", "claim", "record", "advance"} {
		if c.Steps[step] <= 0 {
			t.Errorf("%s took %f ms", step, c.Steps[step])
		}
	}
	if len(r.Reads) < 4 {
		t.Errorf("only %d reads", len(r.Reads))
	}
	for _, x := range r.Reads {
		if x.One.Count == 0 || x.Eight.Count == 0 || x.One.P99 <= 0 || x.Eight.P99 < x.Eight.P50 {
			t.Errorf("%+v", x)
		}
	}
	out.Reset()
	if err := r.write(BatchOptions{Out: &out}); err != nil || !strings.Contains(out.String(), "batch of 120 items") || !strings.Contains(out.String(), "items, middle page") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
