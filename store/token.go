package store

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// The scopes of an API token. No scope lets a token decide anything.
const (
	ScopeEvents     = "events"     // hand in events
	ScopeOperations = "operations" // start operations, write content versions
	ScopeClaims     = "claims"     // claim, dispatch, report outcomes
	ScopeCallbacks  = "callbacks"  // bring late evidence
	ScopeRead       = "read"
	ScopeBatches    = "batches" // hand lists in, watch, pause and stop batches
	// ScopeSuppressions: read the suppression list, put addresses on it and take them off.
	ScopeSuppressions = "suppressions"
)

// Scopes lists every scope.
var Scopes = []string{ScopeEvents, ScopeOperations, ScopeClaims, ScopeCallbacks, ScopeRead, ScopeBatches, ScopeSuppressions}

// tokenPrefix lets people and scanners recognise a leaked secret.
const tokenPrefix = "hp_"

// NewToken is an API token to be made.
type NewToken struct {
	Name         string
	Scopes       []string
	Flows        []string // empty = every flow
	Destinations []string // empty = every destination
	Expires      time.Time
	FormID       string // unique key of the shown form; "" = none: two calls make two tokens
}

// ErrFormUsed is a form that has made its token already: its secret was shown then.
var ErrFormUsed = errors.New("this form has made its token already")

// Token is an API token; its secret is not stored.
type Token struct {
	ID           operation.TokenID `db:"id"`
	Name         string            `db:"name"`
	Scopes       pq.StringArray    `db:"scopes"`
	Flows        pq.StringArray    `db:"flows"`
	Destinations pq.StringArray    `db:"destinations"`
	CreatedBy    string            `db:"created_by"` // operation.UserID, or "system" from the command line
	CreatedAt    time.Time         `db:"created_at"`
	ExpiresAt    *time.Time        `db:"expires_at"` // nil = never
	RevokedAt    *time.Time        `db:"revoked_at"`
	LastUsedAt   *time.Time        `db:"last_used_at"`
}

const tokenColumns = `k.id, k.name, k.scopes, k.flows, k.destinations, k.created_by, k.created_at, k.expires_at, k.revoked_at, k.last_used_at`

// AddToken makes a token and gives its secret, once. Only an admin or the command line
// may; the token is void while the admin who made it is disabled.
func (s *Store) AddToken(ctx context.Context, a Actor, n NewToken) (operation.TokenID, string, error) {
	n.Name = strings.TrimSpace(shown(n.Name, 200))
	if n.Name == "" {
		return "", "", &Invalid{Field: "name", Code: "name_missing"}
	}
	if len(n.Scopes) == 0 {
		return "", "", &Invalid{Field: "scopes", Code: "scope_missing"}
	}
	for _, x := range n.Scopes {
		if !slices.Contains(Scopes, x) {
			return "", "", &Invalid{Field: "scopes", Code: "scope_unknown"}
		}
	}
	id, secret := operation.TokenID(newID("tok")), tokenPrefix+rand.Text()
	err := s.write(ctx, func(t *tx) error {
		now, err := t.alone()
		if err != nil {
			return err
		}
		if err := t.mayAdd(a, now); err != nil {
			return err
		}
		if err := t.named("flows", "flow_unknown", `SELECT count(*) FROM flows WHERE name = ANY ($1)`, n.Flows); err != nil {
			return err
		}
		if err := t.named("destinations", "destination_unknown", `SELECT count(*) FROM destinations WHERE name = ANY ($1)`, n.Destinations); err != nil {
			return err
		}
		if !n.Expires.IsZero() && !n.Expires.After(now) {
			return &Invalid{Field: "expires", Code: "date_past"}
		}
		_, err = t.exec(`INSERT INTO api_tokens (id, name, token_hash, scopes, flows, destinations, created_by, created_at, expires_at, form_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, string(id), n.Name, hashSecret(secret), pq.Array(n.Scopes), pq.Array(orNone(n.Flows)),
			pq.Array(orNone(n.Destinations)), a.ID, now, timePtr(n.Expires), n.FormID)
		if violates(err, "api_tokens_once") {
			return ErrFormUsed
		}
		if err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectSystem, systemSubject, "add_token", "", "token", string(id), "name", n.Name, "scopes", strings.Join(n.Scopes, " "))
	})
	if err != nil {
		return "", "", err
	}
	return id, secret, nil
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// named refuses a list with a name that is not there, or twice in it.
func (t *tx) named(field, code, count string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var n int
	if err := t.get(&n, count, pq.Array(names)); err != nil {
		return err
	}
	if n != len(names) {
		return &Invalid{Field: field, Code: code}
	}
	return nil
}

// FindToken gives the actor that a secret stands for. A token that is revoked or
// expired, or whose maker is disabled, is ErrNotFound.
func (s *Store) FindToken(ctx context.Context, secret string) (Actor, error) {
	if !strings.HasPrefix(secret, tokenPrefix) {
		return Actor{}, ErrNotFound
	}
	var row struct {
		Token
		Stale bool `db:"stale"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT `+tokenColumns+`, COALESCE(k.last_used_at < clock_timestamp() - CAST($2 AS interval), true) AS stale
			FROM api_tokens k LEFT JOIN users u ON u.id = k.created_by
			WHERE k.token_hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
			AND (k.created_by = 'system' OR u.active)`, hashSecret(secret), seenEvery.String())
	})
	if err != nil {
		return Actor{}, err
	}
	if row.Stale {
		err = s.write(ctx, func(t *tx) error {
			_, err := t.exec(`UPDATE api_tokens SET last_used_at = clock_timestamp() WHERE id = $1 AND last_used_at IS NOT DISTINCT FROM $2`, string(row.ID), row.LastUsedAt)
			return err
		})
	}
	return Actor{Kind: operation.ActorToken, ID: string(row.ID), Name: row.Name, Channel: "api",
		Scopes: row.Scopes, Flows: row.Flows, Destinations: row.Destinations}, err
}

// RevokeToken ends a token at once. One that is revoked already stays so.
func (s *Store) RevokeToken(ctx context.Context, a Actor, id operation.TokenID, reason string) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.alone()
		if err != nil {
			return err
		}
		if err := t.mayAdd(a, now); err != nil {
			return err
		}
		var revoked *time.Time
		if err := t.get(&revoked, `SELECT revoked_at FROM api_tokens WHERE id = $1 FOR UPDATE`, string(id)); err != nil {
			return err
		}
		if revoked != nil {
			return errDone
		}
		if err := t.one(`UPDATE api_tokens SET revoked_at = $2 WHERE id = $1`, string(id), now); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectSystem, systemSubject, "revoke_token", reason, "token", string(id))
	})
}

// ListTokens gives all tokens, those that hold first, newest first.
func (s *Store) ListTokens(ctx context.Context) ([]Token, error) {
	var out []Token
	err := s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, `SELECT `+tokenColumns+` FROM api_tokens k ORDER BY k.revoked_at IS NOT NULL, k.created_at DESC, k.id`)
	})
	return out, err
}
