package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// PatternPage is one pattern with the operations that stopped so, as far as the viewer may
// see them.
type PatternPage struct {
	Pattern
	DestinationTitle Named
	Times            int // operations
	LastAt           time.Time
	// Ended counts what became of the newest, patternWindow at most; Window is how many
	// those are.
	Ended   operation.Endings
	Window  int
	Open    []PatternCase // not closed, newest first; patternRows at most
	Closed  []PatternCase // the newest that are
	Flows   []PatternFlow // in which flows, how often
	MayEdit bool          // the viewer may write about it
	History []HistoryRow  // oldest first
	Found   bool          `db:"-"`
}

// Bounds of a pattern's page.
const (
	patternWindow = 1000
	patternRows   = 50
)

// PatternFlow says how often one flow stopped so.
type PatternFlow struct {
	Name  string `db:"flow"`
	Times int    `db:"times"`
}

// PatternCase is one operation that stopped by a pattern.
type PatternCase struct {
	endedRow
	Title    string    `db:"title"`
	Flow     string    `db:"flow"`
	Stage    string    `db:"stage"`
	At       time.Time `db:"at"`         // when it stopped
	Changed  time.Time `db:"updated_at"` // when it was changed last
	CaseID   string    `db:"case_id"`    // of its recovery case; "" = there was none
	CaseNo   int64     `db:"case_no"`
	Revision int64     `db:"revision"`
}

// Ending is what became of it.
func (c PatternCase) Ending() operation.CauseEnding { return c.ending() }

const patternCasesSQL = `SELECT x.pattern_id, ` + endedColumns + `, o.title, o.flow, o.stage, x.at, o.updated_at, o.revision, COALESCE(r.id, '') AS case_id, COALESCE(r.number, 0) AS case_no
	FROM (SELECT DISTINCT ON (operation_id) * FROM (SELECT * FROM stops s WHERE s.pattern_id = $1 AND ($2 OR s.flow = ANY($3)) AND ($4 = '' OR s.flow = $4) ORDER BY s.at DESC, s.id DESC LIMIT $5) w
		ORDER BY operation_id, at DESC, id DESC) x` + endedJoin + `
	LEFT JOIN LATERAL (SELECT r.id, r.number FROM recovery_cases r WHERE r.operation_id = o.id AND r.round = x.round ORDER BY r.number DESC LIMIT 1) r ON true
	ORDER BY x.at DESC, x.id DESC`

// FindPattern reads one pattern. flow "" = all flows. A pattern of which the viewer may see
// nothing is not found, exactly like a missing one.
func (s *Store) FindPattern(ctx context.Context, viewer Actor, id operation.PatternID, flow string) (*PatternPage, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	all, flows := v.seenFlows()
	p := &PatternPage{Ended: operation.Endings{}}
	err = s.snapshot(ctx, func(t *tx) error {
		*p = PatternPage{Ended: operation.Endings{}}
		if err := t.list(&p.Flows, `SELECT flow, count(DISTINCT operation_id) AS times FROM stops WHERE pattern_id = $1 AND ($2 OR flow = ANY($3)) GROUP BY flow ORDER BY 2 DESC, 1`,
			string(id), all, pq.Array(flows)); err != nil {
			return err
		}
		if len(p.Flows) == 0 {
			return ErrNotFound
		}
		if err := t.get(&p.Pattern, `SELECT `+patternColumns+` FROM patterns p WHERE p.id = $1`, string(id)); err != nil {
			return err
		}
		if err := p.readCases(t, all, flows, flow); err != nil {
			return err
		}
		p.History, err = t.history(operation.SubjectPattern, string(id), p.FirstAt)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.MayEdit = v.mayWritePattern(p.Flows)
	p.DestinationTitle = Named{Name: p.Destination}
	if d, err := s.FindDestination(ctx, p.Destination); err == nil {
		p.DestinationTitle.Title = d.Profile.Title
	}
	return p, nil
}

func (p *PatternPage) readCases(t *tx, all bool, flows []string, flow string) error {
	for _, f := range p.Flows {
		if flow == "" || f.Name == flow {
			p.Times += f.Times
		}
	}
	var rows []PatternCase
	if err := t.list(&rows, patternCasesSQL, string(p.ID), all, pq.Array(flows), flow, patternWindow); err != nil {
		return err
	}
	p.Window = len(rows)
	for i, r := range rows {
		if i == 0 {
			p.LastAt = r.At
		}
		p.Ended[r.Ending()]++
		switch {
		case r.Ending() == operation.EndOpen && len(p.Open) < patternRows:
			p.Open = append(p.Open, r)
		case r.Ending() != operation.EndOpen && len(p.Closed) < patternRows:
			p.Closed = append(p.Closed, r)
		}
	}
	return nil
}

// mayWritePattern lets ops owners and admins write who hold the role for one of the flows
// that stopped so.
func (v Viewer) mayWritePattern(flows []PatternFlow) bool {
	for _, f := range flows {
		if who := v.In(f.Name); !v.Token && v.Active && (who.Has(operation.RoleOpsOwner) || who.Has(operation.RoleAdmin)) {
			return true
		}
	}
	return false
}

// Cause is why an operation stopped, with what is known of its pattern.
type Cause struct {
	Stop       int64                `db:"stop_id"`
	Kind       operation.StopKind   `db:"kind"`
	Round      int                  `db:"round"`
	At         time.Time            `db:"at"`
	RuleClass  operation.CauseClass `db:"stop_class"` // at the time
	Class      operation.CauseClass `db:"corrected"`  // a person's; "" = none
	ClassBy    operation.UserID     `db:"corrected_by"`
	ClassName  string               `db:"corrected_name"`
	ClassAt    *time.Time           `db:"corrected_at"`
	ClassWhy   string               `db:"corrected_why"`
	Pattern    Pattern              `db:"p"`
	Before     operation.Endings    `db:"-"` // of other operations that stopped so
	BeforeLast []PatternCase        `db:"-"` // the newest of them
}

// Counts is the class that counts: what a person said of this stop, else of its pattern,
// else the rules'.
func (c Cause) Counts() operation.CauseClass {
	if c.Class != "" {
		return c.Class
	}
	return c.Pattern.Class()
}

const causesSQL = `SELECT s.id AS stop_id, s.kind, s.round, s.at, s.class AS stop_class, COALESCE(c.class, '') AS corrected, COALESCE(c.user_id, '') AS corrected_by,
	COALESCE(u.name, '') AS corrected_name, c.at AS corrected_at, COALESCE(c.reason, '') AS corrected_why,
	p.id AS "p.id", p.destination AS "p.destination", p.phase AS "p.phase", p.code AS "p.code", p.status AS "p.status", p.error AS "p.error", p.class AS "p.class",
	COALESCE(p.own_class, '') AS "p.own_class", p.note AS "p.note", p.runbook AS "p.runbook", p.revision AS "p.revision", p.first_at AS "p.first_at"
	FROM stops s JOIN patterns p ON p.id = s.pattern_id LEFT JOIN LATERAL (SELECT * FROM stop_corrections c WHERE c.stop_id = s.id ORDER BY c.id DESC LIMIT 1) c ON true
	LEFT JOIN users u ON u.id = c.user_id WHERE s.operation_id = $1 ORDER BY s.at DESC, s.id DESC LIMIT 20`

// beforeRows is how many of the newest operations of a pattern a case looks back on.
const beforeRows = 200

// ListCauses gives why an operation stopped, the newest first, with what became of other
// operations that stopped as the newest did, of the flows that the viewer sees. The caller
// has found the operation for this viewer.
func (s *Store) ListCauses(ctx context.Context, viewer Actor, id operation.ID) ([]Cause, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	all, flows := v.seenFlows()
	var out []Cause
	err = s.read(ctx, func(db *sqlx.DB) error {
		out = nil
		if err := db.SelectContext(ctx, &out, causesSQL, string(id)); err != nil || len(out) == 0 {
			return err
		}
		c := &out[0]
		c.Before = operation.Endings{}
		var rows []PatternCase
		if err := db.SelectContext(ctx, &rows, patternCasesSQL, string(c.Pattern.ID), all, pq.Array(flows), "", beforeRows); err != nil {
			return err
		}
		for _, r := range rows {
			if r.Operation == id {
				continue
			}
			c.Before[r.Ending()]++
			if len(c.BeforeLast) < 3 && r.Ending() != operation.EndOpen {
				c.BeforeLast = append(c.BeforeLast, r)
			}
		}
		return nil
	})
	return out, err
}

// ChainOK reports whether the pattern's own history verifies.
func (p *PatternPage) ChainOK() bool { return chainBreak(p.History) == 0 }
