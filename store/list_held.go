package store

import (
	"context"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/lib/pq"
)

// HeldDecision is what a person decided about a held event.
type HeldDecision struct {
	Event    operation.EventID `db:"event_id"`
	Decision HeldChoice        `db:"decision"`
	By       operation.UserID  `db:"user_id"`
	Role     operation.Role    `db:"role"`
	Reason   string            `db:"reason"`
	At       time.Time         `db:"decided_at"`
}

// heldOf reads the held events of some events, and what was decided about them.
func (t *tx) heldOf(events []string) (map[operation.EventID]*HeldEvent, map[operation.EventID]*HeldDecision, error) {
	held, decided := map[operation.EventID]*HeldEvent{}, map[operation.EventID]*HeldDecision{}
	if len(events) == 0 {
		return held, decided, nil
	}
	var rows []HeldEvent
	if err := t.list(&rows, `SELECT `+heldColumns+heldFrom+`WHERE h.event_id = ANY($1)`, pq.Array(events)); err != nil {
		return nil, nil, err
	}
	var ends []HeldDecision
	if err := t.list(&ends, `SELECT event_id, decision, user_id, role, reason, decided_at FROM held_decisions WHERE event_id = ANY($1)`, pq.Array(events)); err != nil {
		return nil, nil, err
	}
	for i := range rows {
		held[rows[i].Event] = &rows[i]
	}
	for i := range ends {
		decided[ends[i].Event] = &ends[i]
	}
	return held, decided, nil
}

// flowsNow gives the current flows as this snapshot has them.
func (t *tx) flowsNow() ([]*definition.Flow, error) {
	var epoch int64
	if err := t.get(&epoch, `SELECT epoch FROM installation`); err != nil {
		return nil, err
	}
	c, err := t.currentDefinitions(epoch)
	return c.flows, err
}

// heldLimit bounds how many waiting events are looked through for one person.
const heldLimit = 1000

// waitingHeld gives the held events that this person may decide, oldest first.
func (t *tx) waitingHeld(v Viewer) ([]HeldEvent, error) {
	var rows []HeldEvent
	if err := t.list(&rows, `SELECT `+heldColumns+heldFrom+`WHERE h.open ORDER BY h.held_at, h.event_id LIMIT $1`, heldLimit); err != nil || len(rows) == 0 {
		return nil, err
	}
	flows, err := t.flowsNow()
	if err != nil {
		return nil, err
	}
	kept := rows[:0]
	for _, h := range rows {
		if h.judge(flows, v.In); h.Barred == nil {
			kept = append(kept, h)
		}
	}
	return kept, nil
}

// fillHeld adds to held deliveries what their event resembles and what was decided.
func (t *tx) fillHeld(v Viewer, rows []DeliveryRow) error {
	var events []string
	for _, r := range rows {
		if r.Verdict == VerdictHeld {
			events = append(events, string(r.Event))
		}
	}
	if len(events) == 0 {
		return nil
	}
	held, decided, err := t.heldOf(events)
	if err != nil {
		return err
	}
	flows, err := t.flowsNow()
	if err != nil {
		return err
	}
	for i, r := range rows {
		if h := held[r.Event]; r.Verdict == VerdictHeld && h != nil {
			h.judge(flows, v.In)
			rows[i].Held, rows[i].Decided = h, decided[r.Event]
		}
	}
	return nil
}

// seenBy reports whether the viewer may know of the delivery. Those of no flow are for
// people with a role for every flow; a held one belongs to the flows that it would start.
func (r DeliveryRow) seenBy(v Viewer) bool {
	if r.Flow != "" {
		return v.Sees(r.Flow, "")
	}
	if r.Held != nil {
		for _, f := range r.Held.Flows {
			if v.Sees(f.Name, "") {
				return true
			}
		}
	}
	return v.Active && len(v.Flows[""]) > 0
}

// DeliveryPage is one delivery with all deliveries of its event.
type DeliveryPage struct {
	DeliveryRow
	// Same are the deliveries of the same event, newest first; at most a hundred.
	Same []DeliveryRow
	// Data is what the event says; TwinData what the event says that it resembles. nil =
	// there is no event, or its body was erased.
	Data, TwinData map[string]any
}

// FindDelivery gives one delivery. One that the viewer may not know of is ErrNotFound.
func (s *Store) FindDelivery(ctx context.Context, viewer Actor, id operation.DeliveryID) (*DeliveryPage, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	p := &DeliveryPage{}
	err = s.snapshot(ctx, func(t *tx) error {
		rows := []DeliveryRow{{}}
		if err := t.get(&rows[0], `SELECT `+deliveryColumns+` FROM deliveries d LEFT JOIN events e ON e.id = d.event_id WHERE d.id = $1`, string(id)); err != nil {
			return err
		}
		if err := t.fillHeld(v, rows); err != nil {
			return err
		}
		p.DeliveryRow, p.Same = rows[0], rows
		if !p.seenBy(v) {
			return ErrNotFound
		}
		if p.Event == "" {
			return nil
		}
		return t.fillDelivery(v, p)
	})
	return p, err
}

func (t *tx) fillDelivery(v Viewer, p *DeliveryPage) error {
	p.Same = nil
	if err := t.list(&p.Same, `SELECT `+deliveryColumns+` FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.event_id = $1 ORDER BY d.received_at DESC, d.id DESC LIMIT 100`, string(p.Event)); err != nil {
		return err
	}
	if err := t.fillHeld(v, p.Same); err != nil {
		return err
	}
	var err error
	if p.Data, err = t.eventData(p.Event); err != nil || p.Held == nil {
		return err
	}
	p.TwinData, err = t.eventData(p.Held.Twin)
	return err
}

func (t *tx) eventData(id operation.EventID) (map[string]any, error) {
	var rows []string
	if err := t.list(&rows, `SELECT data FROM event_bodies WHERE event_id = $1`, string(id)); err != nil || len(rows) == 0 {
		return nil, err
	}
	return storedData(rows[0])
}

// heldRows reads what list rows of held deliveries say besides.
func (s *Store) heldRows(ctx context.Context, v Viewer, rows []DeliveryRow) error {
	for _, r := range rows {
		if r.Verdict == VerdictHeld {
			return s.snapshot(ctx, func(t *tx) error { return t.fillHeld(v, rows) })
		}
	}
	return nil
}
