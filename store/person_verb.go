package store

import (
	"context"
	"crypto/sha256"
	"strings"

	"holdpoint/operation"
)

// Shown is what a person's form was shown with. A decision on something that changed
// meanwhile is refused; the same form sent twice is one decision.
type Shown struct {
	Operation operation.ID
	Revision  int64
	FormID    string
	// Said is all that the form says, as it was sent; "" = nothing but what is below.
	Said   string
	Reason string // comment, statement or reason, as the verb needs it
	// For is on whose behalf an approver decides, by a delegation; "" = their own decision.
	For   operation.UserID
	Files Attached
}

// personVerb runs a person's decision about one operation. The person and their roles
// are read inside the transaction.
func (s *Store) personVerb(ctx context.Context, a Actor, sh Shown, fn func(*unit, operation.Person) error) error {
	if err := sh.Files.named(); err != nil {
		return err
	}
	err := s.changeAfter(ctx, a, sh.Files.stage, lockSQL, func(u *unit) error {
		if sh.FormID == "" {
			return operation.Refuse(operation.CodeStaleRevision)
		}
		if err := u.formNew(sh); err != nil {
			return err
		}
		if err := u.fresh(sh.Revision); err != nil {
			return err
		}
		who, err := u.person(a, u.op.Flow)
		if err != nil {
			return err
		}
		u.files = sh.Files
		if err := fn(u, who); err != nil {
			return err
		}
		if err := u.allAttached(); err != nil {
			return err
		}
		return u.rememberForm(sh)
	}, string(sh.Operation))
	s.noteRefused(ctx, a, sh.Operation, err)
	return err
}

// statement keeps what a person states as evidence, with a link to what they saw and the
// files of the form.
func (u *unit) statement(text, ref, link string) (hash string, err error) {
	text = strings.TrimSpace(operation.Normalize(text))
	if text == "" {
		return "", operation.Refuse(operation.CodeEvidenceMissing)
	}
	h := sha256.Sum256([]byte(text))
	return hexOf(h[:]), u.attachEvidence(u.addEvidence("", "statement", "", ref, link, text))
}

// reviewer gives who settles this operation.
func (u *unit) reviewer() operation.Selector { return u.flow.Reviewer }

// mayManage is for cancelling, replacing, going on without: the flow's owner, its
// approvers, its reviewer, an admin.
func (u *unit) mayManage(who operation.Person) *operation.Refusal {
	p := u.people(u.op)
	for _, r := range append([]operation.Role{p.Owner.Role, p.Reviewer.Role, operation.RoleOpsOwner, operation.RoleAdmin}, u.approverRoles()...) {
		if who.Has(r) {
			return nil
		}
	}
	return operation.Refuse(operation.CodeNotEntitled, "role", string(p.Reviewer.Role)).By(p.Reviewer)
}
