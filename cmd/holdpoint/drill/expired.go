package drill

import (
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// lose brings an operation to unknown under a fault and lets the key's retention end
// while its destination is paused.
func (t *trial) lose(flow, destination, fault string) (operation.ID, error) {
	ops, err := t.begin(flow, 1)
	if err != nil {
		return "", err
	}
	id := ops[0]
	if err := t.box.fault(t.ctx, places[destination], fault, map[string]any{"match": string(id)}); err != nil {
		return id, err
	}
	if err := t.approve(id); err != nil {
		return id, err
	}
	p, err := t.untilState(id, operation.Unknown)
	if err != nil {
		return id, err
	}
	if _, err := t.store.PauseDestination(t.ctx, t.people["ops"], destination, "the drill lets the key run out"); err != nil {
		return id, err
	}
	keyEnds := p.Facts.Protection.Until(p.Facts.KeyFirst)
	if err := pause(t.ctx, keyEnds.Sub(p.Now)+300*time.Millisecond); err != nil {
		return id, err
	}
	if err := t.store.ResumeDestination(t.ctx, t.people["ops"], destination, "the key has run out"); err != nil {
		return id, err
	}
	return id, nil
}

// expiredWithLookup: the effect took place, the answer was lost, lookups fail until the
// key has run out. The reviewer is wrong and a second person permits one more attempt;
// the lookup that comes before it finds the effect. Nothing is sent again.
func expiredWithLookup(t *trial) error {
	if err := t.box.fault(t.ctx, "billing", "status_before_execute", map[string]any{"on": "lookup", "times": 0}); err != nil {
		return err
	}
	id, err := t.lose("drill-invoice", "drill-billing", "drop_after_execute")
	if err != nil {
		return err
	}
	t.did("The effect takes place, the answer is lost, lookups fail; the key's 3 s run out.")
	if err := t.review(id); err != nil {
		return err
	}
	if err := t.permit(id, "ops2"); err != nil {
		return err
	}
	t.did("A second ops owner permits one more attempt.")
	if err := pause(t.ctx, 500*time.Millisecond); err != nil {
		return err
	}
	t.check(sameSends(t, "billing", id, 1), "it was sent again without a fresh lookup")
	if err := t.box.clearFaults(t.ctx, "billing"); err != nil {
		return err
	}
	t.did("Lookups work again; the one before the attempt finds the effect.")
	s, err := t.confirmed(id)
	if err != nil {
		return err
	}
	t.expect(s, "first unknown")
	t.check(s.Requests == 1, "%d requests were sent", s.Requests)
	t.check(slices.Contains(s.Evidence, "lookup one"), "evidence is %q", s.Evidence)
	p, err := t.page(id)
	if err != nil {
		return err
	}
	t.check(p.Request != nil && p.Request.State == "void", "the permission to send again is not void")
	return nil
}

// review waits until a person is asked, and lets the reviewer state that nothing
// happened. The reviewer cannot permit the attempt that they ask for.
func (t *trial) review(id operation.ID) error {
	if _, err := t.untilState(id, operation.Review); err != nil {
		return err
	}
	_, err := t.store.ClaimAndDispatch(t.ctx, store.Job("drill"), id, "drill")
	t.check(refused(err, operation.CodeNotReady), "an automatic repeat was not refused: %v", err)
	t.did("Automatic repeats are blocked; a person is asked.")
	if err := t.notDone(id); err != nil {
		return err
	}
	t.did("The reviewer answers the checklist: not done, one more attempt, please.")
	err = t.permit(id, "ops")
	t.check(refused(err, operation.CodeParty), "the reviewer permitted their own request: %v", err)
	return nil
}

// expiredWithoutLookup: nothing took place, nothing can be looked up, the key has run
// out. After the checklist and a second person's decision there is exactly one more
// attempt, with the key's next generation.
func expiredWithoutLookup(t *trial) error {
	id, err := t.lose("drill-blind-invoice", "drill-blind", "drop_before_execute")
	if err != nil {
		return err
	}
	t.did("The connection drops; nothing took place, which nobody can look up. The key's 3 s run out.")
	if err := t.review(id); err != nil {
		return err
	}
	p, err := t.page(id)
	if err != nil {
		return err
	}
	t.check(p.State == operation.ReexecutionRequested && sameSends(t, "billing", id, 1), "it is %s before the second person's decision", p.State)
	if err := t.permit(id, "ops2"); err != nil {
		return err
	}
	t.did("A second ops owner permits one more attempt, with a new key.")
	s, err := t.confirmed(id)
	if err != nil {
		return err
	}
	t.expect(s, "first unknown", "reexecution confirmed")
	return t.nextKey(id)
}

// nextKey checks that the effect was made with the key's second generation.
func (t *trial) nextKey(id operation.ID) error {
	there, err := t.box.ledger(t.ctx, "billing", id)
	if err != nil {
		return err
	}
	first, second := operation.DestinationKey(id, 1), operation.DestinationKey(id, 2)
	t.check(first != second && len(there) == 1 && there[0].Key == second, "the effect's key is not the next generation: %v", there)
	sends, err := t.box.sends(t.ctx, "billing", id)
	if err == nil && len(sends) == 2 {
		t.check(sends[0].Headers.Get("Idempotency-Key") == first, "the first request had key %q", sends[0].Headers.Get("Idempotency-Key"))
	}
	return err
}
