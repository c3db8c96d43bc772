package store_test

import (
	"testing"

	"holdpoint/operation"
	"holdpoint/store/storetest"
)

// TestReexecutionOfASuppressedItem: what people permit once more goes to nobody who is on the
// suppression list by then, whether they got there before the second person's decision or after.
func TestReexecutionOfASuppressedItem(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "{approvers: {role: approver}, expires: 72h}")
	id := f.Batch(t, storetest.Recipients(3, nil))
	f.ApproveBatch(t, id, "lead")
	sent := took(t, f, id, 10).Dispatched
	recorded(t, f, id, confirmed(sent))
	_, err := f.Owner.Exec(`UPDATE operations SET last_dispatch = last_dispatch - interval '1 day', last_send = last_send - interval '1 day'`) // no request can take effect any more
	ok(t, err)
	approve := func(s *stand) error {
		return f.Store.DecideReexecution(t.Context(), f.Fresh(t, "ops2"), s.shown("agreed"), true)
	}
	again := func(i int) *stand {
		s := &stand{f: f, t: t, id: sent[i].Operation}
		s.dispute()
		s.notDone(true)
		return s
	}
	suppress := func(i int) { suppressed(t, f, sent[i].Content["to"].(string)) }
	attempts := func(i int) int { return f.Count(t, "attempts WHERE operation_id = $1", string(sent[i].Operation)) }
	state := func(i int) (s operation.State) {
		ok(t, f.Owner.QueryRow(`SELECT state FROM operations WHERE id = $1`, string(sent[i].Operation)).Scan(&s))
		return s
	}

	before := again(0)
	suppress(0)
	refused(t, approve(before), operation.CodeSuppressed)
	if state(0) != operation.ReexecutionRequested {
		t.Errorf("refused, it is %s", state(0))
	}

	after := again(1)
	ok(t, approve(after))
	suppress(1)
	_, err = f.Store.ClaimAndDispatch(t.Context(), runner, sent[1].Operation, "alone")
	refused(t, err, operation.CodeSuppressed)
	if state(1) != operation.Review || attempts(1) != 1 {
		t.Errorf("suppressed after the decision, it is %s with %d attempts", state(1), attempts(1))
	}
	if p, err := f.Store.FindOperation(t.Context(), f.As("ops"), sent[1].Operation); err != nil || !p.Facts.Suppressed {
		t.Errorf("its page does not know: %v", err)
	}

	other := again(2)
	ok(t, approve(other))
	_, err = f.Store.ClaimAndDispatch(t.Context(), runner, sent[2].Operation, "alone")
	refused(t, err, operation.CodeLookupNeeded) // who is not suppressed goes on to the next condition
	verified(t, f, id)
}
