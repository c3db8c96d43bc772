package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// aYearOfFacts repeats the history, the attempts and the deliveries of the operations that
// are there n times, evenly over a year up to an hour ago.
func aYearOfFacts(t *testing.T, f *storetest.Fixture, round, n int) {
	t.Helper()
	at := fmt.Sprintf(`now() - interval '1 hour' - interval '365 days' * (n / %d.0) + interval '7 seconds' * %d`, n, round)
	each := fmt.Sprintf(` CROSS JOIN generate_series(1, %d) AS n`, n-1)
	x, err := f.Owner.Begin()
	ok(t, err)
	defer func() { _ = x.Rollback() }()
	for _, q := range []string{
		`INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash, flow, destination)
			SELECT h.subject_kind, 'op_` + fmt.Sprint(round) + `_' || n || '_' || h.subject_id, h.seq, ` + at + ` + make_interval(secs => h.seq), h.actor_kind, h.actor_id, h.actor_name, h.role, h.channel, h.action,
			h.from_state, h.to_state, h.reason, h.links, h.version_id, h.evidence_hash, h.prev_hash, h.hash, h.flow, h.destination
			FROM history h` + each + ` WHERE h.subject_kind = 'operation' AND length(h.subject_id) = 29`,
		`INSERT INTO deliveries (id, source, delivery_key, event_id, verdict, reason, status, body_hash, received_at)
			SELECT d.id || '_` + fmt.Sprint(round) + `_' || n, d.source, d.delivery_key || '-' || n, d.event_id, 'repeated', d.reason, d.status, d.body_hash, ` + at + ` FROM deliveries d` + each + ` WHERE d.id NOT LIKE 'dlv\_%\_%'`,
	} {
		if _, err := x.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	ok(t, x.Commit())
	_, err = f.Owner.Exec(`ANALYZE`)
	ok(t, err)
}

// rowsRead gives how many rows of tables and indexes a call looks at, by table, as the
// server counts them: whatever statements it makes, with whatever plans. The call has a
// store of its own, whose sessions report when they end.
func rowsRead(t *testing.T, f *storetest.Fixture, call func(*store.Store)) (all int64, by map[string]int64) {
	t.Helper()
	read := func() map[string]int64 {
		ok(t, pollUntil(t, func() bool {
			return f.Count(t, `pg_stat_activity WHERE datname = current_database() AND usename = 'holdpoint_app'`) == 0
		}))
		rows, err := f.Owner.Query(`SELECT t.relname, COALESCE(t.seq_tup_read, 0) + COALESCE((SELECT sum(i.idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid), 0) FROM pg_stat_user_tables t`)
		ok(t, err)
		defer rows.Close()
		out := map[string]int64{}
		for rows.Next() {
			var name string
			var n int64
			ok(t, rows.Scan(&name, &n))
			out[name] = n
		}
		ok(t, rows.Err())
		return out
	}
	before := read()
	s, err := store.Open(t.Context(), store.Config{URL: f.AppURL, Secret: storetest.Secret, MaxConns: 2})
	ok(t, err)
	call(s)
	ok(t, s.Close())
	by = read()
	for name, n := range before {
		by[name] -= n
	}
	maps.DeleteFunc(by, func(_ string, n int64) bool { return n == 0 })
	for _, n := range by {
		all += n
	}
	return all, by
}

// pollUntil waits until something holds.
func pollUntil(t *testing.T, holds func() bool) error {
	for end := time.Now().Add(90 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return context.DeadlineExceeded
		}
	}
	return nil
}

// TestFiguresReadWhatTheyShow: the figures of a year, and the first two pages of what stands
// behind each, read few rows, and hardly more when three times as much has happened.
func TestFiguresReadWhatTheyShow(t *testing.T) {
	t.Parallel()
	f := storetest.NewClosedFixture(t)
	s := f.Open(t, f.AppURL)
	f.Store = s
	quick(t, f)
	for state := range ways {
		ways[state](&stand{f: f, t: t, id: coupon(t, f)()})
	}
	made := time.Now() // nothing of this is left to be counted when pages are read
	aYearOfFacts(t, f, 0, 200)
	ok(t, pollUntil(t, func() bool {
		p, err := s.CountFigures(t.Context())
		return err == nil && p.Until.After(made)
	}))
	ok(t, s.Close())

	year := store.FigureQuery{From: time.Now().AddDate(-1, 0, 1)}
	weeks := year
	weeks.Step = operation.StepWeek
	board := func(q store.FigureQuery) func(*store.Store) {
		return func(s *store.Store) {
			_, err := s.FindFigureBoard(t.Context(), f.As("ops"), q)
			ok(t, err)
		}
	}
	calls := map[string]func(*store.Store){"a year": board(year), "a year by weeks": board(weeks)}
	for _, figure := range operation.Figures {
		calls["behind "+string(figure)] = func(s *store.Store) {
			q := store.FigureListQuery{FigureQuery: year, Figure: figure}
			for range 2 {
				l, err := s.ListFigure(t.Context(), f.As("ops"), q)
				ok(t, err)
				if q.Cursor = l.Next; q.Cursor == "" {
					break
				}
			}
		}
	}
	first := map[string]int64{}
	for name, call := range calls {
		n, by := rowsRead(t, f, call)
		if first[name] = n; n > 5000 || by["history_first"] > 1000 || by["figure_totals"] > 1000 {
			t.Errorf("%s: %d rows read: %v", name, n, by)
		}
	}
	for round := range 2 {
		aYearOfFacts(t, f, round+1, 200)
	}
	s = f.Open(t, f.AppURL)
	_, err := s.RebuildFigures(t.Context(), func(store.FigureProgress) {})
	ok(t, errors.Join(err, s.Close()))
	for name, call := range calls {
		if n, by := rowsRead(t, f, call); n > first[name]*3/2+300 {
			t.Errorf("%s: %d rows read, %d when a third had happened: %v", name, n, first[name], by)
		}
	}
}
