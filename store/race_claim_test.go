package store_test

import (
	"sync"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func TestRaceClaimClaim(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	again(t, f, func() operation.ID { return f.Ready(t) }, func(r race) {
		var wg sync.WaitGroup
		start := make(chan struct{})
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() {
				<-start
				if i%2 == 0 { // a built-in job, and a client of the job API
					errs[i] = r.claim()
				} else {
					_, errs[i] = f.Store.Claim(t.Context(), store.Actor{Kind: operation.ActorToken, ID: "tok_racer", Channel: "api"}, r.id, "client")
				}
			})
		}
		close(start)
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			r.refused("a later claim", err, operation.CodeAttemptOpen)
		}
		if n := r.count(`attempts WHERE operation_id = $1`); won != 1 || n != 1 {
			t.Errorf("%d claims went through, %d attempts", won, n)
		}
	})
}

// TestRaceStopClaim races what stops an attempt against the claim that sends at once:
// either it was sent before, or nothing is ever sent.
func TestRaceStopClaim(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	for name, stop := range stops(f) {
		t.Run(name, func(t *testing.T) {
			again(t, f, func() operation.ID { return f.Ready(t) }, func(r race) {
				l, s := both(stop.press(r), r.claim)
				r.stopped(stop, l, s)
			})
		})
	}
}

// TestRaceStopDispatch races it against the dispatch of a claim that is held already.
func TestRaceStopDispatch(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	for name, stop := range stops(f) {
		t.Run(name, func(t *testing.T) {
			again(t, f, func() operation.ID { return f.Ready(t) }, func(r race) {
				c, err := f.Store.Claim(t.Context(), store.Job("racer"), r.id, "racer")
				if err != nil {
					t.Fatal(err)
				}
				l, s := both(stop.press(r), func() error {
					_, err := f.Store.Dispatch(t.Context(), store.Job("racer"), c.Attempt, c.Fence)
					return err
				})
				r.stopped(stop, l, s)
			})
		})
	}
}

// stop is one way in which a person keeps an operation from being sent.
type stop struct {
	press   func(r race) func() error
	after   operation.State  // where it leaves an operation that was not sent
	codes   []operation.Code // how a claim or dispatch is refused afterwards
	forbids bool             // once it was sent, it means "no further attempt"
	resume  func(r race)
}

func stops(f *storetest.Fixture) map[string]stop {
	return map[string]stop{
		"Withdraw": {
			press: func(r race) func() error { return r.decide("lead", operation.Withdraw) },
			after: operation.PendingApproval, codes: []operation.Code{operation.CodeNotApproved, operation.CodeStaleFence}, forbids: true,
		},
		"Cancel": {
			press: func(r race) func() error {
				form, tries := store.NewFormID(), 0
				return func() error { // a person looks at the newest page and presses again
					for {
						d := f.Decision(r.t, r.id, operation.Approve)
						err := f.Store.Cancel(r.t.Context(), f.As("ops"), store.Shown{Operation: r.id, Revision: d.Revision, FormID: form, Reason: "no longer wanted"})
						if tries++; err == nil || tries > 5 {
							return err
						}
					}
				}
			},
			after: operation.Cancelled, codes: []operation.Code{operation.CodeClosed, operation.CodeStaleFence}, forbids: true,
		},
		"PauseOperation": {
			press: func(r race) func() error {
				return func() error { return f.Store.PauseOperation(r.t.Context(), f.As("ops"), r.id, "look first") }
			},
			after: operation.RetryScheduled, codes: []operation.Code{operation.CodePausedOperation, operation.CodeStaleFence},
		},
		"PauseFlow": {
			press: func(r race) func() error {
				return func() error {
					_, err := f.Store.PauseFlow(r.t.Context(), f.As("ops"), "newsletter-coupon", "look first")
					return err
				}
			},
			after: operation.RetryScheduled, codes: []operation.Code{operation.CodePausedFlow, operation.CodeStaleFence},
			resume: func(r race) {
				if err := f.Store.ResumeFlow(r.t.Context(), f.As("ops"), "newsletter-coupon", "looked"); err != nil {
					r.t.Error(err)
				}
			},
		},
		"PauseDestination": {
			press: func(r race) func() error {
				return func() error {
					_, err := f.Store.PauseDestination(r.t.Context(), f.As("ops"), "billing", "look first")
					return err
				}
			},
			after: operation.RetryScheduled, codes: []operation.Code{operation.CodePausedDestination, operation.CodeStaleFence},
			resume: func(r race) {
				if err := f.Store.ResumeDestination(r.t.Context(), f.As("ops"), "billing", "looked"); err != nil {
					r.t.Error(err)
				}
			},
		},
	}
}

// stopped checks the record after a stop met a send.
func (r race) stopped(s stop, stopErr, sendErr error) {
	r.t.Helper()
	if s.resume != nil {
		defer s.resume(r)
	}
	if sendErr == nil {
		if r.sent() != 1 || r.state() != operation.InProgress {
			r.t.Errorf("sent first: %d dispatched attempts, %s", r.sent(), r.state())
		}
		if stopErr != nil {
			r.t.Errorf("the stop after the send means that nothing follows: %v", stopErr)
		}
		if n := r.count(`operations WHERE id = $1 AND stopped`); s.forbids && n != 1 {
			r.t.Errorf("sent first, and a further attempt is not forbidden")
		}
		r.refused("another claim", r.claim(), operation.CodeAttemptOpen)
		return
	}
	if stopErr != nil {
		r.t.Errorf("the stop: %v", stopErr)
	}
	r.refused("the send", sendErr, s.codes...)
	if n := r.sent(); n != 0 {
		r.t.Errorf("stopped first, and yet %d attempts were dispatched", n)
	}
	if st := r.state(); st != s.after && st != operation.Ready {
		r.t.Errorf("stopped first: %s, want %s", st, s.after)
	}
	r.refused("a later claim", r.claim(), s.codes...)
}
