package store

import (
	"context"
	"time"

	"holdpoint/operation"
)

// persons says which accounts belong to one natural person: account → the account that
// stands for the person. Accounts that stand for themselves are not in it.
type persons map[operation.UserID]operation.UserID

// one gives the natural person behind an account.
func (p persons) one(id operation.UserID) operation.UserID {
	if same, ok := p[id]; ok {
		return same
	}
	return id
}

// all maps a list of accounts to natural persons.
func (p persons) all(ids []operation.UserID) []operation.UserID {
	if len(p) == 0 {
		return ids
	}
	out := make([]operation.UserID, len(ids))
	for i, id := range ids {
		out[i] = p.one(id)
	}
	return out
}

// persons gives the links between accounts as of the epoch that was read. A change of
// links begins a new epoch, so what is decided with an older one is not committed.
func (u *unit) persons() (persons, error) {
	d, epoch := &u.s.defs, u.facts.Epoch
	d.mu.RLock()
	p, at := d.persons, d.personsAt
	d.mu.RUnlock()
	if p != nil && at == epoch {
		return p, nil
	}
	p, err := u.readPersons()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.persons, d.personsAt = p, epoch
	return p, nil
}

func (t *tx) readPersons() (persons, error) {
	var rows []struct {
		ID   operation.UserID `db:"id"`
		Same operation.UserID `db:"same_as"`
	}
	if err := t.list(&rows, `SELECT id, same_as FROM users WHERE same_as IS NOT NULL`); err != nil {
		return nil, err
	}
	p := make(persons, len(rows))
	for _, r := range rows {
		p[r.ID] = r.Same
	}
	return p, nil
}

// LinkPerson records that two accounts belong to one natural person: id is then counted
// as same wherever people are kept apart. Only an admin may, and never about themselves:
// nobody makes or unmakes their own second pair of eyes.
func (s *Store) LinkPerson(ctx context.Context, a Actor, id, same operation.UserID, reason string) error {
	return s.changeRole(ctx, a, id, func(t *tx, now time.Time) error {
		switch same {
		case "":
			return &Invalid{Field: "same_as", Code: "account_missing"}
		case id:
			return &Invalid{Field: "same_as", Code: "same_account"}
		}
		people, err := t.readPersons()
		if err != nil {
			return err
		}
		same = people.one(same)
		if err := notOneself(people, a, id, same); err != nil {
			return err
		}
		if people[id] == same {
			return errDone
		}
		var email string
		if err := t.get(&email, `SELECT email FROM users WHERE id = $1`, string(same)); err != nil {
			if isGone(err) {
				err = &Invalid{Field: "same_as", Code: "account_missing"}
			}
			return err
		}
		err = t.one(`UPDATE users SET same_as = $2 WHERE id = $1`, string(id), string(same))
		if violates(err, "users_same_as_one_level") || violates(err, "users_same_as_other") {
			return &Invalid{Field: "same_as", Code: "person_has_accounts"}
		}
		if err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, string(id), "link_person", reason, "same_as", string(same), "email", email)
	})
}

// UnlinkPerson records that an account is a person's own again. The rules of LinkPerson
// hold.
func (s *Store) UnlinkPerson(ctx context.Context, a Actor, id operation.UserID, reason string) error {
	return s.changeRole(ctx, a, id, func(t *tx, now time.Time) error {
		people, err := t.readPersons()
		if err != nil {
			return err
		}
		same, linked := people[id]
		if !linked {
			return errDone
		}
		if err := notOneself(people, a, id, same); err != nil {
			return err
		}
		if err := t.one(`UPDATE users SET same_as = NULL WHERE id = $1`, string(id)); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectUser, string(id), "unlink_person", reason, "same_as", string(same))
	})
}

func notOneself(p persons, a Actor, ids ...operation.UserID) error {
	me := a.UserID()
	for _, id := range ids {
		if me != "" && (p.one(id) == p.one(me)) {
			return &Invalid{Field: "same_as", Code: "own_access"}
		}
	}
	return nil
}
