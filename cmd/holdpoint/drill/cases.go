package drill

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"holdpoint/store"
)

func idIn(raw []byte) string {
	var body struct{ ID string }
	if json.Unmarshal(raw, &body) != nil {
		return ""
	}
	return body.ID
}

// normalSuccess: one event, one approval, one effect.
func normalSuccess(t *trial) error {
	ops, err := t.begin("drill-task", 1)
	if err != nil {
		return err
	}
	t.check(waitsUnsent(t, ops[0]) == nil, "something was sent before the approval")
	if err := t.approve(ops[0]); err != nil {
		return err
	}
	t.did("The lead approves; a worker sends.")
	s, err := t.confirmed(ops[0])
	if err != nil {
		return err
	}
	t.expect(s, "first confirmed")
	t.check(s.ConfirmedBy == "destination", "confirmed by %q", s.ConfirmedBy)
	return nil
}

// parallel is how often the same event arrives at once.
const parallel = 20

// redelivered: the same event twenty times at once, and twice more afterwards.
func redelivered(t *trial) error {
	e := t.newEvent("drill-task")
	got, err := t.flood(e)
	if err != nil {
		return err
	}
	t.did("The same event arrives %d times at once (servers: %d).", parallel, len(t.servers))
	accepted := 0
	for _, rec := range got {
		if rec.Verdict == string(store.VerdictAccepted) {
			accepted++
		}
		t.check(len(rec.Operations) == 1 && rec.Operations[0] == got[0].Operations[0], "a delivery was told %v, another %v", rec.Operations, got[0].Operations)
	}
	t.check(accepted == 1, "%d deliveries were a new event", accepted)
	id := got[0].Operations[0]
	if err := t.approve(id); err != nil {
		return err
	}
	if _, err := t.untilState(id, "confirmed"); err != nil {
		return err
	}
	t.did("The lead approves; the effect is confirmed.")
	for n := range 2 {
		rec, err := t.deliver(t.ctx, e, n)
		if err != nil {
			return err
		}
		t.check(rec.Verdict == string(store.VerdictRepeated) && len(rec.Operations) == 1 && rec.Operations[0] == id, "a late delivery was %s: %v", rec.Verdict, rec.Operations)
	}
	t.did("It arrives twice more.")
	if err := pause(t.ctx, 500*time.Millisecond); err != nil {
		return err
	}
	s, err := t.record(id, 1)
	if err != nil {
		return err
	}
	t.expect(s, "first confirmed")
	return t.deliveries(e, parallel+2)
}

// flood delivers an event many times at once, spread over the servers.
func (t *trial) flood(e event) ([]receipt, error) {
	got, errs := make([]receipt, parallel), make([]error, parallel)
	var all sync.WaitGroup
	for n := range parallel {
		all.Go(func() { got[n], errs[n] = t.deliver(t.ctx, e, n) })
	}
	all.Wait()
	for n, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("delivery %d: %w", n, err)
		}
		if len(got[n].Operations) == 0 {
			return nil, fmt.Errorf("delivery %d was %s and names no operation", n, got[n].Verdict)
		}
	}
	return got, nil
}

// deliveries checks that every receipt is on the record.
func (t *trial) deliveries(e event, want int) error {
	list, err := t.store.ListDeliveries(t.ctx, t.people["ops"], store.DeliveryFilter{Source: "drill", Limit: 500})
	if err != nil {
		return err
	}
	n := 0
	for _, d := range list.Rows {
		if d.Topic == e.Type && lastPart(d.EventKey) == e.ID {
			n++
		}
	}
	t.check(n == want, "%d deliveries are on the record, expected %d", n, want)
	return nil
}

// timeoutAfterSuccess: the destination acts and never answers. The outcome is unknown
// until a lookup finds the effect; nothing is sent twice.
func timeoutAfterSuccess(t *trial) error {
	ops, err := t.begin("drill-task", 1)
	if err != nil {
		return err
	}
	id := ops[0]
	if err := t.box.fault(t.ctx, "crm", "stall_after_execute", map[string]any{"match": string(id), "delay": "30s"}); err != nil {
		return err
	}
	if err := t.approve(id); err != nil {
		return err
	}
	t.did("The lead approves; the destination acts and does not answer.")
	s, err := t.confirmed(id)
	if err != nil {
		return err
	}
	t.did("The attempt ends as unknown; a lookup by our reference finds the effect.")
	t.expect(s, "first unknown")
	t.check(len(s.Evidence) > 0 && s.Evidence[len(s.Evidence)-1] == "lookup one", "evidence is %q", s.Evidence)
	return nil
}
