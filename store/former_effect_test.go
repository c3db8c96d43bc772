package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestDeliveryOfAFormerEffect: what is told of an effect that a person settled as not done
// says nothing about the one that came after it.
func TestDeliveryOfAFormerEffect(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f, "lag: 2s", "lag: 1ms")
	for name, x := range map[string]struct {
		before, after, own operation.NewsKind
		want               fate
	}{
		"delivered before":           {"delivered", "", "", fate{"confirmed", "accepted", "", ""}},
		"bounced before":             {"bounced", "", "", fate{"confirmed", "accepted", "", ""}},
		"bounced after":              {"", "bounced", "", fate{"confirmed", "accepted", "", ""}},
		"delivered after":            {"", "delivered", "", fate{"confirmed", "accepted", "duplicate", "suspected"}}, // both arrived
		"denied after":               {"", "contradiction", "", fate{"confirmed", "accepted", "", ""}},               // as the person said
		"the new one is delivered":   {"bounced", "bounced", "delivered", fate{"confirmed", "delivered", "", ""}},
		"the new one bounces itself": {"delivered", "deferred", "bounced", fate{"confirmed", "bounced", "bounced", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			s := mailed(t, f, operation.Confirmed)
			p, err := f.Store.PlaceOf(t.Context(), s.id)
			ok(t, err)
			var account string
			ok(t, f.Owner.QueryRow(`SELECT account FROM operations WHERE id = $1`, string(s.id)).Scan(&account))
			say := func(when string, kind operation.NewsKind, reference string) {
				t.Helper()
				if kind == "" {
					return
				}
				ids := tell(t, f, p, account, definition.News{Key: string(s.id) + when, Kind: kind, Reference: reference})
				if st := newsState(t, f, ids[0]); st != "tied" {
					t.Fatalf("the news %s is %s", when, st)
				}
			}
			s.dispute()
			say("before", x.before, ref(s.id))
			s.notDone(true, "crm-filter")
			if got := lookAt(t, f, s.id); got.Delivery != "" || got.Remedy != "" || f.Count(t, `operations WHERE id = $1 AND deliver_by IS NULL`, string(s.id)) != 1 {
				t.Errorf("not done, and it is %+v", got)
			}
			s.must(f.Store.DecideReexecution(t.Context(), f.Fresh(t, "ops2"), s.shown("yes, once"), true))
			s.must(f.Store.RecordLookup(t.Context(), hand, s.id, time.Now(), operation.LookupFinding{Result: operation.LookupNone}))
			s.send()
			s.report(effect("second-" + string(s.id)))
			say("after", x.after, ref(s.id))
			say("own", x.own, "second-"+string(s.id))
			if got := lookAt(t, f, s.id); got != x.want {
				t.Errorf("it is %+v, want %+v", got, x.want)
			}
			whole(t, f.Store, operation.SubjectOperation, string(s.id))
		})
	}
	t.Run("closed", func(t *testing.T) {
		s := mailed(t, f, operation.Confirmed)
		s.dispute()
		p, err := f.Store.PlaceOf(t.Context(), s.id)
		ok(t, err)
		s.must(f.Store.RecordCallback(t.Context(), store.System("api"), store.Callback{Operation: s.id, Destination: p.Destination, Kind: operation.NewsBounced, Reference: ref(s.id), Body: `{}`}))
		s.notDone(false, "crm-filter")
		if got := lookAt(t, f, s.id); got != (fate{"not_executed", "", "", ""}) {
			t.Errorf("it is %+v", got)
		}
	})
}
