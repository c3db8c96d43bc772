package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// SuppressionID names one entry of the suppression list: "sup_…".
type SuppressionID string

// Suppression is one entry of the suppression list: an address to which nothing more is sent.
type Suppression struct {
	ID        SuppressionID               `db:"id" json:"id"`
	Address   string                      `db:"address" json:"address"`
	Scope     operation.SuppressionScope  `db:"scope" json:"scope"`
	Channel   string                      `db:"channel" json:"channel,omitempty"` // the effect type or the destination; "" = every one
	Reason    operation.SuppressionReason `db:"reason" json:"reason"`
	Note      string                      `db:"note" json:"note,omitempty"`
	Since     time.Time                   `db:"since" json:"since"`
	Until     *time.Time                  `db:"until_at" json:"until,omitempty"` // nil = for good
	Source    string                      `db:"source" json:"source"`            // person, import, callback, api
	Operation operation.ID                `db:"operation_id" json:"operation,omitempty"`
	AddedKind operation.ActorKind         `db:"added_kind" json:"-"`
	AddedBy   string                      `db:"added_by" json:"-"`
	AddedName string                      `db:"added_name" json:"by,omitempty"`
	Revision  int64                       `db:"revision" json:"-"`
	CreatedAt time.Time                   `db:"created_at" json:"-"`
	LiftedAt  *time.Time                  `db:"lifted_at" json:"lifted,omitempty"`
	LiftedBy  string                      `db:"lifted_by" json:"-"`
	LiftName  string                      `db:"lifted_name" json:"lifted_by,omitempty"`
	LiftedWhy string                      `db:"lifted_why" json:"lifted_why,omitempty"`
}

const suppressionColumns = `s.id, s.address, s.scope, s.channel, s.reason, s.note, s.since, s.until_at, s.source, COALESCE(s.operation_id, '') AS operation_id,
	s.added_kind, s.added_by, s.added_name, s.revision, s.created_at, s.lifted_at, s.lifted_by, s.lifted_name, s.lifted_why`

// Holds reports whether the entry keeps something from being sent at a time.
func (s Suppression) Holds(at time.Time) bool {
	return s.LiftedAt == nil && !s.Since.After(at) && (s.Until == nil || s.Until.After(at))
}

// suppressedSQL is the condition under which one of an item's recipients, as batch_items keeps
// them, is on the suppression list: recipient, effect type, destination and time are SQL
// expressions. A claim leaves such an item out.
func suppressedSQL(recipient, effect, destination, at string) string {
	return "is_suppressed(" + strings.Join([]string{recipient, effect, destination, at}, ", ") + ")"
}

// suppressed reports whether the operation, an item of a batch or a replacement of one, would
// go to somebody who is on the suppression list now: an item's recipients are those that
// people approved with its list, those of a replacement, and of an item that was written
// anew since, are those of its own version.
func (u *unit) suppressed() (bool, error) {
	own := u.op.BatchID == "" || u.op.VersionNo > 1
	if !own || u.op.State.Closed() || u.ownBatch() == "" {
		return u.facts.Suppressed, nil
	}
	stopped, err := u.suppressedPeople()
	return len(stopped) > 0, err
}

// suppressedPeople gives those recipients of the operation's current version who are on the
// suppression list now, with the reasons; none where its profile names no recipients.
func (u *unit) suppressedPeople() (map[string]operation.SuppressionReason, error) {
	if act, err := u.profile.Action(u.op.Action); err != nil || !act.NamesRecipients() || u.op.VersionID == "" {
		return nil, nil // the gate refuses an action that is gone
	}
	people, err := u.recipients()
	if err != nil {
		return nil, err
	}
	return u.suppressedAmong(u.op.EffectType, u.op.Destination, people)
}

// readSuppressed finds out who of the recipients is on the suppression list, as long as
// anything can still go out.
func (p *OperationPage) readSuppressed(u *unit) error {
	if u.op.State.Closed() {
		return nil
	}
	stopped, err := u.suppressedPeople()
	for address, reason := range stopped {
		p.Suppressed = append(p.Suppressed, SuppressedPerson{address, reason})
	}
	slices.SortFunc(p.Suppressed, func(x, y SuppressedPerson) int { return strings.Compare(x.Address, y.Address) })
	return err
}

// SuppressedPerson is a recipient who is on the suppression list.
type SuppressedPerson struct {
	Address string // as operation.NormalAddress gives it
	Reason  operation.SuppressionReason
}

// SuppressedAmong gives those of some addresses that get nothing of an effect type at a
// destination, by the address as operation.NormalAddress gives it.
func (s *Store) SuppressedAmong(ctx context.Context, effect, destination string, addresses []string) (map[string]operation.SuppressionReason, error) {
	var out map[string]operation.SuppressionReason
	err := s.read(ctx, func(q *sqlx.DB) (err error) {
		out, err = suppressedAmong(ctx, q, effect, destination, addresses)
		return err
	})
	return out, err
}

// suppressedAmong is SuppressedAmong inside a transaction.
func (t *tx) suppressedAmong(effect, destination string, addresses []string) (map[string]operation.SuppressionReason, error) {
	return suppressedAmong(t.ctx, t.Tx, effect, destination, addresses)
}

type selecter interface {
	SelectContext(ctx context.Context, dst any, q string, args ...any) error
}

func suppressedAmong(ctx context.Context, q selecter, effect, destination string, addresses []string) (map[string]operation.SuppressionReason, error) {
	out := map[string]operation.SuppressionReason{}
	asked := make([]string, 0, len(addresses))
	for _, a := range addresses {
		if a = operation.NormalAddress(a); a != "" {
			asked = append(asked, a)
		}
	}
	if len(asked) == 0 {
		return out, nil
	}
	var rows []struct {
		Address string                      `db:"address"`
		Reason  operation.SuppressionReason `db:"reason"`
	}
	err := q.SelectContext(ctx, &rows, `SELECT DISTINCT ON (address) address, reason FROM suppressions WHERE address = ANY($1) AND lifted_at IS NULL
		AND since <= clock_timestamp() AND (until_at IS NULL OR until_at > clock_timestamp())
		AND (scope = 'all' OR scope = 'effect' AND channel = $2 OR scope = 'destination' AND channel = $3) ORDER BY address, created_at`, pq.Array(asked), effect, destination)
	for _, r := range rows {
		out[r.Address] = r.Reason
	}
	return out, err
}
