package store_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// eventsLimit is a limit of more than so many events a day, which the ops owners hear of.
func eventsLimit(value int64) store.LimitSettings {
	return store.LimitSettings{Figure: operation.FigureEvents, Side: operation.LimitOver, Value: value, SpanHours: 24, RemindHours: 24, AgainHours: 168, DueDays: 14,
		TellRoles: []operation.Role{operation.RoleOpsOwner}}
}

func breachTitle(l store.LimitSeen, _ string) string { return "Beyond its limit: " + string(l.Figure) }

// judge holds all limits against their figures.
func judge(t *testing.T, s *store.Store) int {
	t.Helper()
	n, err := s.JudgeLimits(t.Context(), byMail, 0, breachTitle)
	ok(t, err)
	return n
}

func setLimit(t *testing.T, f *storetest.Fixture, short string, l store.LimitSettings) operation.LimitID {
	t.Helper()
	id, err := f.Store.SetLimit(t.Context(), f.As(short), l)
	ok(t, err)
	return id
}

func coupons(t *testing.T, f *storetest.Fixture, n int) {
	t.Helper()
	for range n {
		f.Receive(t, storetest.CouponEvent())
	}
}

func TestLimitBreachOpensATaskAndTellsPeople(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := setLimit(t, f, "admin", eventsLimit(2))
	coupons(t, f, 2)
	if n := judge(t, f.Store); n != 0 {
		t.Fatalf("%d moves at the limit", n)
	}
	coupons(t, f, 1)
	if n := judge(t, f.Store); n != 1 {
		t.Fatalf("%d moves beyond the limit", n)
	}
	for range 3 {
		if n := judge(t, f.Store); n != 0 {
			t.Fatalf("it is told again: %d", n)
		}
	}
	same(t, "told", told(t, f, "WHERE kind LIKE 'limit%'"), "limit.0 ops mail planned", "limit.0 ops2 mail planned")
	p, err := f.Store.FindLimit(t.Context(), f.As("ops"), id)
	ok(t, err)
	if p.Breach == nil || p.Breach.Measured != 3 || p.Breach.Task == "" || p.Breach.TaskState != "open" || len(p.Breach.Told) != 2 || p.Measured.N != 3 {
		t.Fatalf("the breach is %+v of %+v", p.Breach, p.LimitSeen)
	}
	if n := f.Count(t, "improvement_tasks WHERE limit_id = $1 AND owner_role = 'ops_owner' AND due_at > now() + interval '13 days'", string(id)); n != 1 {
		t.Errorf("%d tasks", n)
	}
	if n := f.Count(t, "history WHERE subject_kind = 'limit' AND subject_id = $1 AND action IN ('set_limit', 'limit_broken')", string(id)); n != 2 {
		t.Errorf("%d history entries", n)
	}
	// what it says is as of the sending
	coupons(t, f, 1)
	judge(t, f.Store)
	o, err := f.Store.ClaimNotice(t.Context(), notice(t, f, "ops", "limit"), "d.test", time.Minute)
	ok(t, err)
	if len(o.Items) != 1 || o.Items[0].Limit == nil || o.Items[0].Limit.Measured.N != 4 || o.Items[0].Limit.Value != 2 {
		t.Errorf("the notice says %+v", o.Items)
	}
	list, err := f.Store.ListLimits(t.Context(), f.As("auditor"), false)
	ok(t, err)
	if len(list) != 1 || list[0].Breach == nil || list[0].Breach.Worst != 4 {
		t.Errorf("the list says %+v", list)
	}
}

// TestLimitIsToldByTitles: a notice about a limit and the task of a breach know the titles of
// what the limit is narrowed to.
func TestLimitIsToldByTitles(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	l := eventsLimit(0)
	l.Flow = "newsletter-coupon"
	setLimit(t, f, "admin", l)
	coupons(t, f, 1)
	_, err := f.Store.JudgeLimits(t.Context(), byMail, 0, func(l store.LimitSeen, _ string) string { return "Beyond: " + l.Titles.Flow["en"] })
	ok(t, err)
	if n := f.Count(t, "improvement_tasks WHERE title = 'Beyond: Newsletter coupon'"); n != 1 {
		t.Errorf("%d tasks name the flow by its title", n)
	}
	o, err := f.Store.ClaimNotice(t.Context(), notice(t, f, "ops", "limit"), "d.test", time.Minute)
	ok(t, err)
	if len(o.Items) != 1 || o.Items[0].Limit == nil || o.Items[0].Limit.Titles.Flow["ja"] != "ニュースレタークーポン" {
		t.Errorf("the notice says %+v", o.Items)
	}
}

// TestTwoEvaluatorsGiveOneBreach: however many processes judge at once, a breach is one
// row, one task, one notice for each person.
func TestTwoEvaluatorsGiveOneBreach(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	other := f.Open(t, f.AppURL)
	for _, figure := range []operation.Figure{operation.FigureEvents, operation.FigureDeliveries} {
		l := eventsLimit(0)
		l.Figure = figure
		setLimit(t, f, "admin", l)
	}
	coupons(t, f, 1)
	var wg sync.WaitGroup
	var mu sync.Mutex
	moves := 0
	for _, s := range []*store.Store{f.Store, other, f.Store, other} {
		wg.Go(func() {
			for range 5 {
				n, err := s.JudgeLimits(t.Context(), byMail, 0, breachTitle)
				mu.Lock()
				moves += n
				mu.Unlock()
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if b, k, n := f.Count(t, "limit_breaches"), f.Count(t, "improvement_tasks"), f.Count(t, "notices WHERE kind = 'limit'"); moves != 2 || b != 2 || k != 2 || n != 4 {
		t.Errorf("%d moves, %d breaches, %d tasks, %d notices", moves, b, k, n)
	}
	if _, err := f.Owner.ExecContext(t.Context(), `INSERT INTO limit_breaches (id, limit_id, version, measured, parts, worst, worst_parts, opened_at, told_at)
		SELECT 'brc_again', limit_id, version, 1, 0, 1, 0, opened_at, told_at FROM limit_breaches LIMIT 1`); err == nil {
		t.Error("the database takes a second open breach")
	}
}

// TestSilentSource: less than expected is a breach, enough again ends it after the hold,
// and the next breach joins the open task.
func TestSilentSource(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	in := storetest.CouponEvent()
	f.Receive(t, in)
	l := store.LimitSettings{Figure: operation.FigureDeliveries, Source: in.Source, Side: operation.LimitUnder, Value: 2, SpanHours: 6, HoldMinutes: 10, AgainHours: 24, DueDays: 7,
		TellUsers: []operation.UserID{f.Users["ops"]}}
	id := setLimit(t, f, "ops2", l)
	if n := judge(t, f.Store); n != 1 {
		t.Fatalf("%d moves of a silent source", n)
	}
	// what was refused could come from anybody
	_, err := f.Store.RefuseDelivery(t.Context(), store.Unaccepted{Source: in.Source, Verdict: store.VerdictRefused, Reason: "signature_missing: x", Status: 401})
	ok(t, err)
	judge(t, f.Store)
	f.Receive(t, storetest.CouponEvent())
	if n := judge(t, f.Store); n != 0 {
		t.Fatalf("it is back before the hold: %d", n)
	}
	if n := f.Count(t, "limit_breaches WHERE within_since IS NOT NULL AND closed_at IS NULL"); n != 1 {
		t.Fatal("it is not noted since when it is back")
	}
	hold := func() {
		owner(t, f, `UPDATE limit_breaches SET opened_at = opened_at - interval '11 minutes', told_at = told_at - interval '11 minutes', within_since = within_since - interval '11 minutes' WHERE closed_at IS NULL`)
	}
	hold()
	if n := judge(t, f.Store); n != 1 {
		t.Fatalf("%d moves after the hold", n)
	}
	same(t, "told", told(t, f, "WHERE kind LIKE 'limit%'"), "limit.0 ops mail planned", "limit_back.0 ops mail planned")
	owner(t, f, `ALTER TABLE deliveries DISABLE TRIGGER USER; UPDATE deliveries SET received_at = received_at - interval '7 hours' WHERE source = '`+in.Source+`'; ALTER TABLE deliveries ENABLE TRIGGER USER`)
	if n := judge(t, f.Store); n != 1 {
		t.Fatalf("%d moves when it is silent again", n)
	}
	if b, k := f.Count(t, "limit_breaches"), f.Count(t, "improvement_tasks"); b != 2 || k != 1 {
		t.Errorf("%d breaches, %d tasks: the second belongs to the open task", b, k)
	}
	if n := f.Count(t, "history WHERE subject_kind = 'task' AND action = 'limit_again'"); n != 1 {
		t.Errorf("%d entries on the task", n)
	}
	p, err := f.Store.FindLimit(t.Context(), f.As("ops"), id)
	ok(t, err)
	if len(p.Breaches) != 2 || p.Breaches[1].Why != "back" || p.Breach == nil {
		t.Errorf("the breaches are %+v", p.Breaches)
	}
}

func TestLimitReminds(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	setLimit(t, f, "admin", eventsLimit(0))
	coupons(t, f, 1)
	judge(t, f.Store)
	owner(t, f, `UPDATE limit_breaches SET opened_at = opened_at - interval '25 hours', told_at = told_at - interval '25 hours'`)
	for want := range 2 { // the second time, nothing
		if n := judge(t, f.Store); n != 1-want {
			t.Errorf("%d moves", n)
		}
	}
	if n, r := f.Count(t, "notices WHERE kind = 'limit'"), f.Count(t, "limit_breaches WHERE reminders = 1"); n != 4 || r != 1 {
		t.Errorf("%d notices, %d reminders", n, r)
	}
}

func TestChangeAndEndOfALimit(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := setLimit(t, f, "ops", eventsLimit(0))
	coupons(t, f, 1)
	judge(t, f.Store)
	err := f.Store.ChangeLimit(t.Context(), f.As("ops"), id, 2, eventsLimit(5), "")
	refusedFor(t, err, operation.CodeStaleRevision)
	ok(t, f.Store.ChangeLimit(t.Context(), f.As("ops"), id, 1, eventsLimit(5), "It was too low."))
	if n := f.Count(t, "limit_breaches WHERE closed_why = 'changed'"); n != 1 {
		t.Errorf("%d breaches closed", n)
	}
	if n := judge(t, f.Store); n != 0 {
		t.Errorf("%d moves within the new limit", n)
	}
	var x *store.Invalid
	if _, err := f.Store.SetLimit(t.Context(), f.As("ops"), eventsLimit(7)); !errors.As(err, &x) || x.Code != "limit_taken" {
		t.Errorf("the same figure twice: %v", err)
	}
	ok(t, f.Store.EndLimit(t.Context(), f.As("admin"), id, 2, "Not needed any more."))
	refusedFor(t, f.Store.ChangeLimit(t.Context(), f.As("ops"), id, 2, eventsLimit(6), ""), operation.CodeStaleRevision)
	coupons(t, f, 9)
	if n := judge(t, f.Store); n != 0 {
		t.Errorf("an ended limit moves: %d", n)
	}
	p, err := f.Store.FindLimit(t.Context(), f.As("auditor"), id)
	ok(t, err)
	if len(p.Versions) != 2 || p.Versions[0].Value != 5 || p.EndedAt.IsZero() || p.May {
		t.Errorf("the record is %+v", p)
	}
}

func refusedFor(t *testing.T, err error, code operation.Code) {
	t.Helper()
	var r *operation.Refusal
	if !errors.As(err, &r) || r.Code != code {
		t.Errorf("refused with %v, want %s", err, code)
	}
}

// TestLimitEntitlement: limits of all flows are for who holds the role for all of them;
// whoever may not see a flow does not find its limits.
func TestLimitEntitlement(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	one, err := f.Store.AddUser(t.Context(), store.System("command"), store.NewUser{Email: "one@example.test", Name: "One Flow", Roles: []store.RoleGrant{{Role: operation.RoleOpsOwner, Flow: "newsletter-coupon"}}})
	ok(t, err)
	oneFlow := store.Person(one.User, "One Flow", "web")
	for _, short := range []string{"author", "lead", "auditor"} {
		if _, err := f.Store.SetLimit(t.Context(), f.As(short), eventsLimit(1)); err == nil {
			t.Errorf("%s sets a limit", short)
		}
	}
	_, err = f.Store.SetLimit(t.Context(), oneFlow, eventsLimit(1))
	refusedFor(t, err, operation.CodeNotEntitled)
	all := setLimit(t, f, "ops", eventsLimit(1))
	l := eventsLimit(0)
	l.Flow, l.TellOwner, l.TellRoles = "newsletter-coupon", true, nil
	mine, err := f.Store.SetLimit(t.Context(), oneFlow, l)
	ok(t, err)
	l.Flow = "goodwill-invoice"
	theirs := setLimit(t, f, "admin", l)
	for id, want := range map[operation.LimitID]error{all: store.ErrNotFound, theirs: store.ErrNotFound, "lim_missing": store.ErrNotFound, mine: nil} {
		if _, err := f.Store.FindLimit(t.Context(), oneFlow, id); !errors.Is(err, want) {
			t.Errorf("%s is %v", id, err)
		}
		if err := f.Store.EndLimit(t.Context(), oneFlow, id, 9, "x"); want != nil && !errors.Is(err, want) {
			t.Errorf("%s ends with %v", id, err)
		}
	}
	coupons(t, f, 1)
	judge(t, f.Store)
	if n := f.Count(t, "limit_breaches WHERE limit_id = $1", string(mine)); n != 1 {
		t.Error("the flow's limit is not broken")
	}
	if n := f.Count(t, "improvement_tasks WHERE flows = '{newsletter-coupon}'"); n != 1 {
		t.Error("its task is not of the flow")
	}
}

func TestLimitsThatCannotBe(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	for code, change := range map[string]func(*store.LimitSettings){
		"limit_figure":      func(l *store.LimitSettings) { l.Figure = "success_rate" },
		"limit_value":       func(l *store.LimitSettings) { l.Side, l.Value = operation.LimitUnder, 0 },
		"limit_rate":        func(l *store.LimitSettings) { l.Figure, l.Value = operation.FigureDestinationErrors, 10_001 },
		"limit_margin":      func(l *store.LimitSettings) { l.Margin = 9 },
		"limit_span":        func(l *store.LimitSettings) { l.SpanHours = 0 },
		"limit_tell":        func(l *store.LimitSettings) { l.TellRoles = nil },
		"limit_owner":       func(l *store.LimitSettings) { l.TellOwner = true },
		"limit_source":      func(l *store.LimitSettings) { l.Source = "shopify" },
		"limit_destination": func(l *store.LimitSettings) { l.Destination = "crm" },
		"flow_unknown":      func(l *store.LimitSettings) { l.Flow = "nowhere" },
		"limit_person":      func(l *store.LimitSettings) { l.TellUsers = []operation.UserID{"usr_gone"} },
	} {
		l := eventsLimit(2)
		change(&l)
		var x *store.Invalid
		if _, err := f.Store.SetLimit(t.Context(), f.As("admin"), l); !errors.As(err, &x) || x.Code != code {
			t.Errorf("%s: %v", code, err)
		}
	}
}
