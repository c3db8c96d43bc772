package store

import (
	"context"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
)

// SourceWindow is how far back the counts of a source's page look, SourceRows how many of
// its newest deliveries the clock is measured with.
const (
	SourceWindow = 30 * 24 * time.Hour
	SourceRows   = 200
)

// SourceState is a source with what it did lately.
type SourceState struct {
	Source    *definition.Source
	Version   int       `db:"version"`
	AppliedAt time.Time `db:"updated_at"`
	// LastAt and LastEvent are of the newest delivery that was genuine, also a repeated one;
	// LastNew is of the newest one that brought something new. Zero = none.
	LastAt    *time.Time        `db:"last_at"`
	LastEvent operation.EventID `db:"last_event"`
	LastNew   *time.Time        `db:"last_new"`
	// Silence is open while the source has been silent for longer than its file says.
	Silence *Silence  `db:"-"`
	Now     time.Time `db:"now"`
}

// SilentSince is from when on silence counts: the last genuine delivery, or when the
// source was applied.
func (i SourceState) SilentSince() time.Time {
	if i.LastAt != nil {
		return i.LastAt.UTC()
	}
	return i.AppliedAt.UTC()
}

// Silent reports that nothing came for longer than the source's file says.
func (i SourceState) Silent() bool {
	return i.Source.Silence > 0 && i.Now.Sub(i.SilentSince()) > i.Source.Silence
}

// Silence is a source's silence that was noticed.
type Silence struct {
	Source   string           `db:"source"`
	Since    time.Time        `db:"since"`
	OpenedAt time.Time        `db:"opened_at"`
	Task     operation.TaskID `db:"task_id"`
	EndedAt  *time.Time       `db:"ended_at"`
}

// genuine finds the newest delivery of a source with one of the verdicts that only a
// genuine notification gets.
const genuine = `SELECT d.received_at, COALESCE(d.event_id, '') AS event_id FROM unnest(ARRAY['accepted', 'repeated', 'conflict', 'held', 'ignored']) AS k(verdict)
	CROSS JOIN LATERAL (SELECT d.received_at, d.event_id FROM deliveries d WHERE d.source = s.name AND d.verdict = k.verdict ORDER BY d.received_at DESC, d.id DESC LIMIT 1) d
	ORDER BY d.received_at DESC LIMIT 1`

const sourceStateSQL = `SELECT s.name, s.version, s.source, s.created_at AS updated_at, l.received_at AS last_at, COALESCE(l.event_id, '') AS last_event,
	(SELECT d.received_at FROM deliveries d WHERE d.source = s.name AND d.verdict = 'accepted' ORDER BY d.received_at DESC, d.id DESC LIMIT 1) AS last_new, clock_timestamp() AS now
	FROM sources s LEFT JOIN LATERAL (` + genuine + `) l ON true`

type sourceStateRow struct {
	SourceState
	Name string `db:"name"`
	File string `db:"source"`
}

// ListSourceStates lists the sources, by name.
func (s *Store) ListSourceStates(ctx context.Context) ([]SourceState, error) {
	return s.sourceStates(ctx, sourceStateSQL+` ORDER BY s.name`)
}

// FindSourceState gives one source with what it did lately.
func (s *Store) FindSourceState(ctx context.Context, name string) (SourceState, error) {
	list, err := s.sourceStates(ctx, sourceStateSQL+` WHERE s.name = $1`, name)
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return SourceState{}, err
	}
	return list[0], nil
}

func (s *Store) sourceStates(ctx context.Context, q string, args ...any) ([]SourceState, error) {
	var rows []sourceStateRow
	var open []Silence
	err := s.read(ctx, func(db *sqlx.DB) error {
		rows, open = nil, nil
		if err := db.SelectContext(ctx, &rows, q, args...); err != nil {
			return err
		}
		return db.SelectContext(ctx, &open, `SELECT source, since, opened_at, task_id, ended_at FROM source_silences WHERE ended_at IS NULL`)
	})
	if err != nil {
		return nil, err
	}
	out := make([]SourceState, len(rows))
	for i, r := range rows {
		out[i] = r.SourceState
		if out[i].Source, err = s.parsedSource(sourceRow{Name: r.Name, Version: r.Version, Source: r.File}); err != nil {
			return nil, err
		}
		for j := range open {
			if open[j].Source == r.Name {
				out[i].Silence = &open[j]
			}
		}
	}
	return out, nil
}

// SourceFacts are what a source's deliveries of the last SourceWindow tell.
type SourceFacts struct {
	// Skew is the newest measured clock skew, SkewMedian the median of the newest SourceRows
	// deliveries that had one, in milliseconds: how far the sender is behind us. nil = none.
	Skew       *int64     `db:"skew"`
	SkewAt     *time.Time `db:"skew_at"`
	SkewMedian *int64     `db:"skew_median"`
	Measured   int        `db:"measured"`
	// Refused counts the refused deliveries by reason, the most frequent first.
	Refused []RefusedReason `db:"-"`
	// Secrets are the last uses by reference.
	Secrets map[string]time.Time `db:"-"`
	// Doubles are events that came through several subscriptions.
	Doubles []DoubleSubscription `db:"-"`
}

// RefusedReason is how often a source was refused for one reason.
type RefusedReason struct {
	Code string    `db:"code"`
	N    int       `db:"n"`
	Last time.Time `db:"last"`
}

// DoubleSubscription is a topic whose events arrive through several subscriptions.
type DoubleSubscription struct {
	Topic string    `db:"topic"`
	First string    `db:"first"`  // one subscription
	Other string    `db:"second"` // another
	N     int       `db:"n"`      // events that came through both
	Last  time.Time `db:"last"`
	Event string    `db:"event_key"` // the newest of them
}

// doubleSQL looks at the newest repeated deliveries: an event that comes through two
// subscriptions is repeated at the second.
const doubleSQL = `WITH again AS (SELECT d.event_id, d.subscription, d.received_at FROM deliveries d WHERE d.source = $1 AND d.verdict = 'repeated' AND d.subscription <> ''
		AND d.received_at > clock_timestamp() - CAST($2 AS interval) ORDER BY d.received_at DESC LIMIT 1000)
	SELECT e.topic, LEAST(f.subscription, a.subscription) AS first, GREATEST(f.subscription, a.subscription) AS second, count(DISTINCT a.event_id) AS n,
		max(a.received_at) AS last, (array_agg(e.event_key ORDER BY a.received_at DESC))[1] AS event_key
	FROM again a JOIN events e ON e.id = a.event_id JOIN deliveries f ON f.event_id = a.event_id AND f.subscription NOT IN ('', a.subscription)
	GROUP BY 1, 2, 3 ORDER BY last DESC LIMIT 20`

// FindSourceFacts reads what the page of a source shows beside its item.
func (s *Store) FindSourceFacts(ctx context.Context, source string) (SourceFacts, error) {
	const window = "30 days"
	var out SourceFacts
	var uses []struct {
		Reference string    `db:"reference"`
		At        time.Time `db:"last_at"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		out, uses = SourceFacts{Secrets: map[string]time.Time{}}, nil
		if err := q.GetContext(ctx, &out, `WITH m AS (SELECT d.skew_ms, d.received_at FROM unnest(ARRAY['accepted', 'repeated', 'conflict', 'held', 'ignored', 'refused']) AS k(verdict)
				CROSS JOIN LATERAL (SELECT y.skew_ms, y.received_at FROM deliveries y WHERE y.source = $1 AND y.verdict = k.verdict AND y.skew_ms IS NOT NULL
				AND (y.verdict <> 'refused' OR y.reason LIKE 'signature\_time:%') ORDER BY y.received_at DESC, y.id DESC LIMIT $2) d
				ORDER BY d.received_at DESC LIMIT $2)
			SELECT (SELECT skew_ms FROM m ORDER BY received_at DESC LIMIT 1) AS skew, (SELECT max(received_at) FROM m) AS skew_at,
				(SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY skew_ms) FROM m) AS skew_median, (SELECT count(*) FROM m) AS measured`, source, SourceRows); err != nil {
			return err
		}
		if err := q.SelectContext(ctx, &out.Refused, `SELECT split_part(reason, ':', 1) AS code, count(*) AS n, max(received_at) AS last FROM deliveries
			WHERE source = $1 AND verdict = 'refused' AND received_at > clock_timestamp() - CAST($2 AS interval) GROUP BY 1 ORDER BY n DESC, code LIMIT 30`, source, window); err != nil {
			return err
		}
		if err := q.SelectContext(ctx, &out.Doubles, doubleSQL, source, window); err != nil {
			return err
		}
		return q.SelectContext(ctx, &uses, `SELECT reference, last_at FROM source_secret_uses WHERE source = $1`, source)
	})
	for _, u := range uses {
		out.Secrets[u.Reference] = u.At.UTC()
	}
	return out, err
}
