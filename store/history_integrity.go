package store

import (
	"cmp"
	"database/sql"
	"errors"
	"slices"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// chainsCost is how many entries are read at most to verify the histories of one page.
const chainsCost = 2000

// Integrity says what was verified of the histories whose entries a page shows.
type Integrity struct {
	Whole   int // histories that were verified from their first entry to their last
	Entries int // entries that they have
	Left    int // histories that are too long to be verified with a page
	// Broken are the histories that do not verify, each with its first entry that does not.
	Broken []BrokenChain
	// Checkpoint is the newest signed checkpoint; nil = none was made yet.
	Checkpoint *NewestCheckpoint
}

// NewestCheckpoint is how the history stood when it was last signed.
type NewestCheckpoint struct {
	Size   int64     `db:"size"` // entries
	Root   []byte    `db:"root"`
	At     time.Time `db:"at"`
	Signer string    `db:"signer"` // name and fingerprint of the key
}

// BrokenChain is a history that was changed, cut or reordered.
type BrokenChain struct {
	Kind    operation.SubjectKind
	Subject string
	Seq     int64 // of the first entry that does not verify, or of the first that is missing at the end
}

// keptHead is where a subject's history ends, as it is kept apart from the history.
type keptHead struct {
	Kind operation.SubjectKind `db:"kind"`
	ID   string                `db:"id"`
	Seq  int64                 `db:"chain_seq"`
	Hash []byte                `db:"chain_hash"`
}

// headsSQL reads the ends of these subjects' histories; a subject that is not there has none.
const headsSQL = `SELECT s.kind, s.id, COALESCE(h.chain_seq, 0) AS chain_seq, COALESCE(h.chain_hash, '') AS chain_hash
	FROM unnest(CAST($1 AS text[]), CAST($2 AS text[])) AS s(kind, id) LEFT JOIN LATERAL (
	SELECT chain_seq, chain_hash FROM operations WHERE s.kind = 'operation' AND id = s.id
	UNION ALL SELECT chain_seq, chain_hash FROM runs WHERE s.kind = 'run' AND id = s.id
	UNION ALL SELECT chain_seq, chain_hash FROM flows WHERE s.kind = 'flow' AND name = s.id
	UNION ALL SELECT chain_seq, chain_hash FROM destinations WHERE s.kind = 'destination' AND name = s.id
	UNION ALL SELECT chain_seq, chain_hash FROM users WHERE s.kind = 'user' AND id = s.id
	UNION ALL SELECT chain_seq, chain_hash FROM installation WHERE s.kind = 'system'
	UNION ALL SELECT chain_seq, chain_hash FROM chain_heads WHERE subject_kind = s.kind AND subject_id = s.id) h ON true`

const chainsSQL = `SELECT h.id, ` + aliased + ` FROM unnest(CAST($1 AS text[]), CAST($2 AS text[])) AS s(kind, id)
	JOIN history h ON h.subject_kind = s.kind AND h.subject_id = s.id ORDER BY h.subject_kind, h.subject_id, h.seq`

// integrity verifies the histories of these entries from beginning to end, the short ones
// first, as far as the cost allows.
func (t *tx) integrity(rows []FoundEntry) (out Integrity, err error) {
	var newest NewestCheckpoint
	switch err := t.get(&newest, `SELECT size, root, at, signer FROM checkpoints ORDER BY number DESC LIMIT 1`); {
	case err == nil:
		out.Checkpoint = &newest
	case !errors.Is(err, sql.ErrNoRows):
		return out, err
	}
	kinds, ids := subjectsOf(rows)
	if len(ids) == 0 {
		return out, nil
	}
	var heads []keptHead
	if err := t.list(&heads, headsSQL, pq.Array(kinds), pq.Array(ids)); err != nil {
		return out, err
	}
	slices.SortStableFunc(heads, func(a, b keptHead) int { return cmp.Compare(a.Seq, b.Seq) })
	n, cost := 0, int64(0)
	for n < len(heads) && (n == 0 && heads[n].Seq <= chainsCost || cost+heads[n].Seq <= chainsCost) {
		cost += heads[n].Seq
		n++
	}
	heads, out.Left = heads[:n], len(heads)-n
	return out, t.verifyHeads(heads, &out)
}

// verifyHeads reads these histories whole and compares them with their ends.
func (t *tx) verifyHeads(heads []keptHead, out *Integrity) error {
	kinds, ids := make([]string, len(heads)), make([]string, len(heads))
	for i, h := range heads {
		kinds[i], ids[i] = string(h.Kind), h.ID
	}
	var entries []HistoryRow
	if err := t.list(&entries, chainsSQL, pq.Array(kinds), pq.Array(ids)); err != nil {
		return err
	}
	chains := map[[2]string][]HistoryRow{}
	for _, e := range entries {
		k := [2]string{string(e.SubjectKind), e.SubjectID}
		chains[k] = append(chains[k], e)
	}
	for _, h := range heads {
		rows := chains[[2]string{string(h.Kind), h.ID}]
		broken := chainBreak(rows)
		if broken == 0 && !headFits(rows, h.Seq, h.Hash) {
			broken = min(int64(len(rows)), h.Seq) + 1
		}
		if broken > 0 {
			out.Broken = append(out.Broken, BrokenChain{Kind: h.Kind, Subject: h.ID, Seq: broken})
			continue
		}
		out.Whole++
		out.Entries += len(rows)
	}
	return nil
}

// subjectsOf lists the subjects of these entries, each once.
func subjectsOf(rows []FoundEntry) (kinds, ids []string) {
	seen := map[[2]string]bool{}
	for _, r := range rows {
		k := [2]string{string(r.SubjectKind), r.SubjectID}
		if !seen[k] {
			seen[k] = true
			kinds, ids = append(kinds, k[0]), append(ids, k[1])
		}
	}
	return kinds, ids
}
