package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// aged makes deliveries and events forty days older, their identifiers too, as they would
// have been written then.
func aged(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	_, err := f.Owner.Exec(`ALTER TABLE deliveries DISABLE TRIGGER USER; ALTER TABLE events DISABLE TRIGGER USER;
		UPDATE deliveries SET received_at = received_at - interval '40 days'; UPDATE events SET received_at = received_at - interval '40 days';
		ALTER TABLE deliveries ENABLE TRIGGER USER; ALTER TABLE events ENABLE TRIGGER USER`)
	ok(t, err)
}

// TestRetentionOfDeliveries: bodies of deliveries go after their term, those of events that
// started nothing too; not those of an event that waits for a person, nor of one that it
// resembles; the rows stay, and one entry of the history tells of it.
func TestRetentionOfDeliveries(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	first := storetest.CouponEvent()
	first.BusinessKey = "order-1"
	id := f.Receive(t, first)[0]
	twin := first
	twin.EventKey, twin.DeliveryKey = "evt-twin", "dlv-twin"
	held, err := f.Store.Receive(t.Context(), store.System("intake"), twin)
	ok(t, err)
	if held.Verdict != store.VerdictHeld {
		t.Fatalf("verdict %s", held.Verdict)
	}
	refusedID, err := f.Store.RefuseDelivery(t.Context(), store.Unaccepted{Source: first.Source, DeliveryKey: "bad", Verdict: store.VerdictRefused, Reason: "signature", Status: 401, Body: []byte("who am I")})
	ok(t, err)
	ignored := storetest.CouponEvent()
	ignored.Topic, ignored.EventKey, ignored.DeliveryKey, ignored.BusinessKey = "nobody/listens", "evt-none", "dlv-none", ""
	none, err := f.Store.Receive(t.Context(), store.System("intake"), ignored)
	ok(t, err)
	if len(none.Runs) != 0 {
		t.Fatalf("it started %v", none.Runs)
	}
	admin := f.Fresh(t, "admin")
	ok(t, f.Store.SetRetention(t.Context(), admin, map[store.RetentionKind]int{store.RetainDeliveries: 30}))
	sweep := func(deliveries, events int) {
		t.Helper()
		rows, err := f.Store.FindRetention(t.Context(), admin, nil)
		ok(t, err)
		p := rows[3].Preview
		if rows[3].Kind != store.RetainDeliveries || p.Deliveries != deliveries || p.Events != events || (deliveries+events > 0) != (len(p.Names()) == 1) {
			t.Errorf("preview %+v, want %d and %d", rows[3], deliveries, events)
		}
		n, err := f.Store.SweepRetention(t.Context(), store.System("job"))
		if err != nil || n != deliveries+events {
			t.Fatalf("%d erased, want %d and %d: %v", n, deliveries, events, err)
		}
	}
	sweep(0, 0)
	aged(t, f)
	// The refused body; and the event that nobody listened to is walked by its identifier, which is of now.
	rows, err := f.Store.FindRetention(t.Context(), admin, nil)
	ok(t, err)
	if p := rows[3].Preview; p.Deliveries != 1 || p.Events != 1 {
		t.Errorf("preview %+v", p)
	}
	n, err := f.Store.SweepRetention(t.Context(), store.System("job"))
	ok(t, err)
	if n != 1 {
		t.Errorf("%d erased, want the refused one", n)
	}
	d, err := f.Store.FindDelivery(t.Context(), f.As("ops"), refusedID)
	ok(t, err)
	if d.ErasedAt == nil || d.DeliveryKey != "bad" || d.Verdict != store.VerdictRefused {
		t.Errorf("the delivery reads %+v", d.DeliveryRow)
	}
	if n := f.Count(t, "deliveries WHERE id = $1 AND body IS NULL AND body_hash = sha256('who am I')", string(refusedID)); n != 1 {
		t.Error("body or hash are not as they must be")
	}
	if n := f.Count(t, "event_bodies WHERE event_id IN ($1, $2)", string(held.Event), string(none.Event)); n != 2 {
		t.Errorf("%d bodies, want those of the one that waits and of the new one", n)
	}
	// Discarded, its body and its delivery's go; what it resembled has a run and stays.
	ok(t, f.Store.DiscardHeld(t.Context(), f.As("ops"), held.Delivery, "form-1", "the same order"))
	sweepWant := 2
	if n, err := f.Store.SweepRetention(t.Context(), store.System("job")); err != nil || n != sweepWant {
		t.Errorf("%d erased, want %d: %v", n, sweepWant, err)
	}
	if n := f.Count(t, "event_bodies WHERE event_id = $1", string(held.Event)); n != 0 {
		t.Error("the discarded event keeps its body")
	}
	if n := f.Count(t, "event_bodies b JOIN event_runs x ON x.event_id = b.event_id JOIN operations o ON o.run_id = x.run_id WHERE o.id = $1", string(id)); n != 1 {
		t.Error("the event of an operation lost its body")
	}
	if n := f.Count(t, "history WHERE subject_kind = 'system' AND action = 'erase_deliveries'"); n != 2 {
		t.Errorf("%d entries tell of it", n)
	}
	whole(t, f.Store, operation.SubjectSystem, "installation")
}

// TestRetentionWalks: events that started nothing are walked by their identifiers, once.
func TestRetentionWalks(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	old := operation.FirstID("evt", time.Now().Add(-40*24*time.Hour)) + "aaaaaaaaaaaaaaaa"
	_, err := f.Owner.Exec(`INSERT INTO events (id, source, account, topic, event_key, payload_hash, event_time, received_at)
		VALUES ($1, 'shop', 'a', 't', 'k', sha256(''), now() - interval '40 days', now() - interval '40 days')`, old)
	ok(t, err)
	_, err = f.Owner.Exec(`INSERT INTO event_bodies (event_id, body, data) VALUES ($1, '{}', '{}')`, old)
	ok(t, err)
	ok(t, f.Store.SetRetention(t.Context(), f.Fresh(t, "admin"), map[store.RetentionKind]int{store.RetainDeliveries: 30}))
	for _, want := range []int{1, 0} {
		if n, err := f.Store.SweepRetention(t.Context(), store.System("job")); err != nil || n != want {
			t.Errorf("%d erased, want %d: %v", n, want, err)
		}
	}
	if n := f.Count(t, "retention_settings WHERE walked = $1", old); n != 1 {
		t.Error("it does not remember how far it walked")
	}
}
