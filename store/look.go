package store

import (
	"context"
	"strconv"
	"time"

	"holdpoint/operation"
)

// sameLook is for how long the same look of one session is not recorded again.
const sameLook = 5 * time.Minute

// Look is what an auditor had before their eyes: content of one operation, one of its
// attachments, what a run was started with, what a delivery brought, or a batch.
type Look struct {
	Operation  operation.ID
	Flow       string // that it belongs to; "" = none
	Version    operation.VersionID
	Attempt    operation.AttemptID
	Attachment operation.AttachmentID
	Delivery   operation.DeliveryID
	Run        operation.RunID
	Batch      operation.BatchID
}

// what names the look among those of one session.
func (l Look) what() string {
	return string(l.Operation) + " " + string(l.Version) + " " + string(l.Attempt) + " " + string(l.Attachment) + " " + string(l.Delivery) + " " + string(l.Run) + " " + string(l.Batch)
}

// RecordLook records that an auditor looks at content. It stands in the auditor's own
// history and names what they looked at: an entry in the operation's history would raise
// nothing, but make its deciders and the gate wait for a reader's transaction. Looks of
// other people are not recorded, nor is the same look of one session again within five
// minutes. Content is shown only once its look is recorded.
func (s *Store) RecordLook(ctx context.Context, viewer Actor, l Look) error {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil || v.Token || !v.In(l.Flow).Has(operation.RoleAuditor) {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		// whoever holds the head of the history looks alone
		if _, err := t.lockHead(operation.SubjectUser, viewer.ID); err != nil {
			return err
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		n, err := t.exec(`INSERT INTO recent_looks AS r (user_id, session, what, at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (user_id, session, what) DO UPDATE SET at = $4 WHERE r.at <= $5`, viewer.ID, session(viewer), l.what(), now, now.Add(-sameLook))
		if err != nil {
			return err
		}
		if n == 0 {
			return errDone
		}
		if _, err := t.exec(`DELETE FROM recent_looks WHERE user_id = $1 AND at <= $2`, viewer.ID, now.Add(-sameLook)); err != nil {
			return err
		}
		return t.enter(viewer, now, operation.SubjectUser, viewer.ID, "look", "", "role", string(operation.RoleAuditor), "operation", string(l.Operation),
			"flow", l.Flow, "version", string(l.Version), "attempt", string(l.Attempt), "attachment", string(l.Attachment), "delivery", string(l.Delivery), "run", string(l.Run), "batch", string(l.Batch))
	})
}

func session(a Actor) []byte {
	if a.Session == nil {
		return []byte{}
	}
	return a.Session
}

// Export is a list or a document that somebody takes out of the product.
type Export struct {
	What    string // history, operations, figures, incident, report, acceptance
	Format  string // csv, json, jsonl, markdown
	Filter  string // as a query string; of a document its id
	Content bool   // with content, requests and what was sent
}

func (x Export) links() []string {
	l := []string{"export", x.What, "format", x.Format, "filter", x.Filter}
	if x.Content {
		l = append(l, "content", "yes")
	}
	return l
}

// BeginExport records that somebody takes a list out, before its first byte leaves.
func (s *Store) BeginExport(ctx context.Context, viewer Actor, x Export) error {
	return s.enterExport(ctx, viewer, "export", x.links()...)
}

// EndExport records how an export ended: with how many rows, and the SHA-256 of what was
// sent, in hexadecimal. cut = it broke off, and its reader was shown so.
func (s *Store) EndExport(ctx context.Context, viewer Actor, x Export, rows int64, hash string, cut bool) error {
	action := "export_done"
	if cut {
		action = "export_cut"
	}
	return s.enterExport(ctx, viewer, action, append(x.links(), "rows", strconv.FormatInt(rows, 10), "evidence_hash", hash)...)
}

func (s *Store) enterExport(ctx context.Context, a Actor, action string, links ...string) error {
	return s.write(ctx, func(t *tx) error {
		if _, err := t.lockHead(operation.SubjectUser, a.ID); err != nil {
			return err
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, a.ID, action, "", links...)
	})
}
