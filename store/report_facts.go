package store

import (
	"slices"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// reportItem is one thing that a number of a review counts.
type reportItem struct {
	Line      string       `json:"line" db:"-"`
	N         int          `json:"n" db:"-"`
	Item      string       `json:"item" db:"item"` // an attempt, an operation, an incident, a task, a breach
	Operation operation.ID `json:"operation_id" db:"operation_id"`
}

// reportPass makes the facts of one review in one snapshot.
type reportPass struct {
	*tx
	flow  string
	zone  *time.Location
	now   reportSpan
	then  reportSpan
	facts []operation.ReviewLine
	items []reportItem
}

// reportSpan is one of the two periods that a review compares.
type reportSpan struct {
	from, to time.Time
	board    *FigureBoard
}

// stateThen gives the operations that were not closed at $2, with their state then. $1 is
// the beginning of the period, which it does not look at.
const stateThen = `(SELECT o.id, o.created_at, s.state FROM (
		SELECT id FROM operations WHERE state NOT IN ` + closedStates + `
		UNION SELECT h.subject_id FROM history h WHERE h.subject_kind = 'operation' AND h.at >= $2 AND h.to_state IN ` + closedStates + ` AND h.from_state NOT IN ` + closedStates + `
	) x JOIN operations o ON o.id = x.id CROSS JOIN LATERAL (SELECT h.to_state AS state FROM history h WHERE h.subject_kind = 'operation' AND h.subject_id = o.id AND h.at < $2 ORDER BY h.seq DESC LIMIT 1) s
	WHERE CAST($1 AS timestamptz) IS NOT NULL AND ($3 = '' OR o.flow = $3) AND s.state NOT IN ` + closedStates + `) AS t`

// entriesOf lists the entries of the history that a measure counts.
func entriesOf(m measure) string {
	return `SELECT h.subject_id AS item, h.subject_id AS operation_id FROM history h WHERE h.at >= $1 AND h.at < $2 AND h.subject_kind = 'operation' AND ($3 = '' OR h.flow = $3) AND ` +
		entryFacts[m].cond() + ` ORDER BY h.at, h.id`
}

// attemptsOf lists attempts by the time of one of their columns.
func attemptsOf(at, where string) string {
	return `SELECT a.id AS item, a.operation_id FROM attempts a JOIN operations o ON o.id = a.operation_id WHERE a.` + at + ` >= $1 AND a.` + at + ` < $2 AND ($3 = '' OR o.flow = $3) AND ` + where +
		` ORDER BY a.` + at + `, a.id`
}

// ofIncidents and ofTasks hold for what belongs to the flow $3.
const (
	ofIncidents = `($3 = '' OR $3 = ANY (i.flows))`
	ofTasks     = `($3 = '' OR $3 = ANY (k.flows) OR EXISTS (SELECT 1 FROM incidents i WHERE i.id = k.incident_id AND $3 = ANY (i.flows)))`
)

// reportLists are the statements behind the lines of a review: $1 and $2 are the period,
// $3 the flow, ” = all. What they list is what is counted.
var reportLists = map[string]string{
	"open_at_end":          `SELECT t.id AS item, t.id AS operation_id FROM ` + stateThen + ` ORDER BY t.created_at, t.id`,
	"unresolved_at_end":    `SELECT t.id AS item, t.id AS operation_id FROM ` + stateThen + ` WHERE t.state IN ` + doubt + ` ORDER BY t.created_at, t.id`,
	"unresolved_occurred":  entriesOf(mIntoDoubt),
	"adopted":              entriesOf(mAdopted),
	"key_reuse":            attemptsOf("dispatched_at", sentAgain),
	"duplicates_suspected": entriesOf(mSuspected),
	"duplicates_confirmed": entriesOf(mDuplicates),
	"duplicate_rate":       entriesOf(mDuplicates),
	"destination_errors":   attemptsOf("ended_at", `a.dispatched_at IS NOT NULL AND a.outcome IN ('not_started', 'unknown') AND o.destination = $4`),
	"approval_delay":       entriesOf(mApproval),
	"recovery_in_hand":     casesOf,
	"recovery_active":      casesOf,
	"reexecution_errors":   entriesOf(mReexecutionErr),
	"incidents_opened":     `SELECT i.id AS item, '' AS operation_id FROM incidents i WHERE i.created_at >= $1 AND i.created_at < $2 AND ` + ofIncidents + ` ORDER BY i.created_at, i.id`,
	"incidents_open": `SELECT i.id AS item, '' AS operation_id FROM incidents i WHERE CAST($1 AS timestamptz) IS NOT NULL AND i.created_at < $2 AND ` + ofIncidents + `
		AND (i.state = 'open' AND i.revision > 1 OR NOT EXISTS (SELECT 1 FROM incident_signatures s WHERE s.incident_id = i.id AND s.signed_at < $2)) ORDER BY i.created_at, i.id`,
	"tasks_open": `SELECT k.id AS item, '' AS operation_id FROM improvement_tasks k WHERE CAST($1 AS timestamptz) IS NOT NULL AND k.created_at < $2 AND (k.closed_at IS NULL OR k.closed_at >= $2)
		AND ` + ofTasks + ` ORDER BY k.due_at, k.id`,
	"tasks_overdue": `SELECT k.id AS item, '' AS operation_id FROM improvement_tasks k WHERE CAST($1 AS timestamptz) IS NOT NULL AND k.created_at < $2 AND k.due_at < $2 AND (k.closed_at IS NULL OR k.closed_at >= $2)
		AND ` + ofTasks + ` ORDER BY k.due_at, k.id`,
	"limits_broken": `SELECT b.id AS item, '' AS operation_id FROM limit_breaches b JOIN limits l ON l.id = b.limit_id WHERE b.opened_at >= $1 AND b.opened_at < $2 AND ($3 = '' OR l.flow = $3) ORDER BY b.opened_at, b.id`,
}

// casesOf lists the cases that were settled and that somebody had in hand.
const casesOf = `SELECT c.id AS item, c.operation_id FROM recovery_cases c` + caseTimes + ` WHERE c.closed_at >= $1 AND c.closed_at < $2 AND t.holds > 0 AND ($3 = '' OR c.flow = $3) ORDER BY c.closed_at, c.id`

// make reads both periods and writes the lines down.
func (p *reportPass) make() error {
	scope := figureScope{everyFlow: true, flow: p.flow}
	for _, s := range []*reportSpan{&p.now, &p.then} {
		var err error
		if s.board, err = p.figureBoard(scope, FigureQuery{Flow: p.flow, From: s.from, To: s.to, Zone: p.zone}, operation.Figures...); err != nil {
			return err
		}
	}
	for _, l := range []struct {
		section operation.ReviewSection
		codes   []string
	}{
		{operation.ReviewOpen, []string{"open_at_end", "unresolved_at_end", "unresolved_occurred"}},
		{operation.ReviewAdopted, []string{"adopted"}},
		{operation.ReviewKeys, []string{"key_reuse"}},
		{operation.ReviewDuplicates, []string{"duplicates_suspected", "duplicates_confirmed", "duplicate_rate"}},
		{operation.ReviewDestinations, nil},
		{operation.ReviewDelays, []string{"approval_delay", "recovery_in_hand", "recovery_active"}},
		{operation.ReviewReexecutions, []string{"reexecution_errors"}},
		{operation.ReviewFollowUp, []string{"incidents_opened", "incidents_open", "tasks_open", "tasks_overdue", "limits_broken"}},
		{operation.ReviewVolume, []string{"events", "deliveries", "attempts", "effects_destination", "effects_person"}},
	} {
		if l.section == operation.ReviewDestinations {
			if err := p.destinations(); err != nil {
				return err
			}
		}
		for _, code := range l.codes {
			if err := p.line(l.section, code, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// destinations writes a line for each destination that ended an attempt in one of the
// periods.
func (p *reportPass) destinations() error {
	var names []string
	for _, s := range []reportSpan{p.now, p.then} {
		for _, e := range s.board.Errors {
			if e.Total.Of > 0 {
				names = append(names, e.Destination)
			}
		}
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if err := p.line(operation.ReviewDestinations, "destination_errors", name); err != nil {
			return err
		}
	}
	return nil
}

// line writes one line with its items.
func (p *reportPass) line(section operation.ReviewSection, code, name string) error {
	l := operation.ReviewLine{Section: section, Code: code, Name: name, Kind: reviewKind(code)}
	for _, s := range []struct {
		span *reportSpan
		into *operation.ReviewNumber
	}{{&p.now, &l.Now}, {&p.then, &l.Before}} {
		var items []reportItem
		q, listed := reportLists[code]
		if listed {
			args := []any{s.span.from.UTC(), s.span.to.UTC(), p.flow}
			if code == "destination_errors" {
				args = append(args, name)
			}
			if err := p.list(&items, q, args...); err != nil {
				return err
			}
		}
		*s.into = s.span.number(l, int64(len(items)), listed)
		if s.span != &p.now {
			continue
		}
		for i := range items {
			items[i].Line, items[i].N = l.Key(), i+1
		}
		p.items = append(p.items, items...)
	}
	p.facts = append(p.facts, l)
	return nil
}

// reviewKind says what the numbers of a line are.
func reviewKind(code string) operation.ReviewKind {
	switch f := operation.Figure(code); {
	case f.Valid() && f.Kind() == operation.KindRate:
		return operation.ReviewRate
	case f.Valid() && f.Kind() == operation.KindDuration:
		return operation.ReviewDuration
	}
	return operation.ReviewCount
}

// number gives a line's number in one of the periods: n is how much is listed.
func (s *reportSpan) number(l operation.ReviewLine, n int64, listed bool) operation.ReviewNumber {
	v := s.board.Series[operation.Figure(l.Code)].Total
	if l.Name != "" {
		v = FigureValue{}
		for _, e := range s.board.Errors {
			if e.Destination == l.Name {
				v = e.Total
			}
		}
	}
	switch {
	case l.Kind == operation.ReviewDuration:
		return operation.ReviewNumber{N: int64(v.Median / time.Second), Of: n}
	case l.Kind == operation.ReviewRate:
		return operation.ReviewNumber{N: n, Of: v.Of}
	case listed:
		return operation.ReviewNumber{N: n}
	}
	return operation.ReviewNumber{N: v.N}
}

// addItems writes the items of a review.
func (t *tx) addItems(report operation.ReportID, items []reportItem) error {
	for len(items) > 0 {
		n := min(len(items), 5000)
		var lines, ids, ops []string
		var places []int64
		for _, i := range items[:n] {
			lines, places, ids, ops = append(lines, i.Line), append(places, int64(i.N)), append(ids, i.Item), append(ops, string(i.Operation))
		}
		if _, err := t.exec(`INSERT INTO report_items (report_id, line, n, item, operation_id) SELECT $1, l, n, i, NULLIF(o, '')
			FROM unnest(CAST($2 AS text[]), CAST($3 AS int[]), CAST($4 AS text[]), CAST($5 AS text[])) AS x(l, n, i, o)`,
			string(report), pq.Array(lines), pq.Array(places), pq.Array(ids), pq.Array(ops)); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}
