package store_test

import (
	"testing"
	"time"

	"holdpoint/store"
	"holdpoint/store/storetest"
)

func silentTitle(i store.SourceState, language string) string {
	return "silent: " + i.Source.Name + " " + language
}

func exec(t *testing.T, f *storetest.Fixture, q string) {
	t.Helper()
	if _, err := f.Owner.ExecContext(t.Context(), q); err != nil {
		t.Fatal(err)
	}
}

// A source that is silent for longer than its file says is one task, told once.
func TestFieldCase10_SilenceIsNoticed(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	sweep := func(want int) {
		t.Helper()
		if n, err := f.Store.SweepSilentSources(t.Context(), silentTitle); err != nil || n != want {
			t.Fatalf("%d silences, want %d: %v", n, want, err)
		}
	}
	sweep(0)
	exec(t, f, `UPDATE sources SET created_at = created_at - interval '3 days' WHERE name = 'shopify'`)
	sweep(1)
	sweep(0)
	item, err := f.Store.FindSourceState(t.Context(), "shopify")
	if err != nil || item.Silence == nil || !item.Silent() || item.LastAt != nil {
		t.Fatalf("%+v %v", item, err)
	}
	if f.Count(t, "improvement_tasks WHERE id = $1 AND title LIKE 'silent: shopify%' AND owner_role = 'ops_owner' AND step_at IS NOT NULL", string(item.Silence.Task)) != 1 {
		t.Error("nobody has a task")
	}
	if _, err := f.Store.Receive(t.Context(), store.System("api"), store.Received{Source: "shopify", Account: "demo-shop.myshopify.com", Topic: "orders/paid", EventKey: "e", Body: []byte("{}"), Data: map[string]any{}, Status: 200}); err != nil {
		t.Fatal(err)
	}
	sweep(0)
	if item, _ = f.Store.FindSourceState(t.Context(), "shopify"); item.Silence != nil || item.LastAt == nil || item.Silent() {
		t.Errorf("the silence has not ended: %+v", item)
	}
	if f.Count(t, "source_silences WHERE ended_at IS NOT NULL") != 1 {
		t.Error("the end is not noted")
	}
	// refused deliveries are no sign of life
	if _, err := f.Store.RefuseDelivery(t.Context(), store.Unaccepted{Source: "shopify-flow", Verdict: store.VerdictRefused, Reason: "signature: no", Status: 401}); err != nil {
		t.Fatal(err)
	}
	exec(t, f, `UPDATE sources SET created_at = created_at - interval '8 days' WHERE name = 'shopify-flow'`)
	sweep(1)
}

func TestSourceFacts(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	receive := func(key, via string, skew int64) {
		t.Helper()
		if _, err := f.Store.Receive(t.Context(), store.System("api"), store.Received{Source: "shopify", Account: "demo-shop.myshopify.com", Topic: "orders/paid", EventKey: key, Subscription: via,
			Body: []byte("{}"), Data: map[string]any{}, SkewMillis: &skew, Status: 200}); err != nil {
			t.Fatal(err)
		}
	}
	receive("e1", "main", 100)
	receive("e1", "main", 200)
	receive("e1", "old", 9000)
	receive("e2", "old", 300)
	receive("e2", "main", 400)
	receive("e3", "", 500)
	receive("e3", "main", 250)
	for _, why := range []string{"signature: x", "signature: y", "event_key: z"} {
		if _, err := f.Store.RefuseDelivery(t.Context(), store.Unaccepted{Source: "shopify", Verdict: store.VerdictRefused, Reason: why, Status: 401}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := f.Store.NoteSecretUse(t.Context(), "shopify", "env:SHOPIFY_WEBHOOK_SECRET"); err != nil {
			t.Fatal(err)
		}
	}
	got, err := f.Store.FindSourceFacts(t.Context(), "shopify")
	if err != nil {
		t.Fatal(err)
	}
	if got.Skew == nil || *got.Skew != 250 || got.SkewMedian == nil || *got.SkewMedian != 300 || got.Measured != 7 {
		t.Errorf("clock: %+v", got)
	}
	if len(got.Refused) != 2 || got.Refused[0].Code != "signature" || got.Refused[0].N != 2 || got.Refused[1].Code != "event_key" {
		t.Errorf("refused: %+v", got.Refused)
	}
	if len(got.Doubles) != 1 || got.Doubles[0].First != "main" || got.Doubles[0].Other != "old" || got.Doubles[0].N != 2 || got.Doubles[0].Event != "e2" {
		t.Errorf("subscriptions: %+v", got.Doubles)
	}
	if at := got.Secrets["env:SHOPIFY_WEBHOOK_SECRET"]; time.Since(at) > 2*time.Minute || len(got.Secrets) != 1 {
		t.Errorf("secrets: %+v", got.Secrets)
	}
	list, err := f.Store.ListSourceStates(t.Context())
	if err != nil || len(list) != 5 { // those of the demonstration
		t.Errorf("%d sources, %v", len(list), err)
	}
}
