package store

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
)

// RetentionKind is a kind of bodies that can be erased. Facts, hashes, decisions, keys and
// the entries of the history always stay; of the entries, words can go.
type RetentionKind string

// The kinds.
const (
	RetainContents    RetentionKind = "contents"    // versions, the bytes sent, events, inputs, titles
	RetainAttachments RetentionKind = "attachments" // files of evidence and of checklists
	RetainEvidence    RetentionKind = "evidence"    // what statements, lookups, callbacks and late reports say, and their links
	RetainDeliveries  RetentionKind = "deliveries"  // bodies of deliveries, and of events that started nothing
	RetainHistory     RetentionKind = "history"     // what entries of closed subjects say of people, and in their words
)

// RetentionKinds are all of them, as the page shows them.
var RetentionKinds = []RetentionKind{RetainContents, RetainAttachments, RetainEvidence, RetainDeliveries, RetainHistory}

// ofOperations are the kinds that go operation by operation.
var ofOperations = []RetentionKind{RetainContents, RetainAttachments, RetainEvidence}

// The bounds of a term, in days after an operation was last touched, or a delivery came.
// The history's begins at RetentionHistoryMin.
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
	History   *HistoryPreview // of RetainHistory, in the place of Preview
}

// RetentionPreview is exactly what a term would take away now.
type RetentionPreview struct {
	Operations int        `db:"operations"`
	Batches    int        `db:"batches"`    // of RetainContents: how many lose their list, shared text and items
	Deliveries int        `db:"deliveries"` // of RetainDeliveries: how many lose their body
	Events     int        `db:"events"`     // and how many events that started nothing
	Oldest     *time.Time `db:"oldest"`     // when the operation was last touched, the batch closed, or the notification came
	Newest     *time.Time `db:"newest"`
	NamesText  string     `db:"names"`
}

// Names are the flows of the operations and batches, or the sources of the deliveries and events.
func (p RetentionPreview) Names() []string {
	if p.NamesText == "" {
		return nil
	}
	return strings.Split(p.NamesText, ",")
}

// touched is when an operation o was last touched. An erasure is no touch.
const touched = `COALESCE((SELECT min(e.since) FROM erasures e WHERE e.operation_id = o.id AND e.at = o.updated_at), o.updated_at)`

// retainedSQL gives the operations o whose bodies of kind $1 have lain for $2 days: closed,
// nothing open about them, and with something to erase.
const retainedSQL = ` FROM operations o WHERE o.state IN ` + closedStates + ` AND o.remedy = '' AND NOT o.disputed
	AND ` + touched + ` < clock_timestamp() - make_interval(days => $2)
	AND NOT EXISTS (SELECT 1 FROM recovery_cases c WHERE c.operation_id = o.id AND c.closed_at IS NULL)
	AND CASE $1 WHEN 'contents' THEN EXISTS (SELECT 1 FROM content_versions v JOIN version_bodies b ON b.version_id = v.id WHERE v.operation_id = o.id)
		WHEN 'attachments' THEN EXISTS (SELECT 1 FROM attachments a JOIN attachment_bodies b ON b.attachment_id = a.id WHERE a.operation_id = o.id)
		ELSE EXISTS (SELECT 1 FROM evidence v WHERE v.operation_id = o.id AND (v.body <> '' OR v.link <> '')) END`

const retainedPreviewSQL = `SELECT count(*) AS operations, min(` + touched + `) AS oldest, max(` + touched + `) AS newest,
	COALESCE(string_agg(DISTINCT o.flow, ','), '') AS names` + retainedSQL

// deliveriesPreviewSQL counts what erase_deliveries would take with a term of $1 days.
const deliveriesPreviewSQL = `WITH waits AS (SELECT event_id AS id FROM held_events WHERE open UNION SELECT twin_id FROM held_events WHERE open),
	d AS (SELECT d.source, d.received_at FROM deliveries d WHERE d.body IS NOT NULL AND d.received_at < clock_timestamp() - make_interval(days => $1)
		AND (d.event_id IS NULL OR d.event_id NOT IN (SELECT id FROM waits))),
	e AS (SELECT e.source, e.received_at FROM events e JOIN event_bodies b ON b.event_id = e.id WHERE e.received_at < clock_timestamp() - make_interval(days => $1)
		AND NOT EXISTS (SELECT 1 FROM event_runs x WHERE x.event_id = e.id) AND e.id NOT IN (SELECT id FROM waits)),
	both_of AS (SELECT source, received_at FROM d UNION ALL SELECT source, received_at FROM e)
SELECT (SELECT count(*) FROM d) AS deliveries, (SELECT count(*) FROM e) AS events, min(received_at) AS oldest, max(received_at) AS newest,
	COALESCE(string_agg(DISTINCT source, ','), '') AS names FROM both_of`

// retentionPreview is what a term of so many days takes away now.
func (t *tx) retentionPreview(kind RetentionKind, days int) (p RetentionPreview, err error) {
	if kind == RetainDeliveries {
		return p, t.get(&p, deliveriesPreviewSQL, days)
	}
	if err := t.get(&p, retainedPreviewSQL, string(kind), days); err != nil || kind != RetainContents {
		return p, err
	}
	var b RetentionPreview
	if err := t.get(&b, batchesPreviewSQL, days); err != nil {
		return p, err
	}
	return p.with(b), nil
}

// with adds what goes of batches.
func (p RetentionPreview) with(b RetentionPreview) RetentionPreview {
	names := append(p.Names(), b.Names()...)
	slices.Sort(names)
	p.Batches, p.NamesText = b.Batches, strings.Join(slices.Compact(names), ",")
	if b.Oldest != nil && (p.Oldest == nil || b.Oldest.Before(*p.Oldest)) {
		p.Oldest = b.Oldest
	}
	if b.Newest != nil && (p.Newest == nil || b.Newest.After(*p.Newest)) {
		p.Newest = b.Newest
	}
	return p
}

// FindRetention gives the terms with what they take away now. days replaces the stored
// terms for the preview; an admin or an auditor may look.
func (s *Store) FindRetention(ctx context.Context, viewer Actor, days map[RetentionKind]int) (rows []RetentionRow, err error) {
	err = s.snapshot(ctx, func(t *tx) error {
		if err := t.mayBe(viewer, "", operation.RoleAdmin, operation.RoleAuditor); err != nil {
			return err
		}
		rows = nil
		if err := t.list(&rows, `SELECT r.kind, COALESCE(r.days, 0) AS days, COALESCE(u.name, '') AS changed_by, r.changed_at FROM retention_settings r
			LEFT JOIN users u ON u.id = r.changed_by`); err != nil {
			return err
		}
		slices.SortFunc(rows, func(a, b RetentionRow) int {
			return cmp.Compare(slices.Index(RetentionKinds, a.Kind), slices.Index(RetentionKinds, b.Kind))
		})
		for i := range rows {
			term := rows[i].Days
			if d, ok := days[rows[i].Kind]; ok {
				term = d
			}
			var err error
			if rows[i].Kind == RetainHistory {
				if rows[i].History, err = t.historyPreview(term); err != nil {
					return err
				}
				continue
			}
			if term == 0 {
				continue
			}
			if rows[i].Preview, err = t.retentionPreview(rows[i].Kind, term); err != nil {
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
		if d := days[kind]; d != 0 && (d < kind.Min() || d > RetentionMax) {
			return &Invalid{Field: string(kind), Code: "retention_days", Limit: kind.Min()}
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
