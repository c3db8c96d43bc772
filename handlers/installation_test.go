package handlers_test

import (
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// TestAllSends moves the switch of the whole installation, and reads it on every page.
func TestAllSends(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin, ops := h.as(t, "admin"), h.as(t, "ops")
	id := h.Ready(t)

	page := admin.get("/installation").want(200).says("Sends go on")
	if admin.get("/inbox").has("sends-paused") != nil {
		t.Error("a banner while sends go on")
	}
	other := ops.get("/installation").want(200)
	if other.has("form-pause_all") != nil || other.has("form-resume_all") != nil {
		t.Error("a form for somebody who may not")
	}
	ops.post("/installation/pause", form("x", "why")).want(403)
	admin.submit(page, "form-pause_all", "reason", " ").want(422).says("Give a reason")
	if a := admin.submit(page, "form-pause_all", "reason", "The shop is being moved"); a.status != 303 || a.to != "/installation" {
		t.Fatalf("status %d to %q", a.status, a.to)
	}
	page = admin.get("/installation").want(200).says("All sends are paused", "The shop is being moved")
	if page.has("form-pause_all") != nil || page.has("reconcile-first") != nil {
		t.Error("a pause is offered, or a person's pause asks to reconcile")
	}
	for _, path := range []string{"/inbox", "/destinations", opPath(id)} {
		if ops.get(path).want(200).has("sends-paused") == nil {
			t.Errorf("%s says nothing of the pause", path)
		}
	}
	ops.get(opPath(id)).says("The shop is being moved")
	ops.post("/installation/resume", form("y", "because")).want(403)
	admin.submit(page, "form-resume_all", "reason", "").want(422).says("Give a reason")
	if a := admin.submit(page, "form-resume_all", "reason", "It is moved"); a.status != 303 {
		t.Fatalf("status %d", a.status)
	}
	admin.get("/installation").want(200).says("Sends go on")

	// A pause that the system made says why in words, and from when to reconcile.
	m := store.Mismatch{Word: store.MismatchOlder, Since: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)}
	if err := h.Store.PauseForWitness(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	page = admin.get("/installation").want(200).says("older than its witness")
	if page.has("reconcile-first") == nil || strings.Contains(page.body, store.MismatchOlder) {
		t.Error("it does not ask to reconcile, or shows the stored word")
	}
	for _, word := range []string{store.MismatchServer, store.MismatchTimeline} {
		m.Word = word
		if err := h.Store.PauseForWitness(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if page := admin.get("/installation").want(200); page.has("reconcile-first") == nil || strings.Contains(page.body, word) {
			t.Errorf("%s has no sentence", word)
		}
	}
	rows, broken, err := h.Store.ListHistory(t.Context(), operation.SubjectSystem, "installation")
	if err != nil || broken > 0 || len(rows) < 5 {
		t.Errorf("history: %d entries, broken at %d, %v", len(rows), broken, err)
	}
}
