package handlers_test

import (
	"fmt"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
	"holdpoint/views/chrometest"
)

// TestBatchesLive: the list of batches follows their items, though no batch itself changes;
// a new batch waits behind a line.
func TestBatchesLive(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "")
	id := h.Batch(t, storetest.Recipients(6, nil))
	h.ApproveBatch(t, id, "lead", "second")
	if n, err := h.Store.ReleaseBatch(t.Context(), store.Job("runner"), id, 100); err != nil || n != 6 {
		t.Fatalf("%d %v", n, err)
	}
	tab := h.signedInTab(t, chrometest.Start(t), chrometest.Look{}, "lead")
	tab.Get(h.url + "/batches")
	streams(t, tab)
	shown := fmt.Sprintf(`document.querySelector('[data-rows] [data-id="%s"]')`, id)
	tab.Eval(`window.was = `+shown+`; window.revision = was.dataset.revision`, nil)

	var op operation.ID
	var revision int64
	if err := h.Owner.QueryRow(`SELECT id, revision FROM operations WHERE batch_id = $1 ORDER BY batch_no LIMIT 1`, string(id)).Scan(&op, &revision); err != nil {
		t.Fatal(err)
	}
	if err := h.Store.Cancel(t.Context(), h.As("ops"), store.Shown{Operation: op, Revision: revision, FormID: store.NewFormID(), Reason: "This customer called."}); err != nil {
		t.Fatal(err)
	}
	until(t, tab, "the row follows its items", shown+`.querySelector('[data-part="cancelled"]')`)
	var same bool
	tab.Eval(`window.was === `+shown+` && window.revision === was.dataset.revision`, &same)
	if !same {
		t.Error("the row was replaced, or the batch itself changed")
	}
	h.Batch(t, storetest.Recipients(2, nil))
	until(t, tab, "a line says that one is new", `document.querySelector('.live-new')?.innerText.startsWith('1 new')`)
	tab.Axe("batches with a new one")
}

// TestBatchDraftTurn: whoever may complete a draft reads that it is theirs; everybody else
// reads whose it is, and nobody that it is another's while they hold the form themselves.
func TestBatchDraftTurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "")
	n := storetest.NewMailing(storetest.Recipients(2, nil))
	n.Shared = nil
	_, ids, err := h.Store.CreateBatchRun(t.Context(), h.As("author"), n)
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	for who, want := range map[string]string{"author": "author (you)", "author2": "author (you)", "lead": "author", "auditor": "author"} {
		page := h.as(t, who).get("/batches/" + string(ids[0]))
		_, shown, _ := strings.Cut(page.body, `data-testid="responsible">`)
		if shown, _, _ = strings.Cut(shown, "<"); page.status != 200 || shown != want {
			t.Errorf("%s reads %q, want %q", who, shown, want)
		}
		if open := strings.Contains(page.body, `btn-primary" href="/batches/`+string(ids[0])+`/revise"`); open != (want == "author (you)") {
			t.Errorf("%s: the form is offered: %v", who, open)
		}
	}
}
