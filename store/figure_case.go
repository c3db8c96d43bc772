package store

import (
	"strconv"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// Settled cases are counted at their closing. People may correct their times afterwards,
// with a reason: then the case leaves its old cell and is counted in the new one, at the
// same moment.

// caseCell is the cell of a case's time.
func caseCell(ms, bounds string) string {
	return `width_bucket(CAST(GREATEST(` + ms + `, 0) / 1000 AS float8), CAST(` + bounds + ` AS float8[]))`
}

// countedCasesSQL counts the cases of [$1, $2) as they are in the running totals.
var countedCasesSQL = `SELECT k.m, width_bucket(f.closed_at, CAST($3 AS timestamptz[])) AS stretch, f.flow, f.destination, k.cell, count(*) AS n
	FROM figure_cases f CROSS JOIN LATERAL (VALUES (` + strconv.Itoa(int(mInHand)) + `, f.in_hand), (` + strconv.Itoa(int(mActive)) + `, f.active)) AS k(m, cell)
	WHERE f.closed_at >= $1 AND f.closed_at < $2 AND CAST($4 AS float8[]) IS NOT NULL GROUP BY 1, 2, 3, 4, 5`

// keepCases remembers how the cases closed in [from, to) are counted.
func (t *tx) keepCases(from, to time.Time) error {
	_, err := t.exec(`INSERT INTO figure_cases (case_id, flow, destination, closed_at, in_hand, active)
		SELECT c.id, c.flow, c.destination, c.closed_at, `+caseCell("t.in_hand", "$3")+`, `+caseCell("t.active", "$3")+` FROM recovery_cases c`+caseTimes+`
		WHERE c.closed_at >= $1 AND c.closed_at < $2 AND t.holds > 0`, from.UTC(), to.UTC(), pq.Array(operation.DurationBounds))
	return err
}

// lateBeats is for how long after its closing a case's times may still come in.
const lateBeats = time.Hour

// correctedCase is a case whose times are other ones than were counted.
type correctedCase struct {
	ID          string    `db:"case_id"`
	Flow        string    `db:"flow"`
	Destination string    `db:"destination"`
	ClosedAt    time.Time `db:"closed_at"`
	InHand      int       `db:"in_hand"`
	Active      int       `db:"active"`
	NewInHand   int       `db:"new_in_hand"`
	NewActive   int       `db:"new_active"`
}

// correctCases counts the cases anew whose times were corrected in [from, to).
func (t *tx) correctCases(from, to time.Time) error {
	var rows []correctedCase
	err := t.list(&rows, `SELECT * FROM (SELECT f.case_id, f.flow, f.destination, f.closed_at, f.in_hand, f.active,
			`+caseCell("t.in_hand", "$4")+` AS new_in_hand, `+caseCell("t.active", "$4")+` AS new_active
		FROM figure_cases f JOIN recovery_cases c ON c.id = f.case_id`+caseTimes+`
		WHERE f.case_id IN (SELECT k.case_id FROM case_corrections k WHERE k.at >= $1 AND k.at < $2 UNION SELECT y.case_id FROM figure_cases y WHERE y.closed_at >= $3)) x
		WHERE (x.in_hand, x.active) <> (x.new_in_hand, x.new_active)`, from.UTC(), to.UTC(), from.Add(-lateBeats).UTC(), pq.Array(operation.DurationBounds))
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := t.correctCase(r); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) correctCase(r correctedCase) error {
	for _, x := range []struct{ part, was, is int }{{partInHand, r.InHand, r.NewInHand}, {partActive, r.Active, r.NewActive}} {
		if x.was == x.is {
			continue
		}
		// arrays count from 1
		if _, err := t.exec(`UPDATE figure_totals t SET totals[CAST($5 AS int)] = t.totals[CAST($5 AS int)] - 1, totals[CAST($6 AS int)] = t.totals[CAST($6 AS int)] + 1 FROM figure_series s
			WHERE s.id = t.series AND s.part = $1 AND (s.flow, s.destination) IN (($2, $3), ('*', $3), ('*', '*')) AND t.until > $4`,
			x.part, r.Flow, r.Destination, r.ClosedAt, x.was+1, x.is+1); err != nil {
			return err
		}
	}
	return t.one(`UPDATE figure_cases SET in_hand = $2, active = $3 WHERE case_id = $1`, r.ID, r.NewInHand, r.NewActive)
}
