package store_test

import (
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestBatchPausesItself: a batch of which more fails than its flow permits pauses once, and
// the record says which limit was passed, by how many of how many.
func TestBatchPausesItself(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "", "pause_when: {last: 20, errors: 10%}")
	s, ctx := f.Store, t.Context()
	id := f.Batch(t, storetest.Recipients(30, nil))
	f.ApproveBatch(t, id, "lead", "second")
	mark := func(confirmed, failed int) {
		t.Helper()
		_, err := f.Owner.Exec(`INSERT INTO batch_marks (batch_id, at, confirmed, not_started, unknown) VALUES ($1, clock_timestamp(), $2, $3, 0)`, string(id), confirmed, failed)
		ok(t, err)
	}
	mark(10, 2)
	alarm, err := s.JudgeBatch(ctx, store.Job("runner"), id)
	ok(t, err)
	if alarm.Kind != "" {
		t.Fatalf("two of twenty: %+v", alarm)
	}
	mark(7, 1)
	want := operation.BatchAlarm{Kind: operation.AlarmErrors, Count: 3, Of: 20, Limit: 100}
	if alarm, err = s.JudgeBatch(ctx, store.Job("runner"), id); err != nil || alarm != want {
		t.Fatalf("%v %+v", err, alarm)
	}
	if alarm, err = s.JudgeBatch(ctx, store.Job("runner"), id); err != nil || alarm.Kind != "" {
		t.Fatalf("it pauses twice: %v %+v", err, alarm)
	}
	p, err := s.FindBatch(ctx, f.As("lead"), id)
	ok(t, err)
	if got, is := operation.ReadBatchAlarm(p.PausedWhy); !is || got != want || p.PausedAuto != want.Kind {
		t.Errorf("%q", p.PausedWhy)
	}
	last := p.History[len(p.History)-1]
	if got, is := operation.ReadBatchAlarm(last.Reason); !is || got != want || last.Action != "pause" || last.Links()["limit"] != want.Kind {
		t.Errorf("%s %q %v", last.Action, last.Reason, last.Links())
	}
	whole(t, s, operation.SubjectBatch, string(id))
}
