package verify

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/checkpoint"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// grown gives a world with some history, two checkpoints, and one operation to harm.
func grown(t *testing.T) (*world, operation.ID) {
	t.Helper()
	w := newWorld(t)
	w.Receive(t, storetest.InvoiceEvent())
	w.publish()
	id := w.Ready(t)
	ok(t, w.Store.PauseOperation(t.Context(), w.As("ops"), id, "the shop asks to wait"))
	ok(t, w.Store.ResumeOperation(t.Context(), w.As("ops"), id, "it may go on"))
	w.Receive(t, storetest.CouponEvent())
	w.publish()
	w.Receive(t, storetest.CouponEvent()) // after the newest checkpoint
	r := w.verify()
	w.whole(r)
	if r.Checkpoints != 2 || r.Covered == 0 || r.Covered >= r.Entries || r.Newest.Number != 2 || !r.Heads || r.Subjects < 10 {
		t.Fatalf("%+v", r)
	}
	if n := len(w.history(id)); n < 3 {
		t.Fatalf("only %d entries to harm", n)
	}
	return w, id
}

func TestRemovedEntry(t *testing.T) {
	t.Parallel()
	w, id := grown(t)
	w.do(`DELETE FROM history WHERE subject_id = $1 AND seq = 2`, string(id))
	w.first(w.verify(chainsOnly), Removed, id, 2)
	if f := w.first(w.verify(), Removed, id, 2); f.Checkpoint != 2 {
		t.Errorf("%s", f)
	}
	// Renumbered, so that no gap shows.
	w.do(`UPDATE history SET seq = seq - 1 WHERE subject_id = $1 AND seq > 2`, string(id))
	w.first(w.verify(chainsOnly), Removed, id, 2)
}

func TestRemovedSubject(t *testing.T) {
	t.Parallel()
	w, id := grown(t)
	w.do(`DELETE FROM history WHERE subject_id = $1`, string(id))
	w.first(w.verify(chainsOnly), Removed, id, 1)
	w.first(w.verify(), Removed, id, 1)

	// With everything else that names it: only checkpoints find it.
	w.do(`DELETE FROM operations WHERE id = $1`, string(id))
	w.whole(w.verify(chainsOnly))
	if f := w.first(w.verify(), Removed, id, 1); f.Checkpoint != 2 || !strings.Contains(f.Detail, "whole history") {
		t.Errorf("%s", f)
	}
}

func TestAlteredEntry(t *testing.T) {
	t.Parallel()
	for field, q := range map[string]string{
		"reason": `UPDATE history SET reason = 'another' WHERE subject_id = $1 AND seq = 2`,
		"actor":  `UPDATE history SET actor_id = 'usr_other', actor_name = 'Other' WHERE subject_id = $1 AND seq = 2`,
		"time":   `UPDATE history SET at = at - interval '1 microsecond' WHERE subject_id = $1 AND seq = 2`,
		"links":  `UPDATE history SET links = '{"policy":"99"}' WHERE subject_id = $1 AND seq = 2`,
		"hash":   `UPDATE history SET hash = sha256(hash) WHERE subject_id = $1 AND seq = 2`,
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			w, id := grown(t)
			w.do(q, string(id))
			w.first(w.verify(chainsOnly), Altered, id, 2)
			w.first(w.verify(), Altered, id, 2)
		})
	}
}

func TestReorderedEntries(t *testing.T) {
	t.Parallel()
	w, id := grown(t)
	w.do(`UPDATE history SET seq = 1000 WHERE subject_id = $1 AND seq = 1`, string(id))
	w.do(`UPDATE history SET seq = 1 WHERE subject_id = $1 AND seq = 2`, string(id))
	w.do(`UPDATE history SET seq = 2 WHERE subject_id = $1 AND seq = 1000`, string(id))
	r := w.verify()
	if r.Broken == 0 || r.Findings[0].What != Reordered || r.Findings[0].Subject != string(id) || r.Findings[0].Seq > 2 {
		t.Errorf("%v", r.Findings)
	}
}

func TestTruncatedTail(t *testing.T) {
	t.Parallel()
	w, id := grown(t)
	last := w.history(id)
	end := last[len(last)-1]
	w.do(`DELETE FROM history WHERE id = $1`, end.ID)
	w.first(w.verify(chainsOnly), Truncated, id, end.Entry.Seq)
	w.first(w.verify(), Truncated, id, end.Entry.Seq)

	// The head rewritten: only checkpoints find it.
	w.do(`UPDATE operations SET chain_seq = $2, chain_hash = $3 WHERE id = $1`, string(id), end.Entry.Seq-1, end.Entry.Prev[:])
	w.whole(w.verify(chainsOnly))
	if f := w.first(w.verify(), Truncated, id, end.Entry.Seq); f.Checkpoint != 2 || f.Row != end.ID {
		t.Errorf("%s", f)
	}
}

func TestAlteredWithAllLaterHashes(t *testing.T) {
	t.Parallel()
	w, id := grown(t)
	w.rewrite(id, 2, "another reason")
	w.whole(w.verify(chainsOnly))
	if f := w.first(w.verify(), Altered, id, 2); f.Checkpoint != 2 {
		t.Errorf("%s", f)
	}
	// The log rewritten as well: the signature still finds it, and says between which
	// checkpoints.
	for _, l := range w.history(id) {
		w.do(`UPDATE checkpoint_leaves SET hashes = overlay(hashes PLACING $2 FROM 1 + 32 * CAST((SELECT count(*) FROM history h WHERE ids @> h.id AND h.id < $1) AS int)) WHERE ids @> CAST($1 AS bigint)`, l.ID, l.Hash[:])
	}
	r := w.verify()
	named := false
	for _, f := range r.Findings {
		named = named || f.What == Altered && f.Checkpoint == 2 && strings.Contains(f.Detail, "after checkpoint 1")
	}
	if !named {
		t.Errorf("%v", r.Findings)
	}
}

func TestAddedEntry(t *testing.T) {
	t.Parallel()
	w, id := grown(t)
	last := w.history(id)
	end := last[len(last)-1]
	e := end.Entry
	e.Seq, e.Prev, e.Reason, e.Words = e.Seq+1, end.Hash, "it was never so", nil
	h := e.Hash()
	// With a number that nobody has, below the newest checkpoint: as if it had always been there.
	w.do(`INSERT INTO history (id, subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash)
		OVERRIDING SYSTEM VALUE SELECT 0, subject_kind, subject_id, $2, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, $3, links, version_id, evidence_hash, $4, $5 FROM history WHERE id = $1`,
		end.ID, e.Seq, e.Reason, e.Prev[:], h[:])
	w.first(w.verify(chainsOnly), Added, id, e.Seq)
	w.do(`UPDATE operations SET chain_seq = $2, chain_hash = $3 WHERE id = $1`, string(id), e.Seq, h[:])
	w.whole(w.verify(chainsOnly))
	if f := w.first(w.verify(), Added, id, e.Seq); f.Checkpoint != 1 {
		t.Errorf("%s", f)
	}
}

func TestRestoredBackup(t *testing.T) {
	t.Parallel()
	w, _ := grown(t)
	old := w.copied()
	w.publish()
	w.whole(w.verify())
	w.url = old
	w.whole(w.verify(chainsOnly))
	if f := w.first(w.verify(), Older, "", 0); f.Checkpoint != 3 {
		t.Errorf("%s", f)
	}

	// It goes on in a line of its own once somebody has reconciled it.
	st := w.Open(t, old)
	newest, err := w.file.Newest()
	ok(t, err)
	m, err := st.CompareCheckpoint(t.Context(), *newest)
	ok(t, err)
	ok(t, st.PauseForWitness(t.Context(), *m))
	if _, err := st.MakeCheckpoint(t.Context(), w.signer); err != store.ErrRestoring {
		t.Errorf("signed while it is not reconciled: %v", err)
	}
	list, _, err := st.ListRestored(t.Context(), w.As("admin"), restoreID(t, st), store.RestoreFilter{Open: true, Limit: 100})
	ok(t, err)
	for _, i := range list {
		ok(t, st.CompareRestored(t.Context(), w.As("admin"), restoreID(t, st), i.ID, "compared with the shop's log"))
	}
	ok(t, st.ResumeAll(t.Context(), w.As("admin"), "compared"))
	made, err := st.MakeCheckpoint(t.Context(), w.signer)
	ok(t, err)
	c, err := checkpoint.Open(made.Note, w.keys)
	if err != nil || c.Line != 2 || c.Number != 3 || c.Continues == nil || *c.Continues != (checkpoint.Point{Line: 1, Number: 2, Size: c.Continues.Size}) {
		t.Errorf("%+v, %v", c, err)
	}
	_, err = w.file.Append([][]byte{made.Note})
	ok(t, err)
	r := w.verify()
	w.whole(r)
	if r.Checkpoints != 3 || r.Newest.Line != 2 || !strings.Contains(strings.Join(r.Remarks, " "), "left behind") {
		t.Errorf("%+v", r)
	}
	// The database that was left behind is the one that does not fit now.
	w.url = w.AppURL
	w.first(w.verify(), Older, "", 0)
}

func restoreID(t *testing.T, st *store.Store) string {
	t.Helper()
	r, _, err := st.FindRestore(t.Context())
	ok(t, err)
	return r.ID
}

func TestCutCheckpointFile(t *testing.T) {
	t.Parallel()
	w, _ := grown(t)
	w.publish()
	raw, err := os.ReadFile(w.file.Path)
	ok(t, err)
	records := bytes.SplitAfter(raw, []byte("-----END HOLDPOINT CHECKPOINT-----\n"))
	with := func(parts ...[]byte) func(*Job) {
		return func(j *Job) { j.Checkpoints = bytes.NewReader(bytes.Join(parts, nil)) }
	}
	if f := w.first(w.verify(with(records[0], records[1])), Cut, "", 0); f.Checkpoint != 3 {
		t.Errorf("the end: %s", f)
	}
	if f := w.first(w.verify(with(records[0], records[2])), Cut, "", 0); f.Checkpoint != 2 {
		t.Errorf("the middle: %s", f)
	}
	if f := w.first(w.verify(with(records[0], records[1], records[2][:80])), Cut, "", 0); f.Checkpoint != 3 {
		t.Errorf("torn: %s", f)
	}
	if f := w.first(w.verify(with()), Cut, "", 0); f.Checkpoint != 1 {
		t.Errorf("emptied: %s", f)
	}
	// A checkpoint of this minute may be on its way into the file.
	w.whole(w.verify(with(records[0], records[1]), func(j *Job) { j.Now = time.Now() }))
}

func TestForgedCheckpoint(t *testing.T) {
	t.Parallel()
	w, id := grown(t)
	// Somebody without the key rewrites the history and signs it anew with a key of their own.
	w.rewrite(id, 2, "another reason")
	forger, known := newKey(t)
	var entries []operation.Line
	ok(t, store.ReadRecord(t.Context(), w.url, func(rec *store.Record) error {
		return rec.Entries(func(l operation.Line) error { entries = append(entries, l); return nil })
	}))
	newest, err := w.file.Newest()
	ok(t, err)
	tree := checkpoint.NewTree()
	for _, l := range entries[:newest.Size] {
		ok(t, tree.Append(l.Hash))
	}
	c := *newest
	c.Root, err = tree.Root()
	ok(t, err)
	raw, err := c.Sign(forger)
	ok(t, err)
	w.do(`UPDATE checkpoints SET root = $1, note = $2 WHERE number = 2`, c.Root[:], string(raw))
	file, err := os.ReadFile(w.file.Path)
	ok(t, err)
	first, _, _ := bytes.Cut(file, []byte("-----END"))
	forged := append(append(bytes.Clone(first), "-----END HOLDPOINT CHECKPOINT-----\n"...), checkpoint.Record(raw)...)
	r := w.verify(func(j *Job) { j.Checkpoints = bytes.NewReader(forged) })
	found := 0
	for _, f := range r.Findings {
		if f.What == Forged && f.Checkpoint == 2 {
			found++
		}
	}
	if found != 2 { // in the file, and in the database
		t.Errorf("%v", r.Findings)
	}
	if r := w.verify(func(j *Job) { j.Keys = known }); r.Broken == 0 {
		t.Error("the genuine ones pass under the forger's key")
	}
}

func TestTwoHistoriesUnderOneKey(t *testing.T) {
	t.Parallel()
	w, _ := grown(t)
	newest, err := w.file.Newest()
	ok(t, err)
	other := *newest
	other.Root[0]++
	raw, err := other.Sign(w.signer)
	ok(t, err)
	file, err := os.ReadFile(w.file.Path)
	ok(t, err)
	ok(t, os.WriteFile(w.file.Path, append(file, checkpoint.Record(raw)...), 0o600))
	if f := w.first(w.verify(), Forked, "", 0); f.Checkpoint != 2 {
		t.Errorf("%s", f)
	}
	// In the file alone, without any database.
	if f := w.first(w.verifyExport(w.export()), Forked, "", 0); f.Checkpoint != 2 {
		t.Errorf("%s", f)
	}
}
