package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
)

// RetentionHistoryMin is the shortest term of the history, in days.
const RetentionHistoryMin = 365

// Min is the shortest term of the kind, in days.
func (k RetentionKind) Min() int {
	if k == RetainHistory {
		return RetentionHistoryMin
	}
	return RetentionMin
}

// historyCounted is how many entries a preview looks at; beyond them it says "at least".
const historyCounted = 200_000

// HistoryPreview is what a term of the history would take away now, and what it leaves.
type HistoryPreview struct {
	// First are the entries of format 1, of any age: they have no part that could go.
	First   int64
	Entries int // that lose their words
	Open    int // older than the term, and left: their subject is open, something about it is, or it was touched lately
	Never   int // older than the term, and left: their subject never closes
	// More says that only the oldest entries were counted: the numbers are at least these.
	More   bool
	Months []HistoryMonth // of the entries that lose their words, oldest first
}

// HistoryMonth counts the entries of a calendar month, in UTC.
type HistoryMonth struct {
	Month   time.Time `db:"month"`
	Entries int       `db:"entries"`
	Open    int       `db:"open"`
	Never   int       `db:"never"`
}

// historyPreviewSQL counts the entries that are older than a term of $1 days and have words: those that the walk has
// not passed, and those of subjects that waited when it did. What it has passed otherwise has lost its words.
const historyPreviewSQL = `WITH term AS MATERIALIZED (SELECT n.now, n.now - make_interval(hours => 24 * CAST($1 AS int)) AS before, r.walked_at, r.walked_id
		FROM retention_settings r, (SELECT clock_timestamp() AS now) n WHERE r.kind = 'history'),
	w AS MATERIALIZED (SELECT h.at, h.subject_kind, h.subject_id, h.words_salt IS NOT NULL AS has FROM history h WHERE h.at < (SELECT before FROM term)
			AND h.at >= (SELECT walked_at FROM term) AND (h.at, h.id) > (SELECT walked_at, walked_id FROM term) ORDER BY h.at, h.id LIMIT $2),
	b AS MATERIALIZED (SELECT h.at, h.subject_kind, h.subject_id FROM history_waits x JOIN history h ON h.subject_kind = x.subject_kind AND h.subject_id = x.subject_id
			WHERE h.words_salt IS NOT NULL AND h.at < (SELECT before FROM term) AND (h.at, h.id) <= (SELECT walked_at, walked_id FROM term) LIMIT $2),
	e AS (SELECT at, subject_kind, subject_id FROM w WHERE has UNION ALL SELECT * FROM b),
	s AS (SELECT array_agg(x.subject_kind) AS kinds, array_agg(x.subject_id) AS ids FROM (SELECT DISTINCT subject_kind, subject_id FROM e) x),
	d AS MATERIALIZED (SELECT y.kind, y.id, y.again IS NULL AS due FROM term, s CROSS JOIN LATERAL history_due(s.kinds, s.ids, term.before, term.now) y)
SELECT date_trunc('month', e.at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS month, count(*) FILTER (WHERE d.due) AS entries, count(*) FILTER (WHERE NOT d.due) AS open,
	count(*) FILTER (WHERE d.due IS NULL) AS never, (SELECT count(*) = $2 FROM w) OR (SELECT count(*) = $2 FROM b) AS more
FROM e LEFT JOIN d ON d.kind = e.subject_kind AND d.id = e.subject_id GROUP BY 1 ORDER BY 1`

// historyPreview counts what a term of so many days would take away now; 0 = nothing goes,
// and only the entries of format 1 are counted.
func (t *tx) historyPreview(days int) (*HistoryPreview, error) {
	p := &HistoryPreview{}
	if err := t.get(&p.First, `SELECT first_format FROM retention_settings WHERE kind = 'history'`); err != nil || days == 0 {
		return p, err
	}
	var rows []struct {
		HistoryMonth
		More bool `db:"more"`
	}
	if err := t.list(&rows, historyPreviewSQL, days, historyCounted); err != nil {
		return nil, err
	}
	for _, r := range rows {
		p.Entries, p.Open, p.Never, p.More = p.Entries+r.Entries, p.Open+r.Open, p.Never+r.Never, p.More || r.More
		if r.Entries > 0 {
			r.Month = r.Month.UTC()
			p.Months = append(p.Months, r.HistoryMonth)
		}
	}
	return p, nil
}

// One sweep of the history: entries that a slice walks, and slices.
const (
	historySlice  = 1000
	historySlices = 50
)

// sweepHistory removes the words of entries whose term has run out, in slices of their
// own; each writes an entry of the system's history that names them. It gives how many.
func (s *Store) sweepHistory(ctx context.Context, a Actor) (total int, err error) {
	for range historySlices {
		thinned, walked, err := s.thinHistory(ctx, a, historySlice)
		total += thinned
		if err != nil || thinned == 0 && walked < historySlice {
			return total, err
		}
	}
	return total, nil
}

// thinHistory is one slice.
func (s *Store) thinHistory(ctx context.Context, a Actor, most int) (thinned, walked int, err error) {
	err = s.write(ctx, func(t *tx) error {
		var row struct {
			Thinned int        `db:"thinned"`
			Walked  int        `db:"walked"`
			Term    *int       `db:"term"`
			At      *time.Time `db:"done_at"`
			Oldest  *time.Time `db:"oldest"`
			Newest  *time.Time `db:"newest"`
			Which   *string    `db:"which"`
		}
		if err := t.get(&row, `SELECT thinned, walked, term, done_at, oldest, newest, which FROM thin_history($1)`, most); err != nil {
			return err
		}
		if thinned, walked = row.Thinned, row.Walked; row.Term == nil {
			return errDone
		}
		if thinned == 0 {
			return nil // it only walked on
		}
		spans, err := parseMultirange(*row.Which)
		if err != nil {
			return err
		}
		return t.enter(a, row.At.UTC(), operation.SubjectSystem, systemSubject, operation.ActionThinned, keptForTerm, operation.LinkThinned, spans.String(), "count", strconv.Itoa(thinned),
			operation.LinkThinnedDays, strconv.Itoa(*row.Term), "oldest", timeOf(row.Oldest).UTC().Format(operation.TimeForm), "newest", timeOf(row.Newest).UTC().Format(operation.TimeForm))
	})
	return thinned, walked, err
}

// WordsGone says when the words of the entry were removed; zero = they are there.
func (h HistoryRow) WordsGone() time.Time { return timeOf(h.WordsGoneAt).UTC() }

// splitWords reads the names of the links that are words, as a row holds them.
func splitWords(names string) []string {
	if names == "" {
		return nil
	}
	return strings.Split(names, ",")
}
