package drill

import (
	"sync"
	"sync/atomic"
	"testing"

	"holdpoint/operation"
)

// TestClientsAlone: while no worker runs, clients of the job API race for an operation.
// One is permitted, sends what it was handed, and reports; the others are refused.
func TestClientsAlone(t *testing.T) {
	r := useRig(t)
	r.killWorkers()
	t.Cleanup(func() {
		if err := r.work(2); err != nil {
			t.Error(err)
		}
	})
	for range 5 {
		tr := &trial{rig: r, ctx: t.Context()}
		ops, err := tr.begin("drill-task", 1)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var won, refusals atomic.Int64
		for range clients {
			all.Go(func() {
				mine, no, err := r.race(t.Context(), ops[0], "client")
				if err != nil {
					t.Error(err)
				}
				refusals.Add(int64(no))
				if mine {
					won.Add(1)
				}
			})
		}
		if err := tr.approve(ops[0]); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		if won.Load() != 1 || refusals.Load() < clients-1 {
			t.Errorf("%d clients were permitted, %d claims refused", won.Load(), refusals.Load())
		}
		s, err := tr.record(ops[0], 1)
		if err != nil || s.State != string(operation.Confirmed) {
			t.Errorf("%s, %v", s.State, err)
		}
		tr.expect(s, "first confirmed")
		for _, f := range tr.Failures {
			t.Error(f)
		}
	}
}
