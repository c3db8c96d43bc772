package bench

import (
	"context"
	"crypto/rand"
	"os"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

func TestParts(t *testing.T) {
	ctx := context.Background()
	h, err := build(ctx, 12, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	var tr, ta, tc, td time.Duration
	n := 300
	var own float64
	for i := range n + 20 {
		if i == 20 {
			tr, ta, tc, td = 0, 0, 0, 0
			own = ownTicks()
		}
		t0 := time.Now()
		d, err := h.intake(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t1 := time.Now()
		if err := h.approve(ctx, d); err != nil {
			t.Fatal(err)
		}
		t2 := time.Now()
		a, err := h.st.ClaimAndDispatch(ctx, store.Job("b"), d.Operation, "b")
		if err != nil {
			t.Fatal(err)
		}
		t3 := time.Now()
		if _, err := h.st.Record(ctx, store.Job("b"), a.Attempt, a.Fence, operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "T-" + rand.Text()}); err != nil {
			t.Fatal(err)
		}
		t4 := time.Now()
		tr += t1.Sub(t0)
		ta += t2.Sub(t1)
		tc += t3.Sub(t2)
		td += t4.Sub(t3)
	}
	t.Logf("cpu per cycle %.2f ms", (ownTicks()-own)*10/float64(n))
	t.Logf("receive %v approve %v claim %v record %v", tr/time.Duration(n), ta/time.Duration(n), tc/time.Duration(n), td/time.Duration(n))
}
