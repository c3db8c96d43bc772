package handlers_test

import (
	"net/url"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestBatchSays: the list of batches counts as the page does; whoever may cancel, and
// nobody else, is shown the button; an approval of a canary does not say that all goes out; a stopped batch is not
// said to go on, though it was paused before.
func TestBatchSays(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "", "canary: 2")
	rows := storetest.Recipients(6, func(i int, entry map[string]any) map[string]any {
		if i == 3 {
			entry["email"] = "no address"
		}
		return entry
	})
	_, ids, err := h.Store.CreateBatchRun(t.Context(), h.As("author"), storetest.NewMailing(rows))
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	draft := "/batches/" + string(ids[0])
	list := h.as(t, "lead").get("/batches").want(200)
	if want := "5 to be sent, 1 with a problem, 0 left out"; !strings.Contains(list.body, want) || !strings.Contains(list.body, `data-part="problem"`) {
		t.Errorf("the list of batches does not say %q, or its bar does not", want)
	}
	for who, may := range map[string]bool{"author": true, "author2": true, "auditor": false, "lead": true, "ops": true, "admin": true} {
		page, act := h.as(t, who).get(draft).want(200), h.as(t, who).get(draft+"/cancel")
		if shown := page.has("do-batch_cancel") != nil; shown != may || may != (act.status == 200) || strings.Contains(page.body, "barred-batch_cancel") {
			t.Errorf("%s: the button is shown: %v, behind it %d", who, shown, act.status)
		}
	}

	// Who is shown the button may press it: an author withdraws the draft.
	b := h.as(t, "author")
	b.submit(b.get(draft+"/cancel").want(200), "form-cancel", "reason", "The wrong list.", "confirm", "yes").want(303)
	if s := h.BatchState(t, ids[0]); s != operation.BatchCancelled {
		t.Errorf("an author's cancelled draft is %s", s)
	}
	list = h.as(t, "lead").get("/batches").want(200)
	if row := said(in(list.doc, "batch-row", draft)); !strings.Contains(row, "6 not sent, 0 left out") || strings.Contains(row, "to be sent") {
		t.Errorf("of a cancelled batch the list says: %s", row)
	}

	id := h.Batch(t, storetest.Recipients(6, nil))
	page := "/batches/" + string(id)
	h.ApproveBatch(t, id, "lead")
	second := h.as(t, "second")
	second.submit(second.get(page).want(200), "form-decide", "decision", "approve").want(303)
	if said := second.get(page).want(200); !strings.Contains(said.body, "The first rows go out now (2); the rest waits") || strings.Contains(said.body, "Its items go out now") {
		t.Error("the approval of a canary is not said as one")
	}
	for who, may := range map[string]bool{"author": false, "auditor": false, "lead": true, "ops": true} {
		page, b := h.as(t, who).get(page).want(200), h.as(t, who)
		for _, verb := range []string{"pause", "stop"} {
			if shown, act := page.has("do-batch_"+verb) != nil, b.get("/batches/"+string(id)+"/"+verb); shown != may || may != (act.status == 200) {
				t.Errorf("%s: %s is shown: %v, behind it %d", who, verb, shown, act.status)
			}
		}
	}
	// What the batch does not take now has no form, and whoever may not is told everybody who may.
	for _, verb := range []string{"cancel", "resume"} {
		h.as(t, "ops").get(page + "/" + verb).want(409).says("Not possible in this state: Canary running")
	}
	for _, verb := range []string{"pause", "stop"} {
		for _, a := range []*answer{h.as(t, "auditor").get(page + "/" + verb).want(403), h.as(t, "auditor").do("POST", page+"/"+verb, url.Values{}).want(403)} {
			_, who, _ := strings.Cut(a.body, "Who can: ")
			if who, _, _ = strings.Cut(who, "."); !strings.Contains(who, "approver") || !strings.Contains(who, "ops owner") || strings.Contains(who, "author") {
				t.Errorf("%s is for %q", verb, who)
			}
		}
	}
	if _, err := h.Store.ReleaseBatch(t.Context(), store.Job("runner"), id, 100); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Store.ClaimGroup(t.Context(), store.Job("runner"), id, 1, "w"); err != nil || len(got.Dispatched) != 1 {
		t.Fatal(got, err)
	}
	if _, err := h.Store.PauseBatch(t.Context(), h.As("ops"), store.BatchShown{Batch: id, Reason: "Wait.", FormID: store.NewFormID()}); err != nil {
		t.Fatal(err)
	}
	if paused := h.as(t, "auditor").get(page).want(200); !strings.Contains(paused.body, "It goes on when it is resumed.") {
		t.Error("a paused batch does not say how it goes on")
	}
	if _, err := h.Store.StopBatch(t.Context(), h.As("ops"), store.BatchShown{Batch: id, Reason: "Enough.", FormID: store.NewFormID()}); err != nil {
		t.Fatal(err)
	}
	if stopped := h.as(t, "auditor").get(page).want(200); strings.Contains(stopped.body, "when it is resumed") || stopped.has("do-batch_resume") != nil {
		t.Error("a stopped batch says that it goes on")
	}
	if s := h.BatchState(t, id); s.Closed() {
		t.Errorf("the batch is %s: its last outcome is not settled", s)
	}
}
