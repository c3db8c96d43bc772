package store_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/google/go-cmp/cmp"
)

// twins are two coupon events of one business key; the second one is to be held.
func twins(t *testing.T, f *storetest.Fixture) (first, second store.Received) {
	t.Helper()
	first, second = storetest.CouponEvent(), storetest.CouponEvent()
	first.BusinessKey = "order-" + first.EventKey
	second.BusinessKey = first.BusinessKey
	f.Receive(t, first)
	return first, second
}

func receive(t *testing.T, f *storetest.Fixture, in store.Received, want store.Verdict) store.Receipt {
	t.Helper()
	r, err := f.Store.Receive(t.Context(), store.System("api"), in)
	ok(t, err)
	if r.Verdict != want {
		t.Fatalf("verdict %s (%s), want %s", r.Verdict, r.Reason, want)
	}
	return r
}

// TestFieldCase03_ReleaseStartsTheSame compares a released event with the same one that
// was never held.
func TestFieldCase03_ReleaseStartsTheSame(t *testing.T) {
	t.Parallel()
	f, other := storetest.NewFixture(t), storetest.NewFixture(t)
	_, coupon := twins(t, f)
	campaign := storetest.CampaignEvent() // its handle decides which flow it starts
	earlier := storetest.CampaignEvent()
	campaign.BusinessKey, earlier.BusinessKey = "C-1", "C-1"
	f.Receive(t, earlier)
	for _, in := range []store.Received{coupon, campaign} {
		free := in
		free.BusinessKey = ""
		want := receive(t, other, free, store.VerdictAccepted)
		held := receive(t, f, in, store.VerdictHeld)
		if len(held.Runs) != 0 || f.Count(t, "event_runs WHERE event_id = $1", string(held.Event)) != 0 {
			t.Fatal("a held event started something")
		}
		got, err := f.Store.ReleaseHeld(t.Context(), f.As("ops"), held.Delivery, store.NewFormID(), "another order")
		ok(t, err)
		if diff := cmp.Diff(want.Operations, got.Operations); diff != "" || !slices.Equal(want.Runs, got.Runs) || got.Verdict != store.VerdictAccepted {
			t.Fatalf("released: %+v, received: %+v\n%s", got, want, diff)
		}
		for _, id := range got.Operations {
			if diff := cmp.Diff(facts(t, other, id), facts(t, f, id)); diff != "" {
				t.Errorf("operation %s (-received +released):\n%s", id, diff)
			}
			rows := whole(t, f.Store, operation.SubjectOperation, string(id))
			if len(rows) != 1 || rows[0].ActorID != string(f.Users["ops"]) || rows[0].Action != "create" {
				t.Errorf("the operation's history does not say who released it: %+v", rows)
			}
		}
		again := receive(t, f, in, store.VerdictRepeated)
		if !slices.Equal(again.Operations, got.Operations) {
			t.Errorf("a redelivery is told %v, want %v", again.Operations, got.Operations)
		}
	}
	if n := f.Count(t, "deliveries"); n != 6 {
		t.Errorf("%d deliveries, want 6: a release is none", n)
	}
}

// facts are what an operation is: state, next decision, content, request, submission.
func facts(t *testing.T, f *storetest.Fixture, id operation.ID) string {
	t.Helper()
	var out string
	ok(t, f.Owner.QueryRowContext(t.Context(), `SELECT concat_ws(' | ', o.run_id, o.flow, o.flow_version, o.stage, o.state, o.title, o.next_kind, o.next_role, o.attempts_max, v.author_kind, v.author_id,
		v.missing::text, b.content, b.request, s.policy, r.label, r.inputs, r.state) FROM operations o JOIN runs r ON r.id = o.run_id JOIN content_versions v ON v.id = o.version_id
		JOIN version_bodies b ON b.version_id = v.id LEFT JOIN submissions s ON s.version_id = v.id WHERE o.id = $1`, string(id)).Scan(&out))
	return out
}

func TestFieldCase03_DiscardStaysQuiet(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	first, in := twins(t, f)
	held := receive(t, f, in, store.VerdictHeld)
	if r := receive(t, f, in, store.VerdictHeld); r.Event != held.Event {
		t.Error("a redelivery of a held event is another event")
	}
	runs := f.Count(t, "runs")
	ok(t, s.DiscardHeld(ctx, f.As("ops"), held.Delivery, "form-1", "the same order"))
	for range 2 {
		if r := receive(t, f, in, store.VerdictRepeated); len(r.Operations) != 0 || r.Reason == "" {
			t.Errorf("a redelivery of a discarded event: %+v", r)
		}
	}
	receive(t, f, first, store.VerdictRepeated)
	if n := f.Count(t, "runs"); n != runs {
		t.Errorf("%d runs, want %d", n, runs)
	}
	// the other payload under the same identity is still a conflict, not a silent loss
	in.Body = []byte(`{"code":"X"}`)
	in.Data = map[string]any{"code": "X"}
	receive(t, f, in, store.VerdictConflict)

	rows := whole(t, s, operation.SubjectSystem, "installation")
	last := rows[len(rows)-1]
	if last.Action != "discard_held" || last.ActorID != string(f.Users["ops"]) || last.Reason != "the same order" || last.Role != operation.RoleOpsOwner ||
		last.Links()["event"] != string(held.Event) || last.Links()["delivery"] != string(held.Delivery) || last.Links()["twin"] == "" {
		t.Errorf("history says %+v", last)
	}
}

func TestHeldOnce(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	for name, second := range map[string]func(operation.DeliveryID, string) error{
		"released": func(id operation.DeliveryID, form string) error {
			_, err := s.ReleaseHeld(ctx, f.As("ops"), id, form, "another")
			return err
		},
		"discarded": func(id operation.DeliveryID, form string) error {
			return s.DiscardHeld(ctx, f.As("ops"), id, form, "the same")
		},
	} {
		_, in := twins(t, f)
		held := receive(t, f, in, store.VerdictHeld)
		form := store.NewFormID()
		errs := make([]error, 6)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = second(held.Delivery, form) })
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				t.Errorf("%s: a double click is refused: %v", name, err)
			}
		}
		refused(t, second(held.Delivery, store.NewFormID()), operation.CodeAlreadyDecided)
		refused(t, s.DiscardHeld(ctx, f.As("ops2"), held.Delivery, form, "mine"), operation.CodeAlreadyDecided)
		_, err := s.ReleaseHeld(ctx, f.As("ops2"), held.Delivery, form, "mine")
		refused(t, err, operation.CodeAlreadyDecided)
		if n := f.Count(t, "held_decisions WHERE event_id = $1", string(held.Event)); n != 1 {
			t.Errorf("%s: %d decisions", name, n)
		}
		if n, want := f.Count(t, "event_runs WHERE event_id = $1", string(held.Event)), map[string]int{"released": 1}[name]; n != want {
			t.Errorf("%s: %d runs, want %d", name, n, want)
		}
	}
}

func TestRaceReleaseDiscard(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	released := 0
	for range 15 {
		_, in := twins(t, f)
		held := receive(t, f, in, store.VerdictHeld)
		var again store.Receipt
		var wg sync.WaitGroup
		wg.Go(func() { // the sender comes again meanwhile
			var err error
			if again, err = s.Receive(ctx, store.System("api"), in); err != nil {
				t.Error(err)
			}
		})
		yes, no := both(func() error { _, err := s.ReleaseHeld(ctx, f.As("ops"), held.Delivery, "a", "another"); return err },
			func() error { return s.DiscardHeld(ctx, f.As("ops2"), held.Delivery, "b", "the same") })
		wg.Wait()
		if (yes == nil) == (no == nil) {
			t.Fatalf("release: %v, discard: %v; want exactly one", yes, no)
		}
		refused(t, errors.Join(yes, no), operation.CodeAlreadyDecided)
		runs := f.Count(t, "event_runs WHERE event_id = $1", string(held.Event))
		if (yes == nil) != (runs == 1) {
			t.Errorf("release: %v, %d runs", yes, runs)
		}
		if len(again.Operations) > 0 && yes != nil {
			t.Error("a redelivery started a discarded event")
		}
		if yes == nil {
			released++
		}
	}
	t.Logf("released in %d of 15 rounds", released)
}

func TestHeldRights(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	_, in := twins(t, f)
	held := receive(t, f, in, store.VerdictHeld)
	// second owns this flow; lead owns another one
	for _, who := range []string{"author", "lead", "auditor", "admin"} {
		_, err := s.ReleaseHeld(ctx, f.As(who), held.Delivery, store.NewFormID(), "why")
		refused(t, err, operation.CodeNotEntitled)
		refused(t, s.DiscardHeld(ctx, f.As(who), held.Delivery, store.NewFormID(), "why"), operation.CodeNotEntitled)
	}
	for _, a := range []store.Actor{store.System("command"), store.Job("w"), {Kind: operation.ActorToken, ID: "tok_1"}} {
		refused(t, s.DiscardHeld(ctx, a, held.Delivery, store.NewFormID(), "why"), operation.CodeNotEntitled)
	}
	refused(t, s.DiscardHeld(ctx, f.As("second"), held.Delivery, store.NewFormID(), " "), operation.CodeReasonMissing)
	refused(t, s.DiscardHeld(ctx, f.As("second"), held.Delivery, "", "why"), operation.CodeStaleRevision)
	gone(t, s.DiscardHeld(ctx, f.As("ops"), "dlv_none", store.NewFormID(), "why"))
	open := receive(t, f, storetest.CouponEvent(), store.VerdictAccepted)
	gone(t, s.DiscardHeld(ctx, f.As("ops"), open.Delivery, store.NewFormID(), "why"))
	if n := f.Count(t, "held_decisions"); n != 0 {
		t.Fatalf("%d decisions were written", n)
	}
	// rights count as they are when it is decided
	ok(t, s.RevokeRole(ctx, f.As("admin"), f.Users["second"], store.RoleGrant{Role: operation.RoleApprover}, ""))
	refused(t, s.DiscardHeld(ctx, f.As("second"), held.Delivery, store.NewFormID(), "why"), operation.CodeNotEntitled)
	ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["second"], store.RoleGrant{Role: operation.RoleApprover, Flow: "newsletter-coupon"}, ""))
	if p, err := s.FindDelivery(ctx, f.As("second"), held.Delivery); err != nil || p.Held == nil || p.Held.Barred != nil {
		t.Fatalf("the flow's owner does not see what they may decide: %+v, %v", p, err)
	}
	ok(t, s.DiscardHeld(ctx, f.As("second"), held.Delivery, store.NewFormID(), "why"))
	if n := f.Count(t, "held_decisions WHERE role = 'approver'"); n != 1 {
		t.Error("the role in which they decided is not recorded")
	}
	// whoever holds a role for another flow only does not know of it
	ok(t, s.RevokeRole(ctx, f.As("admin"), f.Users["ops2"], store.RoleGrant{Role: operation.RoleOpsOwner}, ""))
	ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["ops2"], store.RoleGrant{Role: operation.RoleOpsOwner, Flow: "plain-note"}, ""))
	_, err := s.FindDelivery(ctx, f.As("ops2"), held.Delivery)
	gone(t, err)
}

// TestHeldFactsStay tries to change what was held and decided, as the owner of the schema.
func TestHeldFactsStay(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	_, in := twins(t, f)
	held := receive(t, f, in, store.VerdictHeld)
	ok(t, f.Store.DiscardHeld(t.Context(), f.As("ops"), held.Delivery, "form", "the same"))
	for _, q := range []string{`UPDATE held_decisions SET reason = 'x'`, `DELETE FROM held_decisions`, `UPDATE held_events SET open = true`, `UPDATE held_events SET handle = 'x'`,
		`DELETE FROM held_events`, `INSERT INTO held_decisions SELECT event_id, 'release', user_id, role, reason, 'other', decided_at FROM held_decisions`} {
		if _, err := f.Owner.ExecContext(t.Context(), q); err == nil {
			t.Errorf("%s went through", q)
		}
	}
}

// TestTwinsAtOnce lets events of one business key come at the same moment.
func TestTwinsAtOnce(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	other := f.Open(t, f.AppURL)
	for range 5 {
		key := "order-" + store.NewFormID()
		got := make([]store.Receipt, 6)
		var wg sync.WaitGroup
		for i := range got {
			in := storetest.CouponEvent()
			in.BusinessKey = key
			s := []*store.Store{f.Store, other}[i%2]
			wg.Go(func() {
				var err error
				if got[i], err = s.Receive(t.Context(), store.System("api"), in); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		n := map[store.Verdict]int{}
		for _, r := range got {
			n[r.Verdict]++
		}
		if n[store.VerdictAccepted] != 1 || n[store.VerdictHeld] != len(got)-1 {
			t.Fatalf("verdicts %v, want one accepted", n)
		}
	}
}
