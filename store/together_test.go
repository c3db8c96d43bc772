package store_test

import (
	"context"
	"fmt"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

const couponFlow, couponStage = "newsletter-coupon", "coupon"

func codes(t *testing.T, f *storetest.Fixture, who, form string) map[operation.ID]operation.Code {
	t.Helper()
	rows, err := f.Store.ListTogetherResults(t.Context(), f.As(who), form)
	ok(t, err)
	out := map[operation.ID]operation.Code{}
	for _, r := range rows {
		out[r.Operation] = r.Code
	}
	return out
}

// TestDecideTogether: each of a list is decided alone; what changed, what is another's and
// what needs its own page is refused alone; a second press gives the same.
func TestDecideTogether(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s, ctx := f.Store, t.Context()
	var list []store.Decided
	add := func(id operation.ID) operation.ID {
		list = append(list, f.Decision(t, id, operation.Approve))
		return id
	}
	var fine []operation.ID
	for range 5 {
		fine = append(fine, add(f.Receive(t, storetest.CouponEvent())[0]))
	}
	edited := add(f.Receive(t, storetest.CouponEvent())[0])
	paused := add(f.Receive(t, storetest.CouponEvent())[0])
	done := add(f.Ready(t))
	doubt := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.Unknown](doubt)
	add(doubt.id)
	asked := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.ReexecutionRequested](asked)
	add(asked.id)
	foreign := add(f.Receive(t, storetest.CampaignEvent())[0]) // of another flow
	shown, err := s.ListTogether(ctx, f.As("lead"), couponFlow, couponStage)
	ok(t, err)
	if len(shown.Items) != len(fine)+2 || shown.More {
		t.Fatalf("%d shown, more: %v", len(shown.Items), shown.More)
	}
	ok(t, s.AddVersion(ctx, f.As("author"), store.NewVersion{Operation: edited, Author: store.Author{Kind: "person", ID: string(f.Users["author"])}, Submit: true,
		Content: map[string]any{"code": "OTHER", "percent_off": 5, "name": "Other"}}))
	ok(t, s.PauseOperation(ctx, f.As("ops"), paused, "wait"))

	for press := range 2 {
		ok(t, s.DecideTogether(ctx, f.As("lead"), "form-1", couponFlow, couponStage, list))
		got := codes(t, f, "lead", "form-1")
		for _, id := range fine {
			if got[id] != "" || f.State(t, id) != operation.Ready {
				t.Errorf("press %d: %s: %q in %s", press, id, got[id], f.State(t, id))
			}
		}
		for id, want := range map[operation.ID]operation.Code{edited: operation.CodeStaleVersion, paused: operation.CodeStaleRevision, doubt.id: operation.CodeAlone, asked.id: operation.CodeAlone} {
			if got[id] != want {
				t.Errorf("press %d: %s: %q, want %q", press, id, got[id], want)
			}
		}
		if got[done] == "" {
			t.Error("what was approved before is reported as approved now")
		}
		if _, there := got[foreign]; there || f.State(t, foreign) != operation.PendingApproval {
			t.Error("an operation of another flow was decided")
		}
	}
	if n := f.Count(t, "approvals WHERE form_id LIKE 'form-1/%'"); n != len(fine) {
		t.Errorf("%d approvals, want %d", n, len(fine))
	}
	if len(codes(t, f, "second", "form-1")) != 0 {
		t.Error("somebody else reads the results")
	}
	for _, id := range fine {
		whole(t, s, operation.SubjectOperation, string(id))
	}
}

// TestListTogetherIsWhatThePersonMay: their own content is not in it, what was handed to
// them is, and no more than the limit.
func TestListTogetherIsWhatThePersonMay(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	for range store.TogetherLimit + 1 {
		f.Receive(t, storetest.CouponEvent())
	}
	all, err := f.Store.ListTogether(t.Context(), f.As("lead"), couponFlow, couponStage)
	ok(t, err)
	if len(all.Items) != store.TogetherLimit || !all.More {
		t.Errorf("%d shown, more: %v", len(all.Items), all.More)
	}
	mine, err := f.Store.ListTogether(t.Context(), f.As("ops"), couponFlow, couponStage)
	ok(t, err)
	if len(mine.Items) != 0 {
		t.Errorf("an ops owner is shown %d to approve", len(mine.Items))
	}
	handOn(t, f, "lead", "ops", operation.RoleApprover)
	lent, err := f.Store.ListTogether(t.Context(), f.As("ops"), couponFlow, couponStage)
	ok(t, err)
	if len(lent.Items) != store.TogetherLimit || lent.Items[0].ForName != "Lea Lead" || lent.Items[0].For != f.Users["lead"] {
		t.Fatalf("%d shown for another", len(lent.Items))
	}
	x := lent.Items[0]
	in := f.Decision(t, x.ID, operation.Approve)
	in.For = x.For
	ok(t, f.Store.DecideTogether(t.Context(), f.As("ops"), "form-2", couponFlow, couponStage, []store.Decided{in}))
	if n := f.Count(t, "approvals WHERE for_user = $1", string(f.Users["lead"])); n != 1 {
		t.Errorf("%d approvals for lead", n)
	}
}

// TestRaceTogetherEdit: while a list is decided, an author changes every one of them. No
// approval covers what was not shown.
func TestRaceTogetherEdit(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := context.Background()
	var list []store.Decided
	for range 12 {
		list = append(list, f.Decision(t, f.Receive(t, storetest.CouponEvent())[0], operation.Approve))
	}
	x, y := both(func() error { return f.Store.DecideTogether(ctx, f.As("lead"), "race", couponFlow, couponStage, list) }, func() error {
		for i := len(list) - 1; i >= 0; i-- {
			n := store.NewVersion{Operation: list[i].Operation, Author: store.Author{Kind: "person", ID: string(f.Users["author"])}, Submit: true,
				Content: map[string]any{"code": fmt.Sprintf("NEW-%d", i), "percent_off": 5, "name": "New"}}
			if err := f.Store.AddVersion(ctx, f.As("author"), n); err != nil {
				return err
			}
		}
		return nil
	})
	ok(t, x)
	ok(t, y)
	got := codes(t, f, "lead", "race")
	approved := 0
	for _, d := range list {
		switch got[d.Operation] {
		case "":
			approved++
		case operation.CodeStaleVersion, operation.CodeStaleRevision:
		default:
			t.Errorf("%s: %s", d.Operation, got[d.Operation])
		}
	}
	if n := f.Count(t, "approvals a JOIN content_versions v ON v.id = a.version_id WHERE v.number = 1"); n != approved {
		t.Errorf("%d approvals of what was shown, %d reported", n, approved)
	}
	if n := f.Count(t, "approvals a JOIN content_versions v ON v.id = a.version_id WHERE v.number > 1"); n != 0 {
		t.Errorf("%d approvals of what was not shown", n)
	}
	if n := f.Count(t, "operations o JOIN content_versions v ON v.id = o.version_id WHERE v.number > 1 AND o.clearance_id IS NOT NULL"); n != 0 {
		t.Errorf("%d changed versions are cleared", n)
	}
	t.Logf("%d of %d approved before their change", approved, len(list))
}
