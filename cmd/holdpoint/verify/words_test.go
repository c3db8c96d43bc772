package verify

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/checkpoint"
	"holdpoint/store"
)

// thinned gives an installation in which the words of one operation went under a term,
// published, with an export from before.
func thinned(t *testing.T) (w *world, id operation.ID, before []string) {
	t.Helper()
	w = newWorld(t)
	id = w.sent()
	w.Age(t, operation.SubjectOperation, string(id), func(n int, at time.Time) time.Time { return at.AddDate(-2, n, 0) })
	w.publish()
	before = w.export()
	ok(t, w.Store.SetRetention(t.Context(), w.Fresh(t, "admin"), map[store.RetentionKind]int{store.RetainHistory: 365}))
	if n, err := w.Store.SweepRetention(t.Context(), store.System("job")); err != nil || n < 3 {
		t.Fatalf("%d entries lost their words: %v", n, err)
	}
	w.publish()
	return w, id, before
}

// TestThinned: a history whose words went verifies, from the database, from exports of
// before and after, and by a proof; entries without their words are counted apart.
func TestThinned(t *testing.T) {
	t.Parallel()
	w, id, before := thinned(t)
	n := int64(len(w.history(id)))
	r := w.verify(withContents)
	w.whole(r)
	if r.Thinned < n || r.Checkpoints != 2 {
		t.Errorf("%d entries without words, %d of the operation", r.Thinned, n)
	}
	after := w.export()
	x := w.verifyExport(after)
	w.whole(x)
	if x.Thinned != r.Thinned {
		t.Errorf("%d in the export, %d in the database", x.Thinned, r.Thinned)
	}
	for _, words := range []string{"Lea Lead", string(w.Users["lead"])} {
		for _, l := range after {
			if strings.Contains(l, `"subject":"`+string(id)+`"`) && strings.Contains(l, words) {
				t.Errorf("%q is still in %s", words, l)
			}
		}
	}
	first := func(j *Job) {
		j.Checkpoints = bytes.NewReader(bytes.SplitAfter(w.bytes(), []byte("-----END HOLDPOINT CHECKPOINT-----\n"))[0])
	}
	x = w.verifyExport(before, first)
	w.whole(x)
	if x.Thinned != 0 {
		t.Errorf("%d in the export of before", x.Thinned)
	}

	var p checkpoint.Proof
	ok(t, store.ReadRecord(t.Context(), w.url, func(rec *store.Record) (err error) {
		p, _, err = Prove(rec, id, bytes.NewReader(w.bytes()), w.keys)
		return err
	}))
	raw, err := json.Marshal(p)
	ok(t, err)
	var q checkpoint.Proof
	ok(t, json.Unmarshal(raw, &q))
	if _, err := q.Check(w.keys); err != nil || int64(q.Thinned()) != n || len(q.Removals) != 1 {
		t.Errorf("%v, %d entries without words, %d removals", err, q.Thinned(), len(q.Removals))
	}
	q.Removals = nil
	if _, err := q.Check(w.keys); err == nil || !strings.Contains(err.Error(), "no entry") {
		t.Errorf("without its removal: %v", err)
	}
	ok(t, store.ReadRecord(t.Context(), w.url, func(rec *store.Record) error {
		if _, _, err := Prove(rec, id, bytes.NewReader(bytes.SplitAfter(w.bytes(), []byte("-----END HOLDPOINT CHECKPOINT-----\n"))[0]), w.keys); err == nil || !strings.Contains(err.Error(), "wait for the next") {
			t.Errorf("before the removal was published: %v", err)
		}
		return nil
	}))
}

// TestThinnedAndAltered: each kind of change of what stays, of words and of their hash is
// named, and so are words that went without a record, or too early.
func TestThinnedAndAltered(t *testing.T) {
	t.Parallel()
	w, id, _ := thinned(t)
	whole := w.Ready(t) // has its words
	w.publish()
	_, err := w.super.ExecContext(t.Context(), `ALTER TABLE history DROP CONSTRAINT history_words`)
	ok(t, err)
	w.do(`CREATE TABLE kept AS SELECT * FROM history`)
	const away = `UPDATE history SET actor_id = '', actor_name = '', reason = '', links = CAST(CAST(links AS jsonb) - string_to_array(words_links, ',') AS text), words_salt = NULL, words_links = '', `
	for name, c := range map[string]struct {
		q    string
		id   operation.ID
		what What
		says string
	}{
		"head":          {`UPDATE history SET role = 'admin' WHERE subject_id = $1 AND seq = 2`, id, Altered, "own hash"},
		"link":          {`UPDATE history SET links = '{"policy":"9"}' WHERE subject_id = $1 AND seq = 2`, id, Altered, "own hash"},
		"words hash":    {`UPDATE history SET words_hash = sha256('x') WHERE subject_id = $1 AND seq = 2`, id, Altered, "own hash"},
		"words left":    {`UPDATE history SET reason = 'x' WHERE subject_id = $1 AND seq = 2`, id, Altered, "some are there"},
		"other words":   {`UPDATE history SET actor_name = 'x' WHERE subject_id = $1 AND seq = 2`, whole, Altered, "its words are not"},
		"other salt":    {`UPDATE history SET words_salt = decode(repeat('00', 16), 'hex') WHERE subject_id = $1 AND seq = 2`, whole, Altered, "its words are not"},
		"swapped hash":  {`UPDATE history SET words_hash = sha256('x'), actor_name = 'x' WHERE subject_id = $1 AND seq = 2`, whole, Altered, ""},
		"hash only":     {`UPDATE history SET words_hash = sha256('x') WHERE subject_id = $1 AND seq = 2`, whole, Altered, "another one than"},
		"unrecorded":    {away + `words_gone_at = now() WHERE subject_id = $1 AND seq = 2`, whole, Removed, "no entry"},
		"another time":  {`UPDATE history SET words_gone_at = words_gone_at + interval '1 microsecond' WHERE subject_id = $1 AND seq = 2`, id, Removed, "no entry"},
		"of another":    {away + `words_gone_at = (SELECT max(words_gone_at) FROM history) WHERE subject_id = $1 AND seq = 2`, whole, Removed, "no entry"},
		"format 1 said": {`UPDATE history SET words_hash = NULL, words_salt = NULL, words_links = '' WHERE subject_id = $1 AND seq = 2`, whole, Altered, "own hash"},
	} {
		w.do(c.q, string(c.id))
		for _, r := range []*Report{w.verify(), w.verifyExport(w.export())} {
			if f := w.first(r, c.what, c.id, 2); !strings.Contains(f.Detail, c.says) {
				t.Errorf("%s: %s", name, f)
			}
		}
		w.do(`DELETE FROM history WHERE subject_id = $1 AND seq = 2`, string(c.id))
		w.do(`INSERT INTO history (id, subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash, flow, destination,
			words_hash, words_salt, words_links, words_gone_at) OVERRIDING SYSTEM VALUE SELECT id, subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id,
			evidence_hash, prev_hash, hash, flow, destination, words_hash, words_salt, words_links, words_gone_at FROM kept WHERE subject_id = $1 AND seq = 2`, string(c.id))
		w.whole(w.verify())
	}
}
