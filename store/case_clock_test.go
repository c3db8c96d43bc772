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

// back moves a person's last beat of a case into the past, as if time had gone by.
func back(t *testing.T, f *storetest.Fixture, id operation.CaseID, by time.Duration) {
	t.Helper()
	_, err := f.Owner.ExecContext(t.Context(), `UPDATE case_active SET first_beat = first_beat - make_interval(secs => $2), last_beat = last_beat - make_interval(secs => $2) WHERE case_id = $1`, string(id), by.Seconds())
	ok(t, err)
}

// TestBeats: a page is believed as far as time went by, whatever it claims and from
// however many pages.
func TestBeats(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, id := unknownCase(t, f)
	beat := func(short string, claimed time.Duration) time.Duration {
		t.Helper()
		times, err := f.Store.Beat(t.Context(), f.As(short), id, claimed)
		ok(t, err)
		return times.Active
	}
	if got := beat("ops", time.Hour); got != 0 {
		t.Errorf("a first beat counts %s", got)
	}
	if got := beat("ops", 24*time.Hour); got > 2*time.Second {
		t.Errorf("a forged beat counts %s", got)
	}
	back(t, f, id, 15*time.Second)
	if got := beat("ops", 15*time.Second); got < 14*time.Second || got > 17*time.Second {
		t.Errorf("15 s count %s", got)
	}
	// another page of the same person claims the same time
	if got := beat("ops", 15*time.Second); got > 19*time.Second {
		t.Errorf("overlapping pages count %s", got)
	}
	back(t, f, id, 3*time.Hour)
	was := beat("ops", 0)
	back(t, f, id, 3*time.Hour)
	if got := beat("ops", 3*time.Hour) - was; got > operation.BeatCap+time.Second {
		t.Errorf("one beat counts %s", got)
	}
	// the second person's time is their own
	beat("ops2", 0)
	back(t, f, id, 10*time.Second)
	if got := f.Count(t, "case_active WHERE case_id = $1", string(id)); got != 2 {
		t.Errorf("%d persons", got)
	}
	if _, err := f.Store.Beat(t.Context(), f.As("auditor"), id, time.Second); err == nil {
		t.Error("an auditor's reading counts")
	}
	if n := f.Count(t, "history WHERE subject_id = $1 AND action LIKE '%beat%'", string(s.id)); n != 0 {
		t.Error("beats fill the history")
	}
}

// TestBeatsAtOnce: twenty pages that beat at the same moment count once.
func TestBeatsAtOnce(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	_, id := unknownCase(t, f)
	_, err := f.Store.Beat(t.Context(), f.As("ops"), id, 0)
	ok(t, err)
	back(t, f, id, 20*time.Second)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { _, _ = f.Store.Beat(t.Context(), f.As("ops"), id, 20*time.Second) })
	}
	wg.Wait()
	times, err := f.Store.FindCaseTimes(t.Context(), []operation.CaseID{id})
	ok(t, err)
	if got := times[id].Active; got < 19*time.Second || got > 25*time.Second {
		t.Errorf("they count %s", got)
	}
}

// TestCorrectedClock: a clock is set right with a reason, and what was measured stays.
func TestCorrectedClock(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, id := unknownCase(t, f)
	ok(t, f.Store.TakeCase(t.Context(), f.As("ops"), id, "", ""))
	ok(t, f.Store.ReleaseCase(t.Context(), f.As("ops"), id))
	refused(t, f.Store.CorrectCase(t.Context(), f.As("ops"), id, operation.ClockInHand, time.Hour, " "), operation.CodeReasonMissing)
	refused(t, f.Store.CorrectCase(t.Context(), f.As("ops"), id, "other", time.Hour, "why"), operation.CodeClock)
	refused(t, f.Store.CorrectCase(t.Context(), f.As("ops"), id, operation.ClockInHand, -time.Second, "why"), operation.CodeClock)
	refused(t, f.Store.CorrectCase(t.Context(), f.As("author"), id, operation.ClockInHand, time.Hour, "why"), operation.CodeNotEntitled)
	ok(t, f.Store.CorrectCase(t.Context(), f.As("ops"), id, operation.ClockInHand, time.Hour, "Worked on it by phone."))
	ok(t, f.Store.CorrectCase(t.Context(), f.As("ops"), id, operation.ClockActive, 25*time.Minute, "Without the page open."))
	var no *store.Invalid
	if err := f.Store.CorrectCase(t.Context(), f.As("ops"), id, operation.ClockActive, time.Hour+time.Second, "why"); !errors.As(err, &no) || no.Field != "minutes" || no.Code != "clock_active" || no.Limit != 60 {
		t.Errorf("active time above the time in hand: %v", err)
	}
	p, err := f.Store.FindCase(t.Context(), f.As("auditor"), id)
	ok(t, err)
	if p.Times.InHand != time.Hour || p.Times.Active != 25*time.Minute || len(p.Corrections) != 2 {
		t.Errorf("%+v %+v", p.Times, p.Corrections)
	}
	if p.Holds[0].Released.Sub(p.Holds[0].Taken) > time.Minute {
		t.Error("what was measured did not stay")
	}
	if n := f.Count(t, "history WHERE subject_id = $1 AND action = 'correct_case_time' AND reason <> ''", string(s.id)); n != 2 {
		t.Errorf("%d corrections on record", n)
	}

	// The whole hour is possible. When the time in hand shrinks below, less active time is, more is not.
	ok(t, f.Store.CorrectCase(t.Context(), f.As("ops"), id, operation.ClockActive, time.Hour, "All of it."))
	ok(t, f.Store.CorrectCase(t.Context(), f.As("ops"), id, operation.ClockInHand, 10*time.Minute, "Given back sooner."))
	ok(t, f.Store.CorrectCase(t.Context(), f.As("ops"), id, operation.ClockActive, 20*time.Minute, "Looked at it before."))
	if err := f.Store.CorrectCase(t.Context(), f.As("ops"), id, operation.ClockActive, 21*time.Minute, "why"); !errors.As(err, &no) || no.Limit != 10 {
		t.Errorf("active time above the time in hand: %v", err)
	}
}
