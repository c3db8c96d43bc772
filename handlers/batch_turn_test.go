package handlers_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"

	"golang.org/x/net/html"
)

// twoLists has a stage of which every item must be confirmed before any of the next goes out.
const twoLists = `flow: two-lists
title: {en: Two lists}
owner: {role: approver}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}}
trigger: {source: api, topic: two-lists}
inputs: {type: object, required: [people], properties: {people: {type: array, items: {type: object, required: [key], properties: {key: {type: string}}}}}}
stages:
  - key: tasks
    title: {en: Tasks}
    destination: plain
    action: create_thing
    for_each: {in: "${inputs.people}", key: "${item.key}"}
    content: {topic: "${item.key}", text: First}
    approval: {approvers: {role: approver}}
    satisfied_by: every_item_confirmed
  - key: notes
    title: {en: Notes}
    destination: plain
    action: create_thing
    for_each: {in: "${inputs.people}", key: "${item.key}"}
    content: {topic: "${item.key}", text: Second}
    approval: {approvers: {role: approver}}
`

// approvedLists starts a run of the flow with a list of n items, and approves its batches.
func approvedLists(t *testing.T, h *house, flow string, n int) []operation.BatchID {
	t.Helper()
	if _, err := h.Store.Apply(t.Context(), store.System("command"), []store.File{{Name: "two.yaml", Source: []byte(flow)}}); err != nil {
		t.Fatal(err)
	}
	list := store.List{Name: "people.csv", Rows: func(yield func(map[string]any, error) bool) {
		for i := range n {
			if !yield(map[string]any{"key": fmt.Sprint("item-", i+1)}, nil) {
				return
			}
		}
	}}
	_, ids, err := h.Store.CreateBatchRun(t.Context(), h.As("author"), store.NewBatchRun{Flow: "two-lists", FormID: store.NewFormID(), Lists: map[string]store.List{"people": list}})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		h.ApproveBatch(t, id, "lead")
	}
	return ids
}

// TestBatchSaysWhoseTurn takes a batch through what may hold it: an earlier stage under way,
// with a dispute, closed without all that it needs; then the owner goes on without that stage.
func TestBatchSaysWhoseTurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s, ctx, job := h.Store, t.Context(), store.Job("runner")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ids := approvedLists(t, h, twoLists, 3)
	tasks, notes := "/batches/"+string(ids[0]), "/batches/"+string(ids[1])
	lead := h.as(t, "lead")
	says := func(path, next, responsible string, more ...string) *answer {
		t.Helper()
		page := lead.get(path).want(200).says(more...)
		for testid, want := range map[string]string{"next": next, "responsible": responsible} {
			if got := (&answer{doc: page.has(testid)}).text(); !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q, want %q", path, testid, got, want)
			}
		}
		agree(t, lead, page, path, responsible)
		return page
	}
	turn := func(no int) operation.NextDecision {
		t.Helper()
		p, err := s.FindBatch(ctx, h.As("lead"), ids[no])
		must(err)
		return p.Turn.Next
	}

	// An item that comes to nothing, and two that are disputed afterwards.
	_, err := s.ReleaseBatch(ctx, job, ids[0], 100)
	must(err)
	says(notes, "Settle the earlier stage", "system", "Held by an earlier stage", "is still under way")
	c, err := s.ClaimGroup(ctx, job, ids[0], 2, "worker")
	must(err)
	var out []store.Outcome
	for i, d := range c.Dispatched {
		out = append(out, store.Outcome{Operation: d.Operation, Attempt: d.Attempt, Fence: d.Fence,
			Result: operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: fmt.Sprint("thing-", i), Proof: operation.Proof{Code: "accepted", Phase: operation.PhaseComplete, Status: 200}}})
	}
	_, err = s.RecordGroup(ctx, job, ids[0], out)
	must(err)
	shown := func(id operation.ID) store.Shown {
		t.Helper()
		p, err := s.FindOperation(ctx, h.As("ops"), id)
		must(err)
		return store.Shown{Operation: id, Revision: p.Revision, FormID: store.NewFormID(), Reason: "as the test wants it"}
	}
	var third operation.ID
	must(h.Owner.QueryRow(`SELECT id FROM operations WHERE batch_id = $1 AND state = 'ready'`, string(ids[0])).Scan(&third))
	disputed := c.Dispatched[0].Operation
	must(s.Dispute(ctx, h.As("ops"), shown(disputed), ""))
	must(s.Cancel(ctx, h.As("lead"), shown(third)))

	// Only an outcome of the first is left: a reviewer's turn, there and for what it holds.
	says(tasks, "Settle 1 outcome", "ops owner", "1 outcome is to be settled by a person")
	held := says(notes, "Settle the earlier stage", "ops owner", "1 outcome is to be settled there")
	if held.has("held-by") == nil || attr(held.has("held-by"), "href") != tasks || strings.Contains(held.body, "Goes on by itself") {
		t.Error("the held batch does not lead to the stage that holds it")
	}
	if !strings.Contains(h.as(t, "ops").get("/inbox").body, opPath(disputed)) {
		t.Error("whoever settles what holds the batch has it not in their inbox")
	}
	if n := turn(1); n.Kind != operation.DecideStage || n.Who.Role != operation.RoleOpsOwner {
		t.Errorf("of the held batch is said: %+v", n)
	}

	// It closes without all that its stage needs: the owner's turn, and a form for it.
	must(s.ConfirmDone(ctx, h.As("ops"), shown(disputed), store.Reference{ID: "thing-0"}))
	if state, err := s.AdvanceBatch(ctx, job, ids[0]); err != nil || state != operation.BatchClosed {
		t.Fatal(state, err)
	}
	says(notes, "Settle the earlier stage", "pprover", "it closed, but did not come to what it needs")
	page := says(tasks, "Say how the run goes on", "pprover", "The stages after it wait")
	if n := turn(0); n.Kind != operation.DecideRemedy || n.Who.Role != operation.RoleApprover {
		t.Errorf("of the closed batch is said: %+v", n)
	}
	p, err := s.FindBatch(ctx, h.As("lead"), ids[0])
	must(err)
	if run := lead.get("/runs/" + string(p.RunID)).want(200); attr(run.has("stage-go-on"), "href") != tasks+"/go_on" {
		t.Error("the run's page does not lead to the decision")
	}
	for who, may := range map[string]bool{"lead": true, "ops": true, "admin": true, "author": false, "auditor": false} {
		b := h.as(t, who)
		if got := b.get(tasks + "/go_on").status; (got == 200) != may || !may && b.get(tasks).want(200).has("do-batch_go_on") != nil {
			t.Errorf("%s: the form answers %d", who, got)
		}
	}

	// A dispute of the closed one is said where it is closed, and whose it is.
	must(s.Dispute(ctx, h.As("ops"), shown(disputed), ""))
	if again := says(tasks, "Settle 1 outcome", "ops owner", "In review again", "1 outcome was disputed"); strings.Contains(again.text(), "Nothing; it is closed") || strings.Contains(again.text(), "Every item that went out is settled") {
		t.Error("a closed batch with a disputed item says that nothing is to be done")
	}
	must(s.ConfirmDone(ctx, h.As("ops"), shown(disputed), store.Reference{ID: "thing-0"}))

	if page.has("do-batch_go_on") == nil {
		t.Fatal("the owner is not offered to go on")
	}
	form := lead.get(tasks + "/go_on").want(200)
	lead.submit(form, "form-go_on", "reason", "Not needed.").want(422)
	lead.follow(lead.submit(form, "form-go_on", "reason", "Not needed.", "confirm", "yes").want(303)).says("Recorded: the run goes on without this stage.", "Not needed.", "Nothing; it is closed")
	says(notes, "Goes on by itself", "system")
	if n, err := s.ReleaseBatch(ctx, job, ids[1], 100); n != 3 || err != nil {
		t.Errorf("%d items of the held batch were released: %v", n, err)
	}
	lead.follow(lead.get(tasks + "/go_on")).says("There is nothing to decide")

	// To pause what is paused and to resume what is not changes nothing, and is not said to.
	for _, verb := range []string{"pause", "resume"} {
		form, late := lead.get(notes+"/"+verb), lead.get(notes+"/"+verb)
		lead.follow(lead.submit(form.want(200), "form-"+verb, "reason", "Wait.").want(303)).says(map[string]string{"pause": "The batch is paused.", "resume": "The batch goes on."}[verb])
		lead.follow(lead.submit(form, "form-"+verb, "reason", "Wait.").want(303)).says(map[string]string{"pause": "The batch is paused.", "resume": "The batch goes on."}[verb]) // a double click
		lead.follow(lead.submit(late.want(200), "form-"+verb, "reason", "Wait.").want(303)).says("Nothing was changed: the batch is " + map[string]string{"pause": "paused already", "resume": "not paused"}[verb])
	}

	// The last stage closes without all that it needs: nothing waits for it, and nobody is asked.
	lead.follow(lead.submit(form, "form-go_on", "reason", "Again.", "confirm", "yes").want(303)).says("There is nothing to decide")
	c, err = s.ClaimGroup(ctx, job, ids[1], 2, "worker")
	must(err)
	for i := range out {
		d := c.Dispatched[i]
		out[i].Operation, out[i].Attempt, out[i].Fence, out[i].Result.TargetReference = d.Operation, d.Attempt, d.Fence, fmt.Sprint("note-", i)
	}
	_, err = s.RecordGroup(ctx, job, ids[1], out)
	must(err)
	must(h.Owner.QueryRow(`SELECT id FROM operations WHERE batch_id = $1 AND state = 'ready'`, string(ids[1])).Scan(&third))
	must(s.Dispute(ctx, h.As("ops"), shown(c.Dispatched[0].Operation), ""))
	must(s.Cancel(ctx, h.As("lead"), shown(third)))
	says(notes, "Settle 1 outcome", "ops owner")
	must(s.ConfirmDone(ctx, h.As("ops"), shown(c.Dispatched[0].Operation), store.Reference{ID: "note-0"}))
	if state, err := s.AdvanceBatch(ctx, job, ids[1]); err != nil || state != operation.BatchClosed {
		t.Fatal(state, err)
	}
	if last := says(notes, "Nothing; it is closed", "–"); last.has("do-batch_go_on") != nil || lead.get("/runs/"+string(p.RunID)).want(200).has("stage-go-on") != nil {
		t.Error("the last stage offers to go on without it")
	}
	lead.follow(lead.get(notes + "/go_on")).says("There is nothing to decide")
	var r *operation.Refusal
	if err := s.GoOnWithoutBatch(ctx, h.As("lead"), store.BatchShown{Batch: ids[1], FormID: store.NewFormID(), Reason: "Why not."}); !errors.As(err, &r) || r.Code != operation.CodeNothingFollows {
		t.Errorf("to go on where nothing follows: %v", err)
	}
}

// TestBatchTurnOfPausesAndCanaries takes a batch with a canary through what keeps it from going
// on by itself: a pause from outside, a disputed item of the canary while the rest is not
// cleared, and an approval of the rest that expired halfway.
func TestBatchTurnOfPausesAndCanaries(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s, ctx, job := h.Store, t.Context(), store.Job("runner")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	flow := strings.Replace(twoLists, `key: "${item.key}"}`, `key: "${item.key}", canary: 2}`, 1)
	ids := approvedLists(t, h, flow, 5)
	tasks, notes := "/batches/"+string(ids[0]), "/batches/"+string(ids[1])
	lead := h.as(t, "lead")
	says := func(path, next, responsible string, more ...string) *answer {
		t.Helper()
		page := lead.get(path).want(200).says(more...)
		for testid, want := range map[string]string{"next": next, "responsible": responsible} {
			if got := (&answer{doc: page.has(testid)}).text(); !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q, want %q", path, testid, got, want)
			}
		}
		return page
	}
	resumes := func(role operation.Role) {
		t.Helper()
		p, err := s.FindBatch(ctx, h.As("lead"), ids[0])
		must(err)
		if p.Turn.Kind != operation.TurnResume || p.Turn.Next.Who.Role != role || p.Turn.Next.At.IsZero() {
			t.Errorf("whoever resumes is %+v, want %s", p.Turn, role)
		}
	}

	// Paused from outside, with items to come.
	_, err := s.PauseDestination(ctx, h.As("ops"), "plain", "It answers with errors.")
	must(err)
	resumes(operation.RoleOpsOwner)
	agree(t, lead, says(tasks, "Resume", "ops owner", "It is paused from outside"), tasks, "ops owner")
	_, err = s.PauseAll(ctx, h.As("admin"), "We move.")
	must(err)
	resumes(operation.RoleAdmin)
	must(s.ResumeAll(ctx, h.As("admin"), "We moved."))
	must(s.ResumeDestination(ctx, h.As("ops"), "plain", "It answers."))
	_, err = s.PauseFlow(ctx, h.As("ops"), "two-lists", "The wrong text.")
	must(err)
	resumes(operation.RoleOpsOwner)
	must(s.ResumeFlow(ctx, h.As("ops"), "two-lists", "The right one."))
	agree(t, lead, says(tasks, "Goes on by itself", "system"), tasks, "system")

	// The canary is out and one of it is disputed: the rest is not cleared, and does not go on.
	send := func() []store.Dispatched {
		t.Helper()
		c, err := s.ReleaseAndClaim(ctx, job, ids[0], 2, "worker")
		must(err)
		var out []store.Outcome
		for _, d := range c.Dispatched {
			out = append(out, store.Outcome{Operation: d.Operation, Attempt: d.Attempt, Fence: d.Fence,
				Result: operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "thing-" + string(d.Operation), Proof: operation.Proof{Code: "accepted", Phase: operation.PhaseComplete, Status: 200}}})
		}
		_, err = s.RecordGroup(ctx, job, ids[0], out)
		must(err)
		if len(out) != 2 {
			t.Fatalf("%d were sent", len(out))
		}
		return c.Dispatched
	}
	shown := func(id operation.ID) store.Shown {
		t.Helper()
		p, err := s.FindOperation(ctx, h.As("ops"), id)
		must(err)
		return store.Shown{Operation: id, Revision: p.Revision, FormID: store.NewFormID(), Reason: "as the test wants it"}
	}
	disputed := send()[0].Operation
	must(s.Dispute(ctx, h.As("ops"), shown(disputed), ""))
	agree(t, lead, says(tasks, "Settle 1 outcome", "ops owner", "1 outcome is to be settled by a person"), tasks, "ops owner")
	agree(t, lead, says(notes, "Settle the earlier stage", "ops owner", "1 outcome is to be settled there"), notes, "ops owner")
	must(s.ConfirmDone(ctx, h.As("ops"), shown(disputed), store.Reference{ID: "thing-1"}))
	if state, err := s.AdvanceBatch(ctx, job, ids[0]); err != nil || state != operation.BatchCanaryReview {
		t.Fatal(state, err)
	}
	says(tasks, "Look at the canary", "pprover", "2 of 2 cleared items closed")

	// The approval of the rest expires when a part of it is out: no canary, and no share of one.
	h.ApproveBatch(t, ids[0], "lead")
	send()
	_, err = h.Owner.Exec(`UPDATE batches SET expires_at = clock_timestamp() - interval '1 minute' WHERE id = $1`, string(ids[0]))
	must(err)
	if n, err := s.SweepBatches(ctx, store.Job("sweep")); err != nil || n != 1 || h.BatchState(t, ids[0]) != operation.BatchCanaryReview {
		t.Fatal(n, err)
	}
	page := says(tasks, "Approve the rest anew", "pprover", "Rest to approve anew", "The approval of the rest no longer holds", "4 of 4 operations closed", "1 item is left", "The approval expired. Nothing more")
	// its history still says that there was a canary
	if text := page.text(); page.has("canary") != nil || strings.Count(text, "Canary to look at") != 1 || strings.Contains(text, "200%") || strings.Contains(text, "expired: –") {
		t.Errorf("an approval that expired is told as a canary: %s", text)
	}
	if row := in(lead.get("/batches").want(200).doc, "batch-row", tasks); row == nil || !strings.Contains((&answer{doc: row}).text(), "Rest to approve anew") {
		t.Error("the list does not say that the rest is to be approved anew")
	}
	if sent := said(page.has("sent")); !strings.Contains(sent, "when the rest is approved anew") {
		t.Errorf("of the expected end it says: %s", sent)
	}
	for _, at := range []string{"/history", "/history?kind=batch"} {
		if told := lead.get(at).want(200).text(); !strings.Contains(told, "Rest to approve anew") || strings.Contains(told, "canary_review") || strings.Contains(told, "pending_approval") {
			t.Errorf("%s tells of it: %s", at, told)
		}
	}
	h.ApproveBatch(t, ids[0], "lead")
	signed := said(lead.get(tasks).want(200).has("approved"))
	for _, want := range []string{"Version 1 ", "Version 1, the rest after the canary", "Version 1, the rest after its approval lapsed"} {
		if strings.Count(signed, want) != 1 {
			t.Errorf("the signatures do not say %q once: %s", want, signed)
		}
	}
}

// agree checks that the list of batches, the run's page and the inbox say of a batch what its
// page says. The inbox holds it where the person who looks decides about it there; what holds
// it, and outcomes to be settled, stand there themselves.
func agree(t *testing.T, who *browser, page *answer, path, responsible string) {
	t.Helper()
	next := (&answer{doc: page.has("next")}).text()
	row := in(who.get("/batches").want(200).doc, "batch-row", path)
	line := ""
	if n := in(row, "batch-next", ""); n != nil {
		line = (&answer{doc: n}).text()
	}
	if closed := strings.Contains(next, "Nothing"); closed != (line == "") || !closed && !strings.Contains(line, responsible) {
		t.Errorf("%s: the list says %q", path, line)
	}
	run := ""
	find(page.doc, func(n *html.Node) bool {
		if to := attr(n, "href"); n.Data == "a" && strings.HasPrefix(to, "/runs/") {
			run = to
		}
		return run != ""
	})
	stage := ""
	if n := in(in(who.get(run).want(200).doc, "stage", path), "stage-next", ""); n != nil {
		stage = (&answer{doc: n}).text()
	}
	if line == "" != (stage == "") || !strings.Contains(stage, responsible) && line != "" {
		t.Errorf("%s: the run says %q, the list %q", path, stage, line)
	}
	for _, word := range []string{"Settle", "Say how"} {
		if here := strings.Contains(next, word); here != strings.Contains(stage, word) || here != strings.Contains(line, word) {
			t.Errorf("%s: the page says %q, the run %q, the list %q", path, next, stage, line)
		}
	}
	badge := (&answer{doc: page.has("state")}).text()
	for place, n := range map[string]*html.Node{"list": row, "run": in(who.get(run).want(200).doc, "stage", path)} {
		if mark := said(in(n, "batch-mark", "")); mark != badge {
			t.Errorf("%s: the page has the badge %q, the %s %q", path, badge, place, mark)
		}
	}
	mine := strings.Contains(next, "Say how") && strings.Contains(responsible, "pprover")
	if got := in(who.get("/inbox").want(200).doc, "inbox-batch", path); (got != nil) != mine {
		t.Errorf("%s: in the inbox: %v", path, got != nil)
	}
}

// in finds, inside n, the part with this test ID that leads to an address; "" = any.
func in(n *html.Node, testid, to string) (out *html.Node) {
	if n == nil {
		return nil
	}
	find(n, func(x *html.Node) bool {
		if attr(x, "data-testid") != testid {
			return false
		}
		leads := to == ""
		find(x, func(y *html.Node) bool {
			leads = leads || y.Data == "a" && attr(y, "href") == to
			return leads
		})
		if leads {
			out = x
		}
		return leads
	})
	return out
}
