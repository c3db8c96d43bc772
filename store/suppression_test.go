package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestSuppressions goes through the life of the suppression list: who may, what is refused,
// what counts twice, what holds for which channel and how long, and what stays on record.
func TestSuppressions(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := t.Context()
	add := func(who string, form string, rows ...store.NewSuppression) (store.Suppressed, error) {
		return f.Store.AddSuppressions(ctx, f.As(who), store.Suppressing{FormID: form}, rows)
	}
	row := func(address string) store.NewSuppression {
		return store.NewSuppression{Address: address, Reason: operation.SuppressedUnsubscribed}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	t.Run("refused", func(t *testing.T) {
		var refusal *operation.Refusal
		if _, err := add("auditor", "x", row("a@example.test")); !errors.As(err, &refusal) || refusal.Code != operation.CodeNotEntitled {
			t.Errorf("an auditor adds: %v", err)
		}
		soon := time.Now().Add(-time.Hour)
		for field, n := range map[string]store.NewSuppression{
			"address": row(" "), "reason": {Address: "a@example.test", Reason: "because"}, "until": {Address: "a@example.test", Reason: operation.SuppressedManual, Until: soon},
			"channel": {Address: "a@example.test", Reason: operation.SuppressedManual, Scope: operation.SuppressDestination, Channel: "nowhere"},
			"note":    {Address: "a@example.test", Reason: operation.SuppressedManual, Note: fmt.Sprintf("%0600d", 1)},
		} {
			var bad *store.Invalid
			if _, err := add("author", "x", row("fine@example.test"), n); !errors.As(err, &bad) || bad.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
		mails, place := operation.SuppressEffect, operation.SuppressDestination
		for _, n := range []store.NewSuppression{{Address: "a@b.test, c@d.test"}, {Address: "Kim <a@b.test>, Lee <c@d.test>"}, {Address: "a@b.test;Lee <c@d.test>"}, {Address: "a@b.test;c@d.test"}, {Address: "a b@c.test"},
			{Address: "a@"}, {Address: "@b.test"}, {Address: "4711, 4712"}, {Address: "John Smith"}, {Address: "nope"}, {Address: "+"}, {Address: "nope", Scope: mails, Channel: "email"}, {Address: "+48 600 100 200", Scope: mails, Channel: "email"}} {
			var bad *store.Invalid
			n.Reason = operation.SuppressedManual
			code := "address_all"
			if n.Scope != "" {
				code = "address_form"
			}
			if _, err := add("author", "x", row("fine@example.test"), n); !errors.As(err, &bad) || bad.Code != code || bad.Entry != 2 {
				t.Errorf("%q for %q: %v", n.Address, n.Channel, err)
			}
		}
		for address, is := range map[string]bool{"a@b.test": true, "=a+b@b.test": true, "+48 600 100 200": true, "c-1042": true, "cus_Xyz": true, "kim": false, "anne-marie": false, "田中": false, "()": false, "@kim": false, "": false} {
			if operation.IsAddress(address, operation.SuppressAll, false) != is {
				t.Errorf("%q for everything is not %t", address, is)
			}
		}
		for _, name := range []string{"@kim", "kim"} {
			if !operation.IsAddress(name, place, false) {
				t.Errorf("%s at a destination that may know it so", name)
			}
		}
		if n := f.Count(t, "suppressions"); n != 0 {
			t.Errorf("%d rows were stored of what was refused", n)
		}
	})

	t.Run("once each", func(t *testing.T) {
		got, err := add("author", "form-1", row(" Kim <KIM@Example.TEST>"), row("kim@example.test"), row("lee@example.test"))
		must(err)
		if got.Added != 2 || got.Known != 1 {
			t.Errorf("%+v", got)
		}
		if again, err := add("author", "form-1", row("kim@example.test")); err != nil || again.Added != 2 {
			t.Errorf("the same form: %+v, %v", again, err)
		}
		if known, err := add("lead", "form-2", row("KIM@example.test")); err != nil || known.Added+known.Extended != 0 || known.Known != 1 {
			t.Errorf("known: %+v, %v", known, err)
		}
		if n := f.Count(t, "history WHERE action = 'suppress'"); n != 1 {
			t.Errorf("%d entries of one change", n)
		}
		if n := f.Count(t, "history WHERE links::text LIKE '%kim@%'"); n != 0 {
			t.Error("the history holds an address, which must be removable")
		}
	})

	t.Run("channels and times", func(t *testing.T) {
		until := time.Now().Add(time.Hour)
		_, err := add("author", "form-3",
			store.NewSuppression{Address: "effect@example.test", Scope: operation.SuppressEffect, Channel: "email", Reason: operation.SuppressedManual},
			store.NewSuppression{Address: "place@example.test", Scope: operation.SuppressDestination, Channel: "plain", Reason: operation.SuppressedManual},
			store.NewSuppression{Address: "short@example.test", Reason: operation.SuppressedManual, Until: until},
			store.NewSuppression{Address: "later@example.test", Reason: operation.SuppressedManual, Since: until})
		must(err)
		all := []string{"effect@example.test", "place@example.test", "short@example.test", "later@example.test", "Kim@Example.test", "free@example.test"}
		for _, x := range []struct {
			effect, place string
			want          []string
		}{{"email", "mail", []string{"effect@example.test", "kim@example.test", "short@example.test"}},
			{"email", "plain", []string{"effect@example.test", "kim@example.test", "place@example.test", "short@example.test"}},
			{"crm_task", "crm", []string{"kim@example.test", "short@example.test"}}} {
			got, err := f.Store.SuppressedAmong(ctx, x.effect, x.place, all)
			must(err)
			if keys := keysOf(got); !slices.Equal(keys, x.want) {
				t.Errorf("%s at %s: %v", x.effect, x.place, keys)
			}
			for _, a := range all {
				var held bool
				must(f.Owner.QueryRow(`SELECT is_suppressed($1, $2, $3, clock_timestamp())`, "somebody@example.test, "+operation.NormalAddress(a), x.effect, x.place).Scan(&held))
				if held != slices.Contains(x.want, operation.NormalAddress(a)) {
					t.Errorf("a claim of %s at %s for %s: %v", x.effect, x.place, a, held)
				}
			}
		}
		longer, err := add("author", "form-4", row("short@example.test"))
		must(err)
		if longer.Extended != 1 {
			t.Errorf("for good after one hour: %+v", longer)
		}
		if less, _ := add("author", "form-5", store.NewSuppression{Address: "short@example.test", Reason: operation.SuppressedManual, Until: until}); less.Extended != 0 || less.Known != 1 {
			t.Errorf("one hour after for good: %+v", less)
		}
	})

	t.Run("lift", func(t *testing.T) {
		l, err := f.Store.ListSuppressions(ctx, f.As("auditor"), store.SuppressionFilter{Search: "KIM"})
		must(err)
		if len(l.Rows) != 1 {
			t.Fatalf("%+v", l.Rows)
		}
		kim := l.Rows[0]
		lift := func(who, form, why string) error {
			return f.Store.LiftSuppression(ctx, f.As(who), kim.ID, kim.Revision, form, why)
		}
		var refusal *operation.Refusal
		for who, why := range map[string]string{"author": "x", "lead": "x", "ops": " "} {
			if err := lift(who, "lift", why); !errors.As(err, &refusal) {
				t.Errorf("%s lifts: %v", who, err)
			}
		}
		must(lift("ops", "lift", "They subscribed again."))
		must(lift("ops", "lift", "They subscribed again."))
		if err := lift("admin", "other", "Again"); !errors.Is(err, store.ErrChanged) {
			t.Errorf("another lift: %v", err)
		}
		if got, _ := f.Store.SuppressedAmong(ctx, "email", "mail", []string{"kim@example.test"}); len(got) != 0 {
			t.Error("it still holds")
		}
		if n := f.Count(t, "history WHERE action = 'lift_suppression'"); n != 1 {
			t.Errorf("%d entries", n)
		}
		again, err := add("author", "form-6", row("kim@example.test"))
		must(err)
		if again.Added != 1 || f.Count(t, "suppressions WHERE address = 'kim@example.test'") != 2 {
			t.Errorf("after a lift: %+v", again)
		}
		for _, change := range []string{"UPDATE suppressions SET address = 'x@example.test', revision = revision + 1 WHERE lifted_at IS NULL", "DELETE FROM suppressions", "UPDATE suppressions SET note = 'x', revision = revision + 1 WHERE lifted_at IS NOT NULL"} {
			if _, err := f.Owner.Exec(change); err == nil {
				t.Errorf("the database takes: %s", change)
			}
		}
	})

	t.Run("pages", func(t *testing.T) {
		var rows []store.NewSuppression
		for i := range 1203 {
			rows = append(rows, row(fmt.Sprintf("page-%04d@example.test", i)))
		}
		got, err := f.Store.AddSuppressions(ctx, f.As("ops"), store.Suppressing{FormID: "import", File: "ab12"}, rows)
		must(err)
		if got.Added != 1203 || f.Count(t, "suppressions WHERE source = 'import'") != 1203 {
			t.Fatalf("%d added", got.Added)
		}
		if n, err := f.Store.KnownSuppressions(ctx, f.As("ops"), append(rows[:3:3], row("new@example.test"), row(""))); err != nil || n != 3 {
			t.Errorf("%d known, %v", n, err)
		}
		filter, seen := store.SuppressionFilter{Search: "page-", Limit: 500}, map[string]bool{}
		for pages := 1; ; pages++ {
			l, err := f.Store.ListSuppressions(ctx, f.As("author"), filter)
			must(err)
			for _, r := range l.Rows {
				seen[r.Address] = true
			}
			if filter.Cursor = l.Next; filter.Cursor == "" {
				if pages != 3 || len(seen) != 1203 {
					t.Errorf("%d pages, %d addresses", pages, len(seen))
				}
				break
			}
		}
		n := 0
		must(f.Store.EachSuppression(ctx, f.As("author"), store.SuppressionFilter{Search: "page-"}, func(store.Suppression) error { n++; return nil }))
		if n != 1203 {
			t.Errorf("%d handed out", n)
		}
	})
}

func keysOf[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// What destinations tell: a mail that bounced or a complaint puts its one recipient on the
// list, once, for that kind of effect; anything else does not.
func TestSuppressions_News(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s := mailed(t, f, operation.Confirmed)
	p, err := f.Store.PlaceOf(t.Context(), s.id)
	s.must(err)
	for i, x := range []struct {
		kind operation.NewsKind
		want int
	}{{"deferred", 0}, {"delivered", 0}, {"bounced", 1}, {"complained", 1}} {
		tell(t, f, p, "mail-demo", definition.News{Key: fmt.Sprint(i), Kind: x.kind, Operation: s.id, Reference: ref(s.id)})
		if n := f.Count(t, "suppressions WHERE address = 'c@example.test' AND scope = 'effect' AND channel = 'email' AND source = 'callback' AND operation_id = $1", string(s.id)); n != x.want {
			t.Errorf("after %s: %d entries", x.kind, n)
		}
	}
	if n := f.Count(t, "history WHERE action = 'suppressed' AND subject_id = $1", string(s.id)); n != 1 {
		t.Errorf("%d entries in the operation's history", n)
	}
	got, err := f.Store.SuppressedAmong(t.Context(), "email", "mail", []string{"c@example.test"})
	if err != nil || got["c@example.test"] != operation.SuppressedBounce {
		t.Errorf("%v, %v", got, err)
	}
}

// A batch leaves out whom the list holds, before anybody approves, and counts them.
func TestSuppressions_Batch(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	list := storetest.Recipients(5, nil)
	var held string
	for entry, err := range list.Rows {
		if err != nil {
			t.Fatal(err)
		}
		held, _ = entry["email"].(string)
		break
	}
	if _, err := f.Store.AddSuppressions(t.Context(), f.As("author"), store.Suppressing{FormID: "f"}, []store.NewSuppression{{Address: " " + strings.ToUpper(held), Reason: operation.SuppressedUnsubscribed}}); err != nil {
		t.Fatal(err)
	}
	id := f.Batch(t, list)
	var v struct {
		Included   int    `db:"included"`
		Suppressed int    `db:"suppressed"`
		Facts      string `db:"facts"`
	}
	if err := f.Owner.QueryRow(`SELECT included, suppressed, facts FROM batch_versions WHERE batch_id = $1`, string(id)).Scan(&v.Included, &v.Suppressed, &v.Facts); err != nil {
		t.Fatal(err)
	}
	if v.Included != 4 || v.Suppressed != 1 || f.Count(t, "batch_items WHERE batch_id = $1 AND excluded = 'suppressed' AND recipient = $2", string(id), held) != 1 {
		t.Errorf("%+v", v)
	}
	if !strings.Contains(v.Facts, `"varies":["subject","text","to"]`) {
		t.Errorf("facts %s", v.Facts)
	}
}

// A single operation outside batches is not held to the list: its page says who is on it, and
// it cannot be approved together with others.
func TestSuppressions_Single(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s := &stand{f: f, t: t, id: letter(t, f)()}
	p, err := f.Store.FindOperation(t.Context(), f.As("lead"), s.id)
	ok(t, err)
	if len(p.Suppressed) != 0 {
		t.Fatalf("nobody is on the list: %v", p.Suppressed)
	}
	to, _ := p.Current().Content()["to"].(string)
	suppressed(t, f, to)
	p, err = f.Store.FindOperation(t.Context(), f.As("lead"), s.id)
	ok(t, err)
	if len(p.Suppressed) != 1 || p.Suppressed[0].Address != operation.NormalAddress(to) || p.Facts.Suppressed {
		t.Errorf("%+v, held: %v", p.Suppressed, p.Facts.Suppressed)
	}
	list, err := f.Store.ListTogether(t.Context(), f.As("lead"), p.Flow, p.Stage)
	ok(t, err)
	for _, x := range list.Items {
		if x.ID == s.id {
			t.Error("it can be approved with others")
		}
	}
	f.Approve(t, s.id, "lead", "second")
	p, err = f.Store.FindOperation(t.Context(), f.As("lead"), s.id)
	if err != nil || p.Gate != nil && p.Gate.Code == operation.CodeSuppressed || p.State == operation.PendingApproval {
		t.Errorf("it is %s, the gate says %v, %v", p.State, p.Gate, err)
	}
}
