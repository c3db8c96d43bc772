package handlers_test

import (
	"strings"
	"testing"
	"time"

	"holdpoint/store"
)

// wrong checks that exactly these fields of the page are marked, and that the form names them
// first.
func (a *answer) wrong(ids ...string) {
	a.t.Helper()
	a.want(422)
	for _, id := range ids {
		if !strings.Contains(a.body, `id="`+id+`-error"`) || !strings.Contains(a.body, `href="#`+id+`"`) {
			a.t.Errorf("nothing is said of %s", id)
		}
	}
	if n := strings.Count(a.body, `data-testid="error-`); n != len(ids) {
		a.t.Errorf("%d marks, want the fields %v", n, ids)
	}
}

// TestTaskFormNamesEveryFault: a form with several faults names each at its field.
func TestTaskFormNamesEveryFault(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.as(t, "ops")
	past := time.Now().AddDate(0, 0, -2).Format("2006-01-02T15:04")
	page := b.get("/tasks").want(200)
	b.submit(page, "form-task", "title", " ", "owner", "", "role", "", "due", past, "why", strings.Repeat("x", store.TaskTextLimit+1)).wrong("task-title", "task-why", "task-owner", "task-due")
	b.submit(page, "form-task", "title", "", "role", "ops_owner", "due", "").wrong("task-title", "task-due")
	one := b.follow(b.submit(page, "form-task", "title", "Ask for a status page", "role", "ops_owner").want(303))

	b.submit(one, "form-task", "title", "", "role", "approver", "due", past).wrong("edit-title", "edit-due", "edit-reason")
	b.submit(one, "form-task", "title", "", "due", "soon").wrong("edit-title", "edit-due")
	closed := b.follow(b.submit(one, "form-close", "as", "done", "word", "They publish one now.").want(303))
	b.submit(closed, "form-reopen", "due", past, "reason", " ").wrong("reopen-due", "reopen-reason")
	b.follow(b.submit(closed, "form-reopen", "reason", "It is down.").want(303)).says("Ask for a status page")
}
