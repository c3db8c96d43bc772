package store

import (
	"strconv"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// actionContradicted is the entry that tells of evidence against a person's decision. Its
// links name the decision (decision, decision_seq), who took it (decided_by), and the
// evidence.
const actionContradicted = "contradicted"

// noteContradiction records, once for each decision, that evidence of an effect contradicts
// what a person decided. Whoever decided and the reviewer are told of it. It comes before
// what follows from the evidence.
func (u *unit) noteContradiction(e operation.Told, links ...string) error {
	o := u.op
	if !(o.State.Closed() || o.State == operation.ReexecutionRequested || o.RequestID != "" || o.Stated) {
		return nil
	}
	var d struct {
		Seq    int64     `db:"seq"`
		Action string    `db:"action"`
		By     string    `db:"actor_id"`
		At     time.Time `db:"at"`
		Noted  bool      `db:"noted"`
	}
	err := u.get(&d, `SELECT h.seq, h.action, h.actor_id, h.at, EXISTS (SELECT 1 FROM history x WHERE x.subject_kind = 'operation' AND x.subject_id = $1 AND x.seq > h.seq AND x.action = $3 AND x.at >= h.at) AS noted
		FROM history h WHERE h.subject_kind = 'operation' AND h.subject_id = $1 AND h.at >= $4 AND h.actor_kind = 'person' AND h.action = ANY($2) ORDER BY h.seq DESC LIMIT 1`,
		string(o.ID), pq.Array(operation.PersonDecisions), actionContradicted, o.CreatedAt.Add(-clockSlack))
	if isGone(err) || err == nil && d.Noted {
		return nil
	}
	if err != nil {
		return err
	}
	f := operation.Facts{State: o.State, Stated: o.Stated, LastDispatch: timeOf(o.LastDispatch)}
	if o.RequestID != "" {
		f.Reexecution = &operation.ReexecutionFacts{Request: o.RequestID}
	}
	if !operation.Contradicts(f, o.ConfirmedBy == "person", o.TargetReference, e, d.At) {
		return nil
	}
	u.note(o, actionContradicted, "", append([]string{"decision", d.Action, "decision_seq", strconv.FormatInt(d.Seq, 10), "decided_by", d.By, "reference", e.Reference}, links...)...)
	return nil
}

// planContradiction tells the reviewer, and whoever took the decision, of the evidence
// against it.
func (p *noticePass) planContradiction(fact noticeFact) error {
	var row struct {
		Flow     string `db:"flow"`
		Title    string `db:"title"`
		Revision int64  `db:"revision"`
		Links    string `db:"links"`
	}
	if err := p.get(&row, `SELECT o.flow, o.title, o.revision, h.links FROM operations o JOIN history h ON h.subject_kind = 'operation' AND h.subject_id = o.id
		WHERE o.id = $1 AND h.at = $2 AND h.action = $3 ORDER BY h.seq LIMIT 1`, fact.subject, fact.at, actionContradicted); err != nil {
		return err
	}
	f, err := p.flowOf(row.Flow)
	if err != nil {
		return err
	}
	who := f.selected(f.flow.Reviewer)
	if by := operation.UserID(decodeLinks(row.Links)["decided_by"]); by != "" && f.sees(by) {
		who = append(leaving(who, by), by)
	}
	p.add(noticeRow{Kind: operation.NoticeContradiction, Subject: fact.subject, Flow: row.Flow, Title: row.Title, Since: fact.at, Revision: row.Revision}, f, who)
	return nil
}
