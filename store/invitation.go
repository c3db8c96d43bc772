package store

import (
	"context"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// Invitation is a link that waits for the person to set their first password.
type Invitation struct {
	User    operation.UserID `db:"user_id"`
	By      string           `db:"created_by"` // operation.UserID, or "system" from the command line
	At      time.Time        `db:"created_at"`
	Expires time.Time        `db:"expires_at"`
}

// Invite makes an account with its roles and gives the one-use link by which the person
// sets their password. It holds for a week, and until then it can be sent anew or
// revoked. The account is there at once, so that flows may name it; it opens nothing.
// What becomes of the link, a page that shows it once or a mail, is the caller's.
func (s *Store) Invite(ctx context.Context, a Actor, n NewUser, reason string) (PasswordLink, error) {
	return s.addUser(ctx, a, n, linkInvitation, reason)
}

// ResendInvitation gives a new link; the earlier one opens nothing any more.
func (s *Store) ResendInvitation(ctx context.Context, a Actor, id operation.UserID, reason string) (PasswordLink, error) {
	var link PasswordLink
	err := s.changeInvited(ctx, a, id, func(t *tx, now time.Time) (err error) {
		if link, err = t.newLink(a, id, now, linkInvitation); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, string(id), "resend_invitation", reason)
	})
	return link, err
}

// RevokeInvitation makes the link void and disables the account that nobody has used.
// Enabling it later makes no link: ResendInvitation does.
func (s *Store) RevokeInvitation(ctx context.Context, a Actor, id operation.UserID, reason string) error {
	if reason = strings.TrimSpace(reason); reason == "" {
		return &Invalid{Field: "reason", Code: "reason_missing"}
	}
	return s.changeInvited(ctx, a, id, func(t *tx, now time.Time) error {
		if err := t.voidLinks(id, now); err != nil {
			return err
		}
		if err := t.one(`UPDATE users SET active = false WHERE id = $1`, string(id)); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, string(id), "revoke_invitation", reason)
	})
}

// changeInvited runs fn for an active account that nobody has signed in to yet.
func (s *Store) changeInvited(ctx context.Context, a Actor, id operation.UserID, fn func(*tx, time.Time) error) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.alone()
		if err != nil {
			return err
		}
		if err := t.mayManage(a, id, now); err != nil {
			return err
		}
		var row struct {
			Active bool `db:"active"`
			Used   bool `db:"used"`
		}
		if err := t.get(&row, `SELECT active, password_hash <> '' OR EXISTS (SELECT 1 FROM sessions x WHERE x.user_id = u.id) AS used
			FROM users u WHERE id = $1 FOR UPDATE OF u`, string(id)); err != nil {
			return err
		}
		switch {
		case !row.Active:
			return &Invalid{Field: "user", Code: "user_disabled"}
		case row.Used:
			return &Invalid{Field: "user", Code: "not_invited"}
		}
		return fn(t, now)
	})
}

// ListInvitations gives the links that wait, also those that have expired unused.
func (s *Store) ListInvitations(ctx context.Context) (map[operation.UserID]Invitation, error) {
	var rows []Invitation
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT user_id, created_by, created_at, expires_at FROM password_links WHERE used_at IS NULL AND kind = 'invitation'`)
	})
	out := make(map[operation.UserID]Invitation, len(rows))
	for _, r := range rows {
		out[r.User] = r
	}
	return out, err
}
