package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/gowebpki/jcs"
)

// Received is one notification whose signature and form have been checked.
type Received struct {
	Source, Account, Topic string
	EventKey               string // never empty
	DeliveryKey            string
	Subscription           string
	BusinessKey            string // "" = none; a second key that must not come twice. Not used with Flow
	Handle                 string // of a Shopify Flow action
	ActionRunID            string
	EventTime              time.Time // zero = now
	Body                   []byte    // exactly as received
	Compared               []byte    // what is compared with an earlier payload of the same event; nil = Body
	Data                   map[string]any
	Inputs                 map[string]any // nil = what the flow takes from the event
	Headers                map[string]string
	SkewMillis             *int64 // measured clock skew of the sender
	Status                 int    // what we shall answer
	// StatusOf is what we shall answer for these verdicts; the others get Status.
	StatusOf map[Verdict]int
	// Flow, when set, starts this flow only (job API); otherwise triggers decide.
	Flow   string
	RunKey string // with Flow: the caller's run key
	// Content replaces the flow's drafts, by stage (job API).
	Content map[string]map[string]any
	Author  Author // who wrote Content
	// Starter is the person who gave the inputs by hand: they are the author of what the
	// flow makes of them, and so a party. Zero = nobody did.
	Starter operation.UserID
	// Post and Item are of a notification that came with others in one POST: what the POST
	// is called, and the place in it, from 1. "" and 0 = it came alone.
	Post string
	Item int

	lists  map[string]List              // by the input that each stands for
	shared map[string]map[string]string // text that is written once for a batch: stage → path → text
	built  map[string]newBatch          // batches whose items are written already, by stage
	event  operation.EventID            // of a new event; "" = any
}

// status is what is answered for a verdict.
func (in Received) status(v Verdict) int {
	if n, ok := in.StatusOf[v]; ok {
		return n
	}
	return in.Status
}

// Author is who wrote a content version.
type Author struct {
	Kind       string // person, model, token, flow
	ID         string
	PromptedBy operation.UserID // the person behind a model's draft
	Model      string
	Note       string
}

// Verdict says what became of a delivery.
type Verdict string

// The verdicts on deliveries.
const (
	VerdictAccepted Verdict = "accepted" // a new event
	VerdictRepeated Verdict = "repeated" // the same event again; nothing new starts
	VerdictConflict Verdict = "conflict" // the same identity with another payload
	VerdictHeld     Verdict = "held"     // a possible duplicate: a person decides
	VerdictIgnored  Verdict = "ignored"  // not for this environment
	VerdictRefused  Verdict = "refused"  // signature, form or identity is wrong
)

// Receipt says what became of one delivery.
type Receipt struct {
	Delivery   operation.DeliveryID
	Event      operation.EventID
	Verdict    Verdict
	Reason     string
	Runs       []operation.RunID
	Operations []operation.ID
	Batches    []operation.BatchID // of stages that fan out
	// Drafted are the first versions that this delivery brought, in the order of
	// Operations; empty when the run was there already.
	Drafted []Drafted
}

// Drafted is a version that a delivery brought.
type Drafted struct {
	Operation operation.ID
	Version   operation.VersionID
	Hash      string // hex; "" while something is missing
}

// Receive stores delivery, event, run and operations in ONE transaction (FC-01, FC-04):
// a sender is only told "done" when the work is stored, and a repeated event finds it.
func (s *Store) Receive(ctx context.Context, a Actor, in Received) (Receipt, error) {
	if in.EventKey == "" {
		return Receipt{}, operation.Refuse(operation.CodeContentMissing, "field", "event key")
	}
	hash := payloadHash(in)
	var out Receipt
	err := s.write(ctx, func(t *tx) error {
		out = Receipt{Delivery: operation.DeliveryID(newID("dlv")), Verdict: VerdictAccepted}
		return t.receive(a, in, hash, &out)
	})
	return out, err
}

// eventSQL writes the event unless its identity is there; the unique constraint
// decides, not a look before. It waits for a concurrent writer of the same event.
const eventSQL = `WITH g AS MATERIALIZED (SELECT ` + gateShared + ` AS ok),
e AS (INSERT INTO events (id, source, account, topic, event_key, business_key, payload_hash, event_time, received_at)
	SELECT $1, $2, $3, $4, $5, NULLIF($6, ''), $7, COALESCE($8, clock_timestamp()), clock_timestamp() FROM g
	ON CONFLICT ON CONSTRAINT events_identity DO NOTHING RETURNING id)
SELECT (SELECT count(*) FROM e) AS inserted, clock_timestamp() AS now, pg_current_xact_id()::text AS xid, i.epoch,
	CASE WHEN $6 <> '' THEN (SELECT o.id FROM events o WHERE o.source = $2 AND o.account = $3 AND o.topic = $4 AND o.business_key = $6 AND o.event_key <> $5 ORDER BY o.received_at LIMIT 1) END AS twin
FROM installation i`

func (t *tx) receive(a Actor, in Received, hash [32]byte, out *Receipt) error {
	if in.Flow != "" {
		in.BusinessKey = "" // the caller's own run key decides
	}
	if in.BusinessKey != "" {
		// two events with one business key that come at once see each other
		if _, err := t.exec(`SELECT pg_advisory_xact_lock(hashtextextended($1, 1752132708))`, in.Source+"\n"+in.Account+"\n"+in.Topic+"\n"+in.BusinessKey); err != nil {
			return err
		}
	}
	var ev struct {
		Inserted int       `db:"inserted"`
		Now      time.Time `db:"now"`
		XID      string    `db:"xid"`
		Epoch    int64     `db:"epoch"`
		Twin     *string   `db:"twin"`
	}
	id := newID("evt")
	if in.event != "" {
		id = string(in.event)
	}
	err := t.get(&ev, eventSQL, id, in.Source, in.Account, in.Topic, in.EventKey, in.BusinessKey, hash[:], timePtr(in.EventTime))
	if err != nil {
		return err
	}
	t.xid = ev.XID
	now := ev.Now.UTC().Truncate(time.Microsecond)
	if in.EventTime.IsZero() {
		in.EventTime = now
	}
	b := &runBuilder{tx: t, actor: a, now: now, in: in, delivery: out.Delivery}
	if ev.Inserted == 0 {
		if len(in.built) > 0 {
			return errAgain // somebody else was quicker: the items that were written go with this try
		}
		if id, err = b.repeated(hash, out); err != nil {
			return err
		}
	}
	out.Event, b.event = operation.EventID(id), operation.EventID(id)
	b.newEvent = ev.Inserted == 1
	if b.defs, err = t.currentDefinitions(ev.Epoch); err != nil {
		return err
	}
	b.epoch = ev.Epoch
	known := false
	if !b.newEvent {
		if known, err = b.knownRuns(out); err != nil {
			return err
		}
	}
	hold := ev.Twin != nil && b.newEvent
	switch {
	case out.Verdict == VerdictConflict || out.Verdict == VerdictHeld || b.discarded || known:
	case hold:
		out.Verdict, out.Reason = VerdictHeld, "business key of event "+*ev.Twin
	default:
		if err := b.runs(out); err != nil {
			return err
		}
	}
	if err := b.store(out); err != nil || !hold {
		return err
	}
	return b.hold(operation.EventID(*ev.Twin), out.Delivery)
}

// Discarded is why a repeated event starts nothing: a person decided that it is a
// duplicate.
const Discarded = "a person decided: a duplicate"

// repeated reads the event that is there already and compares the payload.
func (b *runBuilder) repeated(hash [32]byte, out *Receipt) (string, error) {
	var have struct {
		ID   string    `db:"id"`
		Hash []byte    `db:"payload_hash"`
		Time time.Time `db:"event_time"`
		Held bool      `db:"held"`
		Gone bool      `db:"discarded"`
	}
	err := b.get(&have, `SELECT id, payload_hash, event_time, EXISTS (SELECT 1 FROM held_events h WHERE h.event_id = e.id AND h.open) AS held,
		EXISTS (SELECT 1 FROM held_decisions d WHERE d.event_id = e.id AND d.decision = 'discard') AS discarded
		FROM events e WHERE source = $1 AND account = $2 AND topic = $3 AND event_key = $4`,
		b.in.Source, b.in.Account, b.in.Topic, b.in.EventKey)
	if err != nil {
		return "", err
	}
	b.in.EventTime = have.Time.UTC()
	out.Verdict = VerdictRepeated
	if hash32(have.Hash) != hash {
		out.Verdict, out.Reason = VerdictConflict, "same identity, other payload"
	} else if have.Held {
		out.Verdict, out.Reason = VerdictHeld, "still held"
	} else if have.Gone {
		b.discarded, out.Reason = true, Discarded
	}
	return have.ID, nil
}

// knownRuns reads the runs that an event has started already. Only an event without any
// may start some: no old redelivery begins a flow that was added since.
func (b *runBuilder) knownRuns(out *Receipt) (bool, error) {
	var rows []struct {
		Run   operation.RunID   `db:"run_id"`
		Op    operation.ID      `db:"id"`
		Batch operation.BatchID `db:"batch"`
	}
	err := b.list(&rows, `SELECT x.run_id, COALESCE(o.id, '') AS id, COALESCE(o.batch, '') AS batch FROM event_runs x LEFT JOIN LATERAL (
		SELECT y.id, '' AS batch, y.stage_no, y.item_key FROM operations y WHERE y.run_id = x.run_id AND y.replacement = 0 AND y.batch_id IS NULL
		UNION ALL SELECT '', z.id, z.stage_no, '' FROM batches z WHERE z.run_id = x.run_id) o ON true
		WHERE x.event_id = $1 ORDER BY x.run_id, o.stage_no, o.item_key`, string(b.event))
	for _, r := range rows {
		if n := len(out.Runs); n == 0 || out.Runs[n-1] != r.Run {
			out.Runs = append(out.Runs, r.Run)
		}
		if r.Op != "" {
			out.Operations = append(out.Operations, r.Op)
		}
		if r.Batch != "" {
			out.Batches = append(out.Batches, r.Batch)
		}
	}
	return len(rows) > 0, err
}

// payloadHash compares payloads: by canonical JSON where that is exact, else by bytes.
func payloadHash(in Received) [32]byte {
	body := in.Body
	if in.Compared != nil {
		body = in.Compared
	}
	if in.Data != nil && operation.CheckNumbers(body) == nil {
		if canon, err := jcs.Transform(body); err == nil {
			return sha256.Sum256(canon)
		}
	}
	return sha256.Sum256(body)
}

func (b *runBuilder) eventData() definition.EventData {
	in := b.in
	return definition.EventData{Source: in.Source, Account: in.Account, Topic: in.Topic, Key: in.EventKey, ID: string(b.event),
		Time: in.EventTime, ActionRunID: in.ActionRunID, Data: in.Data}
}

// inputs are what the flow reads: what the caller gave, or what the flow takes from the event.
func (b *runBuilder) inputs(f *definition.Flow, ev definition.EventData) map[string]any {
	if b.in.Inputs != nil {
		return b.in.Inputs
	}
	return f.TakeInputs(ev)
}

func jsonText(v any) (string, error) {
	raw, err := json.Marshal(v)
	return string(raw), err
}
