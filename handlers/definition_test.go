package handlers_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestDefinitionVersions reads what an older version of a flow and of a destination said
// and what the next one changed, as those who may see it.
func TestDefinitionVersions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	files, err := storetest.DemoFiles()
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i].Source = []byte(strings.NewReplacer("settle_after: 10s", "settle_after: 11s", "title: {en: Newsletter coupon", "title: {en: Renamed coupon").Replace(string(files[i].Source)))
	}
	if _, err := h.Store.Apply(t.Context(), store.System("command"), files); err != nil {
		t.Fatal(err)
	}
	b := h.as(t, "auditor")
	b.get("/destinations/billing").want(200).has("definition-version")
	b.get("/destinations/billing/versions/2").want(200).says("11s")
	if a := b.get("/destinations/billing/versions/1").want(200).says("10s"); strings.Contains(a.text(), "11s") {
		t.Error("the first version shows what the second says")
	}
	b.get("/flows/newsletter-coupon").want(200).has("definition-version")
	b.get("/flows/newsletter-coupon/versions/1").want(200).says("newsletter-coupon")
	for _, path := range []string{"/flows/newsletter-coupon/versions/9", "/flows/newsletter-coupon/versions/x", "/flows/none/versions/1", "/destinations/billing/versions/0"} {
		b.get(path).want(404)
	}
}

// TestHealth counts how the newest attempts ended, each outcome apart.
func TestHealth(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.as(t, "ops")
	b.get("/destinations/billing").want(200).says("No attempt has been made yet")
	id := h.Ready(t)
	d, err := h.Store.ClaimAndDispatch(t.Context(), store.Job("hand"), id, "hand")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Store.Record(t.Context(), store.Job("hand"), d.Attempt, d.Fence, operation.Result{Proof: operation.Proof{Code: "timeout", Phase: operation.PhaseSent, Written: 10}}); err != nil {
		t.Fatal(err)
	}
	health, err := h.Store.FindHealth(t.Context(), h.As("ops"), "billing")
	if err != nil {
		t.Fatal(err)
	}
	if health.Attempts != 1 || health.Outcomes[operation.OutcomeUnknown] != 1 || health.Open != 0 || health.LastUnknown.IsZero() || !health.LastConfirmed.IsZero() {
		t.Errorf("health: %+v", health)
	}
	b.get("/destinations/billing").want(200).says("The newest 1 attempt at this destination")
}
