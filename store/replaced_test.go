package store_test

import (
	"errors"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// reopened is a coupon that was confirmed, disputed and settled as not done, then replaced;
// evidence of its effect has come since. new is the replacement, brought into a state.
func reopened(t *testing.T, f *storetest.Fixture, state operation.State) (original, replacement *stand) {
	t.Helper()
	o := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.Confirmed](o)
	o.dispute()
	o.notDone(false)
	p, err := f.Store.FindOperation(t.Context(), f.As("author"), o.id)
	ok(t, err)
	id, err := f.Store.Replace(t.Context(), f.As("author"), o.shown("once more"), store.Replacement{Content: p.Current().Content(), Submit: state != operation.Draft})
	ok(t, err)
	n := &stand{f: f, t: t, id: id}
	approve := func() { f.Approve(t, id, "ops2") } // the original was sent: its re-execution's approvers decide
	if state == operation.RetryScheduled || state == operation.InProgress {
		approve()
		c, err := f.Store.Claim(t.Context(), hand, id, "hand")
		ok(t, err)
		n.last = c
		if state == operation.RetryScheduled {
			_, err = f.Store.Record(t.Context(), hand, c.Attempt, c.Fence, throttled)
			ok(t, err)
		}
	}
	o.must(news["Callback"](o, ref(o.id)))
	if state == operation.Ready {
		approve()
	}
	if s := f.State(t, id); s != state {
		t.Fatalf("the replacement is %s, want %s", s, state)
	}
	return o, n
}

// TestReplacementOfWhatIsThere: while its original is open, a replacement waits for it and no
// job is woken; when the original turns out to have its effect, the replacement is cancelled.
func TestReplacementOfWhatIsThere(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	for _, state := range []operation.State{operation.Draft, operation.PendingApproval, operation.Ready, operation.RetryScheduled, operation.InProgress} {
		for _, done := range []bool{true, false} {
			t.Run(string(state)+map[bool]string{true: "/done", false: "/not done"}[done], func(t *testing.T) {
				o, n := reopened(t, f, state)
				r := race{f: f, t: t, id: n.id}
				if state == operation.Ready || state == operation.RetryScheduled {
					if r.count(`operations WHERE id = $1 AND next_kind = 'original' AND next_system AND next_at > clock_timestamp() + interval '1 minute'`) != 1 {
						t.Error("it does not wait for its original")
					}
				}
				if state == operation.Ready {
					_, err := f.Store.Claim(t.Context(), hand, n.id, "hand")
					refused(t, err, operation.CodeOriginalOpen)
					if s := r.state(); s != operation.Ready {
						t.Errorf("the original is open, and it is %s", s)
					}
				}
				woken := r.count(`river_job WHERE kind = 'execute' AND args->>'operation' = $1`)
				o.settle(done)
				switch {
				case !done:
					if s := r.state(); s != state {
						t.Errorf("the original has no effect, and it is %s", s)
					}
					if state == operation.Ready && (r.count(`operations WHERE id = $1 AND next_kind = 'take'`) != 1 || r.count(`river_job WHERE kind = 'execute' AND args->>'operation' = $1`) != woken+1) {
						t.Error("it may go now, and no job is woken")
					}
				case state == operation.InProgress:
					_, err := f.Store.Dispatch(t.Context(), hand, n.last.Attempt, n.last.Fence)
					refused(t, err, operation.CodeOriginalConfirmed)
					fallthrough
				default:
					n.cancelledForOriginal(o.id)
				}
				r.whole()
			})
		}
	}
	t.Run("by the claim", func(t *testing.T) { // of a database in which the original was confirmed before
		o, n := reopened(t, f, operation.Ready)
		if _, err := f.Owner.Exec(`UPDATE operations SET state = 'confirmed', disputed = false, confirmed_by = 'person', next_kind = '', next_at = NULL, next_system = false, next_role = '' WHERE id = $1`, string(o.id)); err != nil {
			t.Fatal(err)
		}
		_, err := f.Store.Claim(t.Context(), hand, n.id, "hand")
		refused(t, err, operation.CodeOriginalConfirmed)
		n.cancelledForOriginal("")
	})
	t.Run("a deliberate second one stays", func(t *testing.T) {
		o := &stand{f: f, t: t, id: coupon(t, f)()}
		ways[operation.Confirmed](o)
		p, err := f.Store.FindOperation(t.Context(), f.As("author"), o.id)
		ok(t, err)
		id, err := f.Store.Replace(t.Context(), f.As("author"), o.shown("a second one"), store.Replacement{Content: p.Current().Content(), Deliberate: true, Submit: true})
		ok(t, err)
		f.Approve(t, id, "ops2")
		o.dispute()
		o.settle(true)
		n := &stand{f: f, t: t, id: id}
		n.send()
	})
}

// cancelledForOriginal checks that it was cancelled once, and says why; "" = by the gate.
func (s *stand) cancelledForOriginal(original operation.ID) {
	s.t.Helper()
	r := race{f: s.f, t: s.t, id: s.id}
	if r.count(`operations WHERE id = $1 AND state = 'cancelled' AND next_kind = '' AND clearance_id IS NULL AND retry_at IS NULL`) != 1 {
		s.t.Errorf("its original has its effect, and it is %s", r.state())
	}
	if s.f.Count(s.t, `history WHERE subject_id = $1 AND action = 'cancel' AND links::json->>'cause' = 'original_confirmed' AND ($2 = '' OR COALESCE(links::json->>'original', $2) = $2)`, string(s.id), string(original)) != 1 {
		s.t.Error("its history does not say why it was cancelled")
	}
	var refusal *operation.Refusal
	if _, err := s.f.Store.ClaimAndDispatch(s.t.Context(), hand, s.id, "hand"); !errors.As(err, &refusal) {
		s.t.Errorf("it may still be taken: %v", err)
	}
}
