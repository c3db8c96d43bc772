package store

import (
	"slices"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// waitingRow is one open decision and what has been told of it.
type waitingRow struct {
	ID       string                 `db:"id"`
	Flow     string                 `db:"flow"`
	Stage    string                 `db:"stage"`
	Title    string                 `db:"title"`
	State    operation.State        `db:"state"`
	Revision int64                  `db:"revision"`
	Kind     operation.DecisionKind `db:"next_kind"`
	Role     operation.Role         `db:"next_role"`
	User     operation.UserID       `db:"next_user"`
	Due      time.Time              `db:"next_at"`
	Since    time.Time              `db:"next_since"`

	ToldKind  operation.DecisionKind `db:"told_kind"`
	ToldSince *time.Time             `db:"told_since"`
	ToldStep  int                    `db:"told_step"`
	StepAt    *time.Time             `db:"step_at"`

	Last     string           `db:"last"`    // what led to the state
	Author   operation.UserID `db:"author"`  // of the current version
	Authors  string           `db:"authors"` // of all versions
	Separate bool             `db:"separate"`
	Given    string           `db:"given"` // who has approved already
	Asked    string           `db:"asked"` // whose case a re-execution is
}

// waitingSQL reads the decisions of some operations by their keys. It reads no row of
// operations that wait for nobody.
const waitingSQL = `SELECT o.id, o.flow, o.stage, o.title, o.state, o.revision, o.next_kind, o.next_role, COALESCE(o.next_user, '') AS next_user, o.next_at, o.next_since,
	COALESCE(d.kind, '') AS told_kind, d.since AS told_since, COALESCE(d.step, 0) AS told_step, d.step_at,
	COALESCE((SELECT CASE WHEN h.action = 'edit' THEN COALESCE(CAST(h.links AS json)->>'decision', h.action) ELSE h.action END FROM history h
		WHERE h.subject_kind = 'operation' AND h.subject_id = o.id AND (h.from_state <> h.to_state OR h.action = 'expire') ORDER BY h.seq DESC LIMIT 1), '') AS last,
	COALESCE((SELECT CASE WHEN v.author_kind = 'person' THEN v.author_id ELSE v.prompted_by END FROM content_versions v WHERE v.id = o.version_id), '') AS author,
	COALESCE((SELECT string_agg(CASE WHEN v.author_kind = 'person' THEN v.author_id ELSE v.prompted_by END, ',') FROM content_versions v WHERE v.operation_id = o.id), '') AS authors,
	COALESCE((SELECT (s.policy::json->>'separate_author')::boolean FROM submissions s WHERE s.version_id = o.version_id), false) AS separate,
	COALESCE((SELECT string_agg(a.user_id, ',') FROM approvals a WHERE a.version_id = o.version_id AND a.decision = 'approve'
		AND a.request_id IS NOT DISTINCT FROM CASE WHEN o.state = 'reexecution_requested' THEN o.request_id END
		AND NOT EXISTS (SELECT 1 FROM approvals w WHERE w.version_id = a.version_id AND w.user_id = a.user_id AND w.decision = 'withdraw' AND w.decided_at >= a.decided_at)), '') AS given,
	COALESCE(CASE WHEN o.state = 'reexecution_requested' THEN (SELECT string_agg(x.who, ',') FROM (SELECT q.requested_by AS who FROM reexecution_requests q WHERE q.id = o.request_id
		UNION SELECT c.user_id FROM checklist_answers c WHERE c.operation_id = o.id AND c.round = o.case_round) x) END, '') AS asked
	FROM operations o LEFT JOIN notice_decisions d ON d.operation_id = o.id
	WHERE o.id = ANY($1) AND o.next_kind <> '' AND NOT o.next_system AND o.next_since IS NOT NULL`

// decisionRow keeps what has been told of a decision.
type decisionRow struct {
	ID    string                 `json:"id"`
	Kind  operation.DecisionKind `json:"kind"`
	Since time.Time              `json:"since"`
	Step  int                    `json:"step"`
	At    *time.Time             `json:"at"`
}

// planDecisions plans the notices of every decision that begins to wait or reaches its
// next step.
func (p *noticePass) planDecisions() error {
	if len(p.ids) == 0 {
		return nil
	}
	slices.Sort(p.ids)
	p.ids = slices.Compact(p.ids)
	var rows []waitingRow
	if err := p.list(&rows, waitingSQL, pq.Array(p.ids)); err != nil {
		return err
	}
	for i := range rows {
		if err := p.planDecision(&rows[i]); err != nil {
			return err
		}
	}
	return p.dropSteps(rows)
}

// dropSteps ends the steps of decisions that are over, however that came about.
func (p *noticePass) dropSteps(rows []waitingRow) error {
	var gone []string
	for _, id := range p.ids {
		if !slices.ContainsFunc(rows, func(r waitingRow) bool { return r.ID == id }) {
			gone = append(gone, id)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	_, err := p.exec(`DELETE FROM notice_decisions WHERE operation_id = ANY($1)`, pq.Array(gone))
	return err
}

func (p *noticePass) planDecision(r *waitingRow) error {
	kind := r.kind()
	if kind == "" {
		return nil
	}
	f, err := p.flowOf(r.Flow)
	if err != nil {
		return err
	}
	policy, last := f.flow.NoticePolicy(r.Stage, r.Kind)
	who := p.deciders(r, f, kind)
	done := r.ToldStep
	if known := r.ToldSince != nil && r.ToldKind == r.Kind && r.ToldSince.Equal(r.Since); !known {
		done = operation.StepAsk
		p.tell(r, f, kind, done, who)
	} else if r.StepAt == nil || r.StepAt.After(p.now) {
		return nil
	}
	next, at, ok := policy.NextStep(done, r.Since, r.Due)
	for ; ok && !at.After(p.now); next, at, ok = policy.NextStep(done, r.Since, r.Due) {
		done = next
		switch next {
		case operation.StepRemind:
			if _, then, more := policy.NextStep(next, r.Since, r.Due); !more || then.After(p.now) { // else the next step says it
				p.tell(r, f, kind, next, who)
			}
		case operation.StepOverdue:
			p.tell(r, f, operation.NoticeOverdue, next, who)
		case operation.StepEscalate:
			p.tell(r, f, operation.NoticeOverdue, next, leaving(f.selected(last), who...))
		}
	}
	d := decisionRow{ID: r.ID, Kind: r.Kind, Since: r.Since, Step: done}
	if ok {
		d.At = &at
	}
	p.decided = append(p.decided, d)
	return nil
}

// deciders gives who is told of a decision: those who may take it. Whoever may not,
// because they have approved already or are a party, is left out. Changes go back to the
// author.
func (p *noticePass) deciders(r *waitingRow, f *flowPeople, kind operation.NoticeKind) []operation.UserID {
	if kind == operation.NoticeChanges && r.Author != "" && f.sees(r.Author) {
		return []operation.UserID{r.Author}
	}
	who := f.holders(r.Role, r.User)
	if r.State == operation.PendingApproval {
		who = append(who, leaving(f.groupMembers(r), who...)...)
	}
	out := idsOf(r.Given)
	switch r.State {
	case operation.PendingApproval:
		if r.Separate {
			out = append(out, idsOf(r.Authors)...)
		}
	case operation.ReexecutionRequested:
		out = append(out, idsOf(r.Asked)...)
	default:
		out = nil
	}
	return leaving(who, out...)
}

func idsOf(list string) []operation.UserID {
	var out []operation.UserID
	for id := range strings.SplitSeq(list, ",") {
		if id != "" {
			out = append(out, operation.UserID(id))
		}
	}
	return out
}

// tell plans one step's notices: to each person, and to the places of the flow.
func (p *noticePass) tell(r *waitingRow, f *flowPeople, kind operation.NoticeKind, step int, who []operation.UserID) {
	n := noticeRow{Kind: kind, Subject: r.ID, Flow: r.Flow, Title: r.Title, Decision: string(r.Kind), Since: r.Since, Revision: r.Revision, Step: step}
	p.add(n, f, who)
}

// planFacts plans the notices of what happened: runs that are complete, and the pause of
// everything.
func (p *noticePass) planFacts() error {
	for _, fact := range p.against {
		if err := p.planContradiction(fact); err != nil {
			return err
		}
	}
	for _, fact := range p.taken {
		if err := p.planCaseTaken(fact); err != nil {
			return err
		}
	}
	if err := p.planEnded(); err != nil {
		return err
	}
	for _, fact := range p.runs {
		var name string
		if err := p.get(&name, `SELECT flow FROM runs WHERE id = $1`, fact.subject); err != nil {
			return err
		}
		f, err := p.flowOf(name)
		if err != nil {
			return err
		}
		p.add(noticeRow{Kind: operation.NoticeCompleted, Subject: fact.subject, Flow: name, Since: fact.at}, f, f.selected(f.flow.Owner))
	}
	for _, fact := range p.alert {
		who, err := p.peopleOf("") // roles for every flow
		if err != nil {
			return err
		}
		var ids []operation.UserID
		for _, x := range who {
			if x.Has(operation.RoleAdmin) || x.Has(operation.RoleOpsOwner) {
				ids = append(ids, x.ID)
			}
		}
		p.add(noticeRow{Kind: operation.NoticeAlert, Subject: fact.subject, Since: fact.at}, nil, leaving(ids, operation.UserID(fact.actor)))
	}
	return nil
}
