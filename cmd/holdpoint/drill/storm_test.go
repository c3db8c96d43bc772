package drill

import (
	"context"
	"fmt"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// TestTwentyDeliveriesOverTwoServers: one event, twenty deliveries at once, two server
// processes: one run, one operation, twenty receipts (FC-01).
func TestTwentyDeliveriesOverTwoServers(t *testing.T) {
	r := useRig(t)
	if len(r.servers) != 2 {
		t.Fatalf("%d servers", len(r.servers))
	}
	for range 5 {
		tr := &trial{rig: r, ctx: t.Context()}
		e := r.newEvent("drill-task")
		got, err := tr.flood(e)
		if err != nil {
			t.Fatal(err)
		}
		accepted := 0
		for _, rec := range got {
			if rec.Verdict == string(store.VerdictAccepted) {
				accepted++
			}
			if len(rec.Operations) != 1 || rec.Operations[0] != got[0].Operations[0] {
				t.Errorf("one sender is told %v, another %v", got[0].Operations, rec.Operations)
			}
		}
		if accepted != 1 {
			t.Errorf("%d of the deliveries were a new event", accepted)
		}
		if err := tr.deliveries(e, parallel); err != nil {
			t.Fatal(err)
		}
		for _, f := range tr.Failures {
			t.Error(f)
		}
	}
}

// TestSameKeyOtherPayload: the same identity with another payload starts nothing and
// stays on the record as a conflict.
func TestSameKeyOtherPayload(t *testing.T) {
	r := useRig(t)
	e := r.newEvent("drill-task")
	first, err := r.deliver(t.Context(), e, 0)
	if err != nil {
		t.Fatal(err)
	}
	e.Data = map[string]any{"name": "somebody else"}
	second, err := r.deliver(t.Context(), e, 1)
	if err != nil || second.Verdict != string(store.VerdictConflict) || len(second.Operations) != 0 && second.Operations[0] != first.Operations[0] {
		t.Errorf("another payload under the same identity: %+v, %v", second, err)
	}
}

// storm is how many operations are under way while processes die.
const storm = 30

// TestStorm: while thirty operations are performed, workers are killed, a server is
// killed, and PostgreSQL is killed and started again. Every operation has exactly one
// effect in the end or, where a worker died before its request left, none and a person
// who is asked. None is missing, none is sent twice, and every history verifies.
func TestStorm(t *testing.T) {
	r := useRig(t)
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	tr := &trial{rig: r, ctx: ctx}
	if err := r.box.fault(ctx, "crm", "slow", map[string]any{"times": storm, "delay": "150ms"}); err != nil {
		t.Fatal(err)
	}
	var ids []operation.ID
	for n := range storm {
		ops, err := tr.begin("drill-task", 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.approve(ops[0]); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, ops[0])
		switch n {
		case 5, 15:
			r.workers[0].kill()
			r.workers = r.workers[1:]
			if err := r.work(1); err != nil {
				t.Fatal(err)
			}
		case 10:
			r.servers[0].kill()
			r.servers = r.servers[1:]
			if err := r.serve(ctx); err != nil {
				t.Fatal(err)
			}
		case 20:
			r.pg.Kill()
			if err := r.pg.Restart(ctx); err != nil {
				t.Fatal(err)
			}
			if err := backAgain(ctx, r); err != nil {
				t.Fatal(err)
			}
		case 25:
			r.killWorkers()
			if err := r.work(2); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, id := range ids {
		p, err := tr.until(id, "confirmed or review", func(p *store.OperationPage) bool {
			return p.State == operation.Confirmed || p.State == operation.Review
		})
		if err != nil {
			t.Fatal(err)
		}
		// A worker that died right before its request left makes no effect, and nobody can
		// know: three lookups find nothing, a person is asked.
		want := 1
		if p.State == operation.Review {
			want = 0
		}
		if s, err := tr.seen(id, want); err != nil || s.Requests > len(s.Attempts) {
			t.Errorf("%d requests for %q: %v", s.Requests, s.Attempts, err)
		}
	}
	for _, f := range tr.Failures {
		t.Error(f)
	}
	if err := r.whole(); err != nil {
		t.Error(err)
	}
	if err := r.box.clearFaults(ctx, "crm"); err != nil {
		t.Error(err)
	}
	t.Log(outcomes(tr), slowest(tr, ids))
}

// slowest tells the story of the operation that was not touched for the longest time.
func slowest(tr *trial, ids []operation.ID) string {
	var worst time.Duration
	story := ""
	for _, id := range ids {
		p, err := tr.page(id)
		if err != nil {
			return err.Error()
		}
		gap := time.Duration(0)
		text := string(id)
		for i, h := range p.History {
			wait := time.Duration(0)
			if i > 0 {
				wait = h.At.Sub(p.History[i-1].At).Round(time.Millisecond)
			}
			gap = max(gap, wait)
			text += fmt.Sprintf("\n+%s %s → %s %s %s", wait, h.Action, h.To, h.ActorName, h.Reason)
		}
		if gap > worst {
			worst, story = gap, text
		}
	}
	return story
}

// backAgain waits until the record and every server answer after the database came back.
func backAgain(ctx context.Context, r *rig) error {
	for n := range r.servers {
		for {
			_, err := r.deliver(ctx, r.newEvent("drill-task"), n)
			if err == nil {
				break
			}
			if perr := pause(ctx, 50*time.Millisecond); perr != nil {
				return fmt.Errorf("server %d does not take events again: %w", n, err)
			}
		}
	}
	for {
		err := r.store.Check(ctx)
		if err == nil {
			return nil
		}
		if perr := pause(ctx, 50*time.Millisecond); perr != nil {
			return err
		}
	}
}

// outcomes counts how the attempts of a storm ended.
func outcomes(tr *trial) map[string]int {
	n := map[string]int{}
	for _, o := range tr.Operations {
		for _, a := range o.Attempts {
			n[a]++
		}
	}
	return n
}
