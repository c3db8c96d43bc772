package store

import (
	"encoding/hex"
	"strings"
	"time"

	"holdpoint/operation"
)

// patternPart and stopPart write why an operation stopped, beside it and in the same
// statement: the pattern, where it is new, and the stop, once in a case. A stop that nothing
// new explains (aside) counts only where the case has none.
const (
	patternPart = `INSERT INTO patterns (id, fingerprint, destination, phase, code, status, error, class, first_at)
	SELECT DISTINCT ON (id) id, decode(fingerprint, 'hex'), destination, phase, code, status, error, class, at
	FROM jsonb_to_recordset(?) AS x(id text, fingerprint text, destination text, phase text, code text, status int, error text, class text, at timestamptz, operation_id text, round int, aside boolean)
	WHERE ` + opThere + noStopYet + ` ORDER BY id ON CONFLICT DO NOTHING`
	stopPart = `INSERT INTO stops (operation_id, round, pattern_id, flow, destination, kind, class, attempt, at)
	SELECT operation_id, round, id, flow, destination, kind, class, attempt, at
	FROM jsonb_to_recordset(?) AS x(id text, operation_id text, round int, flow text, destination text, kind text, class text, attempt int, at timestamptz, aside boolean)
	WHERE ` + opThere + noStopYet + ` ON CONFLICT ON CONSTRAINT stops_once DO NOTHING`

	opThere   = `EXISTS (SELECT 1 FROM op)`
	noStopYet = ` AND NOT (aside AND EXISTS (SELECT 1 FROM stops s WHERE s.operation_id = x.operation_id AND s.round = x.round))`
)

// stopsSQL writes the stops of operations that are written otherwise, after them.
var stopsSQL = strings.NewReplacer(opThere, "true", "?", "CAST($1 AS jsonb)").Replace(`WITH pat AS (` + patternPart + `) ` + stopPart)

// writeStops writes stops beside operations that this transaction has written.
func (t *tx) writeStops(rows []map[string]any) error {
	if len(rows) == 0 {
		return nil
	}
	js, err := jsonText(rows)
	if err != nil {
		return err
	}
	_, err = t.exec(stopsSQL, withoutNUL([]byte(js)))
	return err
}

// stopRow is one stop as it is written.
func stopRow(o *opRow, s operation.Stop, attempt int, at time.Time) map[string]any {
	c := operation.ClassifyStop(s)
	return map[string]any{"id": c.Pattern(), "fingerprint": hex.EncodeToString(c.Fingerprint[:]), "destination": c.Destination, "phase": c.Phase,
		"code": c.Code, "status": c.Status, "error": c.Error, "class": c.Class, "at": at, "operation_id": o.ID, "round": o.CaseRound, "flow": o.Flow,
		"kind": s.Kind, "attempt": attempt, "aside": s.Kind == operation.StopReview && s.Why != string(operation.EvDispute) && s.Why != operation.WhyLateEffect}
}

// stopped is what a decision learnt that may be a stop: how an attempt ended, or what a
// lookup found.
type stopped struct {
	attempt int // its number
	result  *operation.Result
	finding *operation.LookupFinding
	why     string // a review that only this word explains
}

// noteStop adds the stop that this decision ends in, if it does, to what is saved. The way
// to a confirmed effect costs nothing.
func (u *unit) noteStop() {
	s, ok := u.stop()
	if !ok {
		return
	}
	at := u.stopped.attempt
	if at == 0 {
		at = u.op.AttemptsEver // of those, none is known to have caused it
	}
	u.w.stops = append(u.w.stops, stopRow(u.op, s, at, u.now))
}

// stop tells whether the operation stopped in this decision, and how.
func (u *unit) stop() (operation.Stop, bool) {
	x := u.stopped
	entered := u.op.State == operation.Review && u.op.was != operation.Review
	s := operation.Stop{Destination: u.op.Destination}
	switch {
	case x.result != nil && x.result.Outcome == operation.OutcomeUnknown && u.op.State != operation.Confirmed:
		s.Kind, s.Proof = operation.StopUnknown, x.result.Proof
	case x.result != nil && x.result.Outcome == operation.OutcomeNotStarted && (x.result.Permanent || entered):
		s.Kind, s.Proof = operation.StopRefused, x.result.Proof
	case x.finding != nil && u.op.State != operation.Confirmed && (x.finding.Result == operation.LookupMany || x.finding.Result == operation.LookupMismatch):
		s.Kind, s.Proof, s.Lookup = operation.StopContradiction, x.finding.Proof, x.finding.Result
	case entered:
		s.Kind, s.Why = operation.StopReview, u.whyReview()
	default:
		return s, false
	}
	if u.profile != nil {
		s.Mail = u.profile.Kind == operation.RequestSMTP
		if act, err := u.profile.Action(u.op.Action); err == nil {
			s.Codes = act.Codes()
		}
	}
	return s, true
}

// whyReview names what brought the operation to review: what the decision said itself, the
// code that the rules gave with the move, or the event.
func (u *unit) whyReview() string {
	if u.stopped.why != "" {
		return u.stopped.why
	}
	for i := len(u.entries) - 1; i >= 0; i-- {
		e := u.entries[i]
		if e.SubjectID != string(u.op.ID) || e.To != operation.Review || e.From == operation.Review {
			continue
		}
		for _, c := range operation.Codes {
			if e.Reason == string(c) {
				return e.Reason
			}
		}
		return e.Action
	}
	return string(operation.EvEscalate)
}
