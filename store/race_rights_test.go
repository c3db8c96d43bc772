package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// The gate's verbs take its lock together, changes of rights and pauses take it alone.
// So each of these pairs has an order, and the clock that is written shows it.

const rightsRounds = 15

func at(t *testing.T, f *storetest.Fixture, q string, args ...any) (when time.Time) {
	t.Helper()
	ok(t, f.Owner.QueryRowContext(t.Context(), q, args...).Scan(&when))
	return when
}

func TestRaceRevokeDecide(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx, g := f.Store, t.Context(), store.RoleGrant{Role: operation.RoleApprover}
	decided := 0
	for range rightsRounds {
		id := f.Receive(t, storetest.CouponEvent())[0]
		form := f.Decision(t, id, operation.Approve)
		err, revoked := both(func() error { return s.Decide(ctx, f.As("lead"), form) },
			func() error { return s.RevokeRole(ctx, f.As("admin"), f.Users["lead"], g, "") })
		ok(t, revoked)
		if err != nil {
			refused(t, err, operation.CodeNotEntitled)
		} else {
			decided++
			approved := at(t, f, `SELECT decided_at FROM approvals WHERE operation_id = $1`, string(id))
			if gone := at(t, f, `SELECT max(at) FROM history WHERE subject_kind = 'user' AND action = 'revoke_role'`); !approved.Before(gone) {
				t.Errorf("approved at %v, under a right that ended at %v", approved, gone)
			}
			// the approval came in time, and still permits nothing afterwards
			_, err := s.Claim(ctx, worker, id, "w")
			refused(t, err, operation.CodeApproverNotEntitled)
		}
		ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["lead"], g, ""))
	}
	t.Logf("the decision came first in %d of %d rounds", decided, rightsRounds)
}

// TestRaceDisableDecide: the account is disabled while its person presses Approve
// (FC-44). Either the approval came first, and permits nothing afterwards, or there is
// none.
func TestRaceDisableDecide(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	for range rightsRounds {
		id := f.Receive(t, storetest.CouponEvent())[0]
		form := f.Decision(t, id, operation.Approve)
		err, disabled := both(func() error { return s.Decide(ctx, f.As("lead"), form) },
			func() error { return s.DisableUser(ctx, f.As("admin"), f.Users["lead"], "left") })
		ok(t, disabled)
		n := f.Count(t, "approvals WHERE operation_id = $1", string(id))
		if err != nil {
			refused(t, err, operation.CodeNotEntitled)
		}
		if (err == nil) != (n == 1) {
			t.Errorf("err = %v, and %d approvals", err, n)
		}
		if err == nil {
			approved := at(t, f, `SELECT decided_at FROM approvals WHERE operation_id = $1`, string(id))
			if gone := at(t, f, `SELECT max(at) FROM history WHERE subject_kind = 'user' AND action = 'disable_user'`); !approved.Before(gone) {
				t.Errorf("approved at %v, by an account disabled at %v", approved, gone)
			}
		}
		_, err = s.Claim(ctx, worker, id, "w")
		if err == nil {
			t.Error("it was claimed on the approval of a disabled account")
		}
		ok(t, s.EnableUser(ctx, f.As("admin"), f.Users["lead"], ""))
	}
}

// TestRaceNarrowDecide: the role for every flow becomes one for another flow alone, while
// its person presses Approve.
func TestRaceNarrowDecide(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx, lead := f.Store, t.Context(), f.Users["lead"]
	wide, narrow := []store.RoleGrant{{Role: operation.RoleApprover}}, []store.RoleGrant{{Role: operation.RoleApprover, Flow: "plain-note"}}
	for range rightsRounds {
		id := f.Receive(t, storetest.CouponEvent())[0]
		form := f.Decision(t, id, operation.Approve)
		err, changed := both(func() error { return s.Decide(ctx, f.As("lead"), form) },
			func() error { _, err := s.SetRoles(ctx, f.As("admin"), lead, wide, narrow, "notes alone"); return err })
		ok(t, changed)
		if err != nil {
			refused(t, err, operation.CodeNotEntitled)
			if f.Count(t, "approvals WHERE operation_id = $1", string(id)) != 0 {
				t.Error("refused, and recorded")
			}
		} else {
			_, err := s.Claim(ctx, worker, id, "w")
			refused(t, err, operation.CodeApproverNotEntitled)
		}
		_, err = s.SetRoles(ctx, f.As("admin"), lead, narrow, wide, "everything again")
		ok(t, err)
	}
}

func TestRaceDisableClaim(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	for range rightsRounds {
		id := f.Ready(t)
		err, disabled := both(func() error { _, err := s.Claim(ctx, worker, id, "w"); return err },
			func() error { return s.DisableUser(ctx, f.As("admin"), f.Users["lead"], "") })
		ok(t, disabled)
		if err != nil {
			refused(t, err, operation.CodeApproverNotEntitled)
		} else {
			claimed := at(t, f, `SELECT claimed_at FROM attempts WHERE operation_id = $1`, string(id))
			if gone := at(t, f, `SELECT max(at) FROM history WHERE subject_kind = 'user' AND action = 'disable_user'`); !claimed.Before(gone) {
				t.Errorf("claimed at %v, on the approval of somebody disabled at %v", claimed, gone)
			}
			// what was claimed before is refused at its dispatch
			var c struct {
				id    operation.AttemptID
				fence int64
			}
			ok(t, f.Owner.QueryRow(`SELECT id, fence FROM attempts WHERE operation_id = $1`, string(id)).Scan(&c.id, &c.fence))
			_, err := s.Dispatch(ctx, worker, c.id, c.fence)
			refused(t, err, operation.CodeApproverNotEntitled)
		}
		if got := f.State(t, id); got != operation.PendingApproval {
			t.Errorf("the operation is in %s", got)
		}
		ok(t, s.EnableUser(ctx, f.As("admin"), f.Users["lead"], ""))
	}
}

func TestRacePauseClaim(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx, ops := f.Store, t.Context(), f.As("ops")
	for range rightsRounds {
		id := f.Ready(t)
		var d store.Dispatched
		var flight store.InFlight
		err, paused := both(func() (err error) { d, err = s.ClaimAndDispatch(ctx, worker, id, "w"); return err },
			func() (err error) { flight, err = s.PauseFlow(ctx, ops, "newsletter-coupon", "now"); return err })
		ok(t, paused)
		if err != nil {
			refused(t, err, operation.CodePausedFlow)
			if flight.Count != 0 {
				t.Errorf("nothing was sent, and in flight are %d", flight.Count)
			}
		} else {
			if flight.Count != 1 || flight.Operations[0] != id {
				t.Errorf("sent before the pause, and in flight are %+v", flight)
			}
			if began := at(t, f, `SELECT max(at) FROM history WHERE subject_kind = 'flow' AND action = 'pause'`); !d.DispatchedAt.Before(began) {
				t.Errorf("dispatched at %v, paused at %v", d.DispatchedAt, began)
			}
			_, err := s.Record(ctx, worker, d.Attempt, d.Fence, operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: string(id)})
			ok(t, err)
		}
		ok(t, s.ResumeFlow(ctx, ops, "newsletter-coupon", ""))
	}
}

// TestRaceApplyReceive: an event that arrives while a new version is applied begins
// with the old one or with the new one, never with a mixture.
func TestRaceApplyReceive(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	dues := []string{"due: 11h", "due: 24h"}
	for n := range rightsRounds {
		file := demo(t, "newsletter-coupon.yaml", "due: 24h", dues[n%2])
		var r store.Receipt
		received, applied := both(func() (err error) { r, err = s.Receive(ctx, command, storetest.CouponEvent()); return err },
			func() error { _, err := s.Apply(ctx, command, []store.File{file}); return err })
		ok(t, received)
		ok(t, applied)
		var run, op, version int
		ok(t, f.Owner.QueryRow(`SELECT r.flow_version, o.flow_version, v.flow_version FROM operations o JOIN runs r ON r.id = o.run_id
			JOIN content_versions v ON v.id = o.version_id WHERE o.id = $1`, string(r.First())).Scan(&run, &op, &version))
		if run != op || op != version || version < n+1 || version > n+2 {
			t.Errorf("round %d: run of version %d, operation of %d, content of %d", n, run, op, version)
		}
	}
}
