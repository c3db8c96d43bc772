package store

import (
	"context"
	"encoding/hex"
	"strconv"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// exportWindow is how many entries an export looks at in one statement.
const exportWindow = 2000

// Line is the entry as one line of an export.
func (e FoundEntry) Line() operation.Line {
	return operation.Line{ID: e.ID, Entry: e.Entry(), Hash: hash32(e.Hash)}
}

// HistoryExport hands out entries while its snapshot stands.
type HistoryExport struct {
	At time.Time // of the snapshot
	t  *tx
	v  Viewer
}

// Whole reports that the viewer may see every entry of every history.
func (x *HistoryExport) Whole() bool {
	all, _ := x.v.seenFlows()
	return all && x.v.seesPeople() && len(x.v.destinations) == 0
}

// ExportHistory hands out every entry that a filter finds and the viewer may see, oldest
// first, of one snapshot: what is recorded meanwhile is not in it. It reads window by
// window, so that a million entries need no more memory than a thousand. begin is called
// once, before the first entry.
func (s *Store) ExportHistory(ctx context.Context, viewer Actor, f HistoryFilter, begin func(*HistoryExport) error, fn func(FoundEntry) error) error {
	v, err := s.readViewer(ctx, viewer)
	if err != nil {
		return err
	}
	return s.snapshot(ctx, func(t *tx) error {
		x := &HistoryExport{t: t, v: v}
		if err := t.get(&x.At, `SELECT clock_timestamp()`); err != nil {
			return err
		}
		if err := begin(x); err != nil {
			return err
		}
		return t.eachEntry(v, f, fn)
	})
}

// eachEntry goes through the windows.
func (t *tx) eachEntry(v Viewer, f HistoryFilter, fn func(FoundEntry) error) error {
	q, err := t.window(v, f)
	if err != nil || q == nil {
		return err
	}
	at, id := storedTime(f.From), int64(0) // numbers begin at 1
	for {
		var rows []struct {
			FoundEntry
			Fits bool `db:"fits"`
		}
		if err := t.list(&rows, q.sql, append([]any{at, id}, q.args[2:]...)...); err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		for _, r := range rows[:len(rows)-1] {
			if err := fn(r.FoundEntry); err != nil {
				return err
			}
		}
		last := rows[len(rows)-1] // of the window; it stands once more among those that fit
		at, id = last.At.UTC(), last.ID
	}
}

// window gives the statement of one window: the entries of it that fit, and its last.
// Its first two parameters are the place where the last window ended. nil = nothing fits.
func (t *tx) window(v Viewer, f HistoryFilter) (*historyQuery, error) {
	var kinds conditions
	narrow := f.kinds(v, &kinds)
	q := &historyQuery{conditions: conditions{args: []any{nil, nil}, where: []string{"h.at >= $1 AND (h.at, h.id) > ($1, $2)"}}}
	if !f.To.IsZero() {
		q.add("h.at < ?", storedTime(f.To))
	}
	if f.Subject != "" {
		q.add("h.subject_kind = ?", string(f.SubjectKind))
		q.add("h.subject_id = ?", f.Subject)
	}
	fits := conditions{args: q.args}
	if f.Actor != "" {
		fits.add("w.actor_id = ?", f.Actor)
	}
	if narrow {
		var all pq.Int64Array
		if err := t.list(&all, `SELECT k.kind FROM history_kinds k`+kinds.sql(), kinds.args...); err != nil {
			return nil, err
		}
		if len(all) == 0 {
			return nil, nil
		}
		fits.add("w.kind = ANY(?)", all)
	}
	q.args = fits.args
	columns := `w.id, w.flow, w.destination, w.subject_kind, w.subject_id, w.seq, w.at, w.actor_kind, w.actor_id, w.actor_name, w.role, w.channel, w.action,
		w.from_state, w.to_state, w.reason, w.links, w.version_id, w.evidence_hash, w.prev_hash, w.hash, w.words_hash, w.words_salt, w.words_links, w.words_gone_at`
	q.sql = `WITH w AS MATERIALIZED (SELECT h.* FROM history h` + q.conditions.sql() + ` ORDER BY h.at, h.id LIMIT ` + strconv.Itoa(exportWindow) + `)
		SELECT * FROM (SELECT true AS fits, ` + columns + ` FROM w` + fits.sql() + `
		UNION ALL SELECT false, x.* FROM (SELECT ` + columns + ` FROM w ORDER BY w.at DESC, w.id DESC LIMIT 1) x) w ORDER BY w.fits DESC, w.at, w.id`
	return q, nil
}

// VersionBody is what was approved, as an export holds it. Erased = its bytes are gone,
// the hash stays.
type VersionBody struct {
	Operation operation.ID        `db:"operation_id"`
	Version   operation.VersionID `db:"id"`
	Flow      string              `db:"flow"`
	Hash      []byte              `db:"hash"` // of content and request together with the salt; nil = incomplete
	Content   string              `db:"content"`
	Request   string              `db:"request"`
	Salt      []byte              `db:"salt"`
	Erased    bool                `db:"erased"`
}

// Version reads what a version held, in the export's snapshot. ErrNotFound = there is
// none, or the viewer may not see it.
func (x *HistoryExport) Version(id operation.VersionID) (b VersionBody, err error) {
	var row struct {
		VersionBody
		Destination string `db:"destination"`
	}
	err = x.t.get(&row, `SELECT v.id, v.operation_id, o.flow, o.destination, v.hash, COALESCE(b.content, '') AS content, COALESCE(b.request, '') AS request,
		COALESCE(b.salt, '') AS salt, b.version_id IS NULL OR b.content = '' AS erased
		FROM content_versions v JOIN operations o ON o.id = v.operation_id LEFT JOIN version_bodies b ON b.version_id = v.id WHERE v.id = $1`, string(id))
	if err == nil && !x.v.Sees(row.Flow, row.Destination) {
		err = ErrNotFound
	}
	return row.VersionBody, mapError(err)
}

// AttemptBody is what was sent, as an export holds it.
type AttemptBody struct {
	Operation operation.ID        `db:"operation_id"`
	Attempt   operation.AttemptID `db:"id"`
	Version   operation.VersionID `db:"version_id"`
	Hash      []byte              `db:"resolved_hash"` // of the request (operation.Request.Hash)
	Resolved  string              `db:"resolved"`
	Erased    bool                `db:"erased"`
}

// Attempt reads what an attempt sent, in the export's snapshot. ErrNotFound = there is
// none, it sent nothing, or the viewer may not see it.
func (x *HistoryExport) Attempt(id operation.AttemptID) (b AttemptBody, err error) {
	var row struct {
		AttemptBody
		Flow        string `db:"flow"`
		Destination string `db:"destination"`
	}
	err = x.t.get(&row, `SELECT a.id, a.operation_id, a.version_id, a.resolved_hash, COALESCE(a.resolved, '') AS resolved, COALESCE(a.resolved, '') = '' AS erased,
		o.flow, o.destination FROM attempts a JOIN operations o ON o.id = a.operation_id WHERE a.id = $1 AND a.resolved_hash IS NOT NULL`, string(id))
	if err == nil && !x.v.Sees(row.Flow, row.Destination) {
		err = ErrNotFound
	}
	return row.AttemptBody, mapError(err)
}

// HexOf writes a hash as an export holds it; "" = none.
func HexOf(hash []byte) string { return hex.EncodeToString(hash) }
