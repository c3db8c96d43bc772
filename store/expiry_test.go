package store_test

import (
	"bytes"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// shortly is how long an approval holds in these tests.
const shortly = 400 * time.Millisecond

// expiring applies the demonstration's coupon with an approval that expires soon.
func expiring(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	files, err := storetest.DemoFiles()
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i].Source = bytes.Replace(files[i].Source, []byte("expires: 7d"), []byte("expires: "+shortly.String()), 1)
	}
	if _, err := f.Store.Apply(t.Context(), store.System("command"), files); err != nil {
		t.Fatal(err)
	}
}

// TestFC20_ApprovalPastItsDeadline: one clock decides, the database's, at the moment of
// each step. What expired is not sent, says so, and may be approved anew.
func TestFC20_ApprovalPastItsDeadline(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	expiring(t, f)
	approved := func(t *testing.T) *stand {
		s := &stand{f: f, t: t, id: coupon(t, f)()}
		f.Approve(t, s.id, "lead")
		return s
	}
	again := func(t *testing.T, s *stand) {
		t.Helper()
		r := race{f: f, t: t, id: s.id}
		if r.state() != operation.PendingApproval || r.sent() != 0 {
			t.Fatalf("%s with %d attempts sent", r.state(), r.sent())
		}
		if r.count(`history WHERE subject_id = $1 AND action = 'expire'`) != 1 {
			t.Error("the history does not say that it expired")
		}
		r.whole()
		f.Approve(t, s.id, "lead") // the same person, in a new round
		if err := r.claim(); err != nil || r.sent() != 1 {
			t.Errorf("approved anew: %v, %d attempts sent", err, r.sent())
		}
	}
	t.Run("BetweenClaimAndDispatch", func(t *testing.T) {
		t.Parallel()
		s := approved(t)
		c, err := f.Store.Claim(t.Context(), hand, s.id, "hand")
		s.must(err)
		time.Sleep(shortly)
		_, err = f.Store.Dispatch(t.Context(), hand, c.Attempt, c.Fence)
		race{f: f, t: t, id: s.id}.refused("the dispatch", err, operation.CodeApprovalExpired)
		if f.Count(t, `attempts WHERE id = $1 AND outcome = 'not_started' AND dispatched_at IS NULL`, string(c.Attempt)) != 1 {
			t.Error("the claimed attempt is not proven not_started")
		}
		again(t, s)
	})
	t.Run("BeforeTheClaim", func(t *testing.T) {
		t.Parallel()
		s := approved(t)
		time.Sleep(shortly)
		r := race{f: f, t: t, id: s.id}
		r.refused("the claim", r.claim(), operation.CodeApprovalExpired)
		again(t, s)
	})
	t.Run("FoundByTheSweep", func(t *testing.T) {
		t.Parallel()
		s := approved(t)
		time.Sleep(shortly)
		if _, err := f.Store.SweepExpired(t.Context(), store.System("job")); err != nil {
			t.Error(err)
		}
		again(t, s)
	})
	t.Run("WhileUnknown", func(t *testing.T) {
		t.Parallel()
		s := approved(t)
		s.send()
		s.report(lost)
		time.Sleep(shortly)
		if _, err := f.Store.SweepExpired(t.Context(), store.System("job")); err != nil {
			t.Error(err)
		}
		r := race{f: f, t: t, id: s.id}
		if r.count(`operations WHERE id = $1 AND state = 'unknown' AND lookup_at IS NOT NULL AND retry_at IS NULL`) != 1 {
			t.Errorf("%s: lookups go on, sends do not", r.state())
		}
		if r.claim() == nil || r.sent() != 1 {
			t.Error("it was sent again under an expired approval")
		}
		s.must(news["Lookup"](s, ref(s.id)))
		if r.state() != operation.Confirmed {
			t.Errorf("the lookup found it: %s", r.state())
		}
		r.whole()
	})
}
