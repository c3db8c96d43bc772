package store

import (
	"context"
	"encoding/json"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// LimitSeen is a limit as it stands now, with its newest measurement.
type LimitSeen struct {
	LimitSettings
	ID        operation.LimitID
	Version   int
	ChangedBy string // name, or "system"
	ChangedAt time.Time
	EndedAt   time.Time // zero = it is watched
	Names     []string  // of the people who are told
	// Measured is the newest measurement; At is zero while nothing was measured.
	Measured operation.Measure
	At       time.Time
	// Breach is the open breach; nil = within.
	Breach *BreachSeen
	// Titles are read where a breach is put into words.
	Titles LimitTitles
}

// BreachSeen is one breach of a limit.
type BreachSeen struct {
	ID         operation.BreachID `db:"id"`
	Limit      operation.LimitID  `db:"limit_id"`
	Version    int                `db:"version"`
	Measured   int64              `db:"measured"` // when it began
	Parts      int64              `db:"parts"`
	Worst      int64              `db:"worst"`
	WorstParts int64              `db:"worst_parts"`
	OpenedAt   time.Time          `db:"opened_at"`
	Within     *time.Time         `db:"within_since"`
	ToldAt     time.Time          `db:"told_at"`
	Reminders  int                `db:"reminders"`
	ClosedAt   *time.Time         `db:"closed_at"`
	Why        string             `db:"closed_why"` // back, changed, ended; "" = open
	Back       *int64             `db:"back"`
	BackParts  *int64             `db:"back_parts"`
	Task       operation.TaskID   `db:"task_id"`
	TaskNumber int64              `db:"task_number"`
	TaskState  string             `db:"task_state"`
	Told       pq.StringArray     `db:"told"` // names of whom a notice was recorded for
}

// measure gives a stored amount back as a measurement of a figure.
func measureOf(f operation.Figure, n, parts int64) operation.Measure {
	return operation.Measure{N: n, Of: parts, Rate: f.Kind() == operation.KindRate}
}

// Began is what was measured when the breach began.
func (b BreachSeen) Began(f operation.Figure) operation.Measure {
	return measureOf(f, b.Measured, b.Parts)
}

// Peak is the measurement that was furthest beyond the limit.
func (b BreachSeen) Peak(f operation.Figure) operation.Measure {
	return measureOf(f, b.Worst, b.WorstParts)
}

// End is what was measured when the figure was back; ok is false otherwise.
func (b BreachSeen) End(f operation.Figure) (m operation.Measure, ok bool) {
	if b.Back == nil || b.BackParts == nil {
		return m, false
	}
	return measureOf(f, *b.Back, *b.BackParts), true
}

type limitRow struct {
	LimitSettings
	ID        operation.LimitID `db:"id"`
	Version   int               `db:"version"`
	Users     pq.StringArray    `db:"tell_users"`
	Roles     pq.StringArray    `db:"tell_roles"`
	Names     pq.StringArray    `db:"names"`
	ChangedBy string            `db:"changed_by"`
	ChangedAt time.Time         `db:"changed_at"`
	EndedAt   *time.Time        `db:"ended_at"`
	Measured  int64             `db:"measured"`
	Parts     int64             `db:"parts"`
	At        *time.Time        `db:"measured_at"`
}

const limitSelect = `SELECT l.id, l.version, l.figure, l.flow, l.destination, l.source, l.side, l.value, l.span_hours, l.least, l.margin, l.hold_minutes, l.remind_hours, l.again_hours, l.due_days,
	l.tell_users, l.tell_roles, l.tell_owner, l.note, COALESCE(u.name, l.changed_by) AS changed_by, l.changed_at, l.ended_at,
	ARRAY(SELECT n.name FROM users n WHERE n.id = ANY (l.tell_users) ORDER BY n.name) AS names,
	COALESCE(r.measured, 0) AS measured, COALESCE(r.parts, 0) AS parts, r.measured_at
	FROM limits l LEFT JOIN users u ON u.id = l.changed_by LEFT JOIN limit_readings r ON r.limit_id = l.id`

// settings gives the row's settings, with its lists.
func (r limitRow) settings() LimitSettings {
	l := r.LimitSettings
	for _, u := range r.Users {
		l.TellUsers = append(l.TellUsers, operation.UserID(u))
	}
	for _, x := range r.Roles {
		l.TellRoles = append(l.TellRoles, operation.Role(x))
	}
	return l
}

func (r limitRow) seen() LimitSeen {
	return LimitSeen{LimitSettings: r.settings(), ID: r.ID, Version: r.Version, ChangedBy: r.ChangedBy, ChangedAt: r.ChangedAt.UTC(), EndedAt: timeOf(r.EndedAt), Names: r.Names,
		Measured: measureOf(r.Figure, r.Measured, r.Parts), At: timeOf(r.At)}
}

const breachSelect = `SELECT b.id, b.limit_id, b.version, b.measured, b.parts, b.worst, b.worst_parts, b.opened_at, b.within_since, b.told_at, b.reminders, b.closed_at, b.closed_why, b.back, b.back_parts,
	COALESCE(b.task_id, '') AS task_id, COALESCE(k.number, 0) AS task_number, COALESCE(k.state, '') AS task_state,
	ARRAY(SELECT DISTINCT u.name FROM notices n JOIN users u ON u.id = n.user_id WHERE n.subject = b.id AND n.kind = 'limit' ORDER BY u.name) AS told
	FROM limit_breaches b LEFT JOIN improvement_tasks k ON k.id = b.task_id`

// ListLimits lists the limits of what the viewer may see: those that are watched, then,
// where ended is set, those that no longer are.
func (s *Store) ListLimits(ctx context.Context, a Actor, ended bool) ([]LimitSeen, error) {
	v, err := s.FindViewer(ctx, a)
	if err != nil {
		return nil, err
	}
	var rows []limitRow
	var open []BreachSeen
	err = s.read(ctx, func(q *sqlx.DB) error {
		rows, open = nil, nil
		if err := q.SelectContext(ctx, &rows, limitSelect+` WHERE l.ended_at IS NULL OR $1 ORDER BY l.ended_at IS NOT NULL, l.figure, l.flow, l.destination, l.source, l.span_hours, l.id`, ended); err != nil {
			return err
		}
		return q.SelectContext(ctx, &open, breachSelect+` WHERE b.closed_at IS NULL`)
	})
	if err != nil {
		return nil, err
	}
	var out []LimitSeen
	for _, r := range rows {
		if !v.Sees(r.Flow, r.Destination) {
			continue
		}
		l := r.seen()
		for i := range open {
			if open[i].Limit == l.ID {
				l.Breach = &open[i]
			}
		}
		out = append(out, l)
	}
	return out, nil
}

// LimitPage is a limit with all that is recorded of it.
type LimitPage struct {
	LimitSeen
	Breaches []BreachSeen // newest first
	Versions []LimitVersion
	// May says whether the viewer may change it.
	May bool
}

// LimitVersion is what a limit was set to, and by whom.
type LimitVersion struct {
	LimitSettings
	Version int
	By      string
	At      time.Time
}

// breachesShown bounds a limit's page.
const breachesShown = 100

// FindLimit reads one limit. One of a flow that the viewer may not see is not found.
func (s *Store) FindLimit(ctx context.Context, a Actor, id operation.LimitID) (LimitPage, error) {
	var p LimitPage
	v, err := s.FindViewer(ctx, a)
	if err != nil {
		return p, err
	}
	var row limitRow
	var versions []struct {
		Version  int       `db:"version"`
		Settings string    `db:"settings"`
		By       string    `db:"changed_by"`
		At       time.Time `db:"changed_at"`
	}
	err = s.read(ctx, func(q *sqlx.DB) error {
		versions, p.Breaches = nil, nil
		if err := q.GetContext(ctx, &row, limitSelect+` WHERE l.id = $1`, string(id)); err != nil {
			return err
		}
		if err := q.SelectContext(ctx, &p.Breaches, breachSelect+` WHERE b.limit_id = $1 ORDER BY b.opened_at DESC LIMIT $2`, string(id), breachesShown); err != nil {
			return err
		}
		return q.SelectContext(ctx, &versions, `SELECT v.version, v.settings, COALESCE(u.name, v.changed_by) AS changed_by, v.changed_at FROM limit_versions v
			LEFT JOIN users u ON u.id = v.changed_by WHERE v.limit_id = $1 ORDER BY v.version DESC`, string(id))
	})
	switch {
	case err != nil:
		return p, err
	case !v.Sees(row.Flow, row.Destination):
		return p, ErrNotFound
	}
	p.LimitSeen = row.seen()
	for _, x := range versions {
		l := LimitVersion{Version: x.Version, By: x.By, At: x.At}
		if err := json.Unmarshal([]byte(x.Settings), &l.LimitSettings); err != nil {
			return p, err
		}
		p.Versions = append(p.Versions, l)
	}
	for i := range p.Breaches {
		if p.Breaches[i].ClosedAt == nil {
			p.Breach = &p.Breaches[i]
		}
	}
	p.May = v.MaySetLimits(row.Flow)
	return p, nil
}

// MaySetLimits reports whether the viewer may set limits for a flow; "" = for all.
func (v Viewer) MaySetLimits(flow string) bool {
	who := v.In(flow)
	return v.Active && (who.Has(operation.RoleAdmin) || who.Has(operation.RoleOpsOwner))
}

// FindBreach reads of which limit a breach is, for whoever may see that limit.
func (s *Store) FindBreach(ctx context.Context, a Actor, id operation.BreachID) (operation.LimitID, error) {
	var limit operation.LimitID
	if err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &limit, `SELECT limit_id FROM limit_breaches WHERE id = $1`, string(id))
	}); err != nil {
		return "", err
	}
	_, err := s.FindLimit(ctx, a, limit)
	return limit, err
}
