package store_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// task opens one for a flow and gives it as its owner sees it.
func task(t *testing.T, f *storetest.Fixture, n store.NewTask) operation.TaskID {
	t.Helper()
	n.FormID = store.NewFormID()
	if n.Title == "" {
		n.Title = "Ask for a status page"
	}
	id, err := f.Store.OpenTask(t.Context(), f.As("ops"), n)
	ok(t, err)
	return id
}

func taskAs(t *testing.T, f *storetest.Fixture, who string, id operation.TaskID) *store.Task {
	t.Helper()
	k, err := f.Store.FindTask(t.Context(), f.As(who), id)
	ok(t, err)
	return k
}

func shownTask(k *store.Task) store.TaskShown {
	return store.TaskShown{ID: k.ID, Rev: k.Rev, FormID: store.NewFormID()}
}

func TestTask(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := t.Context()
	due := time.Now().Add(72 * time.Hour).UTC().Truncate(time.Minute)
	id := task(t, f, store.NewTask{Owner: f.Users["lead"], Due: due, Flows: []string{"newsletter-coupon"}})
	k := taskAs(t, f, "lead", id)
	edit := store.TaskEdit{Title: k.Title, Why: "They had none.", Owner: f.Users["second"], Due: due.Add(24 * time.Hour)}

	invalid(t, f.Store.EditTask(ctx, f.As("lead"), shownTask(k), edit), "reason_missing")
	edit.Reason = "Lea is away."
	ok(t, f.Store.EditTask(ctx, f.As("lead"), shownTask(k), edit))
	if err := f.Store.EditTask(ctx, f.As("ops"), shownTask(k), edit); !errors.Is(err, store.ErrChanged) {
		t.Errorf("an edit of an older state: %v", err)
	}
	k = taskAs(t, f, "ops", id)
	invalid(t, f.Store.CloseTask(ctx, f.As("ops"), shownTask(k), operation.TaskDone, " "), "text_missing")
	refused(t, f.Store.CloseTask(ctx, f.As("author"), shownTask(k), operation.TaskDone, "x"), operation.CodeNotEntitled)
	ok(t, f.Store.CloseTask(ctx, f.As("second"), shownTask(k), operation.TaskDone, "They publish one now."))
	k = taskAs(t, f, "ops", id)
	if k.State != operation.TaskDone || k.ClosedWho != "Sam Second" || k.StepAt != nil {
		t.Errorf("%+v", k.TaskRow)
	}
	ok(t, f.Store.ReopenTask(ctx, f.As("ops"), shownTask(k), due, "It went away again."))
	ok(t, f.Store.CloseTask(ctx, f.As("ops"), shownTask(taskAs(t, f, "ops", id)), operation.TaskDropped, "They are gone."))
	var actions []string
	for _, h := range whole(t, f.Store, operation.SubjectTask, string(id)) {
		actions = append(actions, h.Action)
	}
	if want := []string{"open_task", "edit_task", "finish_task", "reopen_task", "drop_task"}; !slices.Equal(actions, want) {
		t.Errorf("%v", actions)
	}
}

func TestTaskEntitlement(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := t.Context()
	narrow(t, f, "second", operation.RoleApprover, "plain-note")
	due := time.Now().Add(72 * time.Hour)
	coupon := task(t, f, store.NewTask{OwnerRole: operation.RoleOpsOwner, Due: due, Flows: []string{"newsletter-coupon"}})
	every := task(t, f, store.NewTask{OwnerRole: operation.RoleOpsOwner, Due: due})
	mine := task(t, f, store.NewTask{Owner: f.Users["second"], Due: due, Flows: []string{"newsletter-coupon"}})
	for _, id := range []operation.TaskID{coupon, every, "tsk_01h2xcejqtf2nbrexx3vqjhp41"} {
		_, err := f.Store.FindTask(ctx, f.As("second"), id)
		gone(t, err)
	}
	taskAs(t, f, "second", mine)
	taskAs(t, f, "auditor", coupon)
	list, err := f.Store.ListTasks(ctx, f.As("second"), store.TaskFilter{})
	ok(t, err)
	if len(list.Rows) != 1 || list.Rows[0].ID != mine || list.Open != 1 {
		t.Errorf("%d listed, %d open", len(list.Rows), list.Open)
	}
	_, err = f.Store.OpenTask(ctx, f.As("second"), store.NewTask{Title: "x", OwnerRole: operation.RoleAdmin, Due: due, Flows: []string{"newsletter-coupon"}, FormID: store.NewFormID()})
	gone(t, err)
	_, err = f.Store.OpenTask(ctx, f.As("auditor"), store.NewTask{Title: "x", OwnerRole: operation.RoleAdmin, Due: due, FormID: store.NewFormID()})
	refused(t, err, operation.CodeNotEntitled)
}

func TestListTasks(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := t.Context()
	now := time.Now()
	late := task(t, f, store.NewTask{Title: "late", OwnerRole: operation.RoleOpsOwner, Due: now.Add(-time.Hour)})
	soon := task(t, f, store.NewTask{Title: "soon", Owner: f.Users["lead"], Due: now.Add(time.Hour), Report: "rep_1"})
	far := task(t, f, store.NewTask{Title: "far", Owner: f.Users["lead"], Due: now.Add(99 * time.Hour), Limit: "lim_1"})
	closed := task(t, f, store.NewTask{Title: "closed", OwnerRole: operation.RoleOpsOwner, Due: now.Add(-9 * time.Hour)})
	ok(t, f.Store.CloseTask(ctx, f.As("ops"), shownTask(taskAs(t, f, "ops", closed)), operation.TaskDone, "done"))
	for name, c := range map[string]struct {
		who  string
		f    store.TaskFilter
		want []operation.TaskID
	}{
		"all":       {"ops", store.TaskFilter{}, []operation.TaskID{late, soon, far, closed}},
		"open":      {"ops", store.TaskFilter{State: operation.TaskOpen}, []operation.TaskID{late, soon, far}},
		"overdue":   {"ops", store.TaskFilter{Overdue: true}, []operation.TaskID{late}},
		"mine":      {"lead", store.TaskFilter{Mine: true}, []operation.TaskID{soon, far}},
		"origin":    {"ops", store.TaskFilter{Origin: operation.FromLimit}, []operation.TaskID{far}},
		"by people": {"ops", store.TaskFilter{Origin: operation.FromPerson}, []operation.TaskID{late, closed}},
		"of one":    {"ops", store.TaskFilter{Of: "rep_1"}, []operation.TaskID{soon}},
	} {
		list, err := f.Store.ListTasks(ctx, f.As(c.who), c.f)
		ok(t, err)
		var got []operation.TaskID
		for _, r := range list.Rows {
			got = append(got, r.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	var walked []operation.TaskID
	for cursor := ""; ; {
		list, err := f.Store.ListTasks(ctx, f.As("ops"), store.TaskFilter{Limit: 1, Cursor: cursor})
		ok(t, err)
		walked = append(walked, list.Rows[0].ID)
		if cursor = list.Next; cursor == "" {
			break
		}
	}
	if !slices.Equal(walked, []operation.TaskID{late, soon, far, closed}) {
		t.Errorf("page by page: %v", walked)
	}
}

// remind looks for what owners are to be told of.
func remind(t *testing.T, f *storetest.Fixture) int {
	t.Helper()
	n, err := f.Store.PlanTaskNotices(t.Context(), byMail)
	ok(t, err)
	return n
}

func TestTaskReminders(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := task(t, f, store.NewTask{Owner: f.Users["lead"], Due: time.Now().Add(48 * time.Hour), Flows: []string{"goodwill-invoice"}})
	where := "WHERE n.subject = $1"
	past := func(d time.Duration) {
		owner(t, f, `UPDATE improvement_tasks SET due_at = due_at - make_interval(secs => $2), step_at = step_at - make_interval(secs => $2) WHERE id = $1`, string(id), d.Seconds())
	}
	expect := func(what string, want ...string) {
		t.Helper()
		remind(t, f)
		if n := remind(t, f); n != 0 {
			t.Errorf("%s: told %d more at once", what, n)
		}
		same(t, what, told(t, f, where, string(id)), want...)
	}
	expect("new", "task.0 lead mail planned")
	past(23 * time.Hour)
	expect("not yet", "task.0 lead mail planned")
	past(2 * time.Hour)
	expect("a day before", "task.0 lead mail planned", "task.1 lead mail planned")
	past(24 * time.Hour)
	expect("overdue", "task.0 lead mail planned", "task.1 lead mail planned", "task.2 lead mail planned")
	past(72 * time.Hour)
	expect("escalated to the flow's owner", "task.0 lead mail planned", "task.1 lead mail planned", "task.2 lead mail planned", "task.3 lead mail planned", "task.3 ops mail planned")
	past(7 * 24 * time.Hour)
	if n := remind(t, f); n != 2 {
		t.Errorf("after a week %d, want the two again", n)
	}
	if n := remind(t, f); n != 0 {
		t.Errorf("told %d again at once", n)
	}
	o, err := f.Store.ClaimNotice(t.Context(), notice(t, f, "lead", "task"), "d.test", time.Minute)
	ok(t, err)
	if len(o.Items) != 1 || o.Items[0].Task == nil || !o.Items[0].Task.Late || o.Items[0].Title != "Ask for a status page" {
		t.Errorf("%+v", o.Items)
	}
	ok(t, f.Store.CloseTask(t.Context(), f.As("lead"), shownTask(taskAs(t, f, "lead", id)), operation.TaskDone, "done"))
	_, err = f.Store.ClaimNotice(t.Context(), notice(t, f, "ops", "task"), "d.test", time.Minute)
	gone(t, err)
	past(30 * 24 * time.Hour)
	if n := remind(t, f); n != 0 {
		t.Errorf("a closed task is told of %d times", n)
	}
}

func TestTaskIsToldAnewToANewOwner(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	due := time.Now().Add(-time.Hour).Truncate(time.Second)
	id := task(t, f, store.NewTask{Owner: f.Users["lead"], Due: due})
	remind(t, f)
	same(t, "late from the start: the newest step alone", told(t, f, ""), "task.2 lead mail planned")
	k := taskAs(t, f, "ops", id)
	ok(t, f.Store.EditTask(t.Context(), f.As("ops"), shownTask(k), store.TaskEdit{Title: k.Title, Owner: f.Users["author"], Due: due.Add(96 * time.Hour), Reason: "better placed"}))
	remind(t, f)
	same(t, "the new owner", told(t, f, "WHERE n.step = 0"), "task.0 author mail planned")
}

func TestTaskRemindersByTwoProcesses(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	other := f.Open(t, f.AppURL)
	for range 20 {
		task(t, f, store.NewTask{OwnerRole: operation.RoleAdmin, Due: time.Now().Add(48 * time.Hour)})
	}
	var both sync.WaitGroup
	var counts [2]int
	var errs [2]error
	for i, s := range []*store.Store{f.Store, other} {
		both.Go(func() { counts[i], errs[i] = s.PlanTaskNotices(t.Context(), byMail) })
	}
	both.Wait()
	ok(t, errors.Join(errs[:]...))
	if rest := remind(t, f); counts[0]+counts[1]+rest != 20 || f.Count(t, "notices WHERE kind = 'task'") != 20 {
		t.Errorf("%v and %d notices of 20 tasks", counts, rest)
	}
}
