package handlers_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdpoint/connector/connectortest"
	"holdpoint/jobs"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
	"holdpoint/views/chrometest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// boxProfile is a destination of the sandbox, and boxFlow fans out to it.
const (
	boxProfile = `destination: box
title: {en: Things (sandbox)}
kind: http
account: plain-test
environment: test
base_url: "%s"
local: true
auth: {bearer: {env: HOLDPOINT_TEST_TOKEN}}
limits: {concurrency: 4, timeout: 5s, body: 64KiB}
settle_after: 100ms
lease: 20s
docs: {url: "https://destination.example/docs", checked: 2026-11-29}
actions:
  create_thing:
    effect: thing
    request: {method: POST, path: /plain/things, json: {name: "${content.name}", reference: "{operation_id}"}}
    outcome:
      - {confirmed: "${status == 201 && has(body.id)}"}
    reference: {id: "${body.id}"}
`
	boxFlow = `flow: box-things
title: {en: Things for a list}
owner: {role: approver}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}, required: 1}
trigger: {source: api, topic: things}
inputs:
  type: object
  required: [things]
  properties: {things: {type: array, items: {type: object, required: [key, name], properties: {key: {type: string}, name: {type: string}}}}}
on_missing_data: draft
stages:
  - key: thing
    title: {en: Thing}
    destination: box
    action: create_thing
    for_each: {in: "${inputs.things}", key: "${item.key}", canary: 3}
    content: {name: {draft: {by: author}}}
    approval: {approvers: {role: approver}, required: 1, separate_author: true, expires: 72h}
failure: "-"
`
)

// things is a batch of n things, handed in by the author; the second stands twice.
func (h *house) things(t *testing.T, box *connectortest.Sandbox, n int) operation.BatchID {
	t.Helper()
	files := []store.File{{Name: "box.yaml", Source: fmt.Appendf(nil, boxProfile, box.URL)}, {Name: "things.yaml", Source: []byte(boxFlow)}}
	if _, err := h.Store.Apply(t.Context(), store.System("command"), files); err != nil {
		t.Fatal(err)
	}
	list := store.List{Name: "things.csv", Rows: func(yield func(map[string]any, error) bool) {
		for i := range n {
			if !yield(map[string]any{"key": fmt.Sprint("key-", max(i, 1)), "name": fmt.Sprint("Thing ", i)}, nil) {
				return
			}
		}
	}}
	_, ids, err := h.Store.CreateBatchRun(t.Context(), h.As("author"), store.NewBatchRun{Flow: "box-things", FormID: store.NewFormID(), Lists: map[string]store.List{"things": list},
		Shared: map[string]map[string]string{"thing": {"name": "{{name}} of spring"}}})
	if err != nil || len(ids) != 1 {
		t.Fatalf("%v %v", ids, err)
	}
	return ids[0]
}

// worker works on what is approved until the test ends.
func (h *house) worker(t *testing.T) {
	t.Helper()
	w, err := jobs.New(jobs.Config{Store: h.Store, Log: slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelError})), Name: "pages", Sweep: 100 * time.Millisecond,
		Env: func(string) (string, bool) { return "token", true }})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Stop(context.Background()) })
}

// clicks presses what stands under the selector in one step: a live page may replace it
// between finding and pressing.
func clicks(selector string) chromedp.Action {
	found := fmt.Sprintf("document.querySelector(%q)", selector)
	return chromedp.Tasks{holds(found + " !== null"), chromedp.Evaluate(found+".click()", nil)}
}

// TestBatchInABrowser lets the lead decide about a whole list: on a version that is old
// already, refused; the canary; a look at it; the rest; a pause and its end. The
// destination's ledger holds one thing for each row, and none twice.
func TestBatchInABrowser(t *testing.T) {
	t.Parallel()
	h, box, n := newHouse(t), connectortest.StartSandbox(t), 40
	id := h.things(t, box, n)
	page := h.url + "/batches/" + string(id)
	tab := h.signedInTab(t, chrometest.Start(t), chrometest.Look{}, "lead")
	state := func(want string) {
		t.Helper()
		until(t, tab, want, `document.querySelector('[data-testid="state"]').textContent.trim() === '`+want+`'`)
	}
	press := func(name string) {
		t.Helper()
		tab.Do(chromedp.Click(`[data-testid="`+name+`"]`, chromedp.ByQuery), holds(`document.readyState === 'complete'`))
	}

	tab.Get(h.url + "/inbox")
	press("inbox-batch")
	tab.Do(holds(`location.pathname.startsWith('/batches/')`))
	tab.Get(page)
	text := tab.Text("main")
	for _, want := range []string{"May these 3 requests go out?", "The other 36 wait", "1 row of the list is not sent.", "name of spring", "Thing 0", "39 different values · 7 to 8 characters"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
	tab.Axe("batch pending")

	// a new version comes in between: the decision is refused, what was typed is kept
	tab.Do(chromedp.SendKeys("#comment", "Looked at all of it."))
	if err := h.Store.ReviseBatch(t.Context(), h.As("author"), store.BatchRevision{BatchShown: store.BatchShown{Batch: id, FormID: store.NewFormID()}, Shared: map[string]string{"name": "{{name}} of summer"}}); err != nil {
		t.Fatal(err)
	}
	tab.Do(clicks(`[data-testid="form-decide"] [data-testid="submit"]`), holds(`document.querySelector('[data-testid="stale"]') !== null`))
	tab.Allow(`409 \(Conflict\)`)
	if text := tab.Text("main"); !strings.Contains(text, "version 1, revision") || !strings.Contains(text, "version 2, revision") {
		t.Errorf("both versions are not named:\n%s", text)
	}
	var kept string
	tab.Eval(`document.querySelector('#comment').value`, &kept)
	if kept != "Looked at all of it." {
		t.Errorf("what was typed is %q", kept)
	}
	if got := h.Count(t, "batch_approvals"); got != 0 {
		t.Errorf("%d decisions are recorded", got)
	}

	// from the keyboard: the first answer has a key, and the same key again sends
	h.worker(t)
	tab.Get(page)
	tab.Do(chromedp.KeyEvent("a"), holds(`document.activeElement.id === 'decision-approve'`), chromedp.KeyEvent(kb.Enter))
	state("Canary to look at")
	if got := len(box.Ledger(t, "plain", "")); got != 3 {
		t.Fatalf("%d things after the canary, want 3", got)
	}
	tab.Axe("batch canary")
	if !strings.Contains(tab.Text("main"), "May the remaining 36 go out?") {
		t.Error("the second decision is not asked")
	}
	if _, err := h.Store.PauseDestination(t.Context(), h.As("ops"), "box", "The shop is down."); err != nil {
		t.Fatal(err)
	}
	tab.Get(page)
	tab.Do(clicks(`[data-testid="form-decide"] [data-testid="submit"]`), holds(`document.querySelector('[data-testid="flash"]') !== null`))
	press("do-batch_pause")
	tab.Do(chromedp.SendKeys("#batch_pause-reason", "Wait for the shop."), clicks(`[data-testid="form-pause"] [data-testid="submit"]`))
	state("Paused")
	if err := h.Store.ResumeDestination(t.Context(), h.As("ops"), "box", "It is back."); err != nil {
		t.Fatal(err)
	}
	tab.Get(page + "/resume")
	if text := tab.Text("main"); !strings.Contains(text, "36 items go on to Things (sandbox).") {
		t.Errorf("the confirmation says no exact count:\n%s", text)
	}
	tab.Axe("batch resume")
	tab.Do(chromedp.SendKeys("#batch_resume-reason", "It is back."), clicks(`[data-testid="form-resume"] [data-testid="submit"]`))
	state("Closed")
	h.oncePerRow(t, box, n-1)
	h.batchLooks(t, page)
}

// oncePerRow: the ledger holds one thing for each operation, none for anything else.
func (h *house) oncePerRow(t *testing.T, box *connectortest.Sandbox, n int) {
	t.Helper()
	seen := map[string]int{}
	for _, e := range box.Ledger(t, "plain", "") {
		seen[e.Reference]++
	}
	for ref, k := range seen {
		if k != 1 || h.Count(t, "operations WHERE state = 'confirmed' AND id = '"+ref+"'") != 1 {
			t.Errorf("%d things for %s", k, ref)
		}
	}
	if len(seen) != n || h.Count(t, "operations WHERE state = 'confirmed' AND batch_id IS NOT NULL") != n {
		t.Errorf("%d things, want %d", len(seen), n)
	}
}

// batchLooks opens the pages of a batch on a phone, in Japanese and Polish.
func (h *house) batchLooks(t *testing.T, page string) {
	t.Helper()
	b := chrometest.Start(t)
	for _, lang := range []string{"ja", "pl"} {
		look := chrometest.Phone()
		look.Language = lang
		tab := h.signedInTab(t, b, look, "lead")
		tab.Get(page)
		tab.Narrow("batch " + lang)
		if lang == "ja" {
			tab.Axe("batch " + lang)
		}
		tab.Get(page + "/items")
		tab.Narrow("items " + lang)
	}
}

// TestBatchRights: whoever holds no role for the flow finds no batch; an auditor looks, and
// that is recorded; the list goes out as an export.
func TestBatchRights(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "")
	id := h.Batch(t, storetest.Recipients(5, nil))
	page := "/batches/" + string(id)
	h.limited(t, operation.RoleApprover, "campaign-follow-up")
	for path, want := range map[string]int{page: 404, page + "/items": 404, page + "/items.csv": 404, page + "/items/1": 404, page + "/stop": 404} {
		if a := h.as(t, "only-approver").get(path); a.status != want {
			t.Errorf("%s: %d, want %d", path, a.status, want)
		}
	}
	auditor := h.as(t, "auditor")
	if a := auditor.get(page); a.status != 200 || strings.Contains(a.body, `data-testid="form-decide"`) {
		t.Errorf("an auditor: %d", a.status)
	}
	looks := h.looks(t, "auditor", "look")
	if len(looks) != 1 || looks[0]["batch"] != string(id) {
		t.Errorf("looks: %v", looks)
	}
	a := auditor.get(page + "/items.csv?" + url.Values{"q": {"r000002"}}.Encode())
	if lines := strings.Split(strings.TrimSpace(a.body), "\n"); a.status != 200 || len(lines) != 2 || !strings.Contains(lines[1], "r000002@example.test") {
		t.Errorf("the export: %d %q", a.status, a.body)
	}
	if done := h.looks(t, "auditor", "export_done"); len(done) != 1 || done[0]["export"] != "batch" || !strings.Contains(done[0]["filter"], string(id)) {
		t.Errorf("exports: %v", done)
	}
}
