package store

import (
	"context"
	"encoding/json"

	"github.com/jmoiron/sqlx"
)

// NewPostID names one POST that brings several notifications.
func NewPostID() string { return newID("pst") }

// EventIdentity is what tells the events of one source and account apart.
type EventIdentity struct{ Topic, Key string }

// KnownEvents tells which of these events are on the record already. It decides nothing:
// the unique constraint does, when they are received.
func (s *Store) KnownEvents(ctx context.Context, source, account string, keys []EventIdentity) (map[EventIdentity]bool, error) {
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	var rows []EventIdentity
	err = s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT e.topic, e.event_key AS key FROM jsonb_to_recordset(CAST($3 AS jsonb)) AS x("Topic" text, "Key" text)
			JOIN events e ON e.source = $1 AND e.account = $2 AND e.topic = x."Topic" AND e.event_key = x."Key"`, source, account, string(list))
	})
	out := make(map[EventIdentity]bool, len(rows))
	for _, r := range rows {
		out[r] = true
	}
	return out, err
}

// NoteSecretUse notes that a valid signature was made with the secret that a reference
// names. The record knows the reference alone, and the time to the minute.
func (s *Store) NoteSecretUse(ctx context.Context, source, reference string) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO source_secret_uses AS u (source, reference, last_at) VALUES ($1, $2, date_trunc('minute', clock_timestamp()))
			ON CONFLICT (source, reference) DO UPDATE SET last_at = EXCLUDED.last_at WHERE u.last_at < EXCLUDED.last_at`, source, reference)
		return err
	})
}
