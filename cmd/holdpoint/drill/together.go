package drill

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// clients is how many job API clients race the two workers.
const clients = 4

// twoAtOnce: first, two workers and clients of the job API race for one operation. Then
// the worker that holds an attempt is frozen after its request left, another takes over,
// and the first one wakes.
func twoAtOnce(t *trial) error {
	if err := raceForOne(t); err != nil {
		return err
	}
	return frozenWorker(t)
}

func raceForOne(t *trial) error {
	ops, err := t.begin("drill-task", 1)
	if err != nil {
		return err
	}
	id := ops[0]
	if err := t.box.fault(t.ctx, "crm", "slow", map[string]any{"match": string(id), "delay": "400ms"}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	var all sync.WaitGroup
	var won, refusals atomic.Int64
	failed := make([]error, clients)
	for n := range clients {
		all.Go(func() {
			mine, no, err := t.race(ctx, id, fmt.Sprint("client ", n+1))
			refusals.Add(int64(no))
			failed[n] = err
			if mine {
				won.Add(1)
			}
		})
	}
	if err := t.approve(id); err != nil {
		return err
	}
	_, err = t.untilState(id, operation.Confirmed)
	cancel()
	all.Wait()
	if err != nil {
		return err
	}
	for _, err := range failed {
		t.check(err == nil, "a client: %v", err)
	}
	t.did("Two workers and %d clients of the job API race for it; the gate refuses %d claims.", clients, refusals.Load())
	t.check(won.Load() <= 1, "%d clients were permitted", won.Load())
	t.check(refusals.Load() > 0, "nobody was refused: there was no race")
	s, err := t.record(id, 1)
	if err != nil {
		return err
	}
	t.expect(s, "first confirmed")
	return nil
}

func frozenWorker(t *trial) error {
	ops, err := t.begin("drill-task", 1)
	if err != nil {
		return err
	}
	id := ops[0]
	if err := t.box.fault(t.ctx, "crm", "slow", map[string]any{"match": string(id), "delay": "600ms"}); err != nil {
		return err
	}
	if err := t.approve(id); err != nil {
		return err
	}
	if err := t.box.untilSent(t.ctx, "crm", id, 1); err != nil {
		return err
	}
	p, err := t.page(id)
	if err != nil {
		return err
	}
	if len(p.Attempts) != 1 {
		return fmt.Errorf("%d attempts, expected 1", len(p.Attempts))
	}
	w, ok := t.workerOf(p.Attempts[0].Worker)
	if !ok {
		return fmt.Errorf("no process belongs to worker %q", p.Attempts[0].Worker)
	}
	if err := w.freeze(t.ctx); err != nil {
		return err
	}
	defer w.thaw()
	t.did("The worker that sent the next one is frozen (SIGSTOP) before it hears the answer.")
	if err := t.box.untilEffects(t.ctx, "crm", id, 1); err != nil {
		return err
	}
	if _, err := t.untilState(id, operation.Confirmed); err != nil {
		return err
	}
	t.did("Its lease ends: unknown. The other worker looks up: confirmed.")
	w.thaw()
	if _, err := t.until(id, "the late report", func(p *store.OperationPage) bool {
		return slices.ContainsFunc(p.Evidence, func(e store.EvidenceRow) bool { return e.Kind == "late_report" })
	}); err != nil {
		return err
	}
	t.did("The frozen one wakes and reports under a stale fence: kept as evidence.")
	if err := pause(t.ctx, 300*time.Millisecond); err != nil {
		return err
	}
	s, err := t.record(id, 1)
	if err != nil {
		return err
	}
	t.expect(s, "first unknown")
	t.check(slices.Contains(s.Evidence, "lookup one"), "evidence is %q", s.Evidence)
	return nil
}

// waitsUnsent checks that nothing reached the destination yet.
func waitsUnsent(t *trial, id operation.ID) error {
	p, err := t.untilState(id, operation.PendingApproval)
	if err != nil {
		return err
	}
	sends, err := t.box.sends(t.ctx, places[p.Destination], id)
	if err == nil && len(sends) > 0 {
		err = fmt.Errorf("%d requests of %s before its approval", len(sends), id)
	}
	return err
}

// lastPart is what stands after the last separator of an event's key.
func lastPart(key string) string {
	i := strings.LastIndexAny(key, " \x00\x1f|:/")
	return key[i+1:]
}
