package store

import (
	"context"
	"crypto/sha256"
	"fmt"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
)

// FindSource gives the current definition of a source.
func (s *Store) FindSource(ctx context.Context, name string) (*definition.Source, error) {
	var row sourceRow
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT name, version, source FROM sources WHERE name = $1`, name)
	})
	if err != nil {
		return nil, err
	}
	return s.parsedSource(row)
}

// ListSources gives the current definitions of all sources, by name.
func (s *Store) ListSources(ctx context.Context) ([]*definition.Source, error) {
	var rows []sourceRow
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.SelectContext(ctx, &rows, `SELECT name, version, source FROM sources ORDER BY name`)
	})
	if err != nil {
		return nil, err
	}
	out := make([]*definition.Source, 0, len(rows))
	for _, r := range rows {
		src, err := s.parsedSource(r)
		if err != nil {
			return nil, err
		}
		out = append(out, src)
	}
	return out, nil
}

type sourceRow struct {
	Name    string `db:"name"`
	Version int    `db:"version"`
	Source  string `db:"source"`
}

// parsedSource keeps parsed sources by name and version; a version never changes.
func (s *Store) parsedSource(r sourceRow) (*definition.Source, error) {
	key := defKey(r.Name, r.Version)
	s.defs.mu.RLock()
	src := s.defs.sources[key]
	s.defs.mu.RUnlock()
	if src != nil {
		return src, nil
	}
	src, err := definition.ParseSource(r.Name+".yaml", []byte(r.Source))
	if err != nil {
		return nil, fmt.Errorf("source %s version %d: %w", r.Name, r.Version, err)
	}
	s.defs.mu.Lock()
	defer s.defs.mu.Unlock()
	s.defs.sources[key] = src
	return src, nil
}

// TriggeredFlows gives the flows that notifications of a source can start.
func (s *Store) TriggeredFlows(ctx context.Context, source string) ([]*definition.Flow, error) {
	var rows []struct {
		Name    string `db:"name"`
		Version int    `db:"version"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.SelectContext(ctx, &rows, `SELECT name, version FROM flows ORDER BY name`)
	})
	if err != nil {
		return nil, err
	}
	var out []*definition.Flow
	for _, r := range rows {
		f, err := s.flowVersion(ctx, s.db, r.Name, r.Version)
		if err != nil {
			return nil, mapError(err)
		}
		if f.Trigger.Source == source {
			out = append(out, f)
		}
	}
	return out, nil
}

// Unaccepted is a delivery that starts nothing: refused (signature, form, identity) or
// ignored (genuine, but for another account or environment).
type Unaccepted struct {
	Source       string
	DeliveryKey  string
	Subscription string
	Verdict      Verdict // VerdictRefused or VerdictIgnored
	Reason       string  // a stable word, after a colon the detail
	Status       int     // what is answered
	Body         []byte  // as received; only its beginning is kept
	Headers      map[string]string
	SkewMillis   *int64
	Post         string // as in Received
	Item         int
}

// KeptRefusedBody is how many bytes of a refused delivery are kept.
const KeptRefusedBody = 16 << 10

// keptPerMinute bounds how many bodies of refused deliveries of one source are kept in
// a minute: whoever sends rubbish can fill a counter, not the disk.
const keptPerMinute = 60

// RefuseDelivery records a delivery that was not accepted. Everybody may send rubbish,
// so it writes one row, no history, and bounds what it keeps.
func (s *Store) RefuseDelivery(ctx context.Context, in Unaccepted) (operation.DeliveryID, error) {
	id := operation.DeliveryID(newID("dlv"))
	headers, err := jsonText(in.Headers)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(in.Body)
	kept := in.Body[:min(len(in.Body), KeptRefusedBody)]
	err = s.write(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO deliveries (id, source, delivery_key, subscription, verdict, reason, status, body_hash, body, headers, skew_ms, received_at, post_id, item)
			SELECT $1, $2, $3, $4, $5, $6, $7, $8, CASE WHEN (SELECT count(*) FROM (SELECT 1 FROM deliveries d WHERE d.source = $2
				AND d.verdict = $5 AND d.body IS NOT NULL AND d.received_at > clock_timestamp() - interval '1 minute' LIMIT CAST($12 AS int)) k) < $12 THEN CAST($9 AS bytea) END,
				$10, $11, clock_timestamp(), $13, $14`,
			string(id), in.Source, in.DeliveryKey, in.Subscription, string(in.Verdict), in.Reason, in.Status, sum[:], kept, headers, in.SkewMillis, keptPerMinute, in.Post, in.Item)
		return err
	})
	return id, err
}
