package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// RetentionKind is a kind of bodies that can be erased. Facts, hashes, decisions, keys and
// the history always stay.
type RetentionKind string

// The kinds.
const (
	RetainContents    RetentionKind = "contents"    // versions, the bytes sent, events, inputs, titles
	RetainAttachments RetentionKind = "attachments" // files of evidence and of checklists
)

// RetentionKinds are all of them, as the page shows them.
var RetentionKinds = []RetentionKind{RetainContents, RetainAttachments}

// The bounds of a term, in days after an operation was closed.
const (
	RetentionMin = 30
	RetentionMax = 36500
)

// RetentionRow is the term of one kind and what it takes away now.
type RetentionRow struct {
	Kind      RetentionKind `db:"kind"`
	Days      int           `db:"days"` // 0 = for ever
	ChangedBy string        `db:"changed_by"`
	ChangedAt *time.Time    `db:"changed_at"`
	Preview   RetentionPreview
}

// RetentionPreview is exactly what a term would take away now.
type RetentionPreview struct {
	Operations int        `db:"operations"`
	Oldest     *time.Time `db:"oldest"` // when the operation was closed or last touched
	Newest     *time.Time `db:"newest"`
	FlowsText  string     `db:"flows"`
}

// Flows names the flows of the operations.
func (p RetentionPreview) Flows() []string {
	if p.FlowsText == "" {
		return nil
	}
	return strings.Split(p.FlowsText, ",")
}

// retainedSQL gives the operations o whose bodies of kind $1 have lain for $2 days: closed,
// nothing open about them, not erased yet, and with something to erase.
const retainedSQL = ` FROM operations o WHERE o.state IN ('confirmed', 'rejected', 'cancelled', 'not_executed') AND o.remedy = '' AND NOT o.disputed
	AND COALESCE((SELECT e.since FROM erasures e WHERE e.operation_id = o.id AND e.at = o.updated_at LIMIT 1), o.updated_at) < clock_timestamp() - make_interval(days => $2)
	AND NOT EXISTS (SELECT 1 FROM recovery_cases c WHERE c.operation_id = o.id AND c.closed_at IS NULL)
	AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.operation_id = o.id AND e.kind = $1)
	AND CASE WHEN $1 = 'contents' THEN EXISTS (SELECT 1 FROM content_versions v JOIN version_bodies b ON b.version_id = v.id WHERE v.operation_id = o.id)
		ELSE EXISTS (SELECT 1 FROM attachments a JOIN attachment_bodies b ON b.attachment_id = a.id WHERE a.operation_id = o.id) END`

// FindRetention gives the terms with what they take away now. days replaces the stored
// terms for the preview; an admin or an auditor may look.
func (s *Store) FindRetention(ctx context.Context, viewer Actor, days map[RetentionKind]int) (rows []RetentionRow, err error) {
	err = s.snapshot(ctx, func(t *tx) error {
		if err := t.mayBe(viewer, "", operation.RoleAdmin, operation.RoleAuditor); err != nil {
			return err
		}
		rows = nil
		if err := t.list(&rows, `SELECT r.kind, COALESCE(r.days, 0) AS days, COALESCE(u.name, '') AS changed_by, r.changed_at FROM retention_settings r
			LEFT JOIN users u ON u.id = r.changed_by ORDER BY r.kind DESC`); err != nil {
			return err
		}
		for i := range rows {
			term := rows[i].Days
			if d, ok := days[rows[i].Kind]; ok {
				term = d
			}
			if term == 0 {
				continue
			}
			if err := t.get(&rows[i].Preview, `SELECT count(*) AS operations, min(o.updated_at) AS oldest, max(o.updated_at) AS newest,
				COALESCE(string_agg(DISTINCT o.flow, ','), '') AS flows`+retainedSQL, string(rows[i].Kind), term); err != nil {
				return err
			}
		}
		return nil
	})
	return rows, err
}

// SetRetention sets the terms, 0 = for ever. An admin who proved lately who they are.
func (s *Store) SetRetention(ctx context.Context, a Actor, days map[RetentionKind]int) error {
	for _, kind := range RetentionKinds {
		if d := days[kind]; d != 0 && (d < RetentionMin || d > RetentionMax) {
			return &Invalid{Field: string(kind), Code: "retention_days", Limit: RetentionMin}
		}
	}
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.mayBe(a, "", operation.RoleAdmin); err != nil {
			return err
		}
		if err := t.confirmed(a, now); err != nil {
			return err
		}
		links := []string{}
		for _, kind := range RetentionKinds {
			var was int
			if err := t.get(&was, `SELECT COALESCE(days, 0) FROM retention_settings WHERE kind = $1 FOR UPDATE`, string(kind)); err != nil {
				return err
			}
			if was == days[kind] {
				continue
			}
			if err := t.one(`UPDATE retention_settings SET days = NULLIF(CAST($2 AS int), 0), changed_by = $3, changed_at = $4 WHERE kind = $1`, string(kind), days[kind], a.ID, now); err != nil {
				return err
			}
			links = append(links, string(kind), strconv.Itoa(days[kind]), string(kind)+"_before", strconv.Itoa(was))
		}
		if len(links) == 0 {
			return errDone
		}
		return t.enter(a, now, operation.SubjectSystem, systemSubject, "set_retention", "", links...)
	})
}

// EraseOperation takes the bodies of one closed operation away, for a reason that a
// person gives: an admin who proved lately who they are, or the command line. Nothing
// open may be about it. What is gone already is no error.
func (s *Store) EraseOperation(ctx context.Context, a Actor, id operation.ID, reason string) error {
	reason = storable(strings.TrimSpace(reason))
	if reason == "" {
		return operation.Refuse(operation.CodeReasonMissing)
	}
	return s.change(ctx, a, id, func(u *unit) error {
		if err := u.mayAdmin(a); err != nil {
			return err
		}
		if err := u.confirmed(a, u.now); err != nil {
			return err
		}
		for _, kind := range RetentionKinds {
			if err := u.erase(kind, reason, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// erase takes the bodies of one kind away and records it. days is the rule's, 0 = a
// person asked for it.
func (u *unit) erase(kind RetentionKind, reason string, days int) error {
	n, err := u.exec(`INSERT INTO erasures (id, operation_id, kind, actor_kind, actor_id, reason, days, at, since) VALUES ($1, $2, $3, $4, $5, $6, NULLIF(CAST($7 AS int), 0), $8, $9)
		ON CONFLICT (operation_id, kind) DO NOTHING`, newID("era"), string(u.op.ID), string(kind), string(u.actor.Kind), u.actor.ID, reason, days, u.now, u.op.UpdatedAt)
	if err != nil || n == 0 {
		return err
	}
	var gone int
	if err := u.get(&gone, `SELECT erase_bodies($1, $2)`, string(u.op.ID), string(kind)); err != nil {
		if violates(err, "bodies_kept") {
			return operation.Refuse(operation.CodeForbiddenMove, "state", string(u.op.State))
		}
		return err
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
	return nil
}

// eraseBatch bounds what one sweep erases of one kind.
const eraseBatch = 100

// SweepRetention erases what has lain longer than its term, a bounded number at a time,
// and gives how many operations it touched.
func (s *Store) SweepRetention(ctx context.Context, a Actor) (int, error) {
	n := 0
	for _, kind := range RetentionKinds {
		var days int
		var ids []operation.ID
		err := s.read(ctx, func(db *sqlx.DB) error {
			ids = nil
			if err := db.GetContext(ctx, &days, `SELECT COALESCE(days, 0) FROM retention_settings WHERE kind = $1`, string(kind)); err != nil || days == 0 {
				return err
			}
			return db.SelectContext(ctx, &ids, `SELECT o.id`+retainedSQL+` ORDER BY o.updated_at LIMIT `+strconv.Itoa(eraseBatch), string(kind), days)
		})
		if err != nil {
			return n, err
		}
		for _, id := range ids {
			err := s.change(ctx, a, id, func(u *unit) error {
				if !u.op.State.Closed() || u.op.Remedy != "" || u.op.Disputed {
					return errDone // it was opened again meanwhile
				}
				return u.erase(kind, "kept for its term", days)
			})
			if err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
