package store

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/gowebpki/jcs"
	"github.com/lib/pq"
)

// NewVersion is new content for an operation, made on the sight of one revision.
type NewVersion struct {
	Operation operation.ID
	Revision  int64 // the revision that the author saw; 0 = any (job API with its own key)
	Content   map[string]any
	Missing   []string // names of what is still to be written
	Author    Author
	Submit    bool // put it up for approval at once
}

// AddVersion makes a new immutable content version. It voids earlier approvals and
// open requests; it is refused once an attempt was dispatched, unless all attempts are
// proven not_started. Content that equals the current version makes no new one.
func (s *Store) AddVersion(ctx context.Context, a Actor, n NewVersion) error {
	return s.change(ctx, a, n.Operation, func(u *unit) error {
		if err := u.mayWrite(n.Author); err != nil {
			return err
		}
		if n.Revision != 0 && n.Revision != u.op.Revision {
			return operation.Refuse(operation.CodeStaleRevision)
		}
		f, err := u.gateFacts()
		if err != nil {
			return err
		}
		if r := operation.MayEditAgain(f, u.op.EverUnproven); r != nil {
			return r
		}
		same, err := u.sameContent(n.Content)
		if err != nil {
			return err
		}
		// incomplete content is rendered once more: what is missing is named, and another
		// version of the destination may take it; so is content for an account that changed
		incomplete := u.op.State == operation.Draft && (len(u.facts.VersionHash) == 0 || operation.AccountHolds(f) != nil)
		if same && !(n.Submit && incomplete) {
			if n.Submit && u.op.State == operation.Draft {
				return u.submit()
			}
			return errDone
		}
		if r := operation.MayWriteAnew(f); r != nil {
			return r
		}
		return u.addVersion(n)
	})
}

func (u *unit) mayWrite(author Author) error {
	if u.actor.Kind != operation.ActorPerson {
		return nil // tokens are limited by scope and flow at the door
	}
	who, err := u.person(u.actor, u.op.Flow)
	if err != nil {
		return err
	}
	p := u.people(u.op)
	if who.Has(p.Author.Role) || slices.ContainsFunc(u.approverRoles(), who.Has) || who.Has(p.Reviewer.Role) || who.Has(operation.RoleAuthor) {
		return nil
	}
	return operation.Refuse(operation.CodeNotEntitled, "role", string(p.Author.Role)).By(p.Author)
}

// sameContent compares by canonical JSON: an untouched resubmission is no new version.
func (u *unit) sameContent(content map[string]any) (bool, error) {
	var have string
	if err := u.get(&have, `SELECT content FROM version_bodies WHERE version_id = $1`, string(u.op.VersionID)); err != nil {
		return false, err
	}
	norm, _ := operation.NormalizeValue(content).(map[string]any)
	raw, err := json.Marshal(norm)
	if err != nil {
		return false, err
	}
	x, err := jcs.Transform(raw)
	if err != nil {
		return false, operation.Refuse(operation.CodeContentMissing, "field", err.Error())
	}
	y, err := jcs.Transform([]byte(have))
	return err == nil && bytes.Equal(x, y), nil
}

func (u *unit) addVersion(n NewVersion) error {
	o := u.op
	act, err := u.profile.Action(o.Action)
	if err != nil {
		return err
	}
	v, err := makeVersion(u.profile, act, n.Content, n.Missing, u.now)
	if err != nil {
		return err
	}
	if o.State == operation.Review {
		if err := u.move(o, operation.EvCorrect, n.Author.Note); err != nil {
			return err
		}
		o.AttemptsUsed = 0
	} else if o.State != operation.Draft {
		if err := u.move(o, operation.EvEdit, n.Author.Note); err != nil {
			return err
		}
	}
	u.voidClearance()
	o.VersionID, o.VersionNo = operation.VersionID(newID("ver")), o.VersionNo+1
	o.Account, o.Environment = u.profile.Account, u.profile.Environment
	o.RetryAt = nil
	if t := titleOf(n.Content); t != "" {
		o.Title = t
	}
	if err := u.insertVersion(v, n.Author); err != nil {
		return err
	}
	u.note(o, "new_version", n.Author.Note, "version", string(o.VersionID), versionHash, hexOf(u.facts.VersionHash), "author_kind", n.Author.Kind)
	o.replanned = true
	if n.Submit && v.hash != nil {
		return u.submit()
	}
	if n.Submit {
		return operation.Refuse(operation.CodeContentMissing, "field", joinOr(v.missing, ""))
	}
	return nil
}

// versionHash is the link by which an entry holds the hash of the version that it makes,
// puts up or decides about: who changes a content and its hash together has to change
// entries of the history too.
const versionHash = "version_hash"

func (u *unit) insertVersion(v madeVersion, a Author) error {
	var hash []byte
	if v.hash != nil {
		hash = v.hash[:]
	}
	if v.missing == nil {
		v.missing = []string{}
	}
	_, err := u.exec(`WITH v AS (INSERT INTO content_versions (id, operation_id, number, author_kind, author_id, prompted_by, model, note, missing, hash, account, environment, credential,
		flow_version, destination_version, created_at) VALUES ($1, $2, $3, $4, $5, NULLIF($6, ''), $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) RETURNING id)
		INSERT INTO version_bodies (version_id, content, request, salt) SELECT id, $17, $18, $19 FROM v`,
		string(u.op.VersionID), string(u.op.ID), u.op.VersionNo, a.Kind, a.ID, string(a.PromptedBy), a.Model, a.Note, pq.Array(v.missing), hash,
		v.version.Account, v.version.Environment, v.version.Credential, u.op.FlowVersion, u.facts.DestVersion, u.now, string(v.version.Content), v.request, v.salt)
	u.facts.VersionHash = hash
	return err
}

// submit puts the current version up for approval; the policy is pinned here.
func (u *unit) submit() error {
	if len(u.facts.VersionHash) == 0 {
		return operation.Refuse(operation.CodeContentMissing, "field", "content")
	}
	st, ok := stageOf(u.flow, u.op.Stage)
	if !ok {
		return operation.Refuse(operation.CodeForbiddenMove)
	}
	policy, err := u.pinnedPolicy(st)
	if err != nil {
		return err
	}
	if err := u.insertSubmission(policy); err != nil {
		return err
	}
	return u.move(u.op, operation.EvSubmit, "", "version", string(u.op.VersionID), versionHash, hexOf(u.facts.VersionHash))
}

// pinnedPolicy is the stage's policy; for a replacement of an operation that was ever
// dispatched, the re-execution approvers decide (MODEL §5).
func (u *unit) pinnedPolicy(st definition.Stage) (operation.Policy, error) {
	p := st.Approval
	second, err := u.second()
	if second {
		p = p.DecidedBy(u.flow.Reexecution.Approvers, u.flow.Reexecution.Required)
	}
	return p, err
}

func (u *unit) insertSubmission(p operation.Policy) error {
	policy, err := jsonText(p)
	if err != nil {
		return err
	}
	_, err = u.exec(`INSERT INTO submissions (version_id, operation_id, submitted_by, policy, submitted_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
		string(u.op.VersionID), string(u.op.ID), u.actor.ID, policy, u.now)
	return err
}

// voidClearance takes the current clearance away: nothing can be sent under it.
func (u *unit) voidClearance() {
	u.op.ClearanceID, u.op.ExpiresAt = "", nil
}
