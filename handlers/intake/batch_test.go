package intake_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
)

// An ordinary notification whose payload holds a list makes a batch: in the transaction of
// its delivery, once, with its duplicates left out and its faulty rows named.
func TestListInANotification(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "")
	_, secret, err := h.Store.AddToken(t.Context(), store.System("command"), store.NewToken{Name: "crm", Scopes: []string{store.ScopeEvents}})
	if err != nil {
		t.Fatal(err)
	}
	send := func(id string, list any, season string) reply {
		t.Helper()
		body, err := json.Marshal(map[string]any{"specversion": "1.0", "id": id, "source": "//crm", "type": "mailing", "data": map[string]any{"season": season, "recipients": list}})
		if err != nil {
			t.Fatal(err)
		}
		return h.want(h.send(h.url+"/in/api", body, "Content-Type", "application/cloudevents+json", "Authorization", "Bearer "+secret), http.StatusAccepted)
	}
	row := func(email, name string) map[string]any { return map[string]any{"email": email, "name": name} }
	list := []any{row("ann@example.test", "Ann"), row("ben@example.test", "Ben"), row("Ann@example.test", "Ann"), row("cy@example.test", ""), "no entry"}
	for range 3 {
		send("1", list, "spring")
	}
	var id, state string
	var total, included, duplicates, problems int
	if err := h.Owner.QueryRowContext(t.Context(), `SELECT b.id, b.state, v.total, v.included, v.duplicates, v.problems FROM batches b JOIN batch_versions v ON v.batch_id = b.id AND v.number = b.number`).Scan(
		&id, &state, &total, &included, &duplicates, &problems); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(state, total, included, duplicates, problems); got != "draft 5 4 1 2" && got != "draft5 4 1 2" || h.Count(t, "batches") != 1 || h.Count(t, "runs") != 1 {
		t.Errorf("the batch: %s, %d of them", got, h.Count(t, "batches"))
	}
	if h.Count(t, "batch_items WHERE batch_id = $1", id) != 5 || h.Count(t, "operations") != 0 {
		t.Error("its items are not there, or something is an operation before anybody approved")
	}
	// The author writes the text, and hands the corrected list in: then people are asked.
	b, err := h.Store.FindBatch(t.Context(), h.As("author"), operation.BatchID(id))
	if err != nil || fmt.Sprint(b.Version.Missing()) != "[subject]" || b.Source != "api" || b.Version.AuthorKind != "flow" {
		t.Fatalf("%+v %v", b, err)
	}
	good := store.List{Name: "corrected.csv", Rows: func(yield func(map[string]any, error) bool) {
		_ = yield(row("ann@example.test", "Ann"), nil) && yield(row("ben@example.test", "Ben"), nil)
	}}
	err = h.Store.ReviseBatch(t.Context(), h.As("author"), store.BatchRevision{BatchShown: store.BatchShown{Batch: b.ID, Revision: b.Revision, FormID: store.NewFormID()}, List: &good, Shared: map[string]string{"subject": "Hello {{name}}"}})
	if err != nil || h.BatchState(t, b.ID) != operation.BatchPendingApproval {
		t.Errorf("corrected: %s %v", h.BatchState(t, b.ID), err)
	}
	// A notification without its list begins a draft that says so; nothing is lost.
	send("2", nil, "autumn")
	if h.Count(t, "batches WHERE state = 'draft'") != 1 {
		t.Error("a notification without a list left nothing to complete")
	}
}
