package store_test

import (
	"slices"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

var worker = store.Job("worker-1")

func TestPauseFlowAndDestination(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		code        operation.Code
		subject     operation.SubjectKind
		id          string
		pause       func(f *storetest.Fixture, a store.Actor, why string) (store.InFlight, error)
		resume      func(f *storetest.Fixture, a store.Actor, why string) error
		byAdminOnly bool
	}{
		{"Flow", operation.CodePausedFlow, operation.SubjectFlow, "newsletter-coupon",
			func(f *storetest.Fixture, a store.Actor, why string) (store.InFlight, error) {
				return f.Store.PauseFlow(t.Context(), a, "newsletter-coupon", why)
			}, func(f *storetest.Fixture, a store.Actor, why string) error {
				return f.Store.ResumeFlow(t.Context(), a, "newsletter-coupon", why)
			}, false},
		{"Destination", operation.CodePausedDestination, operation.SubjectDestination, "billing",
			func(f *storetest.Fixture, a store.Actor, why string) (store.InFlight, error) {
				return f.Store.PauseDestination(t.Context(), a, "billing", why)
			}, func(f *storetest.Fixture, a store.Actor, why string) error {
				return f.Store.ResumeDestination(t.Context(), a, "billing", why)
			}, false},
		{"Everything", operation.CodePausedAll, operation.SubjectSystem, "installation",
			func(f *storetest.Fixture, a store.Actor, why string) (store.InFlight, error) {
				return f.Store.PauseAll(t.Context(), a, why)
			}, func(f *storetest.Fixture, a store.Actor, why string) error {
				return f.Store.ResumeAll(t.Context(), a, why)
			}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := storetest.NewFixture(t)
			s, ctx := f.Store, t.Context()
			who := f.As("ops")
			if c.byAdminOnly {
				who = f.As("admin")
				_, err := c.pause(f, f.As("ops"), "because")
				refused(t, err, operation.CodeNotEntitled)
			}
			for _, short := range []string{"lead", "author", "auditor"} {
				_, err := c.pause(f, f.As(short), "because")
				refused(t, err, operation.CodeNotEntitled)
			}
			_, err := c.pause(f, who, "  ")
			refused(t, err, operation.CodeReasonMissing)

			ready, sent, held := f.Ready(t), f.Ready(t), f.Ready(t)
			d, err := s.ClaimAndDispatch(ctx, worker, sent, "w")
			ok(t, err)
			claimed, err := s.Claim(ctx, worker, held, "w")
			ok(t, err)
			flight, err := c.pause(f, who, "the shop is being moved")
			ok(t, err)
			if flight.Count != 2 || !slices.Contains(flight.Operations, sent) || !slices.Contains(flight.Operations, held) {
				t.Errorf("in flight: %+v", flight)
			}
			_, err = s.Claim(ctx, worker, ready, "w")
			refused(t, err, c.code)
			_, err = s.Dispatch(ctx, worker, claimed.Attempt, claimed.Fence)
			refused(t, err, c.code)
			// what has left is settled whatever is paused
			rec, err := s.Record(ctx, worker, d.Attempt, d.Fence, operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "co_1"})
			ok(t, err)
			if rec.State != operation.Confirmed {
				t.Errorf("the effect left the operation in %s", rec.State)
			}
			if _, err := c.pause(f, who, "again"); err != nil {
				t.Errorf("pausing twice: %v", err)
			}

			before := f.Count(t, "river_job WHERE kind = 'execute' AND args->>'operation' IN ($1, $2)", string(ready), string(held))
			refused(t, c.resume(f, f.As("lead"), ""), operation.CodeNotEntitled)
			refused(t, c.resume(f, worker, ""), operation.CodeNotEntitled)
			ok(t, c.resume(f, who, "moved"))
			if after := f.Count(t, "river_job WHERE kind = 'execute' AND args->>'operation' IN ($1, $2)", string(ready), string(held)); after != before+2 {
				t.Errorf("%d wake-ups became %d; two operations may go on", before, after)
			}
			_, err = s.Claim(ctx, worker, ready, "w")
			ok(t, err)
			rows := whole(t, s, c.subject, c.id)
			last := rows[len(rows)-1]
			if last.Action != "resume" || rows[len(rows)-2].Action != "pause" || rows[len(rows)-2].Reason != "the shop is being moved" {
				t.Errorf("history: %+v", rows)
			}
			_, err = c.pause(f, worker, "it keeps failing")
			if err != nil {
				t.Errorf("a job may stop: %v", err)
			}
		})
	}
}

func TestPauseRespectsTheFlowOfARole(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["auditor"], store.RoleGrant{Role: operation.RoleOpsOwner, Flow: "plain-note"}, ""))
	_, err := s.PauseFlow(ctx, f.As("auditor"), "plain-note", "mine")
	ok(t, err)
	_, err = s.PauseFlow(ctx, f.As("auditor"), "newsletter-coupon", "not mine")
	refused(t, err, operation.CodeNotEntitled)
	_, err = s.PauseDestination(ctx, f.As("auditor"), "plain", "not mine alone")
	refused(t, err, operation.CodeNotEntitled)
	_, err = s.PauseFlow(ctx, f.As("ops"), "no-such-flow", "x")
	gone(t, err)
	item, err := s.FindFlow(ctx, "plain-note")
	ok(t, err)
	if item.Paused == nil || item.Paused.By != string(f.Users["auditor"]) || item.Paused.Reason != "mine" || item.Paused.At.IsZero() {
		t.Errorf("paused: %+v", item.Paused)
	}
	ok(t, s.DisableUser(ctx, f.As("admin"), f.Users["auditor"], ""))
	refused(t, s.ResumeFlow(ctx, f.As("auditor"), "plain-note", ""), operation.CodeNotEntitled)
}

func TestPauseOperation(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx, ops := f.Store, t.Context(), f.As("ops")
	next := func(id operation.ID) (kind, role string) {
		ok(t, f.Owner.QueryRow(`SELECT next_kind, next_role FROM operations WHERE id = $1`, string(id)).Scan(&kind, &role))
		return kind, role
	}

	t.Run("StopsAReadyOne", func(t *testing.T) {
		id := f.Ready(t)
		refused(t, s.PauseOperation(ctx, f.As("lead"), id, "why not"), operation.CodeNotEntitled)
		refused(t, s.PauseOperation(ctx, ops, id, ""), operation.CodeReasonMissing)
		ok(t, s.PauseOperation(ctx, ops, id, "ask the shop first"))
		ok(t, s.PauseOperation(ctx, ops, id, "twice"))
		_, err := s.Claim(ctx, worker, id, "w")
		refused(t, err, operation.CodePausedOperation)
		if kind, role := next(id); kind != string(operation.DecideResume) || role == "" {
			t.Errorf("next decision %s by %q", kind, role)
		}
		p, err := s.FindPause(ctx, id)
		ok(t, err)
		if p.By != ops.ID || p.Reason != "ask the shop first" || p.At.IsZero() {
			t.Errorf("pause %+v", p)
		}
		before := f.Count(t, "river_job WHERE args->>'operation' = $1", string(id))
		ok(t, s.ResumeOperation(ctx, ops, id, "asked"))
		ok(t, s.ResumeOperation(ctx, ops, id, "twice"))
		if f.Count(t, "river_job WHERE args->>'operation' = $1", string(id)) != before+1 {
			t.Error("the resume woke nobody")
		}
		_, err = s.FindPause(ctx, id)
		gone(t, err)
		_, err = s.Claim(ctx, worker, id, "w")
		ok(t, err)
		whole(t, s, operation.SubjectOperation, string(id))
	})
	t.Run("TakesBackAClaimThatWasNotDispatched", func(t *testing.T) {
		id := f.Ready(t)
		c, err := s.Claim(ctx, worker, id, "w")
		ok(t, err)
		ok(t, s.PauseOperation(ctx, ops, id, "stop"))
		_, err = s.Dispatch(ctx, worker, c.Attempt, c.Fence)
		refused(t, err, operation.CodeStaleFence)
		if f.Count(t, "attempts WHERE id = $1 AND outcome = 'not_started' AND dispatched_at IS NULL", string(c.Attempt)) != 1 {
			t.Error("the released attempt is not recorded as not started")
		}
		ok(t, s.ResumeOperation(ctx, ops, id, "go"))
		d, err := s.ClaimAndDispatch(ctx, worker, id, "w")
		ok(t, err)
		if d.Fence <= c.Fence {
			t.Errorf("fence %d after %d", d.Fence, c.Fence)
		}
	})
	t.Run("MeansNoFurtherAttemptAfterDispatch", func(t *testing.T) {
		id := f.Ready(t)
		d, err := s.ClaimAndDispatch(ctx, worker, id, "w")
		ok(t, err)
		ok(t, s.PauseOperation(ctx, ops, id, "too late, but no more"))
		if kind, _ := next(id); kind != string(operation.DecideFinish) {
			t.Errorf("next decision %s", kind)
		}
		rec, err := s.Record(ctx, worker, d.Attempt, d.Fence, operation.Result{Outcome: operation.OutcomeNotStarted, Proof: operation.Proof{Code: "rate_limited"}})
		ok(t, err)
		if rec.State != operation.RetryScheduled {
			t.Errorf("state %s", rec.State)
		}
		_, err = f.Owner.Exec(`UPDATE operations SET retry_at = clock_timestamp() WHERE id = $1`, string(id))
		ok(t, err)
		_, err = s.Claim(ctx, worker, id, "w")
		refused(t, err, operation.CodePausedOperation)
	})
	t.Run("RefusesAClosedOne", func(t *testing.T) {
		id := f.Receive(t, storetest.CouponEvent())[0]
		ok(t, f.Decide(t, id, "lead", operation.Reject))
		refused(t, s.PauseOperation(ctx, ops, id, "x"), operation.CodeClosed)
	})
	gone(t, s.PauseOperation(ctx, ops, "op_00000000000000000000000000", "x"))
}

// TestResumeWakesInBatches: a flow with more waiting operations than one transaction
// wakes gets all its wake-ups, and each just once.
func TestResumeWakesInBatches(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	first := f.Ready(t)
	_, err := s.PauseFlow(ctx, f.As("ops"), "newsletter-coupon", "many wait")
	ok(t, err)
	const many = 1200
	// copies of one row: making them one by one would take long and show no more
	_, err = f.Owner.Exec(`ALTER TABLE operations DROP CONSTRAINT operations_intent;
		CREATE TABLE one AS SELECT * FROM operations WHERE id = '` + string(first) + `';
		DO $$ BEGIN FOR i IN 1..1200 LOOP UPDATE one SET id = 'op_' || lpad(i::text, 26, '0'); INSERT INTO operations SELECT * FROM one; END LOOP; END $$`)
	ok(t, err)
	before := f.Count(t, "river_job")
	ok(t, s.ResumeFlow(ctx, f.As("ops"), "newsletter-coupon", "go"))
	if got := f.Count(t, "river_job") - before; got != many+1 {
		t.Errorf("%d wake-ups for %d operations", got, many+1)
	}
	if f.Count(t, "(SELECT args->>'operation' FROM river_job GROUP BY 1) x") != many+1 {
		t.Error("some operation was left out")
	}
}
