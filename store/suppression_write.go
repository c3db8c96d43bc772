package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"holdpoint/operation"
)

// NewSuppression is an address to be put on the suppression list.
type NewSuppression struct {
	Address string
	Scope   operation.SuppressionScope // "" = all
	Channel string                     // the effect type or the destination, as the scope asks
	Reason  operation.SuppressionReason
	Note    string
	Since   time.Time // zero = now
	Until   time.Time // zero = for good
}

// Suppressing is one change of the suppression list. The same form twice is one.
type Suppressing struct {
	FormID string
	Note   string // why; for an import, of all its rows
	File   string // SHA-256 of an imported file, in hexadecimal
}

// Suppressed is what became of addresses that were to be added.
type Suppressed struct {
	Added    int // new entries
	Extended int // entries that now hold longer
	Known    int // the list has them already, for at least as long
	IDs      []SuppressionID
}

// The most rows that one import may have.
const MaxSuppressions = 100_000

// maxSuppressionNote is how many characters a note may have.
const maxSuppressionNote = 500

// check brings an address into the form in which it is stored, and says what is wrong with it.
func (n *NewSuppression) check(now time.Time) *Invalid {
	given := n.Address
	n.Address = operation.OneAddress(given)
	n.Note = strings.TrimSpace(storable(n.Note))
	if n.Scope == "" {
		n.Scope = operation.SuppressAll
	}
	if n.Since.IsZero() {
		n.Since = now
	}
	n.Since = storedTime(n.Since).Truncate(time.Microsecond)
	if !n.Until.IsZero() {
		n.Until = storedTime(n.Until).Truncate(time.Microsecond)
	}
	switch {
	case n.Address == "" && operation.NormalAddress(given) != "":
		return n.noAddress()
	case n.Address == "" && strings.TrimSpace(given) != "" && utf8.RuneCountInString(given) <= operation.MaxAddress: // a line break
		return &Invalid{Field: "address", Code: "address_form"}
	case n.Address == "":
		return &Invalid{Field: "address", Code: "address_missing"}
	case !n.Reason.Valid():
		return &Invalid{Field: "reason", Code: "suppression_reason"}
	case !n.Scope.Valid() || (n.Scope == operation.SuppressAll) != (n.Channel == "") || len(n.Channel) > 100:
		return &Invalid{Field: "channel", Code: "suppression_channel"}
	case len([]rune(n.Note)) > maxSuppressionNote:
		return &Invalid{Field: "note", Code: "text_long", Limit: maxSuppressionNote}
	case !n.Until.IsZero() && (!n.Until.After(n.Since) || !n.Until.After(now)):
		return &Invalid{Field: "until", Code: "suppression_until"}
	}
	return nil
}

// MayAddSuppression reports whether a person may put addresses on the suppression list:
// whoever writes, approves or answers for something. It only takes away.
func MayAddSuppression(v Viewer) bool {
	return v.anyRole(operation.RoleAuthor, operation.RoleApprover, operation.RoleOpsOwner, operation.RoleAdmin)
}

// MayLiftSuppression reports whether a person may take addresses off the suppression list,
// so that things are sent to them again: who answers for every flow.
func MayLiftSuppression(v Viewer) bool {
	p := v.In("")
	return p.Active && (p.Has(operation.RoleOpsOwner) || p.Has(operation.RoleAdmin))
}

// MaySeeSuppressions reports whether a person may read the suppression list: anybody with a role.
func MaySeeSuppressions(v Viewer) bool {
	return v.Token || v.anyRole(operation.RoleAuthor, operation.RoleApprover, operation.RoleOpsOwner, operation.RoleAdmin, operation.RoleAuditor)
}

// anyRole reports whether the viewer has one of the roles for any flow.
func (v Viewer) anyRole(roles ...operation.Role) bool {
	if !v.Active {
		return false
	}
	for _, have := range v.Flows {
		if slices.ContainsFunc(have, func(r operation.Role) bool { return slices.Contains(roles, r) }) {
			return true
		}
	}
	return false
}

// AddSuppressions puts addresses on the suppression list, all or none: an *Invalid names what
// is wrong with the first that is, and which of them it is. What the list has already stays, and holds longer where the new entry would. The
// same address with the same channel stands once. Persons who may add, tokens with the scope.
func (s *Store) AddSuppressions(ctx context.Context, a Actor, in Suppressing, rows []NewSuppression) (Suppressed, error) {
	var out Suppressed
	if len(rows) > MaxSuppressions {
		return out, &Invalid{Field: "file", Code: "suppression_rows", Limit: MaxSuppressions}
	}
	err := s.write(ctx, func(t *tx) error {
		out = Suppressed{}
		if err := t.maySuppress(a); err != nil {
			return err
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		known, err := t.channels()
		if err != nil {
			return err
		}
		for i := range rows {
			bad := rows[i].check(now)
			if bad == nil {
				bad = known.check(rows[i])
			}
			if bad != nil {
				bad.Entry = i + 1
				return bad
			}
		}
		var sent []SuppressionID
		if in.FormID != "" {
			if err := t.list(&sent, `SELECT id FROM suppressions WHERE added_kind = $1 AND added_by = $2 AND form_id = $3 ORDER BY id LIMIT 1000`, string(a.Kind), a.ID, in.FormID); err != nil {
				return err
			}
		}
		if len(sent) > 0 {
			out = Suppressed{Added: len(sent), IDs: sent}
			return errDone
		}
		if out, err = t.suppress(a, now, in.source(a), in.FormID, "", rows); err != nil {
			return err
		}
		if out.Added+out.Extended == 0 {
			return errDone
		}
		links := []string{"count", strconv.Itoa(out.Added), "extended", strconv.Itoa(out.Extended), "known", strconv.Itoa(out.Known)}
		if in.File != "" {
			links = append(links, "hash", in.File)
		} else if len(out.IDs) == 1 {
			links = append(links, "suppression", string(out.IDs[0]), "code", string(rows[0].Reason), "scope", string(rows[0].Scope), "channel", rows[0].Channel)
		}
		return t.enter(a, now, operation.SubjectSystem, systemSubject, "suppress", in.Note, links...)
	})
	return out, err
}

func (in Suppressing) source(a Actor) string {
	switch {
	case a.Kind == operation.ActorToken:
		return "api"
	case in.File != "":
		return "import"
	}
	return "person"
}

func (t *tx) maySuppress(a Actor) error {
	switch a.Kind {
	case operation.ActorSystem:
		return nil
	case operation.ActorToken:
		if slices.Contains(a.Scopes, ScopeSuppressions) {
			return nil
		}
		return notEntitled(operation.RoleAdmin)
	}
	v, err := t.viewer(a)
	if err == nil && !MayAddSuppression(v) {
		err = notEntitled(operation.RoleAuthor)
	}
	return err
}

// suppress writes checked rows by one statement.
func (t *tx) suppress(a Actor, now time.Time, source, form string, op operation.ID, rows []NewSuppression) (out Suppressed, err error) {
	type row struct {
		ID      string     `json:"id"`
		Address string     `json:"address"`
		Scope   string     `json:"scope"`
		Channel string     `json:"channel"`
		Reason  string     `json:"reason"`
		Note    string     `json:"note"`
		Since   time.Time  `json:"since"`
		Until   *time.Time `json:"until"`
	}
	seen, list := map[[3]string]int{}, make([]row, 0, len(rows))
	for _, n := range rows {
		r := row{newID("sup"), n.Address, string(n.Scope), n.Channel, string(n.Reason), n.Note, n.Since, nil}
		if !n.Until.IsZero() {
			r.Until = timePtr(n.Until)
		}
		key := [3]string{n.Address, string(n.Scope), n.Channel}
		if i, twice := seen[key]; twice { // the longer one counts
			if out.Known++; list[i].Until != nil && (r.Until == nil || r.Until.After(*list[i].Until)) {
				list[i].Until = r.Until
			}
			continue
		}
		seen[key] = len(list)
		list = append(list, r)
	}
	slices.SortFunc(list, func(x, y row) int { return strings.Compare(x.Address, y.Address) }) // all transactions lock in one order
	js, err := json.Marshal(list)
	if err != nil {
		return out, err
	}
	var made []struct {
		ID  SuppressionID `db:"id"`
		New bool          `db:"new"`
	}
	err = t.list(&made, `INSERT INTO suppressions AS s (id, address, scope, channel, reason, note, since, until_at, source, operation_id, added_kind, added_by, added_name, form_id, created_at, updated_at)
		SELECT x.id, x.address, x.scope, x.channel, x.reason, x.note, x.since, x.until, $2, NULLIF($3, ''), $4, $5, $6, $7, $8, $8
		FROM jsonb_to_recordset(CAST($1 AS jsonb)) AS x(id text, address text, scope text, channel text, reason text, note text, since timestamptz, until timestamptz)
		ON CONFLICT (address, scope, channel) WHERE lifted_at IS NULL DO UPDATE SET until_at = excluded.until_at, reason = excluded.reason, note = excluded.note, since = LEAST(s.since, excluded.since), source = excluded.source,
			operation_id = excluded.operation_id, added_kind = excluded.added_kind, added_by = excluded.added_by, added_name = excluded.added_name, form_id = excluded.form_id, updated_at = excluded.updated_at, revision = s.revision + 1
			WHERE s.until_at IS NOT NULL AND (excluded.until_at IS NULL OR excluded.until_at > s.until_at)
		RETURNING s.id, s.revision = 1 AS new`, string(js), source, string(op), string(a.Kind), a.ID, shown(a.Name, 200), form, now)
	for _, m := range made {
		out.IDs = append(out.IDs, m.ID)
		if m.New {
			out.Added++
		} else {
			out.Extended++
		}
	}
	out.Known += len(list) - len(made)
	return out, err
}

// LiftSuppression takes an entry off the suppression list, for a reason. Lifted already: the
// same form is calmly confirmed, another one finds that it has changed.
func (s *Store) LiftSuppression(ctx context.Context, a Actor, id SuppressionID, revision int64, formID, reason string) error {
	reason, err := reasonGiven(reason)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		if err := t.mayLift(a); err != nil {
			return err
		}
		var row struct {
			Suppression
			Form string `db:"lifted_form"`
		}
		if err := t.get(&row, `SELECT `+suppressionColumns+`, s.lifted_form FROM suppressions s WHERE s.id = $1 FOR UPDATE`, string(id)); err != nil {
			return err
		}
		switch {
		case row.LiftedAt != nil && row.LiftedBy == a.ID && (row.Form == formID || a.Kind == operation.ActorToken):
			return errDone
		case row.LiftedAt != nil || revision != 0 && revision != row.Revision:
			return ErrChanged
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.one(`UPDATE suppressions SET lifted_at = $2, lifted_kind = $3, lifted_by = $4, lifted_name = $5, lifted_why = $6, lifted_form = $7, updated_at = $2, revision = revision + 1 WHERE id = $1`,
			string(id), now, string(a.Kind), a.ID, shown(a.Name, 200), reason, formID); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectSystem, systemSubject, "lift_suppression", reason, "suppression", string(id), "code", string(row.Reason), "scope", string(row.Scope), "channel", row.Channel)
	})
}

func (t *tx) mayLift(a Actor) error {
	if a.Kind != operation.ActorPerson {
		return t.maySuppress(a)
	}
	v, err := t.viewer(a)
	if err == nil && !MayLiftSuppression(v) {
		err = notEntitled(operation.RoleOpsOwner)
	}
	return err
}

// suppressRecipient puts the one recipient of an operation on the suppression list when news
// says that its address is dead or that the person complained. An operation with several
// recipients says not which of them it was: nothing is added then.
func (u *unit) suppressRecipient(kind operation.NewsKind) error {
	reason := operation.SuppressedBy(kind)
	if reason == "" || !isMail(u.op.EffectType) {
		return nil
	}
	people, err := u.recipients()
	if err != nil || len(people) != 1 {
		return err
	}
	n := NewSuppression{Address: people[0], Scope: operation.SuppressEffect, Channel: u.op.EffectType, Reason: reason}
	if err := n.check(u.now); err != nil {
		var bad *Invalid
		if errors.As(err, &bad) { // what is no address is not suppressed
			return nil
		}
		return err
	}
	made, err := u.suppress(u.actor, u.now, "callback", "", u.op.ID, []NewSuppression{n})
	if err != nil || made.Added+made.Extended == 0 {
		return err
	}
	u.note(u.op, "suppressed", "", "suppression", string(made.IDs[0]), "code", string(reason), "scope", string(n.Scope), "channel", n.Channel)
	return nil
}

// recipients gives whom the operation's version reaches, as far as its profile names them.
func (u *unit) recipients() ([]string, error) {
	var row struct {
		Destination int    `db:"destination_version"`
		Content     string `db:"content"`
		Request     string `db:"request"`
	}
	err := u.get(&row, `SELECT v.destination_version, COALESCE(b.content, '') AS content, COALESCE(b.request, '') AS request FROM content_versions v LEFT JOIN version_bodies b ON b.version_id = v.id WHERE v.id = $1`, string(u.op.VersionID))
	if errors.Is(err, ErrNotFound) || err == nil && row.Content == "" { // an adopted one, or erased
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := u.s.profileVersion(u.ctx, u.Tx, u.op.Destination, row.Destination)
	if err != nil {
		return nil, err
	}
	act, err := p.Action(u.op.Action)
	if err != nil || !act.NamesRecipients() {
		return nil, nil
	}
	var req operation.Request
	if row.Request != "" {
		if err := json.Unmarshal([]byte(row.Request), &req); err != nil {
			return nil, err
		}
	}
	return act.Recipients(json.RawMessage(row.Content), req), nil
}
