package client_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdpoint/handlers/api/client"
	"holdpoint/store/storetest"
)

// TestSuppressions keeps the suppression list: an addition whose answer is lost is repeated and
// changes nothing; the list is read over more than one page; what is lifted is on record.
func TestSuppressions(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	var lost atomic.Int32
	c := newClient(t, f, func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/suppressions") && lost.Add(1) == 1
	})
	ctx := t.Context()
	until := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Second)
	entries := []client.NewSuppression{{Address: "Kim@Example.test", Reason: "unsubscribed", Scope: "effect", Channel: "email", Note: "by telephone", Until: &until}}
	for i := range 520 {
		entries = append(entries, client.NewSuppression{Address: fmt.Sprintf("r%03d@example.test", i), Reason: "hard_bounce"})
	}
	if _, err := c.AddSuppressions(ctx, "weekly", entries...); err == nil {
		t.Fatal("the answer was not lost")
	}
	again, err := c.AddSuppressions(ctx, "weekly", entries...)
	if err != nil || again.Known != len(entries) || again.Added+again.Extended+len(again.Suppressions) != 0 || f.Count(t, "suppressions") != len(entries) {
		t.Fatalf("%v %+v", err, again)
	}
	_, err = c.AddSuppressions(ctx, "", client.NewSuppression{Address: "x@example.test", Reason: "manual", Scope: "destination", Channel: "nowhere"})
	problemOf(t, err, 422, "suppression_channel")

	list := func(q client.SuppressionQuery) (out []client.Suppression) {
		t.Helper()
		for x, err := range c.Suppressions(ctx, q) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, x)
		}
		return out
	}
	if n := len(list(client.SuppressionQuery{})); n != len(entries) {
		t.Errorf("%d of %d are listed", n, len(entries))
	}
	for range c.Suppressions(ctx, client.SuppressionQuery{}) {
		break // a reader may end early
	}
	found := list(client.SuppressionQuery{Search: "kim", Reason: "unsubscribed", Channel: "email"})
	if len(found) != 1 || found[0].Address != "kim@example.test" || found[0].Source != "api" || found[0].Until == nil || !found[0].Until.Equal(until) || found[0].Lifted != nil {
		t.Fatalf("%+v", found)
	}
	for range 2 {
		if err := c.LiftSuppression(ctx, found[0].ID, "asked again"); err != nil {
			t.Fatal(err)
		}
	}
	if lifted := list(client.SuppressionQuery{Lifted: true}); len(lifted) != 1 || lifted[0].LiftedWhy != "asked again" || lifted[0].Lifted == nil {
		t.Errorf("%+v", lifted)
	}
	problemOf(t, c.LiftSuppression(ctx, "sup_00000000000000000000000000", "x"), 404, "not_found")
}
