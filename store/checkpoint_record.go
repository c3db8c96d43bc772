package store

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

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

// System gives the entries of the system's own history, by their sequence.
func (r *Record) System(yield func(operation.Line) error) error {
	return r.Subject(operation.SubjectSystem, systemSubject, yield)
}

// UnboundHash is an entry of an operation's history that holds the hash of a version, or of
// the bytes that an attempt sent, which has another hash now or is gone.
type UnboundHash struct {
	ID        int64  `db:"id"`
	Operation string `db:"operation"`
	Seq       int64  `db:"seq"`
	Kind      string `db:"kind"` // version or request
	Of        string `db:"of"`   // the version's or the attempt's identifier
	Gone      bool   `db:"gone"`
}

// UnboundHashes gives the entries whose hashes are not those that stand beside contents
// and requests. Entries from before versions stood in them hold none.
func (r *Record) UnboundHashes(yield func(UnboundHash) error) error {
	for _, q := range []string{
		`SELECT h.id, h.subject_id AS operation, h.seq, 'version' AS kind, h.version_id AS of, v.id IS NULL AS gone
			FROM history h LEFT JOIN content_versions v ON v.id = h.version_id AND v.operation_id = h.subject_id
			WHERE h.subject_kind = 'operation' AND h.links LIKE '%"` + versionHash + `":%' AND encode(v.hash, 'hex') IS DISTINCT FROM CAST(h.links AS jsonb) ->> '` + versionHash + `' ORDER BY h.id`,
		`SELECT h.id, h.subject_id AS operation, h.seq, 'request' AS kind, CAST(h.links AS jsonb) ->> 'attempt' AS of, a.id IS NULL AS gone
			FROM history h LEFT JOIN attempts a ON a.id = CAST(h.links AS jsonb) ->> 'attempt' AND a.operation_id = h.subject_id
			WHERE h.subject_kind = 'operation' AND h.action = 'dispatch' AND h.links LIKE '%"request":%' AND encode(a.resolved_hash, 'hex') IS DISTINCT FROM CAST(h.links AS jsonb) ->> 'request' ORDER BY h.id`,
	} {
		if err := each(r, q, yield); err != nil {
			return err
		}
	}
	return nil
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
