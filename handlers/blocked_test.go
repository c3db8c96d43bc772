package handlers_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store/storetest"

	"golang.org/x/net/html"
)

// TestBlockedRun tells the flow's owner that a run waits, where it is decided, and tells
// the writer of a later stage why it is not sent.
func TestBlockedRun(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ids := h.Receive(t, storetest.CampaignEvent())
	task, letter := ids[0], ids[1]
	lead, author := h.as(t, "lead"), h.as(t, "author")
	page := lead.get(opPath(task)).want(200)
	lead.submit(page, "form-decide", "decision", "reject", "comment", "Not this customer.").want(303)
	h.wantState(t, task, operation.Rejected)

	inbox := lead.get("/inbox").want(200).says("To put right", "Closed without effect; the run waits: go on without it, replace it, or leave it.")
	row := find(inbox.has("group-remedy"), func(n *html.Node) bool { return attr(n, "data-id") == string(task) })
	if row == nil {
		t.Fatalf("no row for the blocked stage: %s", inbox.text())
	}
	run := attr(find(row, func(n *html.Node) bool { return n.Data == "a" }), "href")
	if !strings.HasPrefix(run, "/runs/run_") {
		t.Fatalf("the row leads to %q, want the run", run)
	}
	on := lead.get(run).want(200).says("go on without it, replace it, or leave it", "An earlier stage, CRM task, is closed without effect", "CRM (sandbox)", "Mail (sandbox)")
	if on.has("form-go-on") == nil || on.has("stage-replace") == nil || on.has("stage-leave") == nil {
		t.Error("the run's page does not offer all three")
	}
	lead.get(attr(on.has("stage-replace"), "href")).want(200)

	head := lead.get(opPath(task)).want(200).says("Say how the run goes on", "How does the run go on?")
	if strings.Contains(head.text(), "Nothing; it is closed") {
		t.Error("the header says that nothing is to be decided")
	}
	author.get("/inbox").want(200).says("An earlier stage is closed without effect.")
	author.get(opPath(letter)).want(200).says("An earlier stage is closed without effect. This is not sent until its owner says how the run goes on")

	left := lead.follow(lead.submit(head, "form-leave", "reason", "Nobody wants this mail.").want(303)).want(200)
	left.says("Recorded: the run is left as it is.", "Left as it is", "Nothing; it is closed")
	if strings.Contains(lead.get("/inbox").text(), "the run waits") {
		t.Error("it still waits for the owner")
	}
	author.get(opPath(letter)).says("An earlier stage is closed without effect.")
}
