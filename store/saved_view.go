package store

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// ViewID names a saved view.
type ViewID string

// SavedView is filters of the list of operations under a name: a person's own, or one
// that everybody sees.
type SavedView struct {
	ID      ViewID    `db:"id"`
	Name    string    `db:"name"`
	Filters string    `db:"filters"` // a query string, as the list's address has it
	Shared  bool      `db:"shared"`
	Default bool      `db:"is_default"` // the viewer's list opens with it
	At      time.Time `db:"updated_at"`
}

// NewView is a view to be saved.
type NewView struct {
	Name    string
	Filters string
	Shared  bool // for everybody; only administrators may
	Default bool // and the list shall open with it
}

// Limits of saved views.
const (
	ViewNameLimit    = 80   // characters
	viewFiltersLimit = 2000 // bytes
	// ViewLimit bounds how many views one person keeps, and how many are shared.
	ViewLimit = 50
)

// ListViews lists what this person can choose from: their own views, then the shared
// ones, each by name.
func (s *Store) ListViews(ctx context.Context, viewer Actor) (out []SavedView, err error) {
	err = s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, `SELECT v.id, v.name, v.filters, v.owner_id IS NULL AS shared, d.view_id IS NOT NULL AS is_default, v.updated_at FROM saved_views v
			LEFT JOIN default_views d ON d.view_id = v.id AND d.user_id = $1 WHERE v.owner_id = $1 OR v.owner_id IS NULL ORDER BY v.owner_id IS NULL, lower(v.name), v.id`, viewer.ID)
	})
	return out, err
}

// SaveView keeps filters under a name. A name that is taken already, by another of the
// person's own views or another shared one, is *Invalid.
func (s *Store) SaveView(ctx context.Context, a Actor, n NewView) (ViewID, error) {
	name, err := viewName(n.Name)
	if err != nil {
		return "", err
	}
	if n.Filters == "" || len(n.Filters) > viewFiltersLimit {
		return "", &Invalid{Field: "filters", Code: "view_empty"}
	}
	id := ViewID(newID("viw"))
	err = s.write(ctx, func(t *tx) error {
		now, err := t.viewKeeper(a, n.Shared)
		if err != nil {
			return err
		}
		var owner any
		if !n.Shared {
			owner = a.ID
		}
		var count int
		if err := t.get(&count, `SELECT count(*) FROM saved_views WHERE owner_id IS NOT DISTINCT FROM $1`, owner); err != nil {
			return err
		}
		if count >= ViewLimit {
			return &Invalid{Field: "name", Code: "view_many", Limit: ViewLimit}
		}
		if _, err := t.exec(`INSERT INTO saved_views (id, owner_id, name, filters, created_by, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $6)`,
			string(id), owner, name, n.Filters, a.ID, now); err != nil {
			return viewTaken(err)
		}
		if n.Default {
			if err := t.setDefaultView(a, id); err != nil {
				return err
			}
		}
		return t.noteView(a, now, n.Shared, "share_view", id, name)
	})
	return id, err
}

// RenameView gives a view another name.
func (s *Store) RenameView(ctx context.Context, a Actor, id ViewID, name string) error {
	name, err := viewName(name)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		v, now, err := t.viewToChange(a, id)
		if err != nil || v.Name == name {
			return err
		}
		if err := t.one(`UPDATE saved_views SET name = $2, updated_at = GREATEST(created_at, $3) WHERE id = $1`, string(id), name, now); err != nil {
			return viewTaken(err)
		}
		return t.noteView(a, now, v.Shared, "rename_view", id, name)
	})
}

// DeleteView removes a view. Lists that opened with it open with all operations again.
func (s *Store) DeleteView(ctx context.Context, a Actor, id ViewID) error {
	return s.write(ctx, func(t *tx) error {
		v, now, err := t.viewToChange(a, id)
		if err != nil {
			return err
		}
		if err := t.one(`DELETE FROM saved_views WHERE id = $1`, string(id)); err != nil {
			return err
		}
		return t.noteView(a, now, v.Shared, "remove_view", id, v.Name)
	})
}

// SetDefaultView lets the person's list open with one of their views or a shared one;
// with all operations where id is "".
func (s *Store) SetDefaultView(ctx context.Context, a Actor, id ViewID) error {
	return s.write(ctx, func(t *tx) error {
		if _, err := t.viewKeeper(a, false); err != nil {
			return err
		}
		if id == "" {
			_, err := t.exec(`DELETE FROM default_views WHERE user_id = $1`, a.ID)
			return err
		}
		if _, err := t.seenView(a, id); err != nil {
			return err
		}
		return t.setDefaultView(a, id)
	})
}

func (t *tx) setDefaultView(a Actor, id ViewID) error {
	return t.one(`INSERT INTO default_views (user_id, view_id) VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE SET view_id = excluded.view_id`, a.ID, string(id))
}

// viewKeeper lets pass whoever may keep such a view, and locks them, so that limits hold.
func (t *tx) viewKeeper(a Actor, shared bool) (time.Time, error) {
	if a.Kind != operation.ActorPerson {
		return time.Time{}, operation.Refuse(operation.CodeNotEntitled)
	}
	if shared {
		if err := t.mayBe(a, "", operation.RoleAdmin); err != nil {
			return time.Time{}, err
		}
		if _, err := t.exec(`SELECT 1 FROM installation FOR UPDATE`); err != nil {
			return time.Time{}, err
		}
	} else {
		var active bool
		if err := t.get(&active, `SELECT active FROM users WHERE id = $1 FOR UPDATE`, a.ID); err != nil {
			return time.Time{}, err
		}
		if !active {
			return time.Time{}, operation.Refuse(operation.CodeNotEntitled)
		}
	}
	return t.clock()
}

// seenView finds a view that the person can choose; somebody else's is not found.
func (t *tx) seenView(a Actor, id ViewID) (v SavedView, err error) {
	err = t.get(&v, `SELECT id, name, filters, owner_id IS NULL AS shared, updated_at FROM saved_views WHERE id = $1 AND (owner_id = $2 OR owner_id IS NULL)`, string(id), a.ID)
	return v, err
}

func (t *tx) viewToChange(a Actor, id ViewID) (SavedView, time.Time, error) {
	v, err := t.seenView(a, id)
	if err != nil {
		return v, time.Time{}, err
	}
	now, err := t.viewKeeper(a, v.Shared)
	if err != nil {
		return v, now, err
	}
	v, err = t.seenView(a, id) // it may be gone since
	return v, now, err
}

// noteView writes what was done to a shared view into the installation's history. A
// person's own views are their own affair.
func (t *tx) noteView(a Actor, now time.Time, shared bool, action string, id ViewID, name string) error {
	if !shared {
		return nil
	}
	return t.enter(a, now, operation.SubjectSystem, systemSubject, action, "", "view", string(id), "name", name)
}

func viewName(name string) (string, error) {
	name = strings.TrimSpace(shown(name, 4*ViewNameLimit))
	switch {
	case name == "":
		return "", &Invalid{Field: "name", Code: "name_missing"}
	case utf8.RuneCountInString(name) > ViewNameLimit:
		return "", &Invalid{Field: "name", Code: "view_long", Limit: ViewNameLimit}
	}
	return name, nil
}

func viewTaken(err error) error {
	if violates(err, "saved_views_name") {
		return &Invalid{Field: "name", Code: "view_taken"}
	}
	return err
}
