package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestFigureSeries counts each figure's own facts, and nothing else.
func TestFigureSeries(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	ctx, since := t.Context(), time.Now().Add(-time.Hour)
	first := &stand{f: f, t: t, id: f.Ready(t)}
	first.send()
	first.report(effect("one"))
	in := storetest.CouponEvent()
	second := &stand{f: f, t: t, id: f.Receive(t, in)[0]}
	if _, err := f.Store.Receive(ctx, store.System("api"), in); err != nil { // a redelivery
		t.Fatal(err)
	}
	f.Approve(t, second.id, "lead")
	second.send()
	second.report(lost)
	for figure, want := range map[operation.Figure]store.FigureValue{
		operation.FigureEvents: {N: 2}, operation.FigureDeliveries: {N: 3}, operation.FigureAttempts: {N: 2}, operation.FigureEffectsDestination: {N: 1},
		operation.FigureEffectsPerson: {}, operation.FigureUnresolved: {N: 1}, operation.FigureUnresolvedOccurred: {N: 1}, operation.FigureDestinationErrors: {N: 1, Of: 2},
		operation.FigureDuplicateRate: {N: 0, Of: 1}, operation.FigureAdopted: {}, operation.FigureKeyReuse: {}, operation.FigureReexecutionErrors: {},
	} {
		got, err := f.Store.FindSeries(ctx, f.As("ops"), figure, store.FigureQuery{From: since, Step: operation.StepDay})
		ok(t, err)
		if got.Total != want {
			t.Errorf("%s = %+v, want %+v", figure, got.Total, want)
		}
	}
	got, err := f.Store.FindSeries(ctx, f.As("ops"), operation.FigureApprovalDelay, store.FigureQuery{From: since, Flow: "newsletter-coupon"})
	ok(t, err)
	if got.Total.N != 2 || !got.Exact {
		t.Errorf("approvals: %+v", got)
	}
	got, err = f.Store.FindSeries(ctx, f.As("ops"), operation.FigureDeliveries, store.FigureQuery{From: since, Flow: "newsletter-coupon"})
	ok(t, err)
	if got.Total.N != 3 {
		t.Errorf("deliveries of the flow: %+v", got.Total)
	}
}
