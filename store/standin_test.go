package store_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestNamedPerson: a flow may name one person; they alone decide while they are there,
// and their role when they are gone.
func TestNamedPerson(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	files, err := storetest.DemoFiles()
	ok(t, err)
	for _, x := range files {
		if s := string(x.Source); strings.Contains(s, "flow: newsletter-coupon") {
			s = strings.Replace(s, "approvers: {role: approver}", "approvers: {role: approver, user: lead@example.test}", 1)
			_, err := f.Store.Apply(t.Context(), command, []store.File{{Name: x.Name, Source: []byte(s)}})
			ok(t, err)
		}
	}
	waits := func(short string, id operation.ID) bool {
		t.Helper()
		in, err := f.Store.ListInbox(t.Context(), f.As(short))
		ok(t, err)
		for _, r := range in.Rows {
			if r.ID == id {
				return true
			}
		}
		return false
	}
	first := f.Receive(t, storetest.CouponEvent())[0]
	if !waits("lead", first) || waits("second", first) {
		t.Error("the coupon should wait for the named person alone")
	}
	p, err := f.Store.FindOperation(t.Context(), f.As("second"), first)
	ok(t, err)
	if p.NextUser != f.Users["lead"] {
		t.Errorf("next decision by %q", p.NextUser)
	}
	refused(t, f.Decide(t, first, "second", operation.Approve), operation.CodeNotEntitled)

	ok(t, f.Store.DisableUser(t.Context(), f.As("admin"), f.Users["lead"], "has left"))
	if !waits("second", first) {
		t.Error("with the named person gone the coupon waits for nobody")
	}
	f.Approve(t, first, "second")
	if _, err := f.Store.ClaimAndDispatch(t.Context(), store.Job("test"), first, "test"); err != nil {
		t.Errorf("the gate does not take the role's approval: %v", err)
	}
	second := f.Receive(t, storetest.CouponEvent())[0]
	if !waits("second", second) {
		t.Error("a new coupon waits for somebody who is gone")
	}
}
