package handlers_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestGroupsOnThePage: the places of each group with who filled them, whom the open one waits
// for, and why somebody whose group is filled cannot approve.
func TestGroupsOnThePage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	files, err := storetest.DemoFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range files {
		if src := string(x.Source); strings.HasPrefix(src, "flow: newsletter-coupon") {
			x.Source = []byte(strings.Replace(src, "approvers: {role: approver}, required: 1,", "groups: [{key: compliance, title: {en: Compliance, pl: Zgodność}, approvers: {role: ops_owner}}, {key: contact, title: {en: Customer contact}, approvers: {role: approver}}],", 1))
			if _, err := h.Store.Apply(t.Context(), store.System("command"), []store.File{x}); err != nil {
				t.Fatal(err)
			}
		}
	}
	id := h.Receive(t, storetest.CouponEvent())[0]
	lead, second, ops := h.as(t, "lead"), h.as(t, "second"), h.as(t, "ops")
	lead.get("/flows/newsletter-coupon").want(200).says("Compliance", "Customer contact")

	action, form := lead.get(opPath(id)).want(200).says("2 approvals are needed, one from each group.", "Compliance", "Customer contact").form("form-decide")
	form.Set("comment", "Wording checked.")
	lead.follow(lead.post(action, form).want(303)).want(200).says("Wording checked.")

	second.get(opPath(id)).want(200).says("The places of your groups are filled already.", "Wording checked.")
	page := ops.get(opPath(id)).want(200)
	if n := strings.Count(page.body, `data-testid="slot-group"`); n != 2 {
		t.Errorf("%d places, want 2", n)
	}
	if compliance, contact := strings.Index(page.body, "Compliance"), strings.Index(page.body, "Wording checked."); compliance < 0 || contact < compliance {
		t.Error("the places do not stand in the order of the groups")
	}
	action, form = page.form("form-decide")
	ops.post(action, form).want(303)
	if s := h.State(t, id); s != operation.Ready {
		t.Errorf("state %s", s)
	}
}
