package store

import (
	"database/sql"
	"encoding/json"
	"strings"

	"holdpoint/operation"

	"github.com/lib/pq"
)

var snapshotOptions = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}

// peekSQL is lockSQL without its locks and without a transaction ID.
var peekSQL = strings.NewReplacer(", "+gateShared+" AS gate", "", "FOR UPDATE OF r, o", "", runTurn, "", "pg_current_xact_id()::text AS xid", "'' AS xid").Replace(lockSQL)

func (p *OperationPage) readVersions(u *unit) error {
	if err := u.list(&p.Versions, `SELECT v.id, v.number, v.author_kind, v.author_id, COALESCE(v.prompted_by, '') AS prompted_by, v.model, v.note, to_json(v.missing)::text AS missing,
		COALESCE(v.hash, '') AS hash, v.account, v.environment, v.credential, v.flow_version, v.created_at, COALESCE(b.content, '') AS content, COALESCE(b.request, '') AS request, COALESCE(b.salt, '') AS salt,
		s.submitted_at, COALESCE(s.submitted_by, '') AS submitted_by, COALESCE(s.policy, '') AS policy
		FROM content_versions v LEFT JOIN version_bodies b ON b.version_id = v.id
			AND ($2 OR v.id = $3 OR EXISTS (SELECT 1 FROM attempts a WHERE a.operation_id = v.operation_id AND a.version_id = v.id AND a.dispatched_at IS NOT NULL)) LEFT JOIN submissions s ON s.version_id = v.id
		WHERE v.operation_id = $1 ORDER BY v.number`, string(p.ID), p.whole, string(p.VersionID)); err != nil {
		return err
	}
	for i := range p.Versions {
		p.Versions[i].keepDecoded()
	}
	if err := u.list(&p.Approvals, `SELECT id, version_id, COALESCE(request_id, '') AS request_id, decision, user_id, role, reason, round, form_id, decided_at,
		COALESCE(for_user, '') AS for_user, reason_code, reason_words FROM approvals WHERE operation_id = $1 ORDER BY decided_at, id`, string(p.ID)); err != nil {
		return err
	}
	if p.VersionID == "" {
		return nil
	}
	if err := u.readApprovals(); err != nil {
		return err
	}
	pol, parties, stand, _, err := u.approvalFacts()
	if err != nil {
		return err
	}
	p.Parties = parties
	if p.persons, err = u.persons(); err != nil {
		return err
	}
	if pol.Grouped() { // a page shows named people as they were pinned, and groups as they stand
		if pol, err = u.presentPolicy(pol); err != nil {
			return err
		}
		if err := u.fitGroups(pol, stand); err != nil {
			return err
		}
	}
	if cur := p.Current(); cur != nil && cur.PolicyText != "" {
		p.Policy = &pol
	}
	p.groups = map[operation.ApprovalID][]string{}
	for _, g := range stand {
		p.groups[g.ID] = g.groups
		for _, a := range p.Approvals {
			if a.ID == g.ID {
				p.Standing = append(p.Standing, a)
			}
		}
	}
	return nil
}

// Given lists the standing decisions for operation.MayDecide.
func (p *OperationPage) Given() []operation.Given {
	var out []operation.Given
	for _, a := range p.Standing {
		out = append(out, operation.Given{User: p.persons.one(a.User), Decision: a.Decision, For: p.persons.one(a.For), Groups: p.groups[a.ID]})
	}
	return out
}

// Approved is how many approvals count on the current version: those that stand and, where
// they are asked for by groups, fill a place.
func (p *OperationPage) Approved() int { return approvedOf(p.Policy, p.Given()) }

// approvedOf counts the standing approvals or, with groups, those that fill a place.
func approvedOf(policy *operation.Policy, given []operation.Given) int {
	n := 0
	if policy != nil && policy.Grouped() {
		for _, f := range policy.Fill(given) {
			n += len(f.By)
		}
		return n
	}
	for _, g := range given {
		if g.Decision == operation.Approve {
			n++
		}
	}
	return n
}

func (p *OperationPage) readAttempts(u *unit) error {
	err := u.list(&p.Attempts, `SELECT `+attemptColumns+`, key_generation, worker, COALESCE(proof, '') AS proof, permanent, ended_at, COALESCE(settled, '') AS settled, settled_at, as_before
		FROM (SELECT a.id, a.operation_id, a.number, a.fence, a.kind, a.version_id, a.clearance_id, a.destination_version, a.account, a.key, a.protected, a.claimed_by,
			a.claimed_at, a.lease_until, a.lease_cap, a.send_by, a.dispatched_at, CASE WHEN COALESCE(a.resolved = lag(a.resolved) OVER w, false) THEN NULL ELSE a.resolved END AS resolved,
			a.resolved_hash, a.outcome, a.key_generation, a.worker, a.proof, a.permanent, a.ended_at, a.settled, a.settled_at,
			COALESCE(a.resolved = lag(a.resolved) OVER w, false) AS as_before
			FROM attempts a WHERE a.operation_id = $1 WINDOW w AS (ORDER BY a.number)) x ORDER BY number`, string(p.ID))
	for _, a := range p.Attempts {
		if a.ID == p.OpenAttempt {
			p.DispatchedOpen = a.DispatchedAt != nil
		}
	}
	return err
}

func (p *OperationPage) readEvidence(u *unit) error {
	if err := u.list(&p.Evidence, `SELECT id, COALESCE(attempt_id, '') AS attempt_id, kind, result, reference, link, body, given_by, hash, at
		FROM evidence WHERE operation_id = $1 AND id >= $2 ORDER BY at, id`, string(p.ID), partitionsFrom("evi", p.CreatedAt)); err != nil {
		return err
	}
	return u.list(&p.References, `SELECT reference, url, effect_type, at FROM target_references WHERE operation_id = $1 ORDER BY at`, string(p.ID))
}

func (p *OperationPage) readCase(u *unit) error {
	var err error
	if p.Answers, err = u.roundAnswers(); err != nil {
		return err
	}
	if p.CaseParties, err = u.caseParties(p.ID, false); err != nil {
		return err
	}
	var reqs []ReexecutionRow
	if err := u.list(&reqs, `SELECT id, requested_by, reason, key_generation, state, checked_at, requested_at, decided_at FROM reexecution_requests
		WHERE operation_id = $1 ORDER BY requested_at DESC LIMIT 1`, string(p.ID)); err != nil {
		return err
	}
	if len(reqs) > 0 {
		p.Request = &reqs[0]
	}
	return u.list(&p.Pauses, `SELECT subject_kind, subject_id, reason, paused_by, paused_at FROM pauses WHERE resumed_at IS NULL AND
		(subject_kind = 'operation' AND subject_id = $1 OR subject_kind = 'flow' AND subject_id = $2 OR subject_kind = 'destination' AND subject_id = $3)
		UNION ALL SELECT 'all', '', paused_why, COALESCE(paused_by, ''), paused_at FROM installation WHERE paused_why <> '' ORDER BY paused_at`,
		string(p.ID), p.Flow, p.Destination)
}

func (p *OperationPage) readRun(u *unit) error {
	var rows []opRow
	if err := u.list(&rows, `SELECT `+opColumns+` FROM `+beside("$1", "$3")+` o WHERE o.id <> $2 ORDER BY o.stage_no, o.item_key, o.replacement`, string(p.RunID), string(p.ID), p.ItemKey); err != nil {
		return err
	}
	for _, r := range rows {
		p.Siblings = append(p.Siblings, OperationSummary{r})
	}
	var waived []struct {
		Stage  string `db:"stage"`
		Reason string `db:"reason"`
	}
	err := u.list(&waived, `SELECT stage, reason FROM stage_waivers WHERE run_id = $1`, string(p.RunID))
	for _, w := range waived {
		p.Waived[w.Stage] = w.Reason
	}
	if err == nil && p.State == operation.Waiting {
		err = p.readHolder(u)
	}
	return err
}

// readHolder says of an operation that waits who decides about what it waits for, as that is
// now.
func (p *OperationPage) readHolder(u *unit) error {
	var rows []*opRow
	for i := range p.Siblings {
		rows = append(rows, &p.Siblings[i].opRow)
	}
	who, stage := u.people(u.op).Owner, firstOr(p.Facts.EarlierOpen, "")
	if h := holderOf(&p.opRow, stage, rows); h != nil {
		who = h.who()
	} else if stage != "" {
		turn, id, err := u.stageTurn(p.RunID, stage)
		if err != nil {
			return err
		}
		if p.HolderBatch = id; id != "" && turn.Next.Kind != operation.DecideNothing {
			who = turn.Next.Who
		}
	}
	p.NextRole, p.NextUser, p.NextSystem = who.Role, who.User, who.System
	return nil
}

func (p *OperationPage) readHistory(u *unit) error {
	var err error
	if p.History, err = u.history(operation.SubjectOperation, string(p.ID), p.CreatedAt); err != nil {
		return err
	}
	p.ChainOK = chainBreak(p.History) == 0 && headFits(p.History, p.ChainSeq, p.ChainHash)
	return nil
}

// readPeople finds the names of everybody on the page.
func (p *OperationPage) readPeople(u *unit) error {
	ids := map[string]bool{string(p.NextUser): true}
	for _, v := range p.Versions {
		ids[v.AuthorID], ids[v.PromptedBy], ids[v.SubmittedBy] = true, true, true
	}
	for _, a := range p.Approvals {
		ids[string(a.User)], ids[string(a.For)] = true, true
	}
	for _, id := range p.Parties {
		ids[string(id)] = true
	}
	for _, e := range p.Evidence {
		ids[e.By] = true
	}
	for _, a := range p.Answers {
		ids[string(a.User)] = true
	}
	for _, x := range p.Pauses {
		ids[x.By] = true
	}
	for _, x := range p.Erasures {
		ids[x.ActorID] = true
	}
	if p.Request != nil {
		ids[string(p.Request.By)] = true
	}
	if p.LastCase != nil {
		ids[string(p.LastCase.TakenBy)] = true
	}
	return u.names(ids, p.People)
}

// names reads the names of people and tokens; a name stays readable after its owner has gone.
func (t *tx) names(ids map[string]bool, into map[string]string) error {
	var list []string
	for id := range ids {
		if strings.HasPrefix(id, "usr_") || strings.HasPrefix(id, "tok_") {
			list = append(list, id)
		}
	}
	if len(list) == 0 {
		return nil
	}
	var rows []struct {
		ID   string `db:"id"`
		Name string `db:"name"`
	}
	err := t.list(&rows, `SELECT id, name FROM users WHERE id = ANY($1) UNION ALL SELECT id, name FROM api_tokens WHERE id = ANY($1)`, pq.Array(list))
	for _, r := range rows {
		into[r.ID] = r.Name
	}
	return err
}

func decodeLinks(s string) map[string]string {
	var m map[string]string
	_ = json.Unmarshal([]byte(s), &m)
	return m
}
