package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/checkpoint"

	"github.com/jmoiron/sqlx"
)

// Record reads the whole history in one snapshot, row after row: its memory does not grow
// with what is read. It needs no key file and no right but to read.
type Record struct {
	t *tx
}

// ReadRecord opens the database at an address and lets fn read one snapshot of it.
func ReadRecord(ctx context.Context, address string, fn func(*Record) error) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("database address: %w", err)
	}
	q := u.Query()
	for _, limit := range []string{"statement_timeout", "idle_in_transaction_session_timeout"} {
		q.Set(limit, "0") // a statement here lasts as long as its reader
	}
	u.RawQuery = q.Encode()
	db, err := connect(u.String())
	if err != nil {
		return err
	}
	defer db.Close()
	s := &Store{db: db, stmts: statements{all: map[string]*sqlx.Stmt{}}}
	if err := s.checkSchema(ctx); err != nil {
		return err
	}
	begun := false
	return s.snapshot(ctx, func(t *tx) error {
		if begun {
			return fmt.Errorf("the connection to the database was lost while it was read")
		}
		begun = true
		return fn(&Record{t})
	})
}

// each reads rows one by one.
func each[T any](r *Record, q string, yield func(T) error, args ...any) error {
	rows, err := r.t.QueryxContext(r.t.ctx, q, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var row T
		if err := rows.StructScan(&row); err != nil {
			return err
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Installation is the installation's identifier.
func (r *Record) Installation() (id string, err error) {
	return id, r.t.GetContext(r.t.ctx, &id, `SELECT id FROM installation`)
}

// Line gives the row as a line of an export.
func (h HistoryRow) Line() operation.Line {
	return operation.Line{ID: h.ID, Entry: h.Entry(), Hash: hash32(h.Hash)}
}

// Entries gives all entries, by their numbers.
func (r *Record) Entries(yield func(operation.Line) error) error {
	return each(r, `SELECT id, `+historyColumns+` FROM history ORDER BY id`, func(h HistoryRow) error { return yield(h.Line()) })
}

// Subject gives the entries of one subject, by their sequence.
func (r *Record) Subject(kind operation.SubjectKind, id string, yield func(operation.Line) error) error {
	return each(r, `SELECT id, `+historyColumns+` FROM history WHERE subject_kind = $1 AND subject_id = $2 ORDER BY seq, id`,
		func(h HistoryRow) error { return yield(h.Line()) }, string(kind), id)
}

// Head is the end of a subject's chain as its own row says.
type Head struct {
	Kind operation.SubjectKind `db:"kind"`
	ID   string                `db:"id"`
	Seq  int64                 `db:"seq"`
	Hash []byte                `db:"hash"`
}

// Heads gives the heads of all chains in byte order of kind and identifier.
func (r *Record) Heads(yield func(Head) error) error {
	var parts []string
	for _, s := range []struct{ kind, id, from string }{
		{"operation", "id", "operations"}, {"run", "id", "runs"}, {"flow", "name", "flows"}, {"destination", "name", "destinations"}, {"user", "id", "users"},
		{"system", "'" + systemSubject + "'", "installation"},
	} {
		parts = append(parts, fmt.Sprintf(`SELECT '%s' COLLATE "C" AS kind, CAST(%s AS text) COLLATE "C" AS id, chain_seq AS seq, chain_hash AS hash FROM %s WHERE chain_seq > 0`, s.kind, s.id, s.from))
	}
	parts = append(parts, `SELECT subject_kind COLLATE "C", subject_id COLLATE "C", chain_seq, chain_hash FROM chain_heads WHERE chain_seq > 0`)
	return each(r, strings.Join(parts, " UNION ALL ")+` ORDER BY 1, 2`, yield)
}

// LogEntry is one entry as the log took it up.
type LogEntry struct {
	Position uint64
	ID       int64
	Number   int64 // of the checkpoint that took it up
	Hash     [32]byte
	// Kind, Subject and Seq are what the log calls it. No signature covers them: they help
	// to name what is gone.
	Kind    operation.SubjectKind
	Subject string
	Seq     int64
}

// Log gives the positions of the log in their order.
func (r *Record) Log(yield func(LogEntry) error) error {
	type leaves struct {
		First  int64  `db:"first"`
		Count  int    `db:"count"`
		Number int64  `db:"number"`
		IDs    string `db:"ids"`
		Hashes []byte `db:"hashes"`
		Names  string `db:"names"`
	}
	return each(r, `SELECT first, count, number, CAST(ids AS text) AS ids, hashes, names FROM checkpoint_leaves ORDER BY first`, func(l leaves) error {
		ids, err := parseMultirange(l.IDs)
		if err != nil || ids.Count()*32 != int64(len(l.Hashes)) {
			return fmt.Errorf("the log's row at position %d does not hold as many entries as hashes", l.First)
		}
		at, names := 0, strings.Split(l.Names, "\n")
		for id := range ids.All {
			e := LogEntry{Position: uint64(l.First) + uint64(at), ID: id, Number: l.Number, Hash: [32]byte(l.Hashes[32*at : 32*at+32])}
			if at < len(names) {
				e.name(names[at])
			}
			if err := yield(e); err != nil {
				return err
			}
			at++
		}
		return nil
	})
}

func (e *LogEntry) name(line string) {
	kind, rest, _ := strings.Cut(line, " ")
	seq, id, named := strings.Cut(rest, " ")
	if n, err := strconv.ParseInt(seq, 10, 64); err == nil && named {
		e.Kind, e.Seq, e.Subject = operation.SubjectKind(kind), n, id
	}
}

// Notes gives the signed notes that the database holds, by their numbers.
func (r *Record) Notes(yield func(number int64, note []byte) error) error {
	type row struct {
		Number int64  `db:"number"`
		Note   string `db:"note"`
	}
	return each(r, `SELECT number, note FROM checkpoints ORDER BY number`, func(n row) error { return yield(n.Number, []byte(n.Note)) })
}

// parseMultirange reads PostgreSQL's text of an int8multirange: {[1,6),[7,8)}.
func parseMultirange(text string) (checkpoint.Spans, error) {
	text, ok := strings.CutPrefix(text, "{")
	text, ok2 := strings.CutSuffix(text, "}")
	if !ok || !ok2 {
		return nil, fmt.Errorf("%q is no multirange", text)
	}
	var s checkpoint.Spans
	for part := range strings.SplitSeq(text, "),") {
		var a checkpoint.Span
		if _, err := fmt.Sscanf(strings.TrimSuffix(part, ")")+")", "[%d,%d)", &a.First, &a.Last); err != nil {
			return nil, fmt.Errorf("%q is no multirange: %w", text, err)
		}
		a.Last--
		s = append(s, a)
	}
	return s, nil
}

// BodyRow is what is kept of one body that can be erased, with the hash that stays.
type BodyRow struct {
	Kind      string    `db:"kind"` // version, request or attachment
	ID        string    `db:"id"`
	Operation string    `db:"operation_id"`
	State     string    `db:"state"` // of the operation
	Hash      []byte    `db:"hash"`
	Erased    bool      `db:"erased"`
	At        time.Time `db:"at"`

	Content     string `db:"content"`
	Request     string `db:"request"`
	Salt        []byte `db:"salt"`
	Destination string `db:"destination"`
	Action      string `db:"action"`
	Account     string `db:"account"`
	Environment string `db:"environment"`
	Credential  string `db:"credential"`
	Data        []byte `db:"data"`
}

// bodySQL reads the three kinds of body: versions, the bytes that attempts sent, attachments.
var bodySQL = []string{
	`SELECT 'version' AS kind, v.id, v.operation_id, o.state, v.hash, b.version_id IS NULL OR b.content = '' AS erased, v.created_at AS at, COALESCE(b.content, '') AS content,
		COALESCE(b.request, '') AS request, b.salt, o.destination, o.action, v.account, v.environment, v.credential, CAST(NULL AS bytea) AS data
		FROM content_versions v JOIN operations o ON o.id = v.operation_id LEFT JOIN version_bodies b ON b.version_id = v.id WHERE v.hash IS NOT NULL ORDER BY v.id`,
	`SELECT 'request' AS kind, a.id, a.operation_id, o.state, a.resolved_hash AS hash, a.resolved IS NULL AS erased, a.dispatched_at AS at, '' AS content,
		COALESCE(a.resolved, '') AS request, CAST(NULL AS bytea) AS salt, '' AS destination, '' AS action, '' AS account, '' AS environment, '' AS credential, CAST(NULL AS bytea) AS data
		FROM attempts a JOIN operations o ON o.id = a.operation_id WHERE a.dispatched_at IS NOT NULL ORDER BY a.id`,
	`SELECT 'attachment' AS kind, a.id, a.operation_id, o.state, a.hash, b.attachment_id IS NULL AS erased, a.at, '' AS content,
		'' AS request, CAST(NULL AS bytea) AS salt, '' AS destination, '' AS action, '' AS account, '' AS environment, '' AS credential, b.data
		FROM attachments a JOIN operations o ON o.id = a.operation_id LEFT JOIN attachment_bodies b ON b.attachment_id = a.id ORDER BY a.id`,
}

// Bodies gives everything that an approval or a statement rests on and that can be
// erased: versions with content and request, bytes that were sent, attachments.
func (r *Record) Bodies(yield func(BodyRow) error) error {
	for _, q := range bodySQL {
		if err := each(r, q, yield); err != nil {
			return err
		}
	}
	return nil
}

// Check reports whether the body is the one whose hash was recorded. What cannot be read
// as one is not.
func (b BodyRow) Check() (bool, error) {
	switch b.Kind {
	case "attachment":
		h := sha256.Sum256(b.Data)
		return bytes.Equal(h[:], b.Hash), nil
	case "request":
		var req operation.Request
		if err := json.Unmarshal([]byte(b.Request), &req); err != nil {
			return false, nil
		}
		h, err := req.Hash()
		return err == nil && bytes.Equal(h[:], b.Hash), nil
	case "version":
		v := operation.Version{Content: json.RawMessage(b.Content), Destination: b.Destination, Action: b.Action, Account: b.Account, Environment: b.Environment, Credential: b.Credential}
		if err := json.Unmarshal([]byte(b.Request), &v.Request); err != nil {
			return false, nil
		}
		h, err := v.Hash(b.Salt)
		return err == nil && bytes.Equal(h[:], b.Hash), nil
	}
	return false, fmt.Errorf("unknown kind of body %q", b.Kind)
}
