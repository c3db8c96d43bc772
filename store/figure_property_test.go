package store_test

import (
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

// scatterFacts makes operations in every state by every way, and moves what happened to each
// apart over some months: settled weeks later, a duplicate recorded later.
func scatterFacts(t *testing.T, f *storetest.Fixture, rnd *rand.Rand, n int) {
	t.Helper()
	scatterWithin(t, f, rnd, n, 100)
}

// scatterWithin is scatterFacts over so many days.
func scatterWithin(t *testing.T, f *storetest.Fixture, rnd *rand.Rand, n, days int) {
	t.Helper()
	kinds := []string{"LateReport", "Callback", "Lookup"}
	for i := range n {
		s := &stand{f: f, t: t}
		s.id = coupon(t, f)()
		if i >= 13 && i%5 == 4 {
			s.id = letter(t, f)()
		}
		state := operation.States[i%len(operation.States)]
		if i >= 13 && i%5 == 4 {
			state = operation.PendingApproval
		}
		ways[state](s)
		r := race{f: f, t: t, id: s.id}
		switch now := r.state(); {
		case now == operation.RetryScheduled: // the key is sent again
			_, err := f.Owner.Exec(`UPDATE operations SET retry_at = clock_timestamp(), next_at = clock_timestamp() WHERE id = $1`, string(s.id))
			s.must(err)
			s.send()
			s.report(effect(ref(s.id)))
		case now == operation.Confirmed:
			s.must(news[kinds[rnd.IntN(3)]](s, "another-"+string(s.id)))
			if i < len(operation.States) || rnd.IntN(2) == 0 {
				s.must(f.Store.Dispute(t.Context(), f.As("ops"), s.shown("two of them"), ""))
				s.must(f.Store.RecordDuplicate(t.Context(), f.As("ops"), s.shown("both are there"), []store.Reference{{ID: "one-" + string(s.id)}, {ID: "two-" + string(s.id)}}))
			}
		case now == operation.Unknown && (i < 13 || rnd.IntN(2) == 0):
			s.must(f.Store.ConfirmDone(t.Context(), f.As("ops"), s.shown("seen there"), store.Reference{ID: ref(s.id)}))
		case now == operation.ReexecutionRequested:
			s.must(f.Store.DecideReexecution(t.Context(), f.Fresh(t, "ops2"), s.shown("one more"), true))
			if i < 13 || rnd.IntN(2) == 0 { // the effect was there all the time
				s.must(news["Callback"](s, ref(s.id)))
			}
		case now == operation.Unknown || now == operation.Review:
			if rnd.IntN(2) == 0 {
				s.must(f.Store.RecordLookup(t.Context(), hand, s.id, time.Now(), operation.LookupFinding{Result: operation.LookupMany}))
			}
		}
		moveFactsWithin(t, f, s.id, rnd, days)
	}
}

// moveFacts shifts all that happened to an operation into the past and stretches it.
func moveFacts(t *testing.T, f *storetest.Fixture, id operation.ID, rnd *rand.Rand) {
	t.Helper()
	moveFactsWithin(t, f, id, rnd, 100)
}

func moveFactsWithin(t *testing.T, f *storetest.Fixture, id operation.ID, rnd *rand.Rand, days int) {
	t.Helper()
	back := time.Duration(rnd.Int64N(int64(days)*int64(24*time.Hour))) + time.Hour
	factor := rnd.ExpFloat64() * 200 * float64(days)
	to := fmt.Sprintf(`o.created_at - interval '%d seconds' + (%%s - o.created_at) * %f`, int(back.Seconds()), factor)
	at := func(col string) string {
		return fmt.Sprintf(`CASE WHEN `+col+` IS NOT NULL THEN LEAST(`+to+`, clock_timestamp()) END`, col)
	}
	tx, err := f.Owner.Begin()
	ok(t, err)
	defer func() { _ = tx.Rollback() }()
	run := func(q string) {
		t.Helper()
		if _, err := tx.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	for _, table := range []string{"history", "attempts", "recovery_cases", "deliveries", "events"} {
		run(`ALTER TABLE ` + table + ` DISABLE TRIGGER USER`)
		defer func() { _, _ = f.Owner.Exec(`ALTER TABLE ` + table + ` ENABLE TRIGGER USER`) }()
	}
	of := fmt.Sprintf(` FROM operations o WHERE o.id = '%s' AND `, id)
	run(`UPDATE history h SET at = ` + at("h.at") + of + `h.subject_id = o.id`)
	run(`UPDATE attempts a SET claimed_at = ` + fmt.Sprintf(to, "a.claimed_at") + `, dispatched_at = ` + fmt.Sprintf(to, "a.dispatched_at") + `, lease_until = ` + fmt.Sprintf(to, "a.lease_until") +
		`, lease_cap = ` + fmt.Sprintf(to, "a.lease_cap") + `, send_by = ` + fmt.Sprintf(to, "a.send_by") + `, ended_at = ` + at("a.ended_at") + of + `a.operation_id = o.id`)
	run(`UPDATE case_holds x SET taken_at = ` + at("x.taken_at") + `, released_at = ` + at("x.released_at") + of + `x.case_id IN (SELECT c.id FROM recovery_cases c WHERE c.operation_id = o.id)`)
	run(`UPDATE recovery_cases c SET opened_at = ` + at("c.opened_at") + `, taken_at = ` + at("c.taken_at") + `, closed_at = ` + at("c.closed_at") + `, changed_at = ` + at("c.changed_at") + of + `c.operation_id = o.id`)
	run(`UPDATE deliveries d SET received_at = ` + at("d.received_at") + of + `d.event_id IN (SELECT x.event_id FROM event_runs x WHERE x.run_id = o.run_id)`)
	run(`UPDATE events e SET received_at = ` + at("e.received_at") + of + `e.id IN (SELECT x.event_id FROM event_runs x WHERE x.run_id = o.run_id)`)
	ok(t, tx.Commit())
}

// figuresAgree compares every figure of a random question with the oracle, part by part, and the
// list behind each with its number.
func figuresAgree(t *testing.T, f *storetest.Fixture, o *oracle, rnd *rand.Rand, lists bool) {
	t.Helper()
	now := time.Now()
	zones := []string{"UTC", "Asia/Kathmandu", "Europe/Warsaw", "Australia/Lord_Howe", "America/St_Johns", "Asia/Tokyo"}
	zone, err := time.LoadLocation(zones[rnd.IntN(len(zones))])
	ok(t, err)
	q := store.FigureQuery{Zone: zone, Step: []operation.FigureStep{operation.StepDay, operation.StepWeek, operation.StepMonth}[rnd.IntN(3)],
		From: now.Add(-time.Duration(rnd.Int64N(int64(130 * 24 * time.Hour)))).Truncate(time.Microsecond)}
	if rnd.IntN(2) == 0 {
		q.From = operation.StepDay.Floor(q.From.In(zone))
	}
	if rnd.IntN(2) == 0 {
		q.To = q.From.Add(time.Duration(rnd.Int64N(int64(now.Sub(q.From)))) + time.Second).Truncate(time.Microsecond)
	}
	who, seen := "ops", func(string) bool { return true }
	if rnd.IntN(3) == 0 {
		who, seen = "coupons", func(flow string) bool { return flow == "newsletter-coupon" || flow == "plain-note" }
	}
	whole := who == "ops"
	if rnd.IntN(3) == 0 {
		before := seen
		q.Flow = []string{"newsletter-coupon", "campaign-follow-up"}[rnd.IntN(2)]
		seen, whole = func(flow string) bool { return before(flow) && flow == q.Flow }, false
	}
	if rnd.IntN(3) == 0 {
		q.Destination = []string{"sandbox-billing", "sandbox-crm", "sandbox-mail"}[rnd.IntN(3)]
		for _, p := range o.place {
			q.Destination = p[1]
			break
		}
	}
	b, err := f.Store.FindFigureBoard(t.Context(), f.As(who), q)
	ok(t, err)
	for figure, s := range b.Series {
		as := asked{seen: seen, whole: whole, destination: q.Destination, from: s.From, to: s.To}
		compareFigures(t, fmt.Sprint(figure, " of ", who, " ", q), s.Total, o.value(figure, as), s.Exact)
		for _, p := range s.Parts {
			as.from, as.to = p.From, p.To
			compareFigures(t, fmt.Sprint(figure, " part of ", who, " ", q), p.FigureValue, o.value(figure, as), s.Exact)
		}
		if lists {
			listedBehind(t, f, who, figure, q, s)
		}
	}
}

func compareFigures(t *testing.T, what string, got, want store.FigureValue, exact bool) {
	t.Helper()
	if !exact {
		want.Median, want.P90 = got.Median, got.P90
	}
	if got != want {
		t.Errorf("%s: %+v, the facts say %+v", what, got, want)
	}
}

// listedBehind walks the whole list behind a number: it has as many rows as the number says,
// each once.
func listedBehind(t *testing.T, f *storetest.Fixture, who string, figure operation.Figure, q store.FigureQuery, s store.FigureSeries) {
	t.Helper()
	q.From, q.To = s.From, s.To
	for _, whole := range []bool{false, true} {
		l := store.FigureListQuery{FigureQuery: q, Figure: figure, Whole: whole, Limit: 7}
		seen, rows := map[string]bool{}, int64(0)
		for last := s.To.Add(time.Hour); ; {
			page, err := f.Store.ListFigure(t.Context(), f.As(who), l)
			ok(t, err)
			for _, r := range page.Rows {
				key := fmt.Sprint(r.At.UnixMicro(), r.Took)
				if r.Operation != nil {
					key += string(r.Operation.ID)
				}
				if r.Attempt != nil {
					key += string(r.Attempt.ID)
				}
				if r.Delivery != nil {
					key += string(r.Delivery.ID)
				}
				if r.Event != nil {
					key += string(r.Event.ID)
				}
				if seen[key] || r.At.After(last) || r.Operation == nil && r.Delivery == nil && r.Event == nil {
					t.Errorf("%s: row %s stands twice, in the wrong place, or is of nothing", figure, key)
				}
				seen[key], last = true, r.At
				rows++
			}
			if l.Cursor = page.Next; l.Cursor == "" {
				if rows != page.Size() || !whole && rows != s.Total.N || whole && s.Kind == operation.KindRate && rows != s.Total.Of {
					t.Errorf("%s %+v: %d rows behind %+v", figure, q, rows, s.Total)
				}
				break
			}
		}
	}
}

// couponsPerson adds the person who sees two flows alone.
func couponsPerson(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	_, err := f.Store.AddUser(t.Context(), command, store.NewUser{Email: "coupons@example.test", Name: "Coupons", Roles: []store.RoleGrant{{Role: operation.RoleOpsOwner, Flow: "newsletter-coupon"}, {Role: operation.RoleAuditor, Flow: "plain-note"}}})
	ok(t, err)
	f.FindUsers(t)
}

// TestFiguresAgree: counted ahead or not, by one process or several, with late facts or
// without, in any zone and for any viewer: the figures are those of the facts, and the
// lists behind them have as many rows as they say.
func TestFiguresAgree(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	ctx := t.Context()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	couponsPerson(t, f)
	scatterFacts(t, f, rnd, 45)
	adopt, err := f.Store.Adopt(ctx, f.As("ops"), store.AdoptedJob{Flow: "newsletter-coupon", Stage: "coupon", System: "cron", ItsID: "job 7", Reason: "it stopped", Missing: []string{"code"}})
	ok(t, err)
	moveFacts(t, f, adopt, rnd)
	for range 2 {
		figuresAgree(t, f, loadFacts(t, f), rnd, true)
	}
	b, err := f.Store.FindFigureBoard(ctx, f.As("ops"), store.FigureQuery{From: time.Now().AddDate(-1, 0, 0)})
	ok(t, err)
	for figure, s := range b.Series {
		if s.Total.N == 0 {
			t.Errorf("nothing happened that %s counts", figure)
		}
	}
	countAll(t, f)
	for range 6 {
		figuresAgree(t, f, loadFacts(t, f), rnd, true)
	}
	checkFigures(t, f)
	// a time that is corrected after it was counted
	settled := closedCase(t, f)
	ok(t, f.Store.CorrectCase(ctx, f.As("ops"), settled, operation.ClockInHand, 3*time.Hour, "was away"))
	// late facts: more operations, which are not in the past, and what was in doubt is settled
	for _, o := range someInDoubt(t, f) {
		s := &stand{f: f, t: t, id: o}
		ok(t, f.Store.ConfirmDone(ctx, f.As("ops"), s.shown("seen there"), store.Reference{ID: "late-" + string(o)}))
	}
	figuresAgree(t, f, loadFacts(t, f), rnd, true)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { countAll(t, f) })
	}
	all.Wait()
	for range 3 {
		figuresAgree(t, f, loadFacts(t, f), rnd, true)
	}
	checkFigures(t, f)
	if _, err := f.Store.RebuildFigures(ctx, func(store.FigureProgress) {}); err != nil {
		t.Fatal(err)
	}
	checkFigures(t, f)
	figuresAgree(t, f, loadFacts(t, f), rnd, false)
}

// countAll counts ahead until nothing is left but what is newer than the horizon.
func countAll(t *testing.T, f *storetest.Fixture) {
	for {
		p, err := f.Store.CountFigures(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		if !p.Behind || p.Busy {
			return
		}
	}
}

func checkFigures(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	c, err := f.Store.CheckFigures(t.Context())
	ok(t, err)
	if len(c.Faults) > 0 || c.Missed > 0 || c.Rows == 0 {
		t.Errorf("%d rows were compared, %d cases missed: %+v", c.Rows, c.Missed, c.Faults)
	}
}

func closedCase(t *testing.T, f *storetest.Fixture) (id operation.CaseID) {
	t.Helper()
	ok(t, f.Owner.QueryRow(`SELECT case_id FROM figure_cases ORDER BY closed_at LIMIT 1`).Scan(&id))
	return id
}

func someInDoubt(t *testing.T, f *storetest.Fixture) (out []operation.ID) {
	t.Helper()
	rows, err := f.Owner.Query(`SELECT id FROM operations WHERE state IN ('review', 'unknown') ORDER BY id LIMIT 5`)
	ok(t, err)
	defer rows.Close()
	for rows.Next() {
		var id operation.ID
		ok(t, rows.Scan(&id))
		out = append(out, id)
	}
	return slices.Clip(out)
}
