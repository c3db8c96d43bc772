package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
)

// LookupOrder is what a worker needs to look an operation up at its destination.
type LookupOrder struct {
	Operation    operation.ID
	Revision     int64
	Destination  string
	Action       string
	Key          string
	Content      map[string]any
	DispatchedAt time.Time // of the last dispatched attempt
	DueAt        time.Time // when the lookup was planned for; zero = none is planned
	Now          time.Time // the database's clock, read before anything is asked
	Profile      *definition.Profile
}

// FindLookup gives the order for a lookup; it reads only. Lookups never stop while an
// outcome is not known, whatever is paused.
func (s *Store) FindLookup(ctx context.Context, id operation.ID) (LookupOrder, error) {
	var row struct {
		Revision    int64      `db:"revision"`
		Destination string     `db:"destination"`
		Action      string     `db:"action"`
		Version     int        `db:"version"`
		Key         string     `db:"key"`
		Content     string     `db:"content"`
		Dispatched  *time.Time `db:"dispatched_at"`
		DueAt       *time.Time `db:"lookup_at"`
		Now         time.Time  `db:"now"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT o.revision, o.destination, o.action, d.version, COALESCE(a.key, o.id) AS key, COALESCE(b.content, '{}') AS content, a.dispatched_at, o.lookup_at, clock_timestamp() AS now
			FROM operations o JOIN destinations d ON d.name = o.destination
			LEFT JOIN LATERAL (SELECT key, dispatched_at, version_id FROM attempts a WHERE a.operation_id = o.id AND a.dispatched_at IS NOT NULL ORDER BY a.number DESC LIMIT 1) a ON true
			LEFT JOIN version_bodies b ON b.version_id = COALESCE(a.version_id, o.version_id) WHERE o.id = $1`, string(id))
	})
	if err != nil {
		return LookupOrder{}, err
	}
	p, err := s.profileVersion(ctx, s.db, row.Destination, row.Version)
	if err != nil {
		return LookupOrder{}, err
	}
	o := LookupOrder{Operation: id, Revision: row.Revision, Destination: row.Destination, Action: row.Action, Key: row.Key, DispatchedAt: timeOf(row.Dispatched),
		DueAt: timeOf(row.DueAt), Now: row.Now.UTC(), Profile: p}
	return o, json.Unmarshal([]byte(row.Content), &o.Content)
}

// RecordLookup writes what a lookup found. asked is when, by the database's clock, the request was made: a miss
// from before the last dispatch says nothing about it.
func (s *Store) RecordLookup(ctx context.Context, a Actor, id operation.ID, asked time.Time, l operation.LookupFinding) error {
	return s.change(ctx, a, id, func(u *unit) error {
		body, err := jsonText(l)
		if err != nil {
			return err
		}
		u.addEvidence("", "lookup", string(l.Result), l.ID, l.URL, body)
		h := sha256.Sum256([]byte(body))
		links := []string{"result", string(l.Result), "reference", l.ID, "evidence_hash", hexOf(h[:])}
		return u.recordLookup(l, earlier(asked.UTC().Truncate(time.Microsecond), u.now), links)
	})
}

func (u *unit) recordLookup(l operation.LookupFinding, at time.Time, links []string) error {
	o := u.op
	u.stopped = stopped{finding: &l}
	missed := l.Result == operation.LookupNone || l.Result == operation.LookupUnreachable
	if missed && o.LastDispatch != nil && at.Before(*o.LastDispatch) {
		u.note(o, "lookup", "", links...) // asked before the last request left: kept, and says nothing about it
		return nil
	}
	o.LastLookup, o.LastLookupAt = string(l.Result), &at
	if l.Result != operation.LookupOne {
		o.Misses++ // the next one comes later
	}
	if o.RequestID != "" && l.Result != operation.LookupUnreachable {
		if _, err := u.exec(`UPDATE reexecution_requests SET checked_at = $2 WHERE id = $1 AND state IN ('requested', 'approved')`, string(o.RequestID), at); err != nil {
			return err
		}
		u.facts.CheckedAt = &at
	}
	f, err := u.gateFacts()
	if err != nil {
		return err
	}
	u.note(o, "lookup", "", links...)
	o.replanned = true
	if l.Result == operation.LookupMany {
		if err := u.noteContradiction(operation.Told{Many: true}, links...); err != nil {
			return err
		}
	}
	if l.Result == operation.LookupOne {
		return u.lookupFound(f, l, links)
	}
	if o.State.Closed() {
		return u.closedLookup(l, links)
	}
	if o.State == operation.InProgress {
		return nil // the open attempt's own outcome comes first
	}
	a := operation.AfterLookup(f, l, u.profile.Retry, u.now)
	// A re-execution waits for a lookup that answers: one that did not is repeated at
	// its own growing intervals, not by waking an attempt that asks for it again.
	o.asleep = o.State == operation.Ready && l.Result == operation.LookupUnreachable
	return u.follow(a, string(l.Result), links...)
}

// lookupFound is a lookup that found one effect: it confirms, it is evidence for whoever
// settles a dispute, or, where another operation has it, a candidate for a person.
func (u *unit) lookupFound(f operation.Facts, l operation.LookupFinding, links []string) error {
	o := u.op
	if err := u.effectFound("destination", l.ID, l.URL, time.Time{}, links...); err != nil {
		return err
	}
	switch {
	case o.State == operation.Confirmed:
		o.LookupAt = nil
		return u.settleUnsettled("confirmed")
	case o.State.Closed(), o.Disputed:
		o.LookupAt = nil // it is found; nothing is looked for any more
	case o.State != operation.InProgress:
		l.Result = operation.LookupMismatch
		u.stopped = stopped{finding: &l}
		return u.follow(operation.AfterLookup(f, l, u.profile.Retry, u.now), string(operation.CodeReferenceTaken), links...)
	}
	return nil
}

// closedLookup is a lookup after closing: several effects are a duplicate for the owner.
func (u *unit) closedLookup(l operation.LookupFinding, links []string) error {
	o := u.op
	o.LookupAt = nil
	if l.Result != operation.LookupMany {
		return nil
	}
	o.Duplicate = suspected(o.Duplicate)
	u.note(o, "duplicate_suspected", "", links...)
	if o.State.WithoutEffect() {
		return u.reopen(links...)
	}
	o.Remedy = "duplicate"
	return nil
}

// DueLookups lists operations whose lookup is due, oldest first.
func (s *Store) DueLookups(ctx context.Context, limit int) ([]operation.ID, error) {
	var ids []operation.ID
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.SelectContext(ctx, &ids, `SELECT id FROM operations WHERE lookup_at <= clock_timestamp() AND state <> 'in_progress' ORDER BY lookup_at LIMIT $1`, limit)
	})
	return ids, err
}
