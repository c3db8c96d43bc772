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

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// LimitSettings are what people set of a limit.
type LimitSettings struct {
	Figure      operation.Figure    `json:"figure" db:"figure"`
	Flow        string              `json:"flow" db:"flow"`               // "" = all flows together
	Destination string              `json:"destination" db:"destination"` // "" = all of them together
	Source      string              `json:"source" db:"source"`           // whose deliveries; "" = of all sources
	Side        operation.LimitSide `json:"side" db:"side"`
	// Value is a count, hundredths of a percent of a rate, or seconds of a duration.
	Value int64 `json:"value" db:"value"`
	// SpanHours is how long a time is looked at, up to now; 0 = what is so at this moment.
	SpanHours int `json:"span_hours" db:"span_hours"`
	// Least is the number of tries or samples below which nothing is judged.
	Least int64 `json:"least" db:"least"`
	// Margin, in the unit of Value, and HoldMinutes say when the figure is back.
	Margin      int64 `json:"margin" db:"margin"`
	HoldMinutes int   `json:"hold_minutes" db:"hold_minutes"`
	RemindHours int   `json:"remind_hours" db:"remind_hours"` // 0 = no reminders
	// AgainHours is how long after its last breach the next one joins the same open task.
	AgainHours int                `json:"again_hours" db:"again_hours"`
	DueDays    int                `json:"due_days" db:"due_days"` // of the improvement task
	TellUsers  []operation.UserID `json:"tell_users" db:"-"`
	TellRoles  []operation.Role   `json:"tell_roles" db:"-"`
	TellOwner  bool               `json:"tell_owner" db:"tell_owner"` // the flow's owner
	Note       string             `json:"note" db:"note"`
}

// Rule is the limit as the rules judge it.
func (l LimitSettings) Rule() operation.Limit {
	return operation.Limit{Side: l.Side, Value: l.Value, Least: l.Least, Margin: l.Margin, Hold: time.Duration(l.HoldMinutes) * time.Minute, Remind: time.Duration(l.RemindHours) * time.Hour}
}

// LimitNoteLimit bounds a limit's note, in characters.
const LimitNoteLimit = 500

// The spans that a limit can look at, in hours. A source's silence may have any other.
var LimitSpans = []int{0, 24, 7 * 24, 30 * 24}

func (l *LimitSettings) check() error {
	l.Note = storable(strings.TrimSpace(l.Note))
	kind, known := l.Figure.Kind(), l.Figure.Valid()
	switch {
	case !known:
		return &Invalid{Field: "figure", Code: "limit_figure"}
	case !l.Side.Valid():
		return &Invalid{Field: "side", Code: "limit_side"}
	case l.Value < 0 || l.Value > 1<<40, l.Side == operation.LimitUnder && l.Value == 0:
		return &Invalid{Field: "value", Code: "limit_value"}
	case kind == operation.KindRate && l.Value > operation.RateUnit:
		return &Invalid{Field: "value", Code: "limit_rate"}
	case l.Margin < 0 || l.Margin > 1<<40 || l.Side == operation.LimitOver && l.Margin > l.Value:
		return &Invalid{Field: "margin", Code: "limit_margin"}
	case kind == operation.KindLevel && l.SpanHours != 0 || kind != operation.KindLevel && l.SpanHours < 1 || l.SpanHours > 720:
		return &Invalid{Field: "span", Code: "limit_span"}
	case l.Source == "" && !slices.Contains(LimitSpans, l.SpanHours):
		return &Invalid{Field: "span", Code: "limit_span"}
	case l.Source != "" && (l.Figure != operation.FigureDeliveries || l.Flow != "" || l.Destination != ""):
		return &Invalid{Field: "source", Code: "limit_source"}
	case l.Destination != "" && !l.Figure.ByDestination():
		return &Invalid{Field: "destination", Code: "limit_destination"}
	case l.Least < 0 || l.Least > 1_000_000:
		return &Invalid{Field: "least", Code: "limit_least"}
	case l.HoldMinutes < 0 || l.HoldMinutes > 10080:
		return &Invalid{Field: "hold", Code: "limit_hold"}
	case l.RemindHours < 0 || l.RemindHours > 720:
		return &Invalid{Field: "remind", Code: "limit_remind"}
	case l.AgainHours < 0 || l.AgainHours > 8760:
		return &Invalid{Field: "again", Code: "limit_again"}
	case l.DueDays < 1 || l.DueDays > 365:
		return &Invalid{Field: "due", Code: "limit_due"}
	case l.TellOwner && l.Flow == "":
		return &Invalid{Field: "tell", Code: "limit_owner"}
	case !l.TellOwner && len(l.TellUsers)+len(l.TellRoles) == 0:
		return &Invalid{Field: "tell", Code: "limit_tell"}
	case utf8.RuneCountInString(l.Note) > LimitNoteLimit:
		return &Invalid{Field: "note", Code: "limit_note", Limit: LimitNoteLimit}
	}
	for _, r := range l.TellRoles {
		if !r.Valid() {
			return &Invalid{Field: "tell", Code: "limit_tell"}
		}
	}
	if kind != operation.KindRate && kind != operation.KindDuration {
		l.Least = 0
	}
	return nil
}

// names checks, inside the transaction, that what the limit names is there.
func (t *tx) limitNames(l LimitSettings) error {
	users := make([]string, len(l.TellUsers))
	for i, u := range l.TellUsers {
		users[i] = string(u)
	}
	var found struct {
		Flow, Destination, Source bool
		Users                     int
	}
	err := t.get(&found, `SELECT $1 = '' OR EXISTS (SELECT 1 FROM flows WHERE name = $1) AS flow, $2 = '' OR EXISTS (SELECT 1 FROM destinations WHERE name = $2) AS destination,
		$3 = '' OR EXISTS (SELECT 1 FROM sources WHERE name = $3) OR EXISTS (SELECT 1 FROM deliveries WHERE source = $3) AS source,
		(SELECT count(*) FROM users WHERE id = ANY ($4) AND active) AS users`, l.Flow, l.Destination, l.Source, pq.Array(users))
	switch {
	case err != nil:
		return err
	case !found.Flow:
		return &Invalid{Field: "flow", Code: "flow_unknown"}
	case !found.Destination:
		return &Invalid{Field: "destination", Code: "limit_destination"}
	case !found.Source:
		return &Invalid{Field: "source", Code: "limit_source"}
	case found.Users != len(users):
		return &Invalid{Field: "tell", Code: "limit_person"}
	}
	return nil
}

// SetLimit begins to watch a figure: for admins, for ops owners of every flow, and for
// those of the limit's one flow.
func (s *Store) SetLimit(ctx context.Context, a Actor, l LimitSettings) (operation.LimitID, error) {
	if err := l.check(); err != nil {
		return "", err
	}
	id := operation.LimitID(newID("lim"))
	err := s.setLimit(ctx, a, id, l)
	var no *Invalid
	if errors.As(err, &no) && no.Code == "limit_taken" {
		if same, again := s.limitAgain(ctx, a, l); again == nil && same != "" {
			return same, nil // the same form sent twice: the same answer
		}
	}
	return id, err
}

// limitAgain finds the limit that this person has set with exactly these settings, and that
// nobody has changed since; "" = there is none.
func (s *Store) limitAgain(ctx context.Context, a Actor, l LimitSettings) (id operation.LimitID, err error) {
	js, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	err = s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &id, `SELECT COALESCE((SELECT l.id FROM limits l JOIN limit_versions v ON v.limit_id = l.id AND v.version = 1
			WHERE l.version = 1 AND l.ended_at IS NULL AND v.changed_by = $1 AND v.settings = $2), '')`, a.ID, string(js))
	})
	return id, err
}

func (s *Store) setLimit(ctx context.Context, a Actor, id operation.LimitID, l LimitSettings) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.mayBe(a, l.Flow, operation.RoleOpsOwner, operation.RoleAdmin); err != nil {
			return err
		}
		if err := t.limitNames(l); err != nil {
			return err
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		if _, err := t.exec(`INSERT INTO limits (id, version, figure, flow, destination, source, side, value, span_hours, least, margin, hold_minutes, remind_hours, again_hours, due_days,
			tell_users, tell_roles, tell_owner, note, changed_by, created_at, changed_at) VALUES ($1, 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $20)`,
			append(append([]any{string(id)}, l.args()...), a.ID, now)...); err != nil {
			return limitTaken(err)
		}
		return t.limitVersion(a, now, id, 1, l, "set_limit", "")
	})
}

// args are the settings in the order of the columns from figure to note.
func (l LimitSettings) args() []any {
	return []any{string(l.Figure), l.Flow, l.Destination, l.Source, string(l.Side), l.Value, l.SpanHours, l.Least, l.Margin, l.HoldMinutes, l.RemindHours, l.AgainHours, l.DueDays,
		textArray(l.TellUsers), textArray(l.TellRoles), l.TellOwner, l.Note}
}

// textArray gives a list of names as an array, empty rather than NULL.
func textArray[T ~string](list []T) any {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = string(x)
	}
	return pq.Array(out)
}

// limitTaken says that the same figure has such a limit already.
func limitTaken(err error) error {
	if violates(err, "limits_once") {
		return &Invalid{Field: "figure", Code: "limit_taken"}
	}
	return err
}

// limitVersion keeps the settings as a version, with their history entry.
func (t *tx) limitVersion(a Actor, now time.Time, id operation.LimitID, version int, l LimitSettings, action, reason string) error {
	js, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err := t.exec(`INSERT INTO limit_versions (limit_id, version, settings, changed_by, changed_at) VALUES ($1, $2, $3, $4, $5)`, string(id), version, string(js), a.ID, now); err != nil {
		return err
	}
	return t.enter(a, now, operation.SubjectLimit, string(id), action, reason, limitLinks(l, version)...)
}

// limitLinks name what a limit is about, for its history.
func limitLinks(l LimitSettings, version int) []string {
	return []string{"figure", string(l.Figure), "flow", l.Flow, "destination", l.Destination, "source", l.Source, "side", string(l.Side),
		"value", strconv.FormatInt(l.Value, 10), "span_hours", strconv.Itoa(l.SpanHours), "version", strconv.Itoa(version)}
}

// ChangeLimit gives a limit other settings. version is what the form was shown with. Its
// flow stays: another flow is another limit. A breach of the settings before is over; the
// new ones are judged anew.
func (s *Store) ChangeLimit(ctx context.Context, a Actor, id operation.LimitID, version int, l LimitSettings, reason string) error {
	return s.changeLimit(ctx, a, id, version, func(t *tx, now time.Time, old LimitSettings) error {
		l.Flow = old.Flow
		if err := l.check(); err != nil {
			return err
		}
		if err := t.limitNames(l); err != nil {
			return err
		}
		if err := t.one(`UPDATE limits SET version = version + 1, figure = $2, flow = $3, destination = $4, source = $5, side = $6, value = $7, span_hours = $8, least = $9, margin = $10,
			hold_minutes = $11, remind_hours = $12, again_hours = $13, due_days = $14, tell_users = $15, tell_roles = $16, tell_owner = $17, note = $18, changed_by = $19, changed_at = $20 WHERE id = $1`,
			append(append([]any{string(id)}, l.args()...), a.ID, now)...); err != nil {
			return limitTaken(err)
		}
		if err := t.endBreach(a, now, id, "changed"); err != nil {
			return err
		}
		return t.limitVersion(a, now, id, version+1, l, "change_limit", reason)
	})
}

// EndLimit no longer watches. The limit and its breaches stay in the record.
func (s *Store) EndLimit(ctx context.Context, a Actor, id operation.LimitID, version int, reason string) error {
	if strings.TrimSpace(reason) == "" {
		return &Invalid{Field: "reason", Code: "reason_missing"}
	}
	return s.changeLimit(ctx, a, id, version, func(t *tx, now time.Time, old LimitSettings) error {
		if err := t.one(`UPDATE limits SET ended_at = $2, changed_by = $3, changed_at = $2 WHERE id = $1`, string(id), now, a.ID); err != nil {
			return err
		}
		if err := t.endBreach(a, now, id, "ended"); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectLimit, string(id), "end_limit", reason, limitLinks(old, version)...)
	})
}

// changeLimit locks a limit for whoever may change it. One that they may not see is not
// found; one that changed since it was shown is refused as stale.
func (s *Store) changeLimit(ctx context.Context, a Actor, id operation.LimitID, version int, fn func(*tx, time.Time, LimitSettings) error) error {
	v, err := s.FindViewer(ctx, a)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		var row limitRow
		if err := t.get(&row, limitSelect+` WHERE l.id = $1 FOR UPDATE OF l`, string(id)); err != nil {
			return err
		}
		if !v.Sees(row.Flow, row.Destination) {
			return ErrNotFound
		}
		if err := t.mayBe(a, row.Flow, operation.RoleOpsOwner, operation.RoleAdmin); err != nil {
			return err
		}
		if row.Version != version || row.EndedAt != nil {
			return operation.Refuse(operation.CodeStaleRevision)
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		return fn(t, now, row.settings())
	})
}

// endBreach closes an open breach without saying that the figure is back.
func (t *tx) endBreach(a Actor, now time.Time, id operation.LimitID, why string) error {
	_, err := t.exec(`UPDATE limit_breaches SET closed_at = GREATEST($2, opened_at), closed_why = $3 WHERE limit_id = $1 AND closed_at IS NULL`, string(id), now, why)
	return err
}
