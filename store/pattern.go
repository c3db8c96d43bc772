package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Pattern is one kind of stop, with what people wrote about it.
type Pattern struct {
	ID          operation.PatternID  `db:"id"`
	Destination string               `db:"destination"`
	Phase       operation.CausePhase `db:"phase"`
	Code        string               `db:"code"`
	Status      int                  `db:"status"` // 0 = none
	Error       string               `db:"error"`  // normalised; "" = nothing of it can be told
	RuleClass   operation.CauseClass `db:"class"`
	OwnClass    operation.CauseClass `db:"own_class"` // a person's; "" = the rules' stands
	Note        string               `db:"note"`
	Runbook     string               `db:"runbook"`
	Revision    int64                `db:"revision"`
	FirstAt     time.Time            `db:"first_at"`
}

// Class is the class that counts: a person's word, else the rules'.
func (p Pattern) Class() operation.CauseClass {
	if p.OwnClass != "" {
		return p.OwnClass
	}
	return p.RuleClass
}

const patternColumns = `p.id, p.destination, p.phase, p.code, p.status, p.error, p.class, COALESCE(p.own_class, '') AS own_class, p.note, p.runbook, p.revision, p.first_at`

// PatternFilter narrows the library. Empty fields do not narrow.
type PatternFilter struct {
	Flow        string
	Destination string
	Class       operation.CauseClass
	Phase       operation.CausePhase
	Cursor      string // of PatternList.Next or Prev
	Limit       int    // 0 = 50
}

// PatternLine is one pattern of the library, counted over what the viewer may see.
type PatternLine struct {
	Pattern
	Times  int       `db:"times"` // operations that stopped so
	LastAt time.Time `db:"last_at"`
	Open   int       `db:"-"` // of these, not closed now
	// Ended says what became of the newest, recentEndings at most.
	Ended operation.Endings `db:"-"`
}

// recentEndings is how many of the newest operations of a pattern a list looks at.
const recentEndings = 20

// PatternList is one page of the library, the pattern seen last first.
type PatternList struct {
	Rows       []PatternLine
	Next, Prev string
	// Flows and Destinations are what the viewer may filter by.
	Flows, Destinations []Named
}

const patternsSQL = `SELECT ` + patternColumns + `, s.times, s.last_at FROM (SELECT pattern_id, count(DISTINCT operation_id) AS times, max(at) AS last_at FROM stops
	WHERE ($1 OR flow = ANY($2)) AND ($3 = '' OR flow = $3) AND ($4 = '' OR destination = $4) GROUP BY pattern_id) s JOIN patterns p ON p.id = s.pattern_id
	WHERE ($5 = '' OR COALESCE(p.own_class, p.class) = $5) AND ($6 = '' OR p.phase = $6)`

// ListPatterns lists the patterns of stops that the viewer may see.
func (s *Store) ListPatterns(ctx context.Context, viewer Actor, f PatternFilter) (*PatternList, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	if f.Limit <= 0 || f.Limit > 200 {
		f.Limit = 50
	}
	all, flows := v.seenFlows()
	args := []any{all, pq.Array(flows), f.Flow, f.Destination, string(f.Class), string(f.Phase)}
	q, order := patternsSQL, ` ORDER BY s.last_at DESC, p.id DESC LIMIT $7`
	args = append(args, f.Limit+1)
	if c, ok := decodeCursor(f.Cursor); ok {
		args = append(args, c.At, string(c.ID))
		if c.Back {
			q, order = q+` AND (s.last_at, p.id) > ($8, $9)`, ` ORDER BY s.last_at, p.id LIMIT $7`
		} else {
			q += ` AND (s.last_at, p.id) < ($8, $9)`
		}
	}
	out := &PatternList{}
	var rows []PatternLine
	err = s.read(ctx, func(db *sqlx.DB) error {
		rows = nil
		return db.SelectContext(ctx, &rows, q+order, args...)
	})
	if err != nil {
		return nil, err
	}
	out.Rows, out.Next, out.Prev = keysetPage(rows, f.Limit, f.Cursor, func(r PatternLine) cursor { return cursor{At: r.LastAt, ID: operation.ID(r.ID)} })
	if err := s.countPatterns(ctx, v, out.Rows, f.Flow); err != nil {
		return nil, err
	}
	names := &OperationList{}
	err = s.filterNames(ctx, v, names)
	out.Flows, out.Destinations = names.Flows, names.Destinations
	return out, err
}

// countPatterns counts what is open of each pattern, and how the newest ended.
func (s *Store) countPatterns(ctx context.Context, v Viewer, rows []PatternLine, flow string) error {
	ids, at := make([]string, len(rows)), map[operation.PatternID]*PatternLine{}
	for i := range rows {
		rows[i].Ended = operation.Endings{}
		ids[i], at[rows[i].ID] = string(rows[i].ID), &rows[i]
	}
	all, flows := v.seenFlows()
	var open []struct {
		ID operation.PatternID `db:"pattern_id"`
		N  int                 `db:"n"`
	}
	var ended []endedRow
	err := s.read(ctx, func(db *sqlx.DB) error {
		open, ended = nil, nil
		if err := db.SelectContext(ctx, &open, `SELECT s.pattern_id, count(DISTINCT o.id) AS n FROM operations o JOIN stops s ON s.operation_id = o.id AND s.round = o.case_round
			WHERE o.state NOT IN `+closedStates+` AND s.pattern_id = ANY($1) AND ($2 OR o.flow = ANY($3)) AND ($4 = '' OR o.flow = $4) GROUP BY 1`,
			pq.Array(ids), all, pq.Array(flows), flow); err != nil {
			return err
		}
		return db.SelectContext(ctx, &ended, `SELECT x.pattern_id, `+endedColumns+` FROM unnest(CAST($1 AS text[])) AS i(id) CROSS JOIN LATERAL
			(SELECT * FROM stops s WHERE s.pattern_id = i.id AND ($2 OR s.flow = ANY($3)) AND ($4 = '' OR s.flow = $4) ORDER BY s.at DESC, s.id DESC LIMIT $5) x`+endedJoin,
			pq.Array(ids), all, pq.Array(flows), flow, recentEndings)
	})
	for _, r := range open {
		at[r.ID].Open = r.N
	}
	for _, r := range ended {
		at[r.Pattern].Ended[r.ending()]++
	}
	return err
}

// endedRow is what the ending of a stopped operation follows from.
type endedRow struct {
	Pattern   operation.PatternID `db:"pattern_id"`
	Operation operation.ID        `db:"operation_id"`
	State     operation.State     `db:"state"`
	By        string              `db:"confirmed_by"`
	Attempt   int                 `db:"attempt"`
	Last      int                 `db:"last"`
	Again     bool                `db:"again"`
}

func (r endedRow) ending() operation.CauseEnding {
	return operation.EndingOf(r.State, r.Attempt, r.Last, r.Again, r.By == "person")
}

// endedColumns and endedJoin read, for stops x, how their operations stand.
const (
	endedColumns = `x.operation_id, o.state, COALESCE(o.confirmed_by, '') AS confirmed_by, x.attempt, COALESCE(c.number, 0) AS last, COALESCE(c.kind = 'reexecution', false) AS again`
	endedJoin    = ` JOIN operations o ON o.id = x.operation_id LEFT JOIN LATERAL (SELECT a.number, a.kind FROM attempts a
	WHERE a.operation_id = o.id AND a.outcome = 'confirmed' ORDER BY a.number DESC LIMIT 1) c ON true`
)
