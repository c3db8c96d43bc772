package main

import (
	"strings"
	"testing"

	"holdpoint/store/storetest"
)

func TestUserCommands(t *testing.T) {
	t.Parallel()
	_, app := storetest.NewDB(t)
	h := newHouse(t, "DATABASE_URL="+app)
	h.must("user", "add", "--role", "admin", "root@example.test")
	first := h.must("user", "invite", "Ana@example.test", "--name", "Ana Lis", "--role", "approver:newsletter-coupon", "--reason", "joins marketing")
	if !strings.Contains(first, "/set-password?token=") {
		t.Errorf("invite: %s", first)
	}
	if again := h.must("user", "resend", "ana@example.test"); again == first || !strings.Contains(again, "/set-password?token=") {
		t.Errorf("resend: %s", again)
	}
	h.must("user", "grant", "ana@example.test", "author", "auditor")
	h.must("user", "grant", "ana@example.test", "--role", "ops_owner:plain-note")
	h.must("user", "revoke", "ana@example.test", "approver:newsletter-coupon")
	h.must("user", "revoke", "ana@example.test", "--role", "auditor")
	for _, verb := range []string{"grant", "revoke"} {
		if _, errs, code := h.run("user", verb, "ana@example.test"); code == 0 || !strings.Contains(errs, "--role") {
			t.Errorf("%s without a role ended with %d: %s", verb, code, errs)
		}
	}
	if out := h.must("user", "list"); !strings.Contains(out, "author, ops_owner:plain-note") || strings.Contains(out, "approver") || strings.Contains(out, "auditor") {
		t.Errorf("list: %s", out)
	}
	h.must("user", "sign-out", "ana@example.test")
	h.must("user", "uninvite", "ana@example.test")
	if out := h.must("user", "list"); !strings.Contains(out, "disabled") {
		t.Errorf("list: %s", out)
	}
	for _, c := range [][]string{{"user", "revoke", "root@example.test", "admin"}, {"user", "disable", "root@example.test"}} {
		if _, errs, code := h.run(c...); code != 1 || !strings.Contains(errs, "last") {
			t.Errorf("%v ended with %d: %s", c, code, errs)
		}
	}
	if _, errs, code := h.run("user", "resend", "ana@example.test"); code != 1 || !strings.Contains(errs, "disabled") {
		t.Errorf("resend to a disabled account: %d, %s", code, errs)
	}
}
