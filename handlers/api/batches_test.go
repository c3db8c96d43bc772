package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
)

// mailing is a request for a batch of n mails; more are members before the list.
func mailing(n int, more string, items ...string) string {
	for i := range n {
		items = append(items, fmt.Sprintf(`{"email":"r%03d@example.test","name":"Person %d"}`, i+1, i+1))
	}
	return `{"flow":"mailing","inputs":{"season":"spring"},"shared":{"subject":"Hello {{name}}"}` + more + `,"items":[` + strings.Join(items, ",") + `]}`
}

func TestBatches(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "")
	tok := h.token("batches")
	key := []string{"Idempotency-Key", `"spring-1"`}
	twice := `{"email":"R001@example.test","name":"Again"}`
	body := strings.Replace(mailing(5, ""), "]}", ","+twice+"]}", 1)
	made := h.want(h.post("/batches", tok, body, key...), http.StatusCreated)
	id := made.text("batch")
	if made.text("state") != "pending_approval" || made.number("total") != 6 || made.number("included") != 5 || made.number("duplicates") != 1 || len(made.list("batches")) != 1 ||
		made.text("link") != "https://hold.example.test/batches/"+id || made.text("run") == "" || made.body["repeated"] != false {
		t.Errorf("made %s", made.raw)
	}
	again := h.want(h.post("/batches", tok, body, key...), http.StatusOK)
	if again.text("batch") != id || again.body["repeated"] != true || h.Count(t, "batches") != 1 || h.Count(t, "list_slices") != 0 {
		t.Errorf("the same again: %s", again.raw)
	}
	if r := h.want(h.post("/batches", tok, mailing(6, ""), key...), http.StatusUnprocessableEntity); r.text("code") != "key_reused" {
		t.Errorf("the same key with another list: %s", r.raw)
	}
	if r := h.want(h.post("/batches", tok, mailing(7, `,"run_key":"spring"`), "Idempotency-Key", "a"), 201); r.number("included") != 7 {
		t.Errorf("with a run key: %s", r.raw)
	}
	if r := h.want(h.post("/batches", h.token("batches"), mailing(8, `,"run_key":"spring"`), "Idempotency-Key", "b"), 422); r.text("code") != "key_reused" {
		t.Errorf("the same run key with another list: %s", r.raw)
	}
	b := h.want(h.get("/batches/"+id, tok), 200)
	counts, _ := b.body["counts"].(map[string]any)
	if b.text("state") != "pending_approval" || b.text("hash") == "" || fmt.Sprint(counts["total"], counts["duplicates"], counts["waiting"]) != "6 1 5" || b.body["next_decision"] == nil {
		t.Errorf("read %s", b.raw)
	}
	first := h.want(h.get("/batches/"+id+"/items?limit=4", h.token("read")), 200)
	rest := h.want(h.get(fmt.Sprintf("/batches/%s/items?limit=4&after=%v", id, first.number("next")), tok), 200)
	if len(first.list("items")) != 4 || len(rest.list("items")) != 2 || rest.body["next"] != nil {
		t.Errorf("items %s %s", first.raw, rest.raw)
	}
	for query, want := range map[string]int{"only=duplicate": 1, "only=excluded": 1, "only=problem": 0, "only=waiting": 5, "search=r003": 1, "state=confirmed": 0, "state=confirmed&only=waiting": 0} {
		if r := h.want(h.get("/batches/"+id+"/items?"+query, tok), 200); len(r.list("items")) != want {
			t.Errorf("%s: %s", query, r.raw)
		}
	}
	for _, query := range []string{"limit=501", "only=all", "after=-1", "state=sent"} {
		h.want(h.get("/batches/"+id+"/items?"+query, tok), 400)
	}
	if n := h.Count(t, "batch_approvals"); n != 0 {
		t.Errorf("a token decided %d times", n)
	}
}

// TestBatches_TooMany: a list with more items than any may have is refused for that as it comes,
// before one of its items is looked at; nothing of it stays, and its key is free.
func TestBatches_TooMany(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "")
	tok := h.token("batches")
	long := strings.Replace(mailing(1, ""), `"items":[`, `"items":[`+strings.Repeat("0,", definition.MaxListItems), 1)
	if r := h.want(h.post("/batches", tok, long, "Idempotency-Key", "much"), http.StatusUnprocessableEntity); r.text("code") != "too_many" {
		t.Errorf("it is refused for %s", r.raw)
	}
	if n := h.Count(t, "list_slices") + h.Count(t, "list_files WHERE file_hash IS NOT NULL"); n != 0 {
		t.Errorf("%d rows of it stay", n)
	}
	h.want(h.post("/batches", tok, mailing(3, ""), "Idempotency-Key", "much"), http.StatusCreated)
}

// Several at once with one key: one of them makes the batch, and all others are given it.
func TestBatches_TogetherWithOneKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "")
	tok := h.token("batches")
	for _, more := range []string{"", `,"problems":"draft"`} {
		const n = 6
		body, key := mailing(40, more+`,"run_key":"together`+strconv.Itoa(len(more))+`"`), strconv.Itoa(len(more))
		replies := make(chan reply, n)
		for range n {
			go func() { replies <- h.post("/batches", tok, body, "Idempotency-Key", key) }()
		}
		made, batches := 0, map[string]bool{}
		for range n {
			r := <-replies
			batches[r.text("batch")] = true
			switch r.status {
			case http.StatusCreated:
				made++
			case http.StatusOK:
			default:
				t.Errorf("%d %s", r.status, r.raw)
			}
		}
		if made != 1 || len(batches) != 1 {
			t.Errorf("made %d times: %v", made, batches)
		}
	}
	if h.Count(t, "batches") != 2 || h.Count(t, "list_slices") != 0 {
		t.Error("there are other batches, or slices are left")
	}
}

// A list with rows that cannot go out is refused with their places; nothing of it is kept.
func TestBatches_RowsThatCannotGoOut(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "")
	tok := h.token("batches")
	bad := mailing(3, "", `{"email":"no address","name":"x"}`, `{"email":"kim@example.test"}`)
	r := h.want(h.post("/batches", tok, bad, "Idempotency-Key", "k"), http.StatusUnprocessableEntity)
	rows := r.list("rows")
	if r.text("code") != "rows" || r.number("rows_total") != 2 || len(rows) != 2 {
		t.Fatalf("%s", r.raw)
	}
	if row, _ := rows[1].(map[string]any); fmt.Sprintf("%v %v", row["row"], row["key"]) != "2 kim@example.test" || !strings.Contains(fmt.Sprint(row["problems"]), "map[code:empty field:name]") {
		t.Errorf("%v", rows[1])
	}
	if h.Count(t, "batches")+h.Count(t, "list_slices")+h.Count(t, "runs") != 0 {
		t.Error("something was kept")
	}
	// The same key may bring the list corrected.
	h.want(h.post("/batches", tok, mailing(3, ""), "Idempotency-Key", "k"), 201)
	draft := h.want(h.post("/batches", tok, strings.Replace(bad, `,"items"`, `,"problems":"draft","items"`, 1), "Idempotency-Key", "d"), 201)
	if draft.text("state") != "draft" || draft.number("problems") != 2 {
		t.Errorf("as a draft: %s", draft.raw)
	}
	if r := h.want(h.get("/batches/"+draft.text("batch")+"/items?only=problem", tok), 200); len(r.list("items")) != 2 {
		t.Errorf("its problems: %s", r.raw)
	}
	for name, c := range map[string]struct {
		body, code string
		status     int
	}{
		"no list":          {`{"flow":"mailing"}`, "invalid", 400},
		"list first":       {`{"items":[],"flow":"mailing"}`, "invalid", 400},
		"behind the list":  {strings.TrimSuffix(mailing(1, ""), "}") + `,"note":"x"}`, "syntax", 400},
		"cut":              {strings.TrimSuffix(mailing(2, ""), "]}"), "syntax", 400},
		"an item twice":    {mailing(2, "", `{"email":"a@example.test","email":"b@example.test","name":"x"}`), "duplicate_key", 400},
		"an item with NUL": {mailing(2, "", `{"email":"a@example.test","name":"x\u0000"}`), "nul", 400},
		"a large item":     {mailing(2, "", `{"email":"a@example.test","name":"`+strings.Repeat("x", 6<<20)+`"}`), "item_too_large", 413},
		"a nested item":    {mailing(2, "", `{"email":"a@example.test","name":`+strings.Repeat("[", 300)+strings.Repeat("]", 300)+`}`), "nested_too_deeply", 400},
		"no item":          {mailing(2, "", `{"email":}`), "syntax", 400},
		"twice":            {`{"flow":"mailing","Flow":"mailing","items":[]}`, "duplicate_key", 400},
		"unknown":          {mailing(1, `,"approve":true`), "invalid", 400},
		"no flow of lists": {`{"flow":"newsletter-coupon","items":[]}`, "stage", 422},
		"foreign":          {`{"flow":"nothing","items":[]}`, "not_found", 404},
		"input":            {strings.Replace(mailing(1, ""), `"season":"spring"`, `"seasons":"spring"`, 1), "content_missing", 422},
		"nobody":           {mailing(0, ""), "nothing", 422},
		"blank text":       {mailing(1, `,"name":" "`), "invalid", 400},
		"late list":        {mailing(1, `,"run_key":"x"`+strings.Repeat(" ", 1<<20)), "head", 400},
	} {
		if r := h.post("/batches", tok, c.body, "Idempotency-Key", name); r.status != c.status || r.text("code") != c.code {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		} else if strings.HasSuffix(name, "item") && !strings.HasPrefix(r.text("detail"), "Item 1 ") {
			t.Errorf("%s: the item is not named: %s", name, r.raw)
		}
	}
	if n := h.Count(t, "batches"); n != 2 || h.Count(t, "list_slices") != 0 {
		t.Errorf("%d batches, or slices are left", n)
	}
	h.want(h.post("/batches", tok, mailing(1, "")), 400) // no key
	h.want(h.post("/batches", tok, mailing(1, ""), "Idempotency-Key", "z", "Content-Encoding", "gzip"), 415)
	for _, kind := range []string{"text/plain", "text/csv", "application/x-ndjson", "application/", ""} {
		if r := h.post("/batches", tok, mailing(1, ""), "Idempotency-Key", "y", "Content-Type", kind); r.status != 415 || r.text("code") != "invalid" {
			t.Errorf("%q: %d %s", kind, r.status, r.raw)
		}
	}
	h.want(h.post("/batches", tok, mailing(1, ""), "Idempotency-Key", "y", "Content-Type", "Application/JSON; charset=utf-8"), 201)
}

// What is asked for with a state and with only fits both.
func TestBatches_StateAndOnly(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "")
	tok := h.token("batches")
	id := h.want(h.post("/batches", tok, mailing(3, ""), "Idempotency-Key", "k"), 201).text("batch")
	h.ApproveBatch(t, operation.BatchID(id), "lead", "second")
	if n, err := h.Store.ReleaseBatch(t.Context(), store.Job("runner"), operation.BatchID(id), 100); err != nil || n != 3 {
		t.Fatal(n, err)
	}
	var op operation.ID
	var revision int64
	if err := h.Owner.QueryRow(`SELECT id, revision FROM operations WHERE batch_id = $1 ORDER BY batch_no LIMIT 1`, id).Scan(&op, &revision); err != nil {
		t.Fatal(err)
	}
	if err := h.Store.Cancel(t.Context(), h.As("ops"), store.Shown{Operation: op, Revision: revision, FormID: store.NewFormID(), Reason: "This customer called."}); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{"state=cancelled": 1, "only=open": 2, "state=ready&only=open": 2, "state=cancelled&only=open": 0, "state=ready&only=waiting": 0, "state=ready&only=excluded": 0} {
		if r := h.want(h.get("/batches/"+id+"/items?"+query, tok), 200); len(r.list("items")) != want {
			t.Errorf("%s: %s", query, r.raw)
		}
	}
}

// A token pauses, resumes what a token paused, and stops; it never decides.
func TestBatches_PauseAndStop(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "")
	tok := h.token("batches")
	id := h.want(h.post("/batches", tok, mailing(4, ""), "Idempotency-Key", "k"), 201).text("batch")
	at := "/batches/" + id
	if r := h.want(h.post(at+"/pause", tok, `{"reason":"too soon"}`), 409); r.text("code") == "" {
		t.Errorf("before it is approved: %s", r.raw)
	}
	h.want(h.post(at+"/resume", tok, `{"reason":"too soon"}`), 409)
	h.ApproveBatch(t, operation.BatchID(id), "lead", "second")
	h.measuredPause(t, tok, operation.BatchID(id))
	paused := h.want(h.post(at+"/pause", tok, `{"reason":"the page is down"}`), 200)
	if paused.body["paused"] != true || paused.text("pause_reason") != "the page is down" || !strings.HasPrefix(paused.text("paused_by"), "tok_") || len(paused.list("decisions")) != 2 {
		t.Errorf("paused %s", paused.raw)
	}
	if r := h.want(h.post(at+"/resume", tok, `{"reason":"up again"}`), 200); r.body["paused"] != false {
		t.Errorf("resumed %s", r.raw)
	}
	first := h.want(h.get(at, tok), 200)
	if r := h.want(h.post(at+"/resume", tok, `{"reason":"once more"}`), 200); r.body["paused"] != false || r.body["revision"] != first.body["revision"] {
		t.Errorf("what is not paused stays as it is: %s", r.raw)
	}
	if _, err := h.Store.PauseBatch(t.Context(), h.As("ops"), store.BatchShown{Batch: operation.BatchID(id), Reason: "a person's", FormID: store.NewFormID()}); err != nil {
		t.Fatal(err)
	}
	if r := h.want(h.post(at+"/resume", tok, `{"reason":"go on"}`), 403); r.text("code") != "persons_decision" {
		t.Errorf("what a person paused: %s", r.raw)
	}
	h.want(h.post(at+"/stop", tok, `{"reason":" "}`), 400)
	h.want(h.post(at+"/stop", tok, `{"reason":"enough","revision":1}`), 409)
	stopped := h.want(h.post(at+"/stop", tok, `{"reason":"enough"}`), 200)
	counts, _ := stopped.body["counts"].(map[string]any)
	if stopped.body["paused"] != false || stopped.text("paused_by") != "" || stopped.text("pause_reason") != "" {
		t.Errorf("stopped while it was paused: %s", stopped.raw)
	}
	if stopped.body["stopped"] != true || fmt.Sprint(counts["given_up"]) != "4" {
		t.Errorf("stopped %s", stopped.raw)
	}
	for name, foreign := range map[string]string{"flow": h.token("batches", []string{"newsletter-coupon"}), "destination": h.token("batches", nil, []string{"crm"})} {
		for _, path := range []string{at, at + "/items"} {
			if a, b := h.get(path, foreign), h.get(strings.Replace(path, id, "bat_00000000000000000000000000", 1), foreign); a.status != 404 || a.raw != b.raw {
				t.Errorf("%s %s: %d %s", name, path, a.status, a.raw)
			}
		}
		for _, verb := range []string{"/pause", "/resume", "/stop"} {
			h.want(h.post(at+verb, foreign, `{"reason":"x"}`), 404)
		}
		h.want(h.post("/batches", foreign, mailing(1, ""), "Idempotency-Key", "f"), 404)
	}
	var check map[string]any
	if err := json.Unmarshal([]byte(stopped.raw), &check); err != nil {
		t.Error(err)
	}
}

// measuredPause: a batch that paused itself says so as a sentence and in numbers, and no token
// lets it go on.
func (h *house) measuredPause(t *testing.T, tok string, id operation.BatchID) {
	t.Helper()
	at := "/batches/" + string(id)
	if _, err := h.Owner.Exec(`INSERT INTO batch_marks (batch_id, at, confirmed, not_started, unknown) VALUES ($1, clock_timestamp(), 60, 34, 6)`, string(id)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Store.JudgeBatch(t.Context(), store.Job("runner"), id); err != nil {
		t.Fatal(err)
	}
	r := h.want(h.get(at, tok), 200)
	measured, _ := r.body["pause_measured"].(map[string]any)
	if r.text("paused_by") != "unknown" || r.text("pause_reason") != "The outcome of 6 of the last 100 attempts is unknown; the limit is 5 %." || fmt.Sprint(measured) != "map[count:6 kind:unknown limit:5 of:100]" {
		t.Errorf("a pause by itself: %s", r.raw)
	}
	if r := h.want(h.post(at+"/resume", tok, `{"reason":"go on"}`), 403); r.text("code") != "persons_decision" {
		t.Errorf("what paused itself: %s", r.raw)
	}
	if err := h.Store.ResumeBatch(t.Context(), h.As("ops"), store.BatchShown{Batch: id, Reason: "looked at", FormID: store.NewFormID()}); err != nil {
		t.Fatal(err)
	}
}
