package store

import (
	"context"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// ReportCommentLimit bounds one comment on a review, in characters.
const ReportCommentLimit = 4000

// CommentReport adds a comment to a section of a review. The same form twice is one
// comment.
func (s *Store) CommentReport(ctx context.Context, a Actor, id operation.ReportID, section operation.ReviewSection, body, formID string) error {
	body = storable(strings.TrimSpace(body))
	switch {
	case !section.Valid():
		return ErrNotFound
	case body == "":
		return &Invalid{Field: "body", Code: "comment_missing"}
	case utf8.RuneCountInString(body) > ReportCommentLimit:
		return &Invalid{Field: "body", Code: "comment_long", Limit: ReportCommentLimit}
	case formID == "":
		return operation.Refuse(operation.CodeStaleRevision)
	}
	return s.aboutReport(ctx, a, id, func(t *tx, now time.Time, flow string, said []ReportComment) error {
		if err := t.mayBe(a, flow, operation.RoleOpsOwner, operation.RoleAdmin, operation.RoleApprover, operation.RoleAuthor); err != nil {
			return err
		}
		var again int
		if err := t.get(&again, `SELECT count(*) FROM report_comments WHERE user_id = $1 AND form_id = $2`, a.ID, formID); err != nil {
			return err
		}
		if again > 0 {
			return errDone
		}
		if _, err := t.exec(`INSERT INTO report_comments (id, report_id, number, section, user_id, body, form_id, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			newID("rcm"), string(id), len(said)+1, string(section), a.ID, body, formID, now); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectReport, string(id), "comment_report", body, "section", string(section))
	})
}

// SignReport signs a review as it was shown: shown is the fingerprint of its facts and
// comments. When a comment came meanwhile, nothing is signed. The same person signs the
// same content once.
func (s *Store) SignReport(ctx context.Context, a Actor, id operation.ReportID, shown string) error {
	return s.aboutReport(ctx, a, id, func(t *tx, now time.Time, flow string, said []ReportComment) error {
		role, err := t.signsReport(a, flow)
		if err != nil {
			return err
		}
		if role == "" {
			return operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner})
		}
		var facts []byte
		if err := t.get(&facts, `SELECT facts_hash FROM reports WHERE id = $1`, string(id)); err != nil {
			return err
		}
		hash, err := operation.ReviewHash(hash32(facts), canonicalComments(said))
		if err != nil {
			return err
		}
		if hex.EncodeToString(hash[:]) != shown {
			return operation.Refuse(operation.CodeStaleRevision)
		}
		n, err := t.exec(`INSERT INTO report_signatures (report_id, number, user_id, role, comments, hash, at)
			SELECT $1, 1 + count(*), $2, $3, $4, $5, $6 FROM report_signatures WHERE report_id = $1 ON CONFLICT ON CONSTRAINT report_signatures_once DO NOTHING`,
			string(id), a.ID, string(role), len(said), hash[:], now)
		if err != nil {
			return err
		}
		if n == 0 {
			return errDone
		}
		return t.enter(a, now, operation.SubjectReport, string(id), "sign_report", "", "role", string(role), "evidence_hash", hexOf(hash[:]), "facts", hexOf(facts))
	})
}

// aboutReport locks a review for whoever may see it, with the comments that it has by
// then.
func (s *Store) aboutReport(ctx context.Context, a Actor, id operation.ReportID, fn func(t *tx, now time.Time, flow string, said []ReportComment) error) error {
	v, err := s.FindViewer(ctx, a)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		var flow string
		if err := t.get(&flow, `SELECT flow FROM reports WHERE id = $1`, string(id)); err != nil {
			return err
		}
		if !v.seesReport(flow) {
			return ErrNotFound
		}
		if _, err := t.lockHead(operation.SubjectReport, string(id)); err != nil {
			return err
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		var said []ReportComment
		if err := t.list(&said, commentsSQL, string(id)); err != nil {
			return err
		}
		return fn(t, now, flow, said)
	})
}

// signsReport gives the role in which a person signs reviews of a scope: admin, ops
// owner, or owner of the flow; "" = they may not.
func (t *tx) signsReport(a Actor, flow string) (operation.Role, error) {
	if a.Kind != operation.ActorPerson {
		return "", nil
	}
	who, err := t.person(a, flow)
	if err != nil {
		return "", err
	}
	for _, r := range []operation.Role{operation.RoleOpsOwner, operation.RoleAdmin} {
		if who.Has(r) {
			return r, nil
		}
	}
	if flow == "" || !who.Active {
		return "", nil
	}
	f, err := t.currentFlow(flow)
	if err != nil {
		return "", err
	}
	if owner := f.Owner; who.Has(owner.Role) && (owner.User == "" || owner.User == who.Email) {
		return owner.Role, nil
	}
	return "", nil
}

// currentFlow gives a flow's newest version.
func (t *tx) currentFlow(name string) (*definition.Flow, error) {
	var version int
	if err := t.get(&version, `SELECT version FROM flows WHERE name = $1`, name); err != nil {
		return nil, err
	}
	return t.s.flowVersion(t.ctx, t.Tx, name, version)
}
