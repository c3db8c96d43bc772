package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/lib/pq"
)

const day = 24 * time.Hour

// confirmedByHand gives an operation whose effect a person saw, and its run.
func confirmedByHand(t *testing.T, f *storetest.Fixture, id operation.ID) string {
	t.Helper()
	s := &stand{f: f, t: t, id: id}
	ways[operation.Unknown](s)
	s.must(f.Store.ConfirmDone(t.Context(), f.As("ops"), s.shown("Anna told me on the telephone"), store.Reference{ID: "seen-" + string(id)}))
	var run string
	ok(t, f.Owner.QueryRow(`SELECT run_id FROM operations WHERE id = $1`, string(id)).Scan(&run))
	return run
}

// overMonths makes what happened to an operation, and its run, so many days older; between
// two entries there are fifteen days.
func overMonths(t *testing.T, f *storetest.Fixture, id operation.ID, run string, days int) {
	t.Helper()
	old := func(n int, at time.Time) time.Time { return at.Add(time.Duration(15*n-days) * day) }
	f.Age(t, operation.SubjectOperation, string(id), old)
	if rows, _, err := f.Store.ListHistory(t.Context(), operation.SubjectRun, run); err == nil && len(rows) > 0 {
		f.Age(t, operation.SubjectRun, run, old)
	}
}

func thin(t *testing.T, f *storetest.Fixture) int {
	t.Helper()
	n, err := f.Store.SweepRetention(t.Context(), store.System("job"))
	ok(t, err)
	return n
}

// ofHistory is the history's row of the terms.
func ofHistory(t *testing.T, f *storetest.Fixture, days int) *store.HistoryPreview {
	t.Helper()
	rows, err := f.Store.FindRetention(t.Context(), f.As("auditor"), map[store.RetentionKind]int{store.RetainHistory: days})
	ok(t, err)
	return rows[len(rows)-1].History
}

// TestRetentionOfHistory: of closed subjects the words of old entries go, exactly those that
// the preview counts; what is open about them keeps them until it is closed; everything that
// the program reads of old entries is still there, and every chain verifies.
func TestRetentionOfHistory(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	next := coupon(t, f)
	gone, held, open, young := next(), next(), next(), next()
	runs := map[operation.ID]string{}
	for _, id := range []operation.ID{gone, held, young} {
		runs[id] = confirmedByHand(t, f, id)
	}
	inc := incident(t, f, "ops", held)
	for _, id := range []operation.ID{gone, held} {
		overMonths(t, f, id, runs[id], 480)
	}
	var openRun string
	ok(t, f.Owner.QueryRow(`SELECT run_id FROM operations WHERE id = $1`, string(open)).Scan(&openRun))
	overMonths(t, f, open, openRun, 480)
	f.ByMonths(t, 3)

	admin := f.Fresh(t, "admin")
	invalid(t, f.Store.SetRetention(t.Context(), admin, map[store.RetentionKind]int{store.RetainHistory: 364}), "retention_days")
	if thin(t, f) != 0 || f.Count(t, "history_thinnings") != 0 {
		t.Fatal("words went without a term")
	}
	due := f.Count(t, "history WHERE subject_id IN ($1, $2)", string(gone), runs[gone])
	kept := f.Count(t, "history WHERE subject_id IN ($1, $2) AND at < now() - interval '365 days'", string(held), string(open))
	p := ofHistory(t, f, 365)
	months := 0
	for _, m := range p.Months {
		months += m.Entries
	}
	if p.Entries != due || months != due || len(p.Months) < 3 || p.Open < kept || p.More || p.First != 0 {
		t.Errorf("preview %+v, want %d that go over months, and at least %d left", p, due, kept)
	}
	before, err := f.Store.FindOperation(t.Context(), f.As("ops"), gone)
	ok(t, err)
	_, err = f.Store.RebuildFigures(t.Context(), func(store.FigureProgress) {})
	ok(t, err)
	figures, err := f.Store.CheckFigures(t.Context())
	ok(t, err)
	ok(t, f.Store.SetRetention(t.Context(), admin, map[store.RetentionKind]int{store.RetainHistory: 365}))
	if n := thin(t, f); n != due {
		t.Fatalf("%d entries lost their words, want %d", n, due)
	}
	if n := thin(t, f); n != 0 {
		t.Errorf("%d more went", n)
	}
	if n := f.Count(t, "history WHERE words_gone_at IS NOT NULL AND (actor_id || actor_name || reason <> '' OR words_salt IS NOT NULL)"); n != 0 {
		t.Errorf("%d entries keep words", n)
	}
	if n := f.Count(t, "history WHERE subject_id IN ($1, $2, $3, $4) AND words_gone_at IS NOT NULL", string(held), runs[held], string(open), string(young)); n != 0 {
		t.Errorf("%d entries of what is open, or young, lost their words", n)
	}
	rows := whole(t, f.Store, operation.SubjectSystem, "installation")
	last := rows[len(rows)-1]
	if last.Action != operation.ActionThinned || last.Links()["days"] != "365" || f.Count(t, "history_thinnings WHERE at = $1 AND count = $2", last.At, due) != 1 {
		t.Errorf("recorded as %+v", last)
	}
	for i, e := range whole(t, f.Store, operation.SubjectOperation, string(gone)) {
		was := before.History[i]
		if !e.WordsGone().Equal(last.At) || e.Action != was.Action || e.Role != was.Role || e.From != was.From || e.To != was.To || !e.At.Equal(was.At) ||
			strings.Contains(e.LinksText, ": ") || e.Links()["attempt"] != was.Links()["attempt"] || e.Links()["for_name"] != "" || strings.Contains(e.LinksText, "usr_") {
			t.Errorf("entry %d reads %+v", e.Seq, e)
		}
	}
	after, err := f.Store.FindOperation(t.Context(), f.As("ops"), gone)
	ok(t, err)
	if !after.ChainOK || after.TargetReference != before.TargetReference || after.ConfirmedBy != before.ConfirmedBy {
		t.Errorf("the page has %+v", after.ChainOK)
	}
	// Figures are counted from the entries as before.
	if again, err := f.Store.CheckFigures(t.Context()); err != nil || again.Rows != figures.Rows || len(again.Faults) != len(figures.Faults) || again.Rows == 0 {
		t.Errorf("figures differ: %+v, before %+v: %v", again, figures, err)
	}
	// What was open is closed: the words go with the next look, a day later.
	owner(t, f, `UPDATE incidents SET state = 'signed' WHERE id = '`+string(inc)+`'`)
	owner(t, f, `UPDATE history_waits SET again_at = now() WHERE subject_id IN ('`+string(held)+`', '`+runs[held]+`')`)
	want := f.Count(t, "history WHERE subject_id IN ($1, $2) AND at < now() - interval '365 days'", string(held), runs[held])
	if p := ofHistory(t, f, 365); p.Entries != want {
		t.Errorf("preview %+v, want %d", p, want)
	}
	if n := thin(t, f); n != want || f.Count(t, "history_waits WHERE subject_id = $1", string(held)) != 0 {
		t.Errorf("%d went, want %d", n, want)
	}
	whole(t, f.Store, operation.SubjectOperation, string(held))
	whole(t, f.Store, operation.SubjectRun, runs[held])
}

// TestThinnedIsNotMisjudged: evidence against a decision whose words are gone is told of as
// before, the operation opens again and closes again, and what is new has its words.
func TestThinnedIsNotMisjudged(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s := &stand{f: f, t: t, id: coupon(t, f)()}
	run := confirmedByHand(t, f, s.id)
	overMonths(t, f, s.id, run, 800)
	ok(t, f.Store.SetRetention(t.Context(), f.Fresh(t, "admin"), map[store.RetentionKind]int{store.RetainHistory: 365}))
	if thin(t, f) == 0 {
		t.Fatal("nothing went")
	}
	s.must(news["Callback"](s, ref(s.id)))
	if n := f.Count(t, `history WHERE subject_id = $1 AND action = 'contradicted' AND links::jsonb->>'decision' = 'effect' AND NOT links::jsonb ? 'decided_by' AND words_gone_at IS NULL`, string(s.id)); n != 1 {
		t.Errorf("told of %d times", n)
	}
	_ = news["Callback"](s, ref(s.id))
	if n := f.Count(t, `history WHERE subject_id = $1 AND action = 'contradicted'`, string(s.id)); n != 1 {
		t.Errorf("told of %d times", n)
	}
	_, err := f.Store.PlanNotices(t.Context(), store.NoticeChannels{})
	ok(t, err)
	s.must(f.Store.Dispute(t.Context(), f.As("ops"), s.shown("They say it never came"), ""))
	if got := f.State(t, s.id); got != operation.Review {
		t.Fatalf("it is %s", got)
	}
	s.must(f.Store.ConfirmDone(t.Context(), f.As("ops"), s.shown("It came after all"), store.Reference{ID: "again-" + string(s.id)}))
	rows := whole(t, f.Store, operation.SubjectOperation, string(s.id))
	if last := rows[len(rows)-1]; last.ActorID == "" || !last.WordsGone().IsZero() {
		t.Errorf("the newest entry reads %+v", last)
	}
	if thin(t, f) != 0 {
		t.Error("new entries lost their words")
	}
}

// TestOnlyATermTakesWords: neither the application's role nor the tables' owner can change
// an entry, or take its words, in another way.
func TestOnlyATermTakesWords(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	id := coupon(t, f)()
	confirmedByHand(t, f, id)
	var p *pq.Error
	for _, q := range []string{`UPDATE history SET reason = ''`, `INSERT INTO history_thinnings (at, days, count, oldest, newest, ids) VALUES (now(), 365, 1, now() - interval '2 years', now() - interval '2 years', '{[1,2)}')`,
		`DELETE FROM history_waits`, `UPDATE history_thinnings SET count = 2`} {
		if _, err := f.Store.DB().Exec(q); !errors.As(err, &p) || p.Code != "42501" {
			t.Errorf("%s: %v", q, err)
		}
	}
	var n int
	if err := f.Store.DB().QueryRow(`SELECT thinned + walked FROM thin_history(1000)`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d without a term: %v", n, err)
	}
	const away = `actor_id = '', actor_name = '', reason = '', links = CAST(CAST(links AS jsonb) - string_to_array(words_links, ',') AS text), words_salt = NULL, words_links = ''`
	for _, q := range []string{`UPDATE history SET reason = 'x'`, `UPDATE history SET ` + away + `, words_gone_at = now()`, `DELETE FROM history`, `TRUNCATE history`} {
		if _, err := f.Owner.Exec(q); !errors.As(err, &p) || p.Constraint != "history_append_only" {
			t.Errorf("%s: %v", q, err)
		}
	}
	// Even with a removal that names them, nothing but their words goes, and nothing young.
	old := f.Count(t, "history")
	owner(t, f, `INSERT INTO history_thinnings (at, days, count, oldest, newest, ids) VALUES ('2026-01-01', 365, 1, '2024-01-01', '2024-01-02', '{[1,1000000)}')`)
	for _, q := range []string{`UPDATE history SET ` + away + `, words_gone_at = '2026-01-01'`, `UPDATE history SET at = '2024-01-01', ` + away + `, words_gone_at = '2026-01-01'`} {
		if _, err := f.Owner.Exec(q); !errors.As(err, &p) || p.Constraint != "history_append_only" {
			t.Errorf("%s: %v", q, err)
		}
	}
	if f.Count(t, "history WHERE words_gone_at IS NULL AND words_salt IS NOT NULL") != old {
		t.Error("words are gone")
	}
}
