package jobs

import (
	"context"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
)

// lost is an operation whose one request is on its way with no answer, and whose protected
// repeat is planned: nobody works on it yet.
func (w *world) lost(destination string) operation.ID {
	w.t.Helper()
	id, ctx, job := w.ready(destination), context.Background(), store.Job("gone")
	d, err := w.store.ClaimAndDispatch(ctx, job, id, "gone")
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.store.Record(ctx, job, d.Attempt, d.Fence, operation.Result{Outcome: operation.OutcomeUnknown, Proof: operation.Proof{Code: "timeout"}}); err != nil {
		w.t.Fatal(err)
	}
	if w.count(`id = '`+string(id)+`' AND state = 'unknown' AND retry_at IS NOT NULL`) != 1 {
		w.t.Fatal("no protected repeat is planned: the test shows nothing")
	}
	return id
}

// A repeat that was planned while the protection counted is not sent by the worker after a
// probe has shown that the protection does not hold; a person decides. Once it is shown to
// hold again, the like is sent and has one effect (FC-37).
func TestAPlannedRepeatIsNotSentAfterAFailedProbe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "10s")
	probe := func(w *world, result operation.ProbeResult) {
		p := store.Probe{Destination: "billing", Action: "create_invoice", Account: "acct_test", Environment: "test", ProfileHash: [32]byte{1}, Result: result}
		if _, err := w.store.AddProbe(context.Background(), store.System("command"), p); err != nil {
			t.Fatal(err)
		}
	}
	id := w.lost("billing")
	probe(w, operation.ProbeBroken)
	w.work()
	if s := w.untilState(id, operation.Review); len(s.Attempts) != 1 || s.Next != "reconcile" {
		t.Errorf("after the failed probe: %+v", s)
	}
	if n := w.posts("billing"); n != 0 {
		t.Errorf("%d requests left after the failed probe", n)
	}
	w.effects("billing", id, 0)

	held := newWorld(t, "10s") // no worker is there before the first attempt is lost
	again := held.lost("billing")
	probe(held, operation.ProbeBroken)
	probe(held, operation.ProbeHeld)
	held.work()
	if s := held.untilState(again, operation.Confirmed); len(s.Attempts) != 2 {
		t.Errorf("after it held again: %+v", s)
	}
	held.effects("billing", again, 1)
}
