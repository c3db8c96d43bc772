package store

import (
	"context"
	"encoding/hex"
	"strings"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// ListHolding reads, for sessions by the hash of their token, who looks through each of
// those that still hold: not ended, not expired, the person active. It leaves no trace
// of use. The keys of the result are the hashes.
func (s *Store) ListHolding(ctx context.Context, tokenHashes [][]byte) (map[string]Viewer, error) {
	var rows []struct {
		Hash  []byte           `db:"token_hash"`
		User  operation.UserID `db:"id"`
		Email string           `db:"email"`
		Name  string           `db:"name"`
		Roles string           `db:"roles"`
	}
	hashes := make([]string, len(tokenHashes))
	for i, h := range tokenHashes {
		hashes[i] = hex.EncodeToString(h)
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT x.token_hash, u.id, u.email, u.name,
			COALESCE((SELECT string_agg(r.role || ':' || r.flow, ',') FROM user_roles r WHERE r.user_id = u.id), '') AS roles
			FROM unnest(CAST($1 AS text[])) AS k(hash) JOIN sessions x ON x.token_hash = decode(k.hash, 'hex') JOIN users u ON u.id = x.user_id
			WHERE x.revoked_at IS NULL AND x.expires_at > clock_timestamp() AND u.active`, pq.Array(hashes))
	})
	out := make(map[string]Viewer, len(rows))
	for _, r := range rows {
		v := Viewer{Name: r.Name, Flows: map[string][]operation.Role{}}
		v.ID, v.Email, v.Active = r.User, r.Email, true
		for g := range strings.SplitSeq(r.Roles, ",") {
			if role, flow, ok := strings.Cut(g, ":"); ok {
				v.Flows[flow] = append(v.Flows[flow], operation.Role(role))
			}
		}
		v.Roles = v.Flows[""]
		out[string(r.Hash)] = v
	}
	return out, err
}
