package store

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"holdpoint/operation"
)

// systemSubject is the one subject of the chain of kind system.
const systemSubject = "installation"

// heads says where the head of a subject's chain is kept. Operations and runs keep
// theirs in the rows that the gate's verbs lock, ownHeads in rows made for it.
var heads = map[operation.SubjectKind]string{
	operation.SubjectUser:        "users WHERE id = $1",
	operation.SubjectFlow:        "flows WHERE name = $1",
	operation.SubjectDestination: "destinations WHERE name = $1",
	operation.SubjectSystem:      "installation WHERE $1 = '" + systemSubject + "'",
}

// ownHeads are the subjects whose chain's head is a row of chain_heads.
var ownHeads = []operation.SubjectKind{operation.SubjectIncident, operation.SubjectTask, operation.SubjectPattern, operation.SubjectLimit, operation.SubjectReport, operation.SubjectAcceptance, operation.SubjectBatch}

// enter writes one entry of a subject's history. The row with the chain's head is
// locked until the end of the transaction, so entries follow one another.
func (t *tx) enter(a Actor, now time.Time, kind operation.SubjectKind, id, action, reason string, links ...string) error {
	return t.enterMove(a, now, kind, id, action, "", "", reason, links...)
}

// enterMove is enter for a subject with states: from and to are those before and after.
func (t *tx) enterMove(a Actor, now time.Time, kind operation.SubjectKind, id, action string, from, to operation.State, reason string, links ...string) error {
	head, err := t.lockHead(kind, id)
	if err != nil {
		return err
	}
	e := newEntry(a, now, kind, id, action, storable(reason), links...)
	e.From, e.To = from, to
	c := chain(e, head.Seq, head.Hash)
	if err := t.writeHistory([]chained{c}, nil); err != nil {
		return err
	}
	seq, hash := c.Seq, c.hash[:]
	if slices.Contains(ownHeads, kind) {
		return t.one(`UPDATE chain_heads SET chain_seq = $3, chain_hash = $4 WHERE subject_kind = $1 AND subject_id = $2`, string(kind), id, seq, hash)
	}
	return t.one(setHead[kind], id, seq, hash)
}

// chainHead is the end of a subject's chain.
type chainHead struct {
	Seq  int64  `db:"chain_seq"`
	Hash []byte `db:"chain_hash"`
}

func (t *tx) lockHead(kind operation.SubjectKind, id string) (head chainHead, err error) {
	if slices.Contains(ownHeads, kind) {
		err = t.get(&head, `INSERT INTO chain_heads AS h (subject_kind, subject_id) VALUES ($1, $2)
			ON CONFLICT (subject_kind, subject_id) DO UPDATE SET chain_seq = h.chain_seq RETURNING chain_seq, chain_hash`, string(kind), id)
		return head, err
	}
	place, ok := heads[kind]
	if !ok {
		return head, fmt.Errorf("subject %s keeps no chain of its own here", kind)
	}
	err = t.get(&head, `SELECT chain_seq, chain_hash FROM `+place+` FOR UPDATE`, id)
	return head, err
}

var setHead = map[operation.SubjectKind]string{
	operation.SubjectUser:        `UPDATE users SET chain_seq = $2, chain_hash = $3 WHERE id = $1`,
	operation.SubjectFlow:        `UPDATE flows SET chain_seq = $2, chain_hash = $3 WHERE name = $1`,
	operation.SubjectDestination: `UPDATE destinations SET chain_seq = $2, chain_hash = $3 WHERE name = $1`,
	operation.SubjectSystem:      `UPDATE installation SET chain_seq = $2, chain_hash = $3 WHERE $1 = '` + systemSubject + `'`,
}

// shown is a key or a text as one line of a list: PostgreSQL stores no NUL, and the
// default run key joins its parts with it.
func shown(s string, n int) string {
	return short(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, operation.Normalize(s)), n)
}

// storable takes out the one character that PostgreSQL stores in no text.
func storable(s string) string {
	return storedText(operation.Normalize(s))
}

// clock reads the database's clock.
func (t *tx) clock() (time.Time, error) {
	var now time.Time
	err := t.get(&now, `SELECT clock_timestamp()`)
	return now.UTC().Truncate(time.Microsecond), err
}

// alone takes the gate's lock for this transaction only and begins a new epoch: no
// verb of the gate decides on rights, pauses or definitions that are being changed.
// The lock comes first and alone, so that whatever is read after it is the newest.
func (t *tx) alone() (time.Time, error) {
	if _, err := t.exec(`SELECT ` + gateExclusive); err != nil {
		return time.Time{}, err
	}
	var row struct {
		Now time.Time `db:"now"`
		XID string    `db:"xid"`
	}
	err := t.get(&row, `UPDATE installation SET epoch = epoch + 1 RETURNING clock_timestamp() AS now, pg_current_xact_id()::text AS xid`)
	t.xid = row.XID
	return row.Now.UTC().Truncate(time.Microsecond), err
}

// mayAdmin lets pass whoever manages people and set-up: an active admin of the whole
// installation, or the command line of the machine.
func (t *tx) mayAdmin(a Actor) error {
	if a.Kind == operation.ActorSystem {
		return nil
	}
	return t.mayBe(a, "", operation.RoleAdmin)
}

// mayBe lets an active person pass who holds one of the roles for a flow ("" = for all
// of them). Roles are read in this transaction.
func (t *tx) mayBe(a Actor, flow string, roles ...operation.Role) error {
	refusal := operation.Refuse(operation.CodeNotEntitled, "role", string(roles[0])).By(operation.Responsible{Role: roles[0]})
	if a.Kind != operation.ActorPerson {
		return refusal
	}
	who, err := t.person(a, flow)
	if err != nil {
		return err
	}
	for _, r := range roles {
		if who.Has(r) {
			return nil
		}
	}
	return refusal
}

// Invalid is input that whoever gave it can correct.
type Invalid struct {
	Field string // as the form or flag names it
	Code  string // stable; the catalogues say it as "invalid.<code>"
	Limit int    // for codes about a length or a count
	Entry int    // its place in the list that was given, from 1; 0 = it is about no entry of a list
}

// Error gives field and code, for logs and the command line.
func (e *Invalid) Error() string { return e.Field + ": " + e.Code }
