package handlers_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"

	"golang.org/x/net/html"
)

// TestBatchPausedFromOutside: a batch that waits for the end of its destination's pause says so
// on its page, in the list and on the run's page, and is in the inbox of whoever ends that
// pause, counted as it is shown.
func TestBatchPausedFromOutside(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s, ctx := h.Store, t.Context()
	ids := approvedLists(t, h, twoLists, 3)
	tasks, ops := "/batches/"+string(ids[0]), h.as(t, "ops")
	badge := func(want string) {
		t.Helper()
		page := ops.get(tasks).want(200)
		if got := said(page.has("state")); !strings.Contains(got, want) {
			t.Errorf("the badge is %q, want %q", got, want)
		}
	}
	inbox := func(rows int) *answer {
		t.Helper()
		page := ops.get("/inbox").want(200)
		n, err := s.CountInbox(ctx, h.As("ops"))
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		find(page.doc, func(x *html.Node) bool {
			if attr(x, "data-testid") == "inbox-batch" {
				shown++
			}
			return false
		})
		if shown != rows || n != rows {
			t.Errorf("the inbox shows %d batches and counts %d, want %d", shown, n, rows)
		}
		return page
	}
	badge("Running")
	inbox(0)
	if _, err := s.PauseDestination(ctx, h.As("ops"), "plain", "An outage."); err != nil {
		t.Fatal(err)
	}
	badge("Paused from outside")
	lead := h.as(t, "lead")
	agree(t, lead, lead.get(tasks).want(200).says("It is paused from outside"), tasks, "ops owner")
	if row := said(in(inbox(2).doc, "inbox-batch", tasks)); !strings.Contains(row, "Resume") {
		t.Errorf("the inbox says: %s", row)
	}
	if err := s.ResumeDestination(ctx, h.As("ops"), "plain", "It is over."); err != nil {
		t.Fatal(err)
	}
	badge("Running")
	inbox(0)
}

// TestClosedBatchIsSaidAsItClosed: the run's page says of a batch that closed without one item
// what the batch's page says, and of one that was stopped that it was, whatever its stage needs.
func TestClosedBatchIsSaidAsItClosed(t *testing.T) {
	t.Parallel()
	for flow, want := range map[string]struct{ badge, sums string }{
		twoLists: {"Closed", "2 of 3 confirmed, 0 in doubt"},
		strings.Replace(twoLists, "satisfied_by: every_item_confirmed", "satisfied_by: every_item_closed", 1): {"Stopped", "2 of 3 confirmed, 0 in doubt"},
	} {
		h := newHouse(t)
		s, ctx, job := h.Store, t.Context(), store.Job("runner")
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		ids := approvedLists(t, h, flow, 3)
		_, err := s.ReleaseBatch(ctx, job, ids[0], 100)
		must(err)
		c, err := s.ClaimGroup(ctx, job, ids[0], 2, "worker")
		must(err)
		var out []store.Outcome
		for _, d := range c.Dispatched {
			out = append(out, store.Outcome{Operation: d.Operation, Attempt: d.Attempt, Fence: d.Fence,
				Result: operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "thing-" + string(d.Operation), Proof: operation.Proof{Code: "accepted", Phase: operation.PhaseComplete, Status: 200}}})
		}
		_, err = s.RecordGroup(ctx, job, ids[0], out)
		must(err)
		if want.badge == "Stopped" {
			_, err = s.StopBatch(ctx, h.As("ops"), store.BatchShown{Batch: ids[0], Reason: "Enough.", FormID: store.NewFormID()})
			must(err)
			_, err = s.GiveUpGroup(ctx, job, ids[0], 10)
			must(err)
		} else {
			var third operation.ID
			must(h.Owner.QueryRow(`SELECT id FROM operations WHERE batch_id = $1 AND state = 'ready'`, string(ids[0])).Scan(&third))
			p, err := s.FindOperation(ctx, h.As("lead"), third)
			must(err)
			must(s.Cancel(ctx, h.As("lead"), store.Shown{Operation: third, Revision: p.Revision, FormID: store.NewFormID(), Reason: "Not this one."}))
		}
		if state, err := s.AdvanceBatch(ctx, job, ids[0]); err != nil || state != operation.BatchClosed {
			t.Fatal(state, err)
		}
		lead, path := h.as(t, "lead"), "/batches/"+string(ids[0])
		page := lead.get(path).want(200)
		run := "/runs/" + attr(page.has("batch"), "data-run")
		stage := in(lead.get(run).want(200).doc, "stage", path)
		mark, sums := said(in(stage, "batch-mark", "")), said(in(stage, "stage-sums", ""))
		if badge := said(page.has("state")); !strings.Contains(badge, want.badge) || mark != badge || !strings.Contains(sums, want.sums) {
			t.Errorf("the page says %q, the run %q, %q", badge, mark, sums)
		}
		if text := said(stage); strings.Contains(text, "Not executed") || strings.Contains(text, "Confirmed") {
			t.Errorf("the run says of its stage: %s", text)
		}
	}
}

// said is the text of a part of a page; "" = it has none.
func said(n *html.Node) string {
	if n == nil {
		return ""
	}
	return (&answer{doc: n}).text()
}
