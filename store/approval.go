package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"holdpoint/operation"
)

// Decided is one person's decision on the version that they were shown.
type Decided struct {
	Operation operation.ID
	Version   operation.VersionID
	Hash      string // hex of the version's hash, as shown
	Revision  int64  // of the operation, as shown
	Decision  operation.Decision
	Reason    string
	FormID    string // unique key of the shown form: a double click is one decision
	// For is on whose behalf, by a delegation; "" = their own decision.
	For operation.UserID
	// Preset is the code of a preset reason and PresetWords what it said to the person;
	// both or none.
	Preset, PresetWords string
	// Together: one of a list. It is refused when anything about the operation changed since
	// it was shown, and for all that needs a page of its own.
	Together bool
}

// why is what goes into the history: the preset reason, what was typed, or both.
func (d Decided) why() string {
	if d.PresetWords != "" && d.Reason != "" {
		return d.PresetWords + " – " + d.Reason
	}
	return d.PresetWords + d.Reason
}

// Decide records approve, request_changes, reject or withdraw. With the last approval
// that the policy asks for, the clearance is written and the operation becomes ready
// (or waiting), with the wake-up in the same transaction.
func (s *Store) Decide(ctx context.Context, a Actor, d Decided) error {
	if d.FormID == "" {
		return operation.Refuse(operation.CodeReasonMissing)
	}
	if a.Kind != operation.ActorPerson {
		return operation.Refuse(operation.CodeNotEntitled)
	}
	err := s.changeBy(ctx, a, decideSQL, func(u *unit) error {
		if u.read.Seen {
			return u.sentBefore(d)
		}
		if d.Version != u.op.VersionID || d.Hash != hexOf(u.facts.VersionHash) {
			return operation.Refuse(operation.CodeStaleVersion)
		}
		if d.Together {
			if err := u.mayDecideTogether(d); err != nil {
				return err
			}
		}
		return u.decide(d)
	}, string(d.Operation), a.ID, d.FormID)
	s.noteRefused(ctx, a, d.Operation, err)
	return err
}

// standing is a decision that stands on the current version in the current round.
type standing struct {
	ID       operation.ApprovalID `db:"id"`
	User     operation.UserID     `db:"user_id"`
	Decision operation.Decision   `db:"decision"`
	Round    int                  `db:"round"`
	At       time.Time            `db:"decided_at"`
	For      operation.UserID     // for whom, by a delegation

	one, forOne operation.UserID // the natural persons
	groups      []string         // of the policy, in which it counts now
}

// approvalRow is what stands on the current version.
type approvalRow struct {
	Policy    string `db:"policy"`
	Submitter string `db:"submitted_by"`
	Author    string `db:"author_id"`
	Prompted  string `db:"prompted_by"`
	Editors   string `db:"editors"` // every person who wrote or prompted a version of it
	Owner     string `db:"owner"`   // of the token that wrote it
	Stand     string `db:"stand"`
	Round     int    `db:"round"`
}

// approvalColumns reads an approvalRow of the version v, submitted as s.
const approvalColumns = `, COALESCE(s.policy, '') AS "apr.policy", COALESCE(s.submitted_by, '') AS "apr.submitted_by", COALESCE(v.author_id, '') AS "apr.author_id", COALESCE(v.prompted_by, '') AS "apr.prompted_by",
	COALESCE((SELECT created_by FROM api_tokens k WHERE k.id = v.author_id), '') AS "apr.owner",
	COALESCE((SELECT string_agg(CASE WHEN e.author_kind = 'person' THEN e.author_id ELSE e.prompted_by END, ',') FROM content_versions e
		WHERE e.operation_id = v.operation_id AND (e.author_kind = 'person' OR e.prompted_by IS NOT NULL)), '') AS "apr.editors",
	COALESCE((SELECT json_agg(json_build_object('ID', a.id, 'User', a.user_id, 'For', COALESCE(a.for_user, ''), 'Decision', a.decision, 'Round', a.round, 'At', a.decided_at) ORDER BY a.decided_at, a.id)
		FROM approvals a WHERE a.operation_id = v.operation_id AND a.version_id = v.id AND a.request_id IS NULL)::text, '[]') AS "apr.stand",
	1 + (SELECT count(*) FROM history h WHERE h.subject_kind = 'operation' AND h.subject_id = v.operation_id AND h.at >= v.created_at AND h.version_id = v.id AND h.action = 'expire') AS "apr.round"`

// readApprovals reads an approvalRow outside of decideSQL.
func (u *unit) readApprovals() error {
	var row struct {
		Apr approvalRow `db:"apr"`
	}
	err := u.get(&row, `SELECT `+strings.TrimPrefix(approvalColumns, ", ")+` FROM content_versions v LEFT JOIN submissions s ON s.version_id = v.id WHERE v.id = $1`, string(u.op.VersionID))
	u.read.Apr = row.Apr
	return err
}

// approvalFacts gives pinned policy, parties, and the approvals that stand.
func (u *unit) approvalFacts() (p operation.Policy, parties []operation.UserID, stand []standing, round int, err error) {
	row := u.read.Apr
	if row.Policy != "" {
		if err = json.Unmarshal([]byte(row.Policy), &p); err != nil {
			return
		}
	}
	for _, who := range []string{row.Author, row.Submitter, row.Prompted, row.Owner, row.Editors} {
		for id := range strings.SplitSeq(who, ",") {
			if id != "" {
				parties = append(parties, operation.UserID(id))
			}
		}
	}
	if u.op.Replaces != "" {
		var more []operation.UserID
		if more, err = u.replacedParties(); err != nil {
			return
		}
		parties = append(parties, more...)
	}
	people, err := u.persons()
	if err != nil {
		return
	}
	parties = people.all(parties)
	var all []standing
	if err = json.Unmarshal([]byte(row.Stand), &all); err != nil {
		return
	}
	round = row.Round
	for _, g := range all {
		if g.Round != round {
			continue
		}
		g.one, g.forOne = people.one(g.User), people.one(g.For)
		if g.Decision == operation.Withdraw {
			stand = removeUser(stand, g.one)
			continue
		}
		stand = append(stand, g)
	}
	return
}

// removeUser takes back what the person gave, or what was given for them.
func removeUser(in []standing, who operation.UserID) []standing {
	out := in[:0]
	for _, g := range in {
		if g.one != who && g.forOne != who {
			out = append(out, g)
		}
	}
	return out
}

func givenOf(stand []standing) []operation.Given {
	out := make([]operation.Given, len(stand))
	for i, g := range stand {
		out[i] = operation.Given{User: g.one, Decision: g.Decision, For: g.forOne, Groups: g.groups}
	}
	return out
}

// judged is a decision that the rules permit, before it is written.
type judged struct {
	standing                    // the decision itself
	policy     operation.Policy // as its named people stand now
	as         operation.Capacity
	stand      []standing // what stood before it
	expired    bool       // what stood before holds no more: this is the first of a new round
	role       operation.Role
	links      []string // of its entry
	group      string   // whose place an approval fills
	hash, form string
}

// judge finds out whether the acting person may decide this about what was read. It is the
// same for the version of an operation and for that of a whole batch.
func (u *unit) judge(d Decided, hash string) (judged, error) {
	me := u.read.Me
	who := operation.Person{ID: u.actor.UserID(), Email: me.Email, Active: me.Active, Roles: splitRoles(me.Roles)}
	p, parties, stand, round, err := u.approvalFacts()
	if err != nil {
		return judged{}, err
	}
	people, err := u.persons()
	if err != nil {
		return judged{}, err
	}
	who.Natural = people.one(who.ID)
	if p, err = u.presentPolicy(p); err != nil {
		return judged{}, err
	}
	j := judged{policy: p, hash: hash, form: d.FormID}
	if u.op.State == operation.PendingApproval && lapsed(p, stand, u.now) {
		// An approval given too long ago counts no more, and its quorum starts anew.
		j.expired, stand, round = true, nil, round+1
	}
	if err := u.fitGroups(p, stand); err != nil {
		return judged{}, err
	}
	as, err := u.capacityFor(who, d, p, parties, givenOf(stand))
	if err != nil {
		return judged{}, err
	}
	if r := operation.MayDecideAs(u.op.State, p, as, parties, givenOf(stand), d.Decision); r != nil {
		return judged{}, r
	}
	if (d.Preset == "") != (d.PresetWords == "") || len(d.Preset) > maxPreset {
		return judged{}, operation.Refuse(operation.CodeReasonMissing)
	}
	if (d.Decision == operation.RequestChanges || d.Decision == operation.Reject) && d.why() == "" {
		return judged{}, operation.Refuse(operation.CodeReasonMissing)
	}
	j.as, j.stand = as, stand
	j.standing = standing{ID: operation.ApprovalID(newID("apr")), User: who.ID, one: as.Who.One(), For: as.For.ID, forOne: as.Principal(), Decision: d.Decision, Round: round, At: u.now, groups: as.Fits(p)}
	mine := j.standing
	mine.Decision = operation.Approve
	j.role, j.group = roleIn(p, stand, mine)
	j.links = append([]string{"approval", string(j.ID), "role", string(j.role), versionHash, hash, "preset", d.Preset}, u.onBehalf(as)...)
	if j.group != "" && d.Decision == operation.Approve {
		j.links = append(j.links, "group", j.group)
	}
	return j, nil
}

// row is the approval as it is written.
func (j judged) row(d Decided) map[string]any {
	return map[string]any{"id": j.ID, "hash": j.hash, "decision": d.Decision, "user_id": j.User, "role": j.role, "reason": d.Reason, "round": j.Round, "form_id": j.form, "decided_at": j.At,
		"for_user": nilIfEmpty(string(j.For)), "delegation_id": nilIfEmpty(string(j.as.By.ID)), "reason_code": d.Preset, "reason_words": d.PresetWords}
}

// after gives what stands once it is written.
func (j judged) after() []standing {
	if j.Decision == operation.Withdraw {
		return removeUser(j.stand, j.one)
	}
	return append(j.stand[:len(j.stand):len(j.stand)], j.standing)
}

// reached reports that the quorum is there with it.
func (j judged) reached() bool { return operation.QuorumReached(j.policy, givenOf(j.after())) }

func (u *unit) decide(d Decided) error {
	j, err := u.judge(d, hexOf(u.facts.VersionHash))
	if err != nil {
		return err
	}
	if j.expired {
		u.note(u.op, "expire", string(operation.CodeApprovalExpired), "cause", string(operation.CodeApprovalExpired))
	}
	row := j.row(d)
	row["operation_id"], row["version_id"] = u.op.ID, u.op.VersionID
	u.w.approvals = append(u.w.approvals, row)
	switch d.Decision {
	case operation.RequestChanges:
		u.voidClearance()
		return u.move(u.op, operation.EvEdit, d.why(), append(j.links, "decision", "request_changes")...)
	case operation.Reject:
		u.voidClearance()
		if err := u.move(u.op, operation.EvReject, d.why(), j.links...); err != nil {
			return err
		}
		return u.stageClosed(u.op)
	case operation.Withdraw:
		u.askNext(j.policy, j.after())
		return u.withdraw(d, j.links)
	}
	if !j.reached() {
		u.note(u.op, "approve", d.why(), j.links...)
		u.askNext(j.policy, j.after())
		return nil
	}
	return u.clear(j.policy, j.after(), d.why(), j.links)
}

// lapsed reports an approval that was given longer ago than the policy lets it hold,
// while the quorum is not reached.
func lapsed(p operation.Policy, stand []standing, now time.Time) bool {
	e := expiry(p, stand)
	return e != nil && !now.Before(*e)
}

// expiry is when the first of the approvals ceases to hold; nil = none does.
func expiry(p operation.Policy, stand []standing) *time.Time {
	var first time.Time
	for _, g := range stand {
		if g.Decision == operation.Approve && (first.IsZero() || g.At.Before(first)) {
			first = g.At
		}
	}
	if p.Expires <= 0 || first.IsZero() {
		return nil
	}
	return timePtr(first.Add(p.Expires))
}

// carrying gives the approvals on which a clearance rests.
func carrying(p operation.Policy, stand []standing) []string {
	var ids []string
	for _, g := range stand {
		if g.Decision == operation.Approve && (!p.Grouped() || len(g.groups) > 0) {
			ids = append(ids, string(g.ID))
		}
	}
	return ids
}

// clear writes the clearance, linked to all its approvals, and lets the operation go.
func (u *unit) clear(p operation.Policy, stand []standing, reason string, links []string) error {
	id := operation.ClearanceID(newID("clr"))
	expires := expiry(p, stand)
	policy, err := jsonText(p)
	if err != nil {
		return err
	}
	u.w.clearances = append(u.w.clearances, map[string]any{"id": id, "operation_id": u.op.ID, "version_id": u.op.VersionID, "hash": hexOf(u.facts.VersionHash), "kind": operation.ClearContent,
		"required": max(p.Required, 1), "policy": policy, "expires_at": expires, "created_at": u.now, "approvals": carrying(p, stand)})
	u.op.ClearanceID, u.op.ExpiresAt = id, expires
	stages, err := u.otherStages()
	if err != nil {
		return err
	}
	links = append(links, "clearance", string(id))
	if len(earlierOpen(u.flow, u.op, stages)) > 0 {
		return u.move(u.op, operation.EvClearToWait, reason, links...)
	}
	return u.move(u.op, operation.EvClear, reason, links...)
}
