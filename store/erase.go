package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// keptForTerm is the reason of what a rule takes away.
const keptForTerm = "kept for its term"

// ErasureRow is one erasure of an operation's bodies.
type ErasureRow struct {
	Kind      RetentionKind       `db:"kind"`
	ActorKind operation.ActorKind `db:"actor_kind"`
	ActorID   string              `db:"actor_id"`
	Reason    string              `db:"reason"`
	Days      int                 `db:"days"` // of the rule; 0 = somebody asked for it
	At        time.Time           `db:"at"`
}

// readErasures reads what was erased of the operation, the newest first.
func (p *OperationPage) readErasures(u *unit) error {
	return u.list(&p.Erasures, `SELECT kind, actor_kind, actor_id, reason, COALESCE(days, 0) AS days, at FROM erasures WHERE operation_id = $1 ORDER BY at DESC, kind`, string(p.ID))
}

// MayErase says why the bodies of this operation cannot be erased now; nil = they can.
func (p *OperationPage) MayErase() *operation.Refusal {
	if !p.State.Closed() || p.Remedy != "" || p.Disputed || p.LastCase != nil && p.LastCase.Open() {
		return operation.Refuse(operation.CodeForbiddenMove, "state", string(p.State))
	}
	return nil
}

// Bodies are the kinds of which something of the operation can still be erased.
func (p *OperationPage) Bodies() []RetentionKind {
	var out []RetentionKind
	if slices.ContainsFunc(p.Versions, func(v VersionRow) bool { return len(v.Salt) > 0 || v.ContentText != "" }) ||
		slices.ContainsFunc(p.Attempts, func(a AttemptView) bool { return a.Resolved != nil || a.AsBefore }) {
		out = append(out, RetainContents)
	}
	if slices.ContainsFunc(p.Attachments, func(a AttachmentRow) bool { return !a.Erased }) {
		out = append(out, RetainAttachments)
	}
	if slices.ContainsFunc(p.Evidence, func(e EvidenceRow) bool { return e.Body != "" || e.Link != "" }) {
		out = append(out, RetainEvidence)
	}
	return out
}

// EraseOperation takes the bodies of one closed operation away, for a reason that a
// person gives: an admin who proved lately who they are, or the command line. Nothing
// open may be about it. It gives the kinds of which something went; what is gone already, or
// was never there, is no error and is not recorded.
func (s *Store) EraseOperation(ctx context.Context, a Actor, id operation.ID, reason string) ([]RetentionKind, error) {
	reason = storable(strings.TrimSpace(reason))
	if reason == "" {
		return nil, operation.Refuse(operation.CodeReasonMissing)
	}
	var went []RetentionKind
	err := s.change(ctx, a, id, func(u *unit) error {
		went = nil
		if err := u.mayAdmin(a); err != nil {
			return err
		}
		if err := u.confirmed(a, u.now); err != nil {
			return err
		}
		for _, kind := range ofOperations {
			gone, err := u.erase(kind, reason, 0)
			if err != nil {
				return err
			}
			if gone {
				went = append(went, kind)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return went, nil
}

// eraseSQL records an erasure of what is there, and of contents once in any case: the event
// and the run's inputs go when those of all the run's operations are erased. What was touched
// last by an erasure counts as touched when it was before.
const eraseSQL = `INSERT INTO erasures (id, operation_id, kind, actor_kind, actor_id, reason, days, at, since)
	SELECT $1, o.id, $3, $4, $5, $6, NULLIF(CAST($7 AS int), 0), $8, COALESCE((SELECT min(e.since) FROM erasures e WHERE e.operation_id = o.id AND e.at = $9), $9)
	FROM operations o WHERE o.id = $2 AND ($3 = 'contents' AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.operation_id = o.id AND e.kind = $3) OR CASE $3
		WHEN 'contents' THEN EXISTS (SELECT 1 FROM content_versions v JOIN version_bodies b ON b.version_id = v.id WHERE v.operation_id = o.id)
		WHEN 'attachments' THEN EXISTS (SELECT 1 FROM attachments a JOIN attachment_bodies b ON b.attachment_id = a.id WHERE a.operation_id = o.id)
		ELSE EXISTS (SELECT 1 FROM evidence v WHERE v.operation_id = o.id AND (v.body <> '' OR v.link <> '')) END)
	ON CONFLICT (operation_id, kind, at) DO NOTHING`

// erase takes the bodies of one kind away and records it. days is the rule's, 0 = a
// person asked for it. It says whether anything was there.
func (u *unit) erase(kind RetentionKind, reason string, days int) (bool, error) {
	n, err := u.exec(eraseSQL, newID("era"), string(u.op.ID), string(kind), string(u.actor.Kind), u.actor.ID, reason, days, u.now, u.op.UpdatedAt)
	if err != nil || n == 0 {
		return false, err
	}
	var gone int
	if err := u.get(&gone, `SELECT erase_bodies($1, $2)`, string(u.op.ID), string(kind)); err != nil {
		if violates(err, "bodies_kept") {
			return false, operation.Refuse(operation.CodeForbiddenMove, "state", string(u.op.State))
		}
		return false, err
	}
	if kind == RetainContents {
		u.op.Title = ""
	}
	rule := ""
	if days > 0 {
		rule = strconv.Itoa(days)
	}
	action := "erase_" + string(kind)
	u.note(u.op, action, reason, "rows", strconv.Itoa(gone), "days", rule)
	return gone > 0, nil
}

// What one sweep erases at most: operations of one kind, deliveries and events.
const (
	eraseBatch      = 100
	deliveriesBatch = 1000
)

// SweepRetention erases what has lain longer than its term, a bounded number at a time,
// and gives how many operations, deliveries, events and entries of the history it touched.
func (s *Store) SweepRetention(ctx context.Context, a Actor) (int, error) {
	total := 0
	for _, kind := range ofOperations {
		n, err := s.sweepOperations(ctx, a, kind)
		total += n
		if err != nil {
			return total, err
		}
	}
	n, err := s.sweepBatchContents(ctx, a)
	if total += n; err != nil {
		return total, err
	}
	n, err = s.sweepDeliveries(ctx, a)
	if total += n; err != nil {
		return total, err
	}
	n, err = s.sweepHistory(ctx, a)
	return total + n, err
}

func (s *Store) sweepOperations(ctx context.Context, a Actor, kind RetentionKind) (n int, err error) {
	var days int
	var ids []operation.ID
	err = s.read(ctx, func(db *sqlx.DB) error {
		ids = nil
		if err := db.GetContext(ctx, &days, `SELECT COALESCE(days, 0) FROM retention_settings WHERE kind = $1`, string(kind)); err != nil || days == 0 {
			return err
		}
		return db.SelectContext(ctx, &ids, `SELECT o.id`+retainedSQL+` ORDER BY o.updated_at LIMIT `+strconv.Itoa(eraseBatch), string(kind), days)
	})
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		err := s.change(ctx, a, id, func(u *unit) error {
			if !u.op.State.Closed() || u.op.Remedy != "" || u.op.Disputed {
				return errDone // it was opened again meanwhile
			}
			_, err := u.erase(kind, keptForTerm, days)
			return err
		})
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// sweepDeliveries takes bodies of deliveries and of events that started nothing. The
// deliveries' rows stay; one entry of the installation's history tells how many and of when.
func (s *Store) sweepDeliveries(ctx context.Context, a Actor) (n int, err error) {
	err = s.write(ctx, func(t *tx) error {
		var row struct {
			Gone   int        `db:"gone"`
			Events int        `db:"events"`
			Days   *int       `db:"days"`
			Oldest *time.Time `db:"oldest"`
			Newest *time.Time `db:"newest"`
		}
		if err := t.get(&row, `SELECT gone, events, days, oldest, newest FROM erase_deliveries($1)`, deliveriesBatch); err != nil {
			return err
		}
		if n = row.Gone + row.Events; row.Days == nil {
			return errDone
		}
		if n == 0 {
			return nil // it only walked on
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectSystem, systemSubject, "erase_deliveries", keptForTerm, "rows", strconv.Itoa(row.Gone), "events", strconv.Itoa(row.Events),
			"days", strconv.Itoa(*row.Days), "from", timeOf(row.Oldest).UTC().Format(operation.TimeForm), "to", timeOf(row.Newest).UTC().Format(operation.TimeForm))
	})
	return n, err
}
