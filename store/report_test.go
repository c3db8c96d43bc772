package store_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// upTo is a period that ends now, after one as long before it.
func upTo(t *testing.T, f *storetest.Fixture, key string, length time.Duration) operation.Period {
	t.Helper()
	var now time.Time
	ok(t, f.Owner.QueryRow(`SELECT clock_timestamp()`).Scan(&now))
	return operation.Period{Kind: operation.Weekly, Key: key, From: now.Add(-length), To: now, Before: now.Add(-2 * length)}
}

func makeReport(t *testing.T, f *storetest.Fixture, p operation.Period, flow string) *store.ReportPage {
	t.Helper()
	id, err := f.Store.MakeReport(t.Context(), byMail, p, flow)
	ok(t, err)
	r, err := f.Store.FindReport(t.Context(), f.As("admin"), id)
	ok(t, err)
	return r
}

func numberOf(t *testing.T, r *store.ReportPage, key string) operation.ReviewNumber {
	t.Helper()
	for _, l := range r.Lines {
		if l.Key() == key {
			return l.Now
		}
	}
	t.Fatalf("the review has no line %s", key)
	return operation.ReviewNumber{}
}

// TestReportIsFrozen: what happens after a review is made changes none of its numbers
// and none of its lists; what is settled since then is said beside them.
func TestReportIsFrozen(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ids := []operation.ID{f.Receive(t, storetest.CouponEvent())[0], f.Receive(t, storetest.CouponEvent())[0], f.Receive(t, storetest.CouponEvent())[0]}
	r := makeReport(t, f, upTo(t, f, "2026-W01", time.Hour), "")
	if n := numberOf(t, r, "open_at_end"); n.N != 3 {
		t.Fatalf("%d operations without completion", n.N)
	}
	if n := numberOf(t, r, "events"); n.N != 3 {
		t.Errorf("%d events", n.N)
	}
	ok(t, f.Decide(t, ids[0], "lead", operation.Reject))
	f.Receive(t, storetest.CouponEvent())
	again, err := f.Store.FindReport(t.Context(), f.As("auditor"), r.ID)
	ok(t, err)
	if again.Facts != r.Facts || numberOf(t, again, "open_at_end").N != 3 {
		t.Error("a made review changes")
	}
	if again.Since["open_at_end"] != 1 {
		t.Errorf("since then %d are settled, want 1", again.Since["open_at_end"])
	}
	_, items, err := f.Store.ListReportItems(t.Context(), f.As("auditor"), r.ID, "open_at_end", 0)
	ok(t, err)
	if len(items.Rows) != 3 || items.Rows[0].Operation != ids[0] || items.Rows[0].State != operation.Rejected {
		t.Errorf("the list is %+v", items.Rows)
	}
	for _, q := range []string{`UPDATE reports SET facts = '{}'`, `DELETE FROM report_items`, `INSERT INTO reports SELECT 'rep_x', kind, '2026-W09', flow, zone, from_at, to_at, before_at, '{}', facts_hash, made_at FROM reports`} {
		if _, err := f.Owner.Exec(q); err == nil {
			t.Errorf("the database takes: %s", q)
		}
	}
}

// TestReportCountsEqualTheirLists: on random work, every number is as many as its list
// holds, and the figures say the same.
func TestReportCountsEqualTheirLists(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	r := rand.New(rand.NewPCG(3, 5))
	for range 40 {
		id := f.Receive(t, storetest.CouponEvent())[0]
		switch r.IntN(5) {
		case 0:
			ok(t, f.Decide(t, id, "lead", operation.Reject))
		case 1, 2, 3:
			ok(t, f.Decide(t, id, "lead", operation.Approve))
			if r.IntN(2) == 0 {
				disturb(t, f, id, r.IntN(3))
			}
		}
	}
	p := upTo(t, f, "2026-W02", time.Hour)
	report := makeReport(t, f, p, "")
	flow := makeReport(t, f, p, "newsletter-coupon")
	doubts := int64(0)
	for _, rep := range []*store.ReportPage{report, flow} {
		for _, l := range rep.Lines {
			if !store.Listed(l) {
				continue
			}
			n, after := int64(0), 0
			for {
				_, items, err := f.Store.ListReportItems(t.Context(), f.As("auditor"), rep.ID, l.Key(), after)
				ok(t, err)
				n += int64(len(items.Rows))
				if after = items.Next; after == 0 {
					break
				}
			}
			want := l.Now.N
			if l.Kind == operation.ReviewDuration {
				want = l.Now.Of
			}
			if n != want {
				t.Errorf("%s: %d listed, %d counted", l.Key(), n, want)
			}
		}
		doubts += numberOf(t, rep, "unresolved_occurred").N
	}
	if doubts == 0 {
		t.Error("nothing came into doubt: the comparison proves little")
	}
	for _, figure := range operation.Figures {
		if figure == operation.FigureDestinationErrors {
			continue // each destination has its line
		}
		code := string(figure)
		if figure == operation.FigureUnresolved {
			code = "unresolved_at_end"
		}
		s, err := f.Store.FindSeries(t.Context(), f.As("admin"), figure, store.FigureQuery{From: p.From, To: p.To})
		ok(t, err)
		n, got := numberOf(t, report, code), s.Total.N
		if figure.Kind() == operation.KindDuration {
			n.N = n.Of
		}
		if n.N != got || figure.Kind() == operation.KindRate && n.Of != s.Total.Of {
			t.Errorf("%s: the review says %+v, the figure %+v", figure, n, s.Total)
		}
	}
}

// disturb brings an approved operation to one of its ends: an unknown outcome, a refused
// one, a confirmed one.
func disturb(t *testing.T, f *storetest.Fixture, id operation.ID, how int) {
	t.Helper()
	a, err := f.Store.ClaimAndDispatch(t.Context(), store.Job("test"), id, "test")
	ok(t, err)
	result := []operation.Result{{Proof: operation.Proof{Code: "timeout", Phase: operation.PhaseSent, Written: 300}},
		{Outcome: operation.OutcomeNotStarted, Proof: operation.Proof{Code: "validation", Status: 422}},
		{Outcome: operation.OutcomeConfirmed, TargetReference: "ref-" + string(id), Proof: operation.Proof{Status: 201}}}[how]
	_, err = f.Store.Record(t.Context(), store.Job("test"), a.Attempt, a.Fence, result)
	ok(t, err)
}

// TestReportIsMadeOnce: two processes make each missing review once, and tell each person
// who chose it once.
func TestReportIsMadeOnce(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	other := f.Open(t, f.AppURL)
	ok(t, f.Store.SaveNoticeSettings(t.Context(), f.As("ops"), store.NoticeSettings{Mail: true, DigestAt: 480, Modes: map[operation.NoticeKind]operation.NoticeMode{operation.NoticeReport: operation.NoticeNow}}))
	// the installation has stood for a while, the jobs were down for five weeks
	owner(t, f, `UPDATE installation SET created_at = created_at - interval '70 days'`)
	p := operation.LastPeriod(operation.Weekly, time.Now().AddDate(0, 0, -35), time.UTC)
	first := makeReport(t, f, p, "")
	var wg sync.WaitGroup
	for _, s := range []*store.Store{f.Store, other} {
		wg.Go(func() {
			for range 2 {
				if _, err := s.MakeReports(t.Context(), byMail); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	weekly, monthly := f.Count(t, "reports WHERE kind = 'weekly' AND flow = ''"), f.Count(t, "reports WHERE kind = 'monthly' AND flow = ''")
	if weekly < 5 || weekly > 6 || monthly != 1 {
		t.Errorf("%d weekly, %d monthly reviews of the installation", weekly, monthly)
	}
	if n := f.Count(t, "(SELECT kind, flow, lead(from_at) OVER (PARTITION BY kind, flow ORDER BY from_at) AS next, to_at FROM reports) x WHERE next <> to_at"); n != 0 {
		t.Errorf("%d gaps between reviews", n)
	}
	if n, r := f.Count(t, "notices WHERE kind = 'report'"), f.Count(t, "reports"); n != r {
		t.Errorf("%d notices of %d reviews to the one who chose them", n, r)
	}
	if n := f.Count(t, "notices n JOIN users u ON u.id = n.user_id WHERE n.kind = 'report' AND u.email <> 'ops@example.test'"); n != 0 {
		t.Errorf("%d notices to people who did not choose them", n)
	}
	if n, err := f.Store.MakeReports(t.Context(), byMail); n != 0 || err != nil {
		t.Errorf("made again: %d, %v", n, err)
	}
	if _, err := f.Store.MakeReport(t.Context(), byMail, p, ""); !errors.Is(err, store.ErrReportMade) {
		t.Errorf("the same period: %v", err)
	}
	if _, err := f.Store.MakeReport(t.Context(), byMail, operation.Running(operation.Monthly, time.Now(), time.UTC), ""); !errors.Is(err, store.ErrReportEarly) {
		t.Errorf("a period that is not over: %v", err)
	}
	// nothing was sent in those weeks: a line about a destination is put in, as a review of busier ones has it
	owner(t, f, `ALTER TABLE reports DISABLE TRIGGER reports_append_only`)
	owner(t, f, `UPDATE reports SET facts = replace(facts, '"lines":[', '"lines":[{"section":"destinations","code":"destination_errors","name":"mail","kind":"rate"},')`)
	o, err := f.Store.ClaimNotice(t.Context(), notice(t, f, "ops", "report"), "d.test", time.Minute)
	ok(t, err)
	if len(o.Items) == 0 || o.Items[0].Report == nil || len(o.Items[0].Report.Lines) == 0 {
		t.Fatalf("the notice of %s says %+v", first.ID, o.Items)
	}
	r, named := o.Items[0].Report, 0
	for _, l := range r.Lines {
		if l.Name != "" {
			if named++; r.Titles[l.Name]["en"] == "" {
				t.Errorf("the notice does not know the title of %s", l.Name)
			}
		}
	}
	if named == 0 {
		t.Error("no line of the review names a destination")
	}
}

// TestReportSignature: a signature covers what was shown; a comment in between refuses
// it, and later ones are not covered.
func TestReportSignature(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	r := makeReport(t, f, upTo(t, f, "2026-W03", time.Hour), "")
	say := func(short, body, form string) error {
		return f.Store.CommentReport(t.Context(), f.As(short), r.ID, operation.ReviewOpen, body, form)
	}
	seen := func() *store.ReportPage {
		t.Helper()
		p, err := f.Store.FindReport(t.Context(), f.As("ops"), r.ID)
		ok(t, err)
		return p
	}
	shown := func() string { h := seen().Fingerprint; return hex.EncodeToString(h[:]) }
	before := shown()
	ok(t, say("ops", "An outage of the CRM.", "form-1"))
	ok(t, say("ops", "An outage of the CRM.", "form-1"))
	refusedFor(t, f.Store.SignReport(t.Context(), f.As("ops"), r.ID, before), operation.CodeStaleRevision)
	refusedFor(t, f.Store.SignReport(t.Context(), f.As("auditor"), r.ID, shown()), operation.CodeNotEntitled)
	for range 2 {
		ok(t, f.Store.SignReport(t.Context(), f.As("ops"), r.ID, shown()))
	}
	ok(t, say("admin", "Read.", "form-2"))
	p := seen()
	if len(p.Said) != 2 || len(p.Signed) != 1 || p.Signed[0].Comments != 1 || p.Covered != 1 || p.Comments != 2 || p.Signed[0].Role != operation.RoleOpsOwner {
		t.Errorf("said %+v, signed %+v", p.Said, p.Signed)
	}
	ok(t, f.Store.SignReport(t.Context(), f.As("admin"), r.ID, shown()))
	if err := say("auditor", "I only read.", "form-3"); err == nil {
		t.Error("an auditor comments")
	}
	if n := f.Count(t, "history WHERE subject_kind = 'report' AND subject_id = $1", string(r.ID)); n != 5 {
		t.Errorf("%d history entries, want made, two comments, two signatures", n)
	}
	if _, err := f.Owner.Exec(`UPDATE report_comments SET body = 'x'`); err == nil {
		t.Error("the database takes a changed comment")
	}
}

func TestReportEntitlement(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	link, err := f.Store.AddUser(t.Context(), store.System("command"), store.NewUser{Email: "one@example.test", Name: "One Flow", Roles: []store.RoleGrant{{Role: operation.RoleAuthor, Flow: "newsletter-coupon"}}})
	ok(t, err)
	one := store.Person(link.User, "One Flow", "web")
	p := upTo(t, f, "2026-W04", time.Hour)
	whole, mine, theirs := makeReport(t, f, p, ""), makeReport(t, f, p, "newsletter-coupon"), makeReport(t, f, p, "goodwill-invoice")
	for _, x := range []struct {
		who  store.Actor
		id   operation.ReportID
		seen bool
	}{{one, whole.ID, false}, {one, mine.ID, true}, {one, theirs.ID, false}, {one, "rep_missing", false}, {f.As("auditor"), whole.ID, true}, {f.As("ops"), whole.ID, true}, {f.As("lead"), whole.ID, false}, {f.As("lead"), theirs.ID, true}} {
		if _, err := f.Store.FindReport(t.Context(), x.who, x.id); (err == nil) != x.seen || err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s sees %s: %v", x.who.Name, x.id, err)
		}
	}
	for who, want := range map[*store.Actor]int{&one: 1, ptr(f.As("lead")): 2, ptr(f.As("auditor")): 3} {
		list, err := f.Store.ListReports(t.Context(), *who, store.ReportFilter{})
		ok(t, err)
		if len(list.Rows) != want {
			t.Errorf("%s has %d reviews in the list, want %d", who.Name, len(list.Rows), want)
		}
	}
	if err := f.Store.SignReport(t.Context(), one, theirs.ID, "x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("signs what they may not see: %v", err)
	}
}

func ptr[T any](x T) *T { return &x }

// TestReportPages walks the list by its cursors, forth and back.
func TestReportPages(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}", "")
	end := time.Now().Add(-time.Hour)
	for i := range 7 {
		p := operation.Period{Kind: operation.Weekly, Key: fmt.Sprintf("2026-W%02d", 10+i), From: end.Add(time.Duration(i-1) * time.Minute), To: end.Add(time.Duration(i) * time.Minute), Before: end.Add(time.Duration(i-2) * time.Minute)}
		makeReport(t, f, p, "newsletter-coupon")
		makeReport(t, f, p, "")
		makeReport(t, f, p, "mailing")
	}
	// that of the whole installation is the first of each period, also where a page ends between
	cursor, rows := "", []string{}
	for {
		list, err := f.Store.ListReports(t.Context(), f.As("admin"), store.ReportFilter{Cursor: cursor, Limit: 4})
		ok(t, err)
		for i, r := range list.Rows {
			if rows = append(rows, r.Period+r.Flow); (r.Flow == "") != ((len(rows)-1)%3 == 0) {
				t.Errorf("%d of a page is %s %q", i, r.Period, r.Flow)
			}
		}
		if cursor = list.Next; cursor == "" {
			break
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(rows)))); n != 21 || len(rows) != 21 {
		t.Errorf("%d reviews, %d of them different: %v", len(rows), n, rows)
	}
	var keys []string
	whole, back := "", ""
	for {
		list, err := f.Store.ListReports(t.Context(), f.As("admin"), store.ReportFilter{Flow: &whole, Cursor: cursor, Limit: 3})
		ok(t, err)
		for _, r := range list.Rows {
			keys = append(keys, r.Period)
		}
		back = list.Prev
		if cursor = list.Next; cursor == "" {
			break
		}
	}
	same(t, "forth", keys, "2026-W16", "2026-W15", "2026-W14", "2026-W13", "2026-W12", "2026-W11", "2026-W10")
	list, err := f.Store.ListReports(t.Context(), f.As("admin"), store.ReportFilter{Flow: &whole, Cursor: back, Limit: 3})
	ok(t, err)
	if len(list.Rows) != 3 || list.Rows[0].Period != "2026-W13" {
		t.Errorf("back gives %+v", list.Rows)
	}
}
