package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"maps"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

type lockedRow struct {
	opRow
	loaded
	more
	Gate any `db:"gate"`
}

// more is what claimSQL, attemptSQL and decideSQL read besides.
type more struct {
	Body    bodyRow      `db:"body"`
	Att     attemptRow   `db:"att"`
	TakenBy operation.ID `db:"taken_by"`
	Apr     approvalRow  `db:"apr"`
	Me      personRow    `db:"me"`
	Seen    bool         `db:"seen"`

	Clr itemClearance `db:"clr"` // groups read it, see common
}

// bodyRow is a version's body.
type bodyRow struct {
	Content    string `db:"content"`
	Request    string `db:"request"`
	Salt       []byte `db:"salt"`
	Credential string `db:"credential"`
}

// personRow is an acting person.
type personRow struct {
	Email  string `db:"email"`
	Active bool   `db:"active"`
	Roles  string `db:"roles"`
	// Received are the delegations to them, as JSON of receivedRow.
	Received string `db:"received"`
}

// change is the one way to decide about an operation: lock, read, decide, write,
// commit. fn gets the locked unit; a *operation.Refusal from it rolls back.
func (s *Store) change(ctx context.Context, a Actor, id operation.ID, fn func(*unit) error) error {
	return s.changeBy(ctx, a, lockSQL, fn, string(id))
}

// changeBy is change with one of the locking statements and its parameters.
func (s *Store) changeBy(ctx context.Context, a Actor, q string, fn func(*unit) error, args ...any) error {
	return s.changeAfter(ctx, a, nil, q, fn, args...)
}

// changeAfter is changeBy with something that is written before the locks are taken, for
// what takes time and decides nothing.
func (s *Store) changeAfter(ctx context.Context, a Actor, before func(*tx) error, q string, fn func(*unit) error, args ...any) error {
	var jobs []map[string]any
	var settled operation.RunID
	err := s.write(ctx, func(t *tx) error {
		jobs, settled = nil, ""
		if before != nil {
			if err := before(t); err != nil {
				return err
			}
		}
		u, err := t.lock(a, q, args...)
		if err != nil {
			return err
		}
		if err := fn(u); err != nil {
			return err
		}
		if err := u.save(); err != nil { // plans the wake-ups
			return err
		}
		jobs = u.w.jobs
		settled, err = u.settleBatch()
		return err
	})
	if err == nil {
		s.nudgeFor(jobs)
		if a.Kind == operation.ActorPerson {
			s.Hint()
		}
	}
	if err == nil && settled != "" {
		_, _ = s.sweepWaiting(ctx, a, settled) // what it misses, SweepStuck finds: the decision stands
	}
	return err
}

// lock locks the run and the operation. When it had to wait, what it read besides is
// read again: the locks are held by then.
func (t *tx) lock(a Actor, q string, args ...any) (*unit, error) {
	for range maxTries {
		var row lockedRow
		if err := t.get(&row, q, args...); err != nil {
			return nil, err
		}
		if row.Revision != row.SnapRevision || row.RunRev != row.SnapRunRev {
			continue
		}
		t.xid = row.XID
		op := row.opRow
		op.was, op.wasWho = op.State, op.who()
		u := &unit{tx: t, actor: a, now: row.Now.UTC().Truncate(time.Microsecond), op: &op, facts: row.loaded, read: row.more}
		if u.now.Before(op.UpdatedAt) {
			u.now = op.UpdatedAt.UTC()
		}
		return u, u.definitions()
	}
	return nil, errAgain
}

// definitions loads the flow version of the operation and the destination's current profile.
func (u *unit) definitions() error {
	flow, err := u.s.flowVersion(u.ctx, u.Tx, u.op.Flow, u.op.FlowVersion)
	if err != nil {
		return err
	}
	if err := u.named(flow, u.op.FlowVersion); err != nil {
		return err
	}
	u.profile, err = u.s.profileVersion(u.ctx, u.Tx, u.op.Destination, u.facts.DestVersion)
	return err
}

// named takes a flow into use with its named people as they stand now.
func (u *unit) named(f *definition.Flow, version int) error {
	n, err := u.standIn(f, version, u.facts.Epoch)
	u.flow, u.who = n.flow, maps.Clone(n.ids)
	if u.who == nil {
		u.who = map[string]operation.UserID{}
	}
	return err
}

// move applies an event to an operation, with its history entry. A forbidden move is a
// refusal.
func (u *unit) move(o *opRow, ev operation.Event, reason string, links ...string) error {
	to, ok := operation.Next(o.State, ev)
	if !ok {
		return operation.Refuse(operation.CodeForbiddenMove, "state", string(o.State), "event", string(ev))
	}
	from := o.State
	o.State = to
	o.replanned = true
	u.enter(o, string(ev), from, to, reason, links...)
	return nil
}

// note writes an entry that does not move the state.
func (u *unit) note(o *opRow, action, reason string, links ...string) {
	u.enter(o, action, o.State, o.State, reason, links...)
}

func (u *unit) enter(o *opRow, action string, from, to operation.State, reason string, links ...string) {
	links = append(links[:len(links):len(links)], "policy", strconv.Itoa(o.FlowVersion)) // a flow's version holds its policies
	e := u.entry(operation.SubjectOperation, string(o.ID), action, reason, links...)
	e.From, e.To, e.VersionID = from, to, o.VersionID
	c := chain(e, o.ChainSeq, o.ChainHash)
	o.ChainSeq, o.ChainHash = c.Seq, bytes.Clone(c.hash[:])
	o.UpdatedAt = u.now
	u.entries = append(u.entries, c)
	u.where = u.where.with(o)
}

func (u *unit) entry(kind operation.SubjectKind, id, action, reason string, links ...string) operation.Entry {
	return newEntry(u.actor, u.now, kind, id, action, reason, links...)
}

func newEntry(a Actor, now time.Time, kind operation.SubjectKind, id, action, reason string, links ...string) operation.Entry {
	e := operation.Entry{SubjectKind: kind, SubjectID: id, At: now, ActorKind: a.Kind, ActorID: clean(a.ID), ActorName: clean(a.Name),
		Channel: a.Channel, Action: action, Reason: clean(reason)}
	for i := 0; i+1 < len(links); i += 2 {
		if links[i+1] == "" {
			continue
		}
		if links[i] == "evidence_hash" {
			e.EvidenceHash = links[i+1]
			continue
		}
		if links[i] == "role" {
			e.Role = operation.Role(links[i+1])
			continue
		}
		if e.Links == nil {
			e.Links = map[string]string{}
		}
		e.Links[links[i]] = clean(links[i+1])
	}
	return e
}

// clean replaces what PostgreSQL's text cannot hold, before anything is hashed.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// chained is an entry as it stands in its chain, with its hash.
type chained struct {
	operation.Entry
	hash [32]byte
}

// chain numbers the entry after the head (seq, hash) of its subject, salts its words and
// hashes it: that is the new head. What the entry holds does not change afterwards.
func chain(e operation.Entry, seq int64, head []byte) chained {
	salt := make([]byte, operation.WordsSalt)
	_, _ = rand.Read(salt) // it never fails
	e.Salted(salt)
	e.Seq, e.Prev = seq+1, hash32(head)
	return chained{e, e.Hash()}
}

const historyColumns = `subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash, words_hash, words_salt, words_links, words_gone_at`

// historyInto and historySelect add entries together with where they belong.
const historyInto = `INSERT INTO history (` + historyColumns + `, flow, destination) ` + historySelect

const historySelect = `SELECT h.sk, h.si, h.seq, h.at, h.ak, h.ai, h.an, h.ro, h.ch, h.ac, h.f, h.t, h.re, h.li, h.ve, h.ev, decode(h.p, 'hex'), decode(h.h, 'hex'), decode(h.wh, 'hex'), decode(h.ws, 'hex'), h.wl, NULL, h.fl, h.de
	FROM jsonb_to_recordset(CAST($1 AS jsonb)) AS h(sk text, si text, seq bigint, at timestamptz, ak text, ai text, an text, ro text, ch text, ac text, f text, t text, re text, li text, ve text, ev text, p text, h text, wh text, ws text, wl text, fl text, de text)`

func (t *tx) writeHistory(entries []chained, of placed) error {
	if len(entries) == 0 {
		return nil
	}
	js, err := t.encodeEntries(entries, of)
	if err != nil {
		return err
	}
	_, err = t.exec(historyInto, js)
	return err
}
