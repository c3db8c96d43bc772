package store_test

import (
	"log/slog"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/google/go-cmp/cmp"
	"github.com/lib/pq"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
)

// jobRow is what the engine reads of a job, without times and numbers.
type jobRow struct {
	Args, Kind, Metadata, Queue, State, Tags string
	MaxAttempts, Priority, Attempt           int
	UniqueKey, UniqueStates                  *string
}

// TestWakeUp: a wake-up that a decision writes with its own statement is the very row,
// and the very notification, that the engine's client would have made.
func TestWakeUp(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	heard := make(chan *pq.Notification, 10)
	l := pq.NewListener(f.OwnerURL, time.Second, time.Minute, nil)
	defer l.Close()
	ok(t, l.Listen("public.river_insert"))
	go func() {
		for n := range l.Notify {
			heard <- n
		}
	}()
	row := func(kind string) jobRow {
		t.Helper()
		var r jobRow
		ok(t, f.Owner.QueryRow(`SELECT args - 'operation' - 'revision', kind, metadata, queue, state, tags::text, max_attempts, priority, attempt, encode(unique_key, 'hex'), unique_states::text
			FROM river_job ORDER BY id DESC LIMIT 1`).Scan(&r.Args, &r.Kind, &r.Metadata, &r.Queue, &r.State, &r.Tags, &r.MaxAttempts, &r.Priority, &r.Attempt, &r.UniqueKey, &r.UniqueStates))
		if r.Kind != kind {
			t.Errorf("kind %s, want %s", r.Kind, kind)
		}
		return r
	}
	next := func() string {
		t.Helper()
		select {
		case n := <-heard:
			return n.Extra
		case <-time.After(10 * time.Second):
			t.Fatal("no notification")
			return ""
		}
	}

	id := f.Ready(t)
	ours, oursHeard := row("execute"), next()
	client, err := river.NewClient(riverdatabasesql.New(f.Owner), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	ok(t, err)
	p, err := f.Store.FindOperation(t.Context(), f.As("lead"), id)
	ok(t, err)
	tx, err := f.Owner.Begin()
	ok(t, err)
	_, err = client.InsertTx(t.Context(), tx, store.ExecuteArgs{Operation: id, Destination: p.Destination, Revision: p.Revision}, nil)
	ok(t, err)
	ok(t, tx.Commit())
	if d := cmp.Diff(row("execute"), ours); d != "" {
		t.Errorf("the job differs from the engine's (-engine +ours):\n%s", d)
	}
	if theirs := next(); theirs != oursHeard {
		t.Errorf("notified %s, the engine notifies %s", oursHeard, theirs)
	}

	// A later one is scheduled, and notifies nobody.
	job := store.Job("test")
	a, err := f.Store.ClaimAndDispatch(t.Context(), job, id, "test")
	ok(t, err)
	_, err = f.Store.Record(t.Context(), job, a.Attempt, a.Fence, operation.Result{Outcome: operation.OutcomeNotStarted, Proof: operation.Proof{Code: "refused_connection"}})
	ok(t, err)
	later := row("execute")
	if later.State != "scheduled" {
		t.Errorf("state %s, want scheduled", later.State)
	}
	select {
	case n := <-heard:
		t.Errorf("a scheduled job notified: %s", n.Extra)
	case <-time.After(200 * time.Millisecond):
	}
}
