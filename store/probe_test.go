package store_test

import (
	"errors"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func probeOf(result operation.ProbeResult) store.Probe {
	return store.Probe{Destination: "billing", Action: "create_coupon", Account: "acct_demo", Environment: "test", ProfileHash: [32]byte{1}, Result: result,
		Steps: []operation.ProbeStep{{Name: "again", Result: result, Says: "Two references.", Status: 200, Reference: "x"}}}
}

// A probe that shows that a protection does not hold goes before the profile at once:
// also for an operation whose protected repeat was planned already (FC-37).
func TestAFailedProbeGoesBeforeTheProfile(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx, job := t.Context(), store.Job("w")
	id := f.Ready(t)
	d, err := f.Store.ClaimAndDispatch(ctx, job, id, "w")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Store.Record(ctx, job, d.Attempt, d.Fence, operation.Result{Outcome: operation.OutcomeUnknown, Proof: operation.Proof{Code: "timeout"}}); err != nil {
		t.Fatal(err)
	}
	if n := f.Count(t, "operations WHERE id = $1 AND retry_at IS NOT NULL", string(id)); n != 1 {
		t.Fatal("no protected repeat is planned: the test shows nothing")
	}
	if _, err := f.Owner.Exec(`UPDATE operations SET retry_at = now() - interval '1 second', key_first = now() - interval '1 hour' WHERE id = $1`, string(id)); err != nil {
		t.Fatal(err)
	}
	for _, r := range []operation.ProbeResult{operation.ProbeHeld, operation.ProbeBroken, operation.ProbeUnclear} {
		if _, err := f.Store.AddProbe(ctx, store.System("command"), probeOf(r)); err != nil {
			t.Fatal(err)
		}
	}
	_, err = f.Store.ClaimAndDispatch(ctx, job, id, "w")
	var refused *operation.Refusal
	if !errors.As(err, &refused) || refused.Code != operation.CodeUnprotected {
		t.Fatalf("the repeat after the failed probe: %v", err)
	}
	next := f.Ready(t)
	if _, err = f.Store.ClaimAndDispatch(ctx, job, next, "w"); err != nil {
		t.Fatal(err)
	}
	if n := f.Count(t, "attempts WHERE operation_id = $1 AND NOT protected", string(next)); n != 1 {
		t.Error("a first attempt counts as protected by what was shown not to hold")
	}

	if _, err := f.Store.AddProbe(ctx, store.System("command"), probeOf(operation.ProbeHeld)); err != nil {
		t.Fatal(err)
	}
	if _, err = f.Store.ClaimAndDispatch(ctx, job, id, "w"); errors.As(err, &refused) && refused.Code == operation.CodeUnprotected {
		t.Errorf("after it was shown to hold again: %v", err)
	}
}

func TestProbesAreKeptAndFound(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := t.Context()
	if _, err := f.Store.AddProbe(ctx, f.As("lead"), probeOf(operation.ProbeHeld)); err == nil {
		t.Error("an approver records a probe")
	}
	for _, r := range []operation.ProbeResult{operation.ProbeBroken, operation.ProbeUnclear} {
		if _, err := f.Store.AddProbe(ctx, store.System("command"), probeOf(r)); err != nil {
			t.Fatal(err)
		}
	}
	p := probeOf(operation.ProbeHeld)
	p.Destination = "not-there-yet"
	if _, err := f.Store.AddProbe(ctx, store.System("command"), p); err != nil {
		t.Fatal(err)
	}
	got, err := f.Store.FindProbes(ctx, "billing")
	if err != nil {
		t.Fatal(err)
	}
	x := got["create_coupon"]
	if len(got) != 1 || x.Newest.Result != operation.ProbeUnclear || x.Telling.Result != operation.ProbeBroken || len(x.Newest.Steps) != 1 ||
		time.Since(x.Telling.At) > time.Minute || x.Newest.ProfileHash != [32]byte{1} {
		t.Errorf("%+v", got)
	}
	if f.Count(t, "history WHERE action = 'record_probe' AND subject_kind = 'destination'") != 2 || f.Count(t, "history WHERE action = 'record_probe' AND subject_kind = 'system'") != 1 {
		t.Error("probes are not in the history")
	}
}
