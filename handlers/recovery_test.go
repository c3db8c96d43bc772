package handlers_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// unknown gives a note whose request was sent and whose answer was lost, an hour ago.
func (h *house) unknown(t *testing.T) operation.ID {
	t.Helper()
	id := h.Receive(t, storetest.NoteEvent())[0]
	newVersion(h, t, id, "author", map[string]any{"topic": "Topic", "text": "Please call the customer."}, true)
	h.Approve(t, id, "lead")
	h.loseAnswer(t, id)
	h.wantState(t, id, operation.Review)
	return id
}

// loseAnswer makes one attempt whose answer never came, and lets an hour pass.
func (h *house) loseAnswer(t *testing.T, id operation.ID) {
	t.Helper()
	d, err := h.Store.ClaimAndDispatch(t.Context(), store.Job("w1"), id, "w1")
	if err != nil {
		t.Fatal(err)
	}
	lost := operation.Result{Proof: operation.Proof{Code: "timeout", Phase: operation.PhaseSent, Written: 138, Detail: "no answer within 5 s"}}
	if _, err := h.Store.Record(t.Context(), store.Job("w1"), d.Attempt, d.Fence, lost); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{`ALTER TABLE attempts DISABLE TRIGGER USER`,
		`UPDATE attempts SET claimed_at = claimed_at - interval '1 hour', dispatched_at = dispatched_at - interval '1 hour', lease_until = lease_until - interval '1 hour', ended_at = ended_at - interval '1 hour'`,
		`ALTER TABLE attempts ENABLE TRIGGER USER`, `UPDATE operations SET last_send = last_send - interval '1 hour', key_first = key_first - interval '1 hour'`} {
		if _, err := h.Owner.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
}

// checked answers every question of the checklist with yes.
func checked(set ...string) []string {
	for _, item := range []string{"operation_id", "destination", "key", "completion", "cause", "asked-them"} {
		set = append(set, "check_"+item, "yes", "note_"+item, "looked at it")
	}
	return set
}

// TestRecovery settles a lost answer by forms: shown not to have happened, one more
// attempt asked for by the first person and permitted by the second.
func TestRecovery(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops, ops2 := h.as(t, "ops"), h.as(t, "ops2")
	ops.get("/inbox").want(200).says("Plain note", "Topic")
	page := ops.get(opPath(id)).want(200).says("no answer within 5 s")

	ops.submit(page, "form-reconcile").want(422)
	incomplete := ops.submit(page, "form-reconcile", "finding", "not_done", "check_operation_id", "yes", "note_operation_id", "it is there", "then", "request_reexecution", "not_done_evidence", "Called them.")
	if incomplete.want(422).says("Called them."); !strings.Contains(incomplete.body, `value="it is there"`) {
		t.Error("a note of the checklist is lost")
	}
	h.wantState(t, id, operation.Review)

	page = ops.get(opPath(id)).want(200)
	asked := ops.submit(page, "form-reconcile", checked("finding", "not_done", "then", "request_reexecution", "not_done_evidence", "Called them: no such note.", "not_done_reason", "It is still wanted.")...)
	ops.follow(asked.want(303)).says("One more attempt is requested")
	h.wantState(t, id, operation.ReexecutionRequested)

	// FC-45: the one who answered the checklist is a party
	mine := ops.get(opPath(id)).want(200)
	if mine.has("form-reexecution") != nil || mine.has("barred-reexecution") == nil && !strings.Contains(mine.body, "barred-") {
		t.Error("the second decision is offered to a party")
	}
	theirs := ops2.get(opPath(id)).want(200).says("Called them: no such note.", "looked at it", "one more")
	ops2.submit(theirs, "form-reexecution", "decision", "approve", "comment", "Yes.").want(422) // not confirmed
	h.wantState(t, id, operation.ReexecutionRequested)
	ops2.follow(ops2.submit(theirs, "form-reexecution", "decision", "approve", "confirm", "yes", "comment", "Yes.").want(303)).says("One attempt is approved.")
	h.wantState(t, id, operation.Ready)
}

// TestConfirmDone settles a lost answer with the reference that a person found.
func TestConfirmDone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops := h.as(t, "ops")
	page := ops.get(opPath(id)).want(200)
	ops.submit(page, "form-reconcile", "finding", "done", "done_evidence", "Seen it there.").want(422).says("Seen it there.")
	ops.submit(page, "form-reconcile", "finding", "done", "done_reference", "note_1", "done_link", "javascript:alert(1)", "done_evidence", "Seen it there.").want(422)
	ok := ops.submit(page, "form-reconcile", "finding", "done", "done_reference", "note_1", "done_link", "https://plain.example/note_1", "done_evidence", "Seen it there.")
	ops.follow(ok.want(303)).want(200).says("Confirmed with note_1", "note_1", "Seen it there.")
	h.wantState(t, id, operation.Confirmed)
	// double click: the same calm page
	ops.submit(page, "form-reconcile", "finding", "done", "done_reference", "note_1", "done_link", "https://plain.example/note_1", "done_evidence", "Seen it there.").want(303)

	lead := h.as(t, "lead")
	closed := lead.get(opPath(id)).want(200)
	lead.follow(lead.submit(closed, "form-dispute", "evidence", "They say there is none.").want(303)).says("open again for review")
	h.wantState(t, id, operation.Review)
}

// TestHoldAndDuplicate keeps a review on hold in the person's own zone, then records
// that the effect exists twice.
func TestHoldAndDuplicate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	if err := h.Store.SetPlace(t.Context(), h.As("ops"), "en", "Asia/Tokyo"); err != nil {
		t.Fatal(err)
	}
	ops := h.as(t, "ops")
	page := ops.get(opPath(id)).want(200)
	ops.submit(page, "form-reconcile", "finding", "hold", "hold_until", "yesterday", "hold_reason", "They look into it.").want(422).says("They look into it.")
	ops.follow(ops.submit(page, "form-reconcile", "finding", "hold", "hold_until", "2027-03-01T09:00", "hold_reason", "They look into it.").want(303)).says("On hold until", "They look into it.")
	if n := h.Count(t, "operations WHERE hold_until = '2027-03-01T00:00Z'"); n != 1 {
		t.Error("the date is not the one in the person's zone")
	}
	page = ops.get(opPath(id)).want(200)
	ops.submit(page, "form-reconcile", "finding", "duplicate", "duplicate_references", "note_1\nnote_2", "duplicate_evidence", "Two of them.").want(422) // not confirmed
	ops.follow(ops.submit(page, "form-reconcile", "finding", "duplicate", "duplicate_references", "note_1\nnote_2", "duplicate_evidence", "Two of them.", "duplicate_confirm", "yes").want(303)).says("The duplicate is recorded")
	h.wantState(t, id, operation.Confirmed)
	page = ops.get(opPath(id)).want(200)
	ops.follow(ops.submit(page, "form-remedy", "reason", "One was deleted.").want(303)).says("Recorded as put right")
}

// TestCancelReplaceGoOn cancels a stage, replaces it by other content, and lets the run
// go on without another.
func TestCancelReplaceGoOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ids := h.Receive(t, storetest.CampaignEvent())
	lead := h.as(t, "lead")
	page := lead.get(opPath(ids[0])).want(200)
	lead.submit(page, "form-cancel", "reason", "Not wanted.").want(422) // not confirmed
	lead.follow(lead.submit(page, "form-cancel", "reason", "Not wanted.", "confirm", "yes").want(303)).says("Cancelled. Nothing was sent.")
	h.wantState(t, ids[0], operation.Cancelled)

	run := "/runs/" + h.runOf(t, ids[0])
	track := lead.get(run).want(200)
	lead.submit(track, "form-go-on", "reason", "Not needed.").want(422).says("Not needed.")
	lead.follow(lead.submit(track, "form-go-on", "reason", "Not needed.", "confirm", "yes").want(303)).says("goes on without")

	again := lead.get(opPath(ids[0]) + "/replace").want(200)
	made := lead.submit(again, "form-edit", "content.subject", "Call them in May", "reason", "Wanted after all.", "confirm", "yes", "submit", "yes").want(303)
	if made.to == opPath(ids[0]) {
		t.Fatalf("led to the original, want the replacement")
	}
	lead.follow(made).want(200).says("Call them in May")
}

// TestPause pauses and resumes an operation, a flow and a destination.
func TestPause(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Ready(t)
	ops := h.as(t, "ops")
	for _, path := range []string{opPath(id), "/flows/newsletter-coupon", "/destinations/billing"} {
		page := ops.get(path).want(200)
		ops.submit(page, "form-pause").want(422)
		ops.follow(ops.submit(page, "form-pause", "reason", "Looks wrong.").want(303)).says("Paused.", "Looks wrong.")
		if _, err := h.Store.ClaimAndDispatch(t.Context(), store.Job("w1"), id, "w1"); err == nil {
			t.Fatalf("%s: claimed while paused", path)
		}
		page = ops.get(path).want(200)
		ops.follow(ops.submit(page, "form-resume", "reason", "It was right.").want(303)).says("Resumed.")
	}
	if a := h.as(t, "lead").get(opPath(id)).want(200); a.has("barred-pause") == nil {
		t.Error("who may not pause does not see why")
	}
}

// TestAdopt enters a stopped job of another system by hand.
func TestAdopt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ops := h.as(t, "ops")
	page := ops.get("/operations/adopt").want(200)
	ops.submit(page, "form-adopt", "title", "", "happened_at", "x").want(422)
	done := ops.submit(page, "form-adopt", "target", "plain-note/note", "title", "Note to Anna", "happened_at", "2026-01-05T10:00", "reference", "job 77", "evidence", "The old job stopped half way.")
	ops.follow(done.want(303)).want(200).says("Note to Anna", "waits for reconciliation")
	if n := h.Count(t, "operations WHERE adopted AND state = 'review'"); n != 1 {
		t.Errorf("%d adopted operations, want 1", n)
	}
}

// TestPreview shows somebody's mail under its own policy, and only to who may see the
// operation.
func TestPreview(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	letter := h.Receive(t, storetest.CampaignEvent())[1]
	body := mail(1)
	body["html"] = `<h1 style="color:red">Hello</h1><script>alert(1)</script><img src="https://evil.example/pixel"><a href="https://shop.example/offer">offer</a>`
	newVersion(h, t, letter, "author", body, true)
	lead := h.as(t, "lead")
	page := lead.get(opPath(letter)).want(200).says("https://shop.example/offer")
	frame := find(page.doc, isFrame)
	if frame == nil || !hasAttr(frame, "sandbox") || attr(frame, "sandbox") != "" {
		t.Fatal("the mail is not in a sandboxed frame")
	}
	a := lead.get(attr(frame, "src")).want(200)
	if !strings.Contains(a.body, `<h1 style="color:red">Hello</h1>`) || !strings.Contains(a.body, "evil.example/pixel") || strings.Contains(a.body, "shop.example") || strings.Contains(a.body, "alert") {
		t.Errorf("the frame shows %q", a.body) // as it is, but for where its links lead
	}
	for _, want := range []string{"sandbox;", "default-src 'none'", "img-src data:", "form-action 'none'", "frame-ancestors 'self'"} {
		if !strings.Contains(a.header.Get("Content-Security-Policy"), want) {
			t.Errorf("policy %q lacks %s", a.header.Get("Content-Security-Policy"), want)
		}
	}
	h.limited(t, operation.RoleApprover, "newsletter-coupon")
	other := h.nobody(t)
	h.session(t, other, h.Users["only-approver"])
	other.get(attr(frame, "src")).want(404)
}

// TestEffectStatedBeforeItsAttempt: an effect that a reviewer states of an operation that is
// ready confirms it, so that nothing is sent of what is there already. Who may not settle
// operations may not state one.
func TestEffectStatedBeforeItsAttempt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Ready(t)
	lead := h.as(t, "lead")
	lead.submit(lead.get(opPath(id)).want(200), "form-evidence", "evidence", "Seen it there.", "reference", "note_7").want(403)
	h.wantState(t, id, operation.Ready)
	ops := h.as(t, "ops")
	ok := ops.submit(ops.get(opPath(id)).want(200), "form-evidence", "evidence", "Seen it there.", "reference", "note_7")
	ops.follow(ok.want(303)).want(200).says("Confirmed with note_7", "Seen it there.")
	h.wantState(t, id, operation.Confirmed)
	if _, err := h.Store.ClaimAndDispatch(t.Context(), store.Job("worker"), id, "worker"); err == nil {
		t.Error("it may still be sent")
	}
}
