package store

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Reaches reports whether the actor's limits include this flow and destination. An
// empty list of flows or destinations is no limit.
func (a Actor) Reaches(flow, destination string) bool {
	return (len(a.Flows) == 0 || slices.Contains(a.Flows, flow)) &&
		(len(a.Destinations) == 0 || slices.Contains(a.Destinations, destination))
}

// ReachesAll reports whether all of a destination lies within a token's limits, whatever
// the flow.
func (a Actor) ReachesAll(destination string) bool {
	return len(a.Flows) == 0 && a.Reaches("", destination)
}

// CreateOperation starts one run of in.Flow under a caller's key, in one transaction
// with the check of that key: the same key with the same body gives the same
// operations again, with another body it is refused (key_reused). A run key that was
// used with other content is refused too; that delivery stays on the record.
func (s *Store) CreateOperation(ctx context.Context, a Actor, in Received, key string) (Receipt, error) {
	if in.EventKey == "" || key == "" {
		return Receipt{}, operation.Refuse(operation.CodeContentMissing, "field", "key")
	}
	hash := payloadHash(in)
	var out Receipt
	var refusal *operation.Refusal
	err := s.write(ctx, func(t *tx) error {
		refusal = nil
		out = Receipt{Delivery: operation.DeliveryID(newID("dlv")), Verdict: VerdictAccepted}
		if err := t.receive(a, in, hash, &out); err != nil {
			return err
		}
		if out.Verdict == VerdictConflict {
			refusal = operation.Refuse(operation.CodeKeyReused, "key", in.RunKey)
			return nil
		}
		return t.useKey(a, key, hash, &out)
	})
	if err == nil && refusal != nil {
		return out, refusal
	}
	return out, err
}

// useKey writes the caller's key; its primary key decides, not a look before.
func (t *tx) useKey(a Actor, key string, hash [32]byte, out *Receipt) error {
	n, err := t.exec(`INSERT INTO api_keys_used (token_id, key, body_hash, operation_id, created_at) VALUES ($1, $2, $3, $4, clock_timestamp())
		ON CONFLICT DO NOTHING`, a.ID, key, hash[:], string(out.First()))
	if err != nil || n == 1 {
		return err
	}
	var have []byte
	if err := t.get(&have, `SELECT body_hash FROM api_keys_used WHERE token_id = $1 AND key = $2`, a.ID, key); err != nil {
		return err
	}
	if !bytes.Equal(have, hash[:]) {
		return operation.Refuse(operation.CodeKeyReused, "key", key)
	}
	return nil
}

// Place is where an operation belongs: it never changes.
type Place struct {
	Operation   operation.ID `db:"id"`
	Flow        string       `db:"flow"`
	Destination string       `db:"destination"`
}

// PlaceOf gives an operation's flow and destination.
func (s *Store) PlaceOf(ctx context.Context, id operation.ID) (Place, error) {
	return s.place(ctx, `SELECT id, flow, destination FROM operations WHERE id = $1`, string(id))
}

// PlaceOfAttempt gives the flow and destination of an attempt's operation.
func (s *Store) PlaceOfAttempt(ctx context.Context, id operation.AttemptID) (Place, error) {
	return s.place(ctx, `SELECT o.id, o.flow, o.destination FROM attempts a JOIN operations o ON o.id = a.operation_id WHERE a.id = $1`, string(id))
}

// PlaceOfReference finds the operation that has a target reference at a destination.
// A reference that several kinds of effect share is not found.
func (s *Store) PlaceOfReference(ctx context.Context, destination, reference string) (Place, error) {
	return s.place(ctx, `SELECT min(o.id) AS id, min(o.flow) AS flow, min(o.destination) AS destination FROM target_references t JOIN operations o ON o.id = t.operation_id
		WHERE o.destination = $1 AND t.reference = $2 HAVING count(*) = 1`, destination, reference)
}

func (s *Store) place(ctx context.Context, q string, args ...any) (Place, error) {
	var p Place
	err := s.read(ctx, func(db *sqlx.DB) error { return db.GetContext(ctx, &p, q, args...) })
	return p, err
}

// Revision reads an operation's revision: cheap enough to ask again and again.
func (s *Store) Revision(ctx context.Context, id operation.ID) (int64, error) {
	var n int64
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &n, `SELECT revision FROM operations WHERE id = $1`, string(id))
	})
	return n, err
}

// ModelAuthor is the author of a draft that a model wrote for a person, who is then a
// party to it. The person is named by mail address.
func (s *Store) ModelAuthor(ctx context.Context, model, promptedBy, note string) (Author, error) {
	a := Author{Kind: "model", ID: model, Model: model, Note: note}
	if promptedBy == "" {
		return a, nil
	}
	u, err := s.FindUserByEmail(ctx, promptedBy)
	a.PromptedBy = u.ID
	return a, err
}

// APIOperation is an operation as the job API shows it.
type APIOperation struct {
	ID                          operation.ID
	Run                         operation.RunID
	Flow, Stage, ItemKey        string
	FlowVersion                 int
	Destination, Action         string
	Account, Environment, Title string
	State                       operation.State
	Revision                    int64
	Version                     operation.VersionID
	VersionNumber               int
	VersionHash                 []byte // nil while something is missing
	Missing                     []string
	Content                     json.RawMessage
	AttemptsUsed, AttemptsMax   int
	Paused, Overdue             bool
	Next                        operation.NextDecision
	TargetReference, TargetURL  string
	ConfirmedBy, Duplicate      string
	Delivery, Remedy            string
	Created, Updated            time.Time
	Attempts                    []APIAttempt
}

// APIAttempt is one attempt as the job API shows it: no bytes, no key.
type APIAttempt struct {
	ID           operation.AttemptID   `json:"id"`
	Number       int                   `json:"number"`
	Kind         operation.AttemptKind `json:"kind"`
	Outcome      string                `json:"outcome"` // "" = open
	Code         string                `json:"-"`       // of its proof
	ClaimedAt    time.Time             `json:"claimed_at"`
	DispatchedAt *time.Time            `json:"dispatched_at"`
	EndedAt      *time.Time            `json:"ended_at"`
}

// FindAPIOperation reads an operation with its current content and its attempts.
func (s *Store) FindAPIOperation(ctx context.Context, id operation.ID) (APIOperation, error) {
	var row struct {
		opRow
		Missing    pq.StringArray `db:"missing"`
		Hash       []byte         `db:"hash"`
		Content    string         `db:"content"`
		Attempts   string         `db:"attempts_js"`
		Overdue    bool           `db:"overdue"`
		PausedElse bool           `db:"paused_else"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT `+opColumns+`, COALESCE(v.missing, '{}') AS missing, v.hash, COALESCE(b.content, '{}') AS content,
			COALESCE((SELECT json_agg(json_build_object('id', t.id, 'number', t.number, 'kind', t.kind, 'outcome', COALESCE(t.outcome, ''),
				'proof', COALESCE(t.proof, ''), 'claimed_at', t.claimed_at, 'dispatched_at', t.dispatched_at, 'ended_at', t.ended_at) ORDER BY t.number)
				FROM attempts t WHERE t.operation_id = o.id)::text, '[]') AS attempts_js,
			o.next_kind <> '' AND o.next_at < clock_timestamp() AS overdue,
			COALESCE(f.paused, false) OR d.paused OR i.paused_why <> '' AS paused_else
			FROM operations o CROSS JOIN installation i JOIN destinations d ON d.name = o.destination LEFT JOIN flows f ON f.name = o.flow
			LEFT JOIN content_versions v ON v.id = o.version_id LEFT JOIN version_bodies b ON b.version_id = o.version_id WHERE o.id = $1`, string(id))
	})
	if err != nil {
		return APIOperation{}, err
	}
	o := row.opRow
	out := APIOperation{ID: o.ID, Run: o.RunID, Flow: o.Flow, Stage: o.Stage, ItemKey: o.ItemKey, FlowVersion: o.FlowVersion, Destination: o.Destination,
		Action: o.Action, Account: o.Account, Environment: o.Environment, Title: o.Title, State: o.State, Revision: o.Revision, Version: o.VersionID,
		VersionNumber: o.VersionNo, VersionHash: row.Hash, Missing: row.Missing, Content: json.RawMessage(row.Content), AttemptsUsed: o.AttemptsUsed,
		AttemptsMax: o.AttemptsMax, Paused: o.Paused || row.PausedElse, Overdue: row.Overdue,
		Next: operation.NextDecision{Kind: operation.DecisionKind(o.NextKind), At: timeOf(o.NextAt),
			Who: operation.Responsible{User: o.NextUser, Role: o.NextRole, System: o.NextSystem}},
		TargetReference: o.TargetReference, TargetURL: o.TargetURL, ConfirmedBy: o.ConfirmedBy, Duplicate: o.Duplicate, Delivery: o.Delivery,
		Remedy: o.Remedy, Created: o.CreatedAt.UTC(), Updated: o.UpdatedAt.UTC()}
	out.Attempts, err = apiAttempts(row.Attempts)
	return out, err
}

// apiAttempts decodes attempts. Proofs are decoded here and not in the database, which
// would stumble over a NUL in what a destination answered.
func apiAttempts(raw string) ([]APIAttempt, error) {
	var rows []struct {
		APIAttempt
		Proof string `json:"proof"`
	}
	if err := json.Unmarshal([]byte(raw), &rows); err != nil {
		return nil, err
	}
	out := make([]APIAttempt, len(rows))
	for i, r := range rows {
		out[i] = r.APIAttempt
		if r.Proof == "" {
			continue
		}
		var p operation.Proof
		if err := json.Unmarshal([]byte(r.Proof), &p); err != nil {
			return nil, err
		}
		out[i].Code = p.Code
	}
	return out, nil
}

// ListPermitted lists operations of a destination that an attempt may start on now,
// most urgent first, within the actor's limits. Whether it may is decided by Claim.
func (s *Store) ListPermitted(ctx context.Context, a Actor, destination string, limit int) ([]operation.ID, error) {
	var ids []operation.ID
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.SelectContext(ctx, &ids, `SELECT id FROM operations WHERE destination = $1 AND NOT paused
			AND (state = 'ready' OR state IN ('retry_scheduled', 'unknown') AND retry_at <= clock_timestamp())
			AND (cardinality($2::text[]) = 0 OR flow = ANY($2)) ORDER BY next_at, id LIMIT $3`, destination, pq.Array(append([]string{}, a.Flows...)), limit)
	})
	return ids, err
}
