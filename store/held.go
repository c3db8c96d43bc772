package store

import (
	"context"
	"errors"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// HeldChoice is what a person decides about an event that may be a duplicate.
type HeldChoice string

// The decisions on held events.
const (
	HeldRelease HeldChoice = "release" // another fact: it starts what it would have started
	HeldDiscard HeldChoice = "discard" // the same fact again: nothing starts
)

// HeldEvent is an event that was not let through: it has the business key of an earlier
// one.
type HeldEvent struct {
	Event    operation.EventID    `db:"event_id"`
	Twin     operation.EventID    `db:"twin_id"`     // the earlier event that it resembles
	Delivery operation.DeliveryID `db:"delivery_id"` // the delivery that brought it
	Open     bool                 `db:"open"`        // nobody has decided yet
	HeldAt   time.Time            `db:"held_at"`
	Source   string               `db:"source"`
	Account  string               `db:"account"`
	Topic    string               `db:"topic"`
	EventKey string               `db:"event_key"`
	Business string               `db:"business_key"` // the key that both have
	Handle   string               `db:"handle"`
	// TwinKey, TwinAt and TwinRun are of the earlier event; TwinRun "" = it started none.
	TwinKey string          `db:"twin_key"`
	TwinAt  time.Time       `db:"twin_at"`
	TwinRun operation.RunID `db:"twin_run"`
	// Flows are those that a release would start by the definitions of now.
	Flows []*definition.Flow `db:"-"`
	// Barred says why the viewer may not decide; nil = they may.
	Barred *operation.Refusal `db:"-"`
}

const heldColumns = `h.event_id, h.twin_id, h.delivery_id, h.open, h.held_at, e.source, e.account, e.topic, e.event_key, COALESCE(e.business_key, '') AS business_key, h.handle,
	w.event_key AS twin_key, w.received_at AS twin_at, COALESCE((SELECT x.run_id FROM event_runs x WHERE x.event_id = w.id ORDER BY x.run_id LIMIT 1), '') AS twin_run`

const heldFrom = ` FROM held_events h JOIN events e ON e.id = h.event_id JOIN events w ON w.id = h.twin_id `

// hold records that the event waits for a person, with what its release will need.
func (b *runBuilder) hold(twin operation.EventID, delivery operation.DeliveryID) error {
	_, err := b.exec(`INSERT INTO held_events (event_id, twin_id, delivery_id, handle, action_run_id, held_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		string(b.event), string(twin), string(delivery), b.in.Handle, b.in.ActionRunID, b.now)
	return err
}

// judge fills in the flows that a release would start, and whether the person may decide.
func (h *HeldEvent) judge(flows []*definition.Flow, who func(flow string) operation.Person) operation.Role {
	h.Flows = nil
	for _, f := range flows {
		if triggeredBy(f, h.Source, h.Topic, h.Handle) {
			h.Flows = append(h.Flows, f)
		}
	}
	var role operation.Role
	role, h.Barred = mayDecideHeld(h.Flows, who)
	return role
}

// mayDecideHeld lets ops owners decide, and the owner of every flow that would start.
// It gives the role in which the person decides.
func mayDecideHeld(flows []*definition.Flow, who func(flow string) operation.Person) (operation.Role, *operation.Refusal) {
	refusal := operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner})
	if len(flows) == 0 {
		if who("").Has(operation.RoleOpsOwner) {
			return operation.RoleOpsOwner, nil
		}
		return "", refusal
	}
	role := operation.RoleOpsOwner
	for _, f := range flows {
		p := who(f.Name)
		switch {
		case p.Has(operation.RoleOpsOwner):
		case f.Owner.Matches(p):
			role = f.Owner.Role
		default:
			return "", refusal
		}
	}
	return role, nil
}

// ReleaseHeld lets a held event start what it would have started when it came, in one
// transaction with the recorded decision. Who may: ops owners, and the owner of the flows
// that start. The same form again is the same decision.
func (s *Store) ReleaseHeld(ctx context.Context, a Actor, id operation.DeliveryID, formID, reason string) (Receipt, error) {
	var out Receipt
	err := s.decideHeld(ctx, a, id, formID, reason, HeldRelease, func(b *runBuilder, h HeldEvent) error {
		out = Receipt{Event: h.Event, Verdict: VerdictAccepted}
		if b.in.Data == nil { // its body was erased
			return operation.Refuse(operation.CodeContentMissing, "field", "event")
		}
		if err := b.runs(&out); err != nil {
			return err
		}
		return b.store(&out)
	})
	return out, err
}

// DiscardHeld records that a held event is a duplicate: nothing starts, and a later
// redelivery of it stays quiet. Who may is as for ReleaseHeld.
func (s *Store) DiscardHeld(ctx context.Context, a Actor, id operation.DeliveryID, formID, reason string) error {
	return s.decideHeld(ctx, a, id, formID, reason, HeldDiscard, func(*runBuilder, HeldEvent) error { return nil })
}

func (s *Store) decideHeld(ctx context.Context, a Actor, id operation.DeliveryID, formID, reason string, c HeldChoice, fn func(*runBuilder, HeldEvent) error) error {
	if a.Kind != operation.ActorPerson {
		return operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner))
	}
	if formID == "" {
		return operation.Refuse(operation.CodeStaleRevision)
	}
	return s.write(ctx, func(t *tx) error {
		return t.decideHeld(a, id, formID, reason, c, fn)
	})
}

func (t *tx) decideHeld(a Actor, id operation.DeliveryID, formID, reason string, c HeldChoice, fn func(*runBuilder, HeldEvent) error) error {
	event, err := t.lockHeld(id)
	if err != nil {
		return err
	}
	var h HeldEvent
	if err := t.get(&h, `SELECT `+heldColumns+heldFrom+`WHERE h.event_id = $1`, string(event)); err != nil {
		return err
	}
	b := &runBuilder{tx: t, actor: a, event: event}
	if err := b.begin(); err != nil {
		return err
	}
	var seen int
	if err := t.get(&seen, `SELECT count(*) FROM held_decisions WHERE event_id = $1 AND user_id = $2 AND form_id = $3`, string(event), a.ID, formID); err != nil {
		return err
	}
	if seen > 0 {
		return errDone
	}
	role, err := b.mayDecide(&h)
	if err != nil {
		return err
	}
	if !h.Open {
		return operation.Refuse(operation.CodeAlreadyDecided)
	}
	if reason, err = reasonGiven(reason); err != nil {
		return err
	}
	if err := b.decided(h, c, role, formID, reason); err != nil {
		return err
	}
	return fn(b, h)
}

// lockHeld finds the event of a held delivery and locks it, after the gate's shared lock:
// rights and definitions stand still meanwhile. What is read afterwards is the newest.
func (t *tx) lockHeld(id operation.DeliveryID) (operation.EventID, error) {
	if _, err := t.exec(`SELECT pg_advisory_xact_lock_shared(1752132708)`); err != nil {
		return "", err
	}
	var event operation.EventID
	err := t.get(&event, `SELECT h.event_id FROM held_events h JOIN deliveries d ON d.event_id = h.event_id WHERE d.id = $1 AND d.verdict = 'held' FOR UPDATE OF h`, string(id))
	return event, err
}

// begin reads clock, definitions and the stored event as it was received.
func (b *runBuilder) begin() error {
	var ev struct {
		Now      time.Time `db:"now"`
		XID      string    `db:"xid"`
		Epoch    int64     `db:"epoch"`
		Source   string    `db:"source"`
		Account  string    `db:"account"`
		Topic    string    `db:"topic"`
		Key      string    `db:"event_key"`
		Business string    `db:"business_key"`
		Time     time.Time `db:"event_time"`
		Body     []byte    `db:"body"`
		Data     *string   `db:"data"`
		Handle   string    `db:"handle"`
		Run      string    `db:"action_run_id"`
	}
	err := b.get(&ev, `SELECT clock_timestamp() AS now, pg_current_xact_id()::text AS xid, i.epoch, e.source, e.account, e.topic, e.event_key, COALESCE(e.business_key, '') AS business_key,
		e.event_time, COALESCE(b.body, '') AS body, b.data, h.handle, h.action_run_id
		FROM held_events h JOIN events e ON e.id = h.event_id LEFT JOIN event_bodies b ON b.event_id = e.id CROSS JOIN installation i WHERE h.event_id = $1`, string(b.event))
	if err != nil {
		return err
	}
	b.xid, b.epoch, b.now = ev.XID, ev.Epoch, ev.Now.UTC().Truncate(time.Microsecond)
	b.in = Received{Source: ev.Source, Account: ev.Account, Topic: ev.Topic, EventKey: ev.Key, BusinessKey: ev.Business, EventTime: ev.Time.UTC(),
		Body: ev.Body, Handle: ev.Handle, ActionRunID: ev.Run}
	if ev.Data != nil {
		if b.in.Data, err = storedData(*ev.Data); err != nil {
			return err
		}
	}
	b.defs, err = b.currentDefinitions(ev.Epoch)
	return err
}

// storedData decodes an event's data as it was decoded when it came.
func storedData(text string) (map[string]any, error) {
	v, err := definition.DecodeJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	m, _ := v.(map[string]any)
	return m, nil
}

// mayDecide reads the person's roles in this transaction and fills in what would start.
func (b *runBuilder) mayDecide(h *HeldEvent) (operation.Role, error) {
	var failed error
	role := h.judge(b.defs.flows, func(flow string) operation.Person {
		p, err := b.person(b.actor, flow)
		failed = errors.Join(failed, err)
		return p
	})
	switch {
	case failed != nil:
		return "", failed
	case h.Barred != nil:
		return "", h.Barred
	}
	return role, nil
}

// decided writes the decision and its entry in the history of the installation.
func (b *runBuilder) decided(h HeldEvent, c HeldChoice, role operation.Role, formID, reason string) error {
	if err := b.one(`UPDATE held_events SET open = false WHERE event_id = $1 AND open`, string(h.Event)); err != nil {
		return err
	}
	if _, err := b.exec(`INSERT INTO held_decisions (event_id, decision, user_id, role, reason, form_id, decided_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		string(h.Event), string(c), b.actor.ID, string(role), reason, formID, b.now); err != nil {
		return err
	}
	return b.tx.enter(b.actor, b.now, operation.SubjectSystem, systemSubject, string(c)+"_held", reason,
		"role", string(role), "event", string(h.Event), "twin", string(h.Twin), "delivery", string(h.Delivery))
}
