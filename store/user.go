package store

import (
	"context"
	"database/sql"
	"errors"
	"net/mail"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// NewUser is a person to be added.
type NewUser struct {
	Email, Name  string
	Roles        []RoleGrant
	Locale, Zone string
	Demo         bool // an account of the demonstration
}

// User is a person's account.
type User struct {
	ID          operation.UserID `db:"id"`
	Email       string           `db:"email"`
	Name        string           `db:"name"`
	Locale      string           `db:"locale"` // "" = as the browser asks
	Zone        string           `db:"zone"`   // IANA name, "" = UTC
	Active      bool             `db:"active"`
	Demo        bool             `db:"demo"`
	HasPassword bool             `db:"has_password"`
	HasFactor   bool             `db:"has_factor"`   // a second factor is set up
	NeedsFactor bool             `db:"needs_factor"` // one of the roles must have one
	SameAs      operation.UserID `db:"same_as"`      // the account that stands for this natural person; "" = this one
	SingleKeys  bool             `db:"single_keys"`  // single keys act on pages
	CreatedAt   time.Time        `db:"created_at"`
	SeenAt      time.Time        // newest use of a session that is still kept; zero = none
	Roles       []RoleGrant
}

// Has reports whether the person holds a role for a flow now.
func (u User) Has(r operation.Role, flow string) bool {
	for _, g := range u.Roles {
		if g.Role == r && (g.Flow == "" || g.Flow == flow) {
			return u.Active
		}
	}
	return false
}

// Actor is this person, acting through a channel.
func (u User) Actor(channel string) Actor { return Person(u.ID, u.Name, channel) }

// canonicalEmail lower-cases an address: Ann@x and ann@x are one account (FC-45).
func canonicalEmail(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(operation.Normalize(s)))
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || a.Name != "" || len(s) > 254 {
		return "", &Invalid{Field: "email", Code: "email_malformed"}
	}
	return s, nil
}

// AddUser adds a person with their first roles and gives the one-use link with which
// they set their password. Only an admin or the command line may.
func (s *Store) AddUser(ctx context.Context, a Actor, n NewUser) (PasswordLink, error) {
	return s.addUser(ctx, a, n, linkPassword, "")
}

func (s *Store) addUser(ctx context.Context, a Actor, n NewUser, kind linkKind, reason string) (PasswordLink, error) {
	email, err := canonicalEmail(n.Email)
	if err != nil {
		return PasswordLink{}, err
	}
	n.Name = strings.TrimSpace(shown(n.Name, 200))
	if n.Name == "" {
		return PasswordLink{}, &Invalid{Field: "name", Code: "name_missing"}
	}
	if err := checkPlace(n.Locale, n.Zone); err != nil {
		return PasswordLink{}, err
	}
	var link PasswordLink
	err = s.write(ctx, func(t *tx) error {
		now, err := t.alone()
		if err != nil {
			return err
		}
		if err := t.mayAdd(a, now); err != nil {
			return err
		}
		id := operation.UserID(newID("usr"))
		_, err = t.exec(`INSERT INTO users (id, email, name, locale, zone, demo, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			string(id), email, n.Name, n.Locale, n.Zone, n.Demo, now)
		if violates(err, "users_email_key") {
			return &Invalid{Field: "email", Code: "email_taken"}
		}
		if err != nil {
			return err
		}
		action := "add_user"
		if kind == linkInvitation {
			action = "invite_user"
		}
		if err := t.enter(a, now, operation.SubjectUser, string(id), action, reason, "email", email); err != nil {
			return err
		}
		for _, g := range n.Roles {
			if err := t.grant(a, now, id, g, reason); err != nil {
				return err
			}
		}
		link, err = t.newLink(a, id, now, kind)
		return err
	})
	return link, err
}

// DisableUser takes a person out at once: their sessions end, their rights count no
// more, at the gate neither. The last active admin cannot be disabled.
func (s *Store) DisableUser(ctx context.Context, a Actor, id operation.UserID, reason string) error {
	return s.setActive(ctx, a, id, false, reason)
}

// EnableUser lets a disabled person in again, with the roles they have.
func (s *Store) EnableUser(ctx context.Context, a Actor, id operation.UserID, reason string) error {
	return s.setActive(ctx, a, id, true, reason)
}

func (s *Store) setActive(ctx context.Context, a Actor, id operation.UserID, active bool, reason string) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.alone()
		if err != nil {
			return err
		}
		if err := t.mayManage(a, id, now); err != nil {
			return err
		}
		var was bool
		if err := t.get(&was, `SELECT active FROM users WHERE id = $1 FOR UPDATE`, string(id)); err != nil {
			return err
		}
		if was == active {
			return errDone
		}
		err = t.one(`UPDATE users SET active = $2 WHERE id = $1`, string(id), active)
		if violates(err, "users_last_admin") {
			return &Invalid{Field: "user", Code: "last_admin"}
		}
		if err != nil {
			return err
		}
		action := "enable_user"
		if !active {
			action = "disable_user"
			if _, err := t.revokeSessions(id, now, nil); err != nil {
				return err
			}
			if err := t.voidLinks(id, now); err != nil {
				return err
			}
		}
		return t.enter(a, now, operation.SubjectUser, string(id), action, reason)
	})
}

// SetPlace sets a person's language and time zone; each person sets their own.
func (s *Store) SetPlace(ctx context.Context, a Actor, locale, zone string) error {
	if a.UserID() == "" {
		return operation.Refuse(operation.CodeNotEntitled)
	}
	if err := checkPlace(locale, zone); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(`UPDATE users SET locale = $2, zone = $3 WHERE id = $1 AND active`, a.ID, locale, zone)
		if err == nil && n == 0 {
			err = sql.ErrNoRows
		}
		return err
	})
}

// Locales are the languages that the pages speak.
var Locales = []string{"en", "ja", "pl"}

func checkPlace(locale, zone string) error {
	known := locale == ""
	for _, l := range Locales {
		known = known || l == locale
	}
	if !known {
		return &Invalid{Field: "language", Code: "language_unknown"}
	}
	if zone == "Local" {
		return &Invalid{Field: "zone", Code: "zone_unknown"}
	}
	if _, err := time.LoadLocation(zone); err != nil {
		return &Invalid{Field: "zone", Code: "zone_unknown"}
	}
	return nil
}

const userColumns = `u.id, u.email, u.name, u.locale, u.zone, u.active, u.demo, u.single_keys, u.password_hash <> '' AS has_password, u.created_at,
	` + hasFactor + ` AS has_factor, ` + needsFactor + ` AS needs_factor, COALESCE(u.same_as, '') AS same_as,
	(SELECT max(seen_at) FROM sessions x WHERE x.user_id = u.id) AS seen_at,
	COALESCE((SELECT string_agg(r.role || ':' || r.flow, ',' ORDER BY r.flow, r.role) FROM (SELECT DISTINCT role, flow FROM user_roles WHERE user_id = u.id) r), '') AS role_list`

type userRow struct {
	User
	Seen     *time.Time `db:"seen_at"`
	RoleList string     `db:"role_list"`
}

func (r userRow) user() User {
	u := r.User
	u.SeenAt = timeOf(r.Seen)
	if r.RoleList == "" {
		return u
	}
	for g := range strings.SplitSeq(r.RoleList, ",") {
		role, flow, _ := strings.Cut(g, ":")
		u.Roles = append(u.Roles, RoleGrant{Role: operation.Role(role), Flow: flow})
	}
	return u
}

// FindUser gives a person by ID, also a disabled one: names stay readable (FC-44).
func (s *Store) FindUser(ctx context.Context, id operation.UserID) (User, error) {
	var row userRow
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT `+userColumns+` FROM users u WHERE u.id = $1`, string(id))
	})
	return row.user(), err
}

// FindUserByEmail gives a person by their address, in any case.
func (s *Store) FindUserByEmail(ctx context.Context, email string) (User, error) {
	email, err := canonicalEmail(email)
	if err != nil {
		return User{}, ErrNotFound
	}
	var row userRow
	err = s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT `+userColumns+` FROM users u WHERE u.email = $1`, email)
	})
	return row.user(), err
}

// ListUsers gives all people, the active ones first, by name.
func (s *Store) ListUsers(ctx context.Context) ([]User, error) {
	var rows []userRow
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT `+userColumns+` FROM users u ORDER BY u.active DESC, lower(u.name), u.id`)
	})
	out := make([]User, len(rows))
	for i, r := range rows {
		out[i] = r.user()
	}
	return out, err
}

// isGone reports that what a link, token or session names is not there or no longer valid.
func isGone(err error) bool { return errors.Is(err, sql.ErrNoRows) || errors.Is(err, ErrNotFound) }
