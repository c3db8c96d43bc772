package handlers_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
)

func (h *house) caseOf(t *testing.T, id operation.ID) string {
	t.Helper()
	var c string
	if err := h.Owner.QueryRow(`SELECT id FROM recovery_cases WHERE operation_id = $1 ORDER BY number DESC LIMIT 1`, string(id)).Scan(&c); err != nil {
		t.Fatal(err)
	}
	return "/cases/" + c
}

// TestCasePage goes through a case as its two persons do: taken, answered one by one,
// asked, questioned, asked again, approved.
func TestCasePage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	path := h.caseOf(t, id)
	ops, second := h.as(t, "ops"), h.as(t, "ops2")
	page := ops.get(opPath(id)).want(200)
	if !strings.Contains(page.body, path) {
		t.Error("the operation's page does not lead to its case")
	}
	page = ops.get(path).want(200).says("RC-", "Nobody has this case in hand", "Time in hand", "0 of 6 answered")
	page = ops.follow(ops.submit(page, "form-take").want(303)).want(200).says("You have had this case in hand")

	t.Run("SomebodyElseSeesAndIsRefused", func(t *testing.T) {
		theirs := second.get(path).want(200).says("Oli Ops has had this case in hand")
		if strings.Contains(theirs.body, `data-testid="form-reconcile"`) || strings.Contains(theirs.body, `data-testid="form-checklist"`) {
			t.Error("they are offered its forms")
		}
		second.get(opPath(id)).want(200).says("Oli Ops has had this case in hand") // in the place of the form
		second.submit(theirs, "form-take", "reason", "").want(422).says("Give a reason")
	})
	t.Run("QuestionsOneByOne", func(t *testing.T) {
		page = ops.follow(ops.submit(page, "form-checklist", "check_operation_id", "yes", "note_operation_id", "It is in their log.").want(303)).want(200).says("It is in their log.", "1 of 6 answered")
		ops.submit(page, "form-checklist", "item", "key", "note_key", "kept").want(422).says("kept", "RC-")
	})
	t.Run("BackToTheCaseFromItsForms", func(t *testing.T) {
		a := ops.submit(page, "form-evidence", "evidence", "Their status page names a fault.").want(303)
		if !strings.HasPrefix(a.to, path) {
			t.Errorf("a form of the case leads to %s", a.to)
		}
		ops.follow(a).want(200).says("Their status page names a fault.")
	})
	t.Run("ForeignAndMissing", func(t *testing.T) {
		h.limited(t, operation.RoleOpsOwner, "campaign-follow-up")
		far := h.nobody(t)
		h.session(t, far, h.Users["only-ops_owner"])
		missing := far.get("/cases/case_00000000000000000000000000").want(404)
		if got := far.get(path).want(404); got.text() != missing.text() {
			t.Error("a foreign case looks different from a missing one")
		}
		if body := far.get("/cases").want(200).body; strings.Contains(body, path) {
			t.Error("a foreign case is listed")
		}
	})
}

// TestMoreEvidence: the second person sends a request back with a question, which the
// first one finds on the case.
func TestMoreEvidence(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	path := h.caseOf(t, id)
	ops := h.as(t, "ops")
	first := ops.get(path).want(200)
	ops.follow(ops.submit(first, "form-reconcile", checked("finding", "not_done", "not_done_how", "log", "then", "request_reexecution", "not_done_reason", "Nothing is there.")...).want(303)).want(200).says("waits for a second person")
	second := h.as(t, "ops2")
	page := second.get(path).want(200).says("You are the second person", "4 of 5 hold", "Nothing is there.", "6 of 6 answered")
	second.submit(page, "form-reexecution", "decision", "approve", "comment", "Go.").want(422) // the sentence is not ticked
	second.follow(second.submit(page, "form-reexecution", "decision", "more_evidence", "comment", "Which day was searched?").want(303)).want(200).says("Nothing is sent")
	h.wantState(t, id, operation.Review)
	h.as(t, "ops").get(path).want(200).says("asks for more evidence", "Which day was searched?")
}

// TestCaseQueue settles a list after an outage: all of it taken, looked up, and settled
// one after the other over the end of a session.
func TestCaseQueue(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ids := h.manyUnknown(t, 4)
	ops := h.as(t, "ops")
	page := ops.get("/cases").want(200).says("4 cases, oldest first", "never decided many at once")
	ops.submit(page, "form-cases", "do", "take").want(422).says("Choose at least one case")
	if err := h.Store.TakeCase(t.Context(), h.As("ops2"), operation.CaseID(strings.TrimPrefix(h.caseOf(t, ids[2]), "/cases/")), "", ""); err != nil {
		t.Fatal(err)
	}
	late := h.unknown(t) // it was not listed
	result := ops.follow(ops.submit(page, "form-cases", "do", "take", "all", "yes").want(303)).want(200).says("3 cases taken", "1 was refused and stays chosen", "Ona Ops has had this case in hand")
	if strings.Contains(result.body, h.caseOf(t, late)) {
		t.Error("“all” took what was not listed")
	}
	again := ops.follow(ops.submit(result, "form-cases", "do", "take", "reason", "Ona asked me to.").want(303)).want(200).says("1 case taken", "Nothing was refused")
	if again.count("result-row") != 1 {
		t.Error("more than the refused one stayed chosen")
	}
	page = ops.get("/cases?whose=mine").want(200).says("4 cases")
	first := ops.follow(ops.submit(page, "form-cases", "do", "settle", "all", "yes").want(303)).want(200).says("1 of 4", "Of 4 cases, 0 settled by you, 4 left")
	settled := ops.follow(ops.submit(first, "form-reconcile", "finding", "done", "done_reference", "note_1", "done_how", "seen").want(303)).want(200).says("Of 4 cases, 1 settled by you, 3 left", "Next: RC-")
	h.wantState(t, ids[0], operation.Confirmed)
	if settled.count("to-next") != 1 {
		t.Error("nothing leads to the next case")
	}
	fresh := h.as(t, "ops") // another session
	open := fresh.get("/cases").want(200).says("Go on with the list of", "Of 4 cases, 1 settled by you, 3 left")
	var queue string
	if err := h.Owner.QueryRow(`SELECT id FROM case_queues`).Scan(&queue); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(open.body, "/cases/queues/"+queue) {
		t.Error("the list is not offered")
	}
	fresh.get("/cases/queues/"+queue).want(200).says("settled by you", "left")
	h.as(t, "ops2").get("/cases/queues/" + queue).want(404)
	if n := h.Count(t, "operations WHERE state = 'confirmed'"); n != 1 {
		t.Errorf("%d operations are confirmed, want the one that was settled", n)
	}
}

// TestBeatAddress takes what pages say of their use, and no nonsense.
func TestBeatAddress(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	path := h.caseOf(t, h.unknown(t))
	ops := h.as(t, "ops")
	for body, want := range map[string]int{"active_ms=0": 200, "active_ms=999999999999": 200, "active_ms=-1": 400, "active_ms=x": 400, "": 400} {
		if got := h.raw(t, ops, path+"/beat", "application/x-www-form-urlencoded", body); got.status != want {
			t.Errorf("%q: status %d, want %d", body, got.status, want)
		}
	}
	if n := h.Count(t, "case_active WHERE active_ms > 5000"); n != 0 {
		t.Error("a forged beat counts")
	}
	if got := h.raw(t, h.as(t, "auditor"), path+"/beat", "application/x-www-form-urlencoded", "active_ms=1"); got.status != 403 {
		t.Errorf("an auditor's beat: status %d", got.status)
	}
}
