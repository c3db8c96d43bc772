package store

import (
	"context"
	"database/sql"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// Session is one signed-in browser, or one that has not signed in yet.
type Session struct {
	TokenHash []byte           `db:"token_hash"` // SHA-256 of the cookie's token: the table opens no session
	UserID    operation.UserID `db:"user_id"`    // "" = not signed in
	Data      []byte           `db:"data"`
	IP        string           `db:"ip"`
	Agent     string           `db:"agent"`
	CreatedAt time.Time        `db:"created_at"`
	SeenAt    time.Time        `db:"seen_at"`
	Expires   time.Time        `db:"expires_at"`
	// Pending is who has given the first factor here and still owes the second: the
	// session is nobody's until then.
	Pending operation.UserID `db:"pending_user"`
	// AuthenticatedAt is when the person last proved in this session who they are: by
	// signing in, or by confirming it later. Zero = nobody has signed in. The store sets it.
	AuthenticatedAt time.Time `db:"authenticated_at"`
	// Rotate says that the person's rights have changed since the token was made.
	Rotate bool `db:"rotate"`
	// Replaced says that a new token was made: this one opens pages for some seconds more.
	Replaced bool `db:"replaced"`
}

// ID names the session among those of its person; it opens nothing.
func (x Session) ID() string { return hexOf(x.TokenHash)[:24] }

const sessionColumns = `x.token_hash, COALESCE(x.user_id, '') AS user_id, x.data, x.ip, x.agent, x.created_at, x.seen_at, x.expires_at, COALESCE(x.pending_user, '') AS pending_user,
	COALESCE(x.authenticated_at, TIMESTAMPTZ '0001-01-01 00:00:00Z') AS authenticated_at, x.rotate,
	x.revoked_at IS NOT NULL AS replaced`

// holds is the condition under which a session opens pages. One that was replaced is
// revoked some seconds ahead, for the requests that are under way with its token.
const holds = `(x.revoked_at IS NULL OR x.revoked_at > clock_timestamp()) AND x.expires_at > clock_timestamp()`

// replacedGrace is how long a token that was replaced opens pages.
const replacedGrace = 20 * time.Second

// seenEvery bounds how often reading a session writes to it.
const seenEvery = time.Minute

// SaveSession writes a session, new or changed. One that is new with a person begins as
// just authenticated. A session that was revoked stays dead, and a session never changes
// its person: signing in makes a new one. Both are ErrNotFound, as is a disabled person.
func (s *Store) SaveSession(ctx context.Context, x Session) error {
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(`INSERT INTO sessions AS x (token_hash, user_id, data, ip, agent, created_at, seen_at, expires_at, authenticated_at, pending_user)
			SELECT $1, NULLIF($2, ''), $3, $4, $5, clock_timestamp(), clock_timestamp(), $6, CASE WHEN $2 <> '' THEN clock_timestamp() END, NULLIF($7, '')
			WHERE $2 || $7 = '' OR EXISTS (SELECT 1 FROM users WHERE id IN ($2, $7) AND active)
			ON CONFLICT (token_hash) DO UPDATE SET data = EXCLUDED.data, ip = EXCLUDED.ip, agent = EXCLUDED.agent, seen_at = EXCLUDED.seen_at, expires_at = EXCLUDED.expires_at
			WHERE (x.revoked_at IS NULL OR x.revoked_at > clock_timestamp()) AND x.user_id IS NOT DISTINCT FROM EXCLUDED.user_id
			AND x.pending_user IS NOT DISTINCT FROM EXCLUDED.pending_user`,
			x.TokenHash, string(x.UserID), x.Data, short(x.IP, 64), short(x.Agent, 300), x.Expires.UTC(), string(x.Pending))
		if err == nil && n == 0 {
			err = sql.ErrNoRows
		}
		return err
	})
}

// LoadSession gives a session that still holds: not revoked, not expired, its person
// active. Everything else is ErrNotFound.
func (s *Store) LoadSession(ctx context.Context, tokenHash []byte) (Session, error) {
	var row struct {
		Session
		Stale bool `db:"stale"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT `+sessionColumns+`, x.seen_at < clock_timestamp() - CAST($2 AS interval) AS stale
			FROM sessions x LEFT JOIN users u ON u.id = COALESCE(x.user_id, x.pending_user)
			WHERE x.token_hash = $1 AND `+holds+` AND (u.id IS NULL OR u.active)`,
			tokenHash, seenEvery.String())
	})
	if err != nil || !row.Stale {
		return row.Session, err
	}
	return row.Session, s.write(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE sessions SET seen_at = clock_timestamp() WHERE token_hash = $1 AND seen_at = $2`, tokenHash, row.SeenAt)
		return err
	})
}

// FindSessionOwner gives the person of a session that is on record, also of one that was
// ended or has expired: what they sent afterwards is theirs. A session that nobody had
// signed in to, or a person who is not active, is ErrNotFound.
func (s *Store) FindSessionOwner(ctx context.Context, tokenHash []byte) (operation.UserID, error) {
	var id operation.UserID
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &id, `SELECT x.user_id FROM sessions x JOIN users u ON u.id = x.user_id WHERE x.token_hash = $1 AND u.active`, tokenHash)
	})
	return id, err
}

// RevokeSession ends one session at once. One that is not there is ended already.
func (s *Store) RevokeSession(ctx context.Context, tokenHash []byte) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE sessions SET revoked_at = clock_timestamp(), data = '' WHERE token_hash = $1
			AND (revoked_at IS NULL OR revoked_at > clock_timestamp())`, tokenHash)
		return err
	})
}

// RevokeUserSessions ends all sessions of a person but keep (nil = none kept): their
// own, or anybody's by an admin. It returns how many it ended.
func (s *Store) RevokeUserSessions(ctx context.Context, a Actor, id operation.UserID, keep []byte) (int64, error) {
	var n int64
	err := s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if a.UserID() != id {
			if err := t.mayManage(a, id, now); err != nil {
				return err
			}
		}
		if n, err = t.revokeSessions(id, now, keep); err != nil || n == 0 {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, string(id), "end_sessions", "")
	})
	return n, err
}

func (t *tx) revokeSessions(id operation.UserID, now time.Time, keep []byte) (int64, error) {
	return t.exec(`UPDATE sessions SET revoked_at = $2, data = '' WHERE (user_id = $1 OR pending_user = $1)
		AND (revoked_at IS NULL OR revoked_at > $2) AND token_hash <> $3`, string(id), now, orEmpty(keep))
}

// ListSessions gives a person's sessions that hold, newest use first.
func (s *Store) ListSessions(ctx context.Context, id operation.UserID) ([]Session, error) {
	var out []Session
	err := s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, `SELECT `+sessionColumns+` FROM sessions x JOIN users u ON u.id = x.user_id
			WHERE x.user_id = $1 AND u.active AND x.revoked_at IS NULL AND x.expires_at > clock_timestamp() ORDER BY x.seen_at DESC, x.token_hash`, string(id))
	})
	return out, err
}

// SignOutUser ends all sessions of somebody else, with a reason.
func (s *Store) SignOutUser(ctx context.Context, a Actor, id operation.UserID, reason string) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.mayManage(a, id, now); err != nil {
			return err
		}
		n, err := t.revokeSessions(id, now, nil)
		if err != nil || n == 0 {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, string(id), "end_sessions", reason)
	})
}

// EndSession ends one of the acting person's own sessions, by its ID. One that is not
// there is ErrNotFound.
func (s *Store) EndSession(ctx context.Context, a Actor, session string) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		n, err := t.exec(`UPDATE sessions SET revoked_at = $3, data = '' WHERE user_id = $1 AND left(encode(token_hash, 'hex'), 24) = $2
			AND (revoked_at IS NULL OR revoked_at > $3)`, a.ID, session, now)
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrNotFound
		}
		return t.enter(a, now, operation.SubjectUser, a.ID, "end_session", "")
	})
}

// ReplaceSession goes on under a new token with all that the session holds. The old one
// opens pages for some seconds more. proven says that the person has just proved who they
// are. A session that has ended is ErrNotFound.
func (s *Store) ReplaceSession(ctx context.Context, old, next []byte, proven bool) error {
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(`INSERT INTO sessions (token_hash, user_id, data, ip, agent, created_at, seen_at, expires_at, authenticated_at)
			SELECT $2, x.user_id, x.data, x.ip, x.agent, x.created_at, clock_timestamp(), x.expires_at,
			CASE WHEN $3 AND x.user_id IS NOT NULL THEN clock_timestamp() ELSE x.authenticated_at END
			FROM sessions x WHERE x.token_hash = $1 AND x.revoked_at IS NULL AND x.expires_at > clock_timestamp()
			AND (x.user_id IS NULL OR EXISTS (SELECT 1 FROM users u WHERE u.id = x.user_id AND u.active)) FOR UPDATE OF x`, old, next, proven)
		if err == nil && n == 0 {
			err = sql.ErrNoRows
		}
		if err != nil {
			return err
		}
		return t.one(`UPDATE sessions SET rotate = false, revoked_at = clock_timestamp() + CAST($2 AS interval) WHERE token_hash = $1`, old, replacedGrace.String())
	})
}

// DeleteExpiredSessions takes away sessions that ended at least a week ago: until then
// a form that was sent too late is known to be its person's. It returns how many.
func (s *Store) DeleteExpiredSessions(ctx context.Context) (int64, error) {
	var n int64
	err := s.write(ctx, func(t *tx) (err error) {
		n, err = t.exec(`DELETE FROM sessions WHERE least(expires_at, COALESCE(revoked_at, expires_at)) < clock_timestamp() - interval '7 days'`)
		return err
	})
	return n, err
}
