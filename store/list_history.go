package store

import (
	"bytes"
	"context"
	"time"

	"holdpoint/operation"
)

// HistoryRow is one stored history entry.
type HistoryRow struct {
	ID           int64                 `db:"id"`
	SubjectKind  operation.SubjectKind `db:"subject_kind"`
	SubjectID    string                `db:"subject_id"`
	Seq          int64                 `db:"seq"`
	At           time.Time             `db:"at"`
	ActorKind    operation.ActorKind   `db:"actor_kind"`
	ActorID      string                `db:"actor_id"`
	ActorName    string                `db:"actor_name"`
	Role         operation.Role        `db:"role"`
	Channel      string                `db:"channel"`
	Action       string                `db:"action"`
	From         operation.State       `db:"from_state"`
	To           operation.State       `db:"to_state"`
	Reason       string                `db:"reason"`
	LinksText    string                `db:"links"`
	VersionID    operation.VersionID   `db:"version_id"`
	EvidenceHash string                `db:"evidence_hash"`
	PrevHash     []byte                `db:"prev_hash"`
	Hash         []byte                `db:"hash"`
	// WordsHash is empty in format 1; WordsSalt and WordsLinks went at WordsGoneAt.
	WordsHash   []byte     `db:"words_hash"`
	WordsSalt   []byte     `db:"words_salt"`
	WordsLinks  string     `db:"words_links"`
	WordsGoneAt *time.Time `db:"words_gone_at"`
}

// Links gives the identifiers that the entry names.
func (h HistoryRow) Links() map[string]string { return decodeLinks(h.LinksText) }

// Entry gives the row in the form whose hash is chained.
func (h HistoryRow) Entry() operation.Entry {
	var words *operation.Words
	if h.WordsHash != nil {
		words = &operation.Words{Salt: h.WordsSalt, Links: splitWords(h.WordsLinks), Hash: hash32(h.WordsHash), GoneAt: h.WordsGone()}
	}
	return operation.Entry{SubjectKind: h.SubjectKind, SubjectID: h.SubjectID, Seq: h.Seq, At: h.At.UTC(), ActorKind: h.ActorKind, ActorID: h.ActorID, ActorName: h.ActorName,
		Role: h.Role, Channel: h.Channel, Action: h.Action, From: h.From, To: h.To, Reason: h.Reason, Links: h.Links(), VersionID: h.VersionID, EvidenceHash: h.EvidenceHash, Prev: hash32(h.PrevHash), Words: words}
}

// history reads a subject's entries, oldest first, from the partitions since it was made;
// the zero time reads all.
func (t *tx) history(kind operation.SubjectKind, id string, made time.Time) ([]HistoryRow, error) {
	var rows []HistoryRow
	err := t.list(&rows, `SELECT id, `+historyColumns+` FROM history WHERE subject_kind = $1 AND subject_id = $2 AND at >= $3 ORDER BY seq`, string(kind), id, made.Add(-clockSlack))
	return rows, err
}

// ListHistory gives the entries of one subject, oldest first, and the number of the
// first entry that does not verify (0 = the chain verifies).
func (s *Store) ListHistory(ctx context.Context, kind operation.SubjectKind, id string) (rows []HistoryRow, broken int64, err error) {
	err = s.snapshot(ctx, func(t *tx) error {
		rows, err = t.history(kind, id, time.Time{})
		return err
	})
	return rows, chainBreak(rows), err
}

// chainBreak gives the sequence number of the first entry that was altered, removed or
// moved; 0 = none.
func chainBreak(rows []HistoryRow) int64 {
	var prev [32]byte
	for i, r := range rows {
		e := r.Entry()
		h := hash32(r.Hash)
		if r.Seq != int64(i+1) || e.Prev != prev || e.Check(h) != nil {
			return int64(i + 1)
		}
		prev = h
	}
	return 0
}

// headFits compares the last entry with the head kept in the subject's row: a cut tail
// is found by it.
func headFits(rows []HistoryRow, seq int64, head []byte) bool {
	if len(rows) == 0 {
		return seq == 0
	}
	last := rows[len(rows)-1]
	return last.Seq == seq && bytes.Equal(last.Hash, head)
}
