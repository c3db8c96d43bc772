package store

import (
	"slices"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// batchWaitingSQL reads the decisions of some batches, as waitingSQL those of operations.
const batchWaitingSQL = `SELECT b.id, b.flow, b.stage, b.title, CASE WHEN b.state IN ('pending_approval', 'canary_review') THEN 'pending_approval' ELSE b.state END AS state, b.revision,
	b.next_kind, b.next_role, COALESCE(b.next_user, '') AS next_user, b.next_at, b.next_since,
	COALESCE(d.kind, '') AS told_kind, d.since AS told_since, COALESCE(d.step, 0) AS told_step, d.step_at,
	CASE WHEN b.state = 'canary_review' AND b.cleared > 0 AND (SELECT h.action FROM history h WHERE h.subject_kind = 'batch' AND h.subject_id = b.id AND h.from_state <> h.to_state ORDER BY h.seq DESC LIMIT 1) <> 'expire' THEN 'canary'
		WHEN b.paused_auto <> '' AND b.next_kind = 'resume' THEN 'paused'
		ELSE COALESCE((SELECT h.action FROM history h WHERE h.subject_kind = 'batch' AND h.subject_id = b.id AND (h.from_state <> h.to_state OR h.action = 'expire') ORDER BY h.seq DESC LIMIT 1), '') END AS last,
	CASE WHEN v.author_kind = 'person' THEN v.author_id ELSE COALESCE(v.prompted_by, '') END AS author,
	COALESCE((SELECT string_agg(CASE WHEN e.author_kind = 'person' THEN e.author_id ELSE e.prompted_by END, ',') FROM batch_versions e WHERE e.batch_id = b.id), '') AS authors,
	COALESCE((v.policy::json->>'separate_author')::boolean, false) AS separate,
	COALESCE((SELECT string_agg(a.user_id, ',') FROM batch_approvals a JOIN batch_approval_people p ON p.approval_id = a.id WHERE a.batch_id = b.id AND a.number = b.number AND a.round = b.round
		AND a.phase = CASE WHEN b.cleared > 0 THEN 'rest' ELSE 'first' END), '') AS given, '' AS asked
	FROM batches b JOIN batch_versions v ON v.batch_id = b.id AND v.number = b.number LEFT JOIN notice_decisions d ON d.operation_id = b.id
	WHERE b.id = ANY($1) AND b.next_kind <> '' AND NOT b.next_system AND b.next_since IS NOT NULL`

// kind is what a decision that waits is told of as.
func (r *waitingRow) kind() operation.NoticeKind {
	if strings.HasPrefix(r.ID, "bat_") {
		switch r.Last {
		case "canary":
			return operation.NoticeCanary
		case "paused":
			return operation.NoticeBatchPaused
		}
	}
	return operation.NoticeFor(r.Kind, r.Last)
}

// takeBatch notes what one entry about a batch tells of.
func (p *noticePass) takeBatch(e noticeEntry) {
	switch {
	case e.From != e.To && e.To == string(operation.BatchClosed):
		p.ended = append(p.ended, noticeFact{e.Subject, e.Actor, e.At})
	case e.From == e.To && e.Action != "pause" && e.Action != "resume":
		return
	}
	p.batches = append(p.batches, e.Subject)
}

// readOpenBatches notes the open decisions about batches that nobody has been told of. There
// are few.
func (p *noticePass) readOpenBatches() error {
	var ids []string
	err := p.list(&ids, `SELECT b.id FROM batches b LEFT JOIN notice_decisions d ON d.operation_id = b.id WHERE b.state NOT IN ('closed', 'rejected', 'cancelled') AND NOT b.next_system
		AND (d.operation_id IS NULL OR d.kind <> b.next_kind OR d.since <> b.next_since) ORDER BY b.id LIMIT $1`, openWindow)
	p.batches = append(p.batches, ids...)
	return err
}

// splitBatches takes the batches out of what is looked at.
func (p *noticePass) splitBatches() {
	p.ids = slices.DeleteFunc(p.ids, func(id string) bool {
		batch := strings.HasPrefix(id, "bat_")
		if batch {
			p.batches = append(p.batches, id)
		}
		return batch
	})
	slices.Sort(p.batches)
	p.batches = slices.Compact(p.batches)
}

// planBatchDecisions plans the notices of decisions about batches, and forgets those that are over.
func (p *noticePass) planBatchDecisions() error {
	if len(p.batches) == 0 {
		return nil
	}
	if _, err := p.exec(`DELETE FROM notice_decisions d USING batches b WHERE b.id = d.operation_id AND d.operation_id = ANY($1)
		AND (b.next_kind <> d.kind OR b.next_since IS DISTINCT FROM d.since OR b.next_system)`, pq.Array(p.batches)); err != nil {
		return err
	}
	if err := p.planUpdates(`SELECT n.id FROM notices n JOIN batches b ON b.id = n.subject WHERE n.live AND n.subject = ANY($1)
		AND (b.next_kind <> n.decision OR b.next_since IS DISTINCT FROM n.since OR b.next_system)`, pq.Array(p.batches)); err != nil {
		return err
	}
	var rows []waitingRow
	if err := p.list(&rows, batchWaitingSQL, pq.Array(p.batches)); err != nil {
		return err
	}
	for i := range rows {
		if err := p.planDecision(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// planEnded tells the owners of batches that were closed.
func (p *noticePass) planEnded() error {
	for _, fact := range p.ended {
		var row struct {
			Flow  string     `db:"flow"`
			Title string     `db:"title"`
			At    *time.Time `db:"closed_at"`
		}
		if err := p.get(&row, `SELECT flow, title, closed_at FROM batches WHERE id = $1`, fact.subject); err != nil {
			return err
		}
		if row.At == nil {
			continue // an item was opened again
		}
		f, err := p.flowOf(row.Flow)
		if err != nil {
			return err
		}
		p.add(noticeRow{Kind: operation.NoticeBatchClosed, Subject: fact.subject, Flow: row.Flow, Title: row.Title, Since: fact.at}, f, f.selected(f.flow.Owner))
	}
	return nil
}
