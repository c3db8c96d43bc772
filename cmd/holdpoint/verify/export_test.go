package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/checkpoint"
	"holdpoint/store"
)

// An export is verified without a database, in whatever order its lines are.
func TestExport(t *testing.T) {
	t.Parallel()
	w, id := grown(t)
	lines := w.export()
	w.whole(w.verifyExport(lines))
	shuffled := slices.Clone(lines)
	rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	r := w.verifyExport(shuffled)
	w.whole(r)
	if r.Heads || r.Checkpoints != 2 || r.Entries != int64(len(lines)) {
		t.Errorf("%+v", r)
	}
	history := w.history(id)
	at := func(seq int64) int {
		return slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, fmt.Sprintf(`{"id":%d,`, history[seq-1].ID)) })
	}
	without := slices.Delete(slices.Clone(lines), at(2), at(2)+1)
	w.first(w.verifyExport(without), Removed, id, 2)
	altered := slices.Clone(lines)
	altered[at(3)] = strings.Replace(altered[at(3)], "the shop asks to wait", "nobody asked", 1)
	if altered[at(3)] == lines[at(3)] {
		t.Fatal("nothing was altered")
	}
	w.first(w.verifyExport(altered), Altered, id, 3)
	twice := append(slices.Clone(lines), lines[at(2)])
	w.first(w.verifyExport(twice), Added, id, 2)

	// What only checkpoints find: the last entry of a chain, a whole subject, and a chain
	// whose hashes were all computed anew.
	end := len(history)
	cut := slices.Delete(slices.Clone(lines), at(int64(end)), at(int64(end))+1)
	w.whole(w.verifyExport(cut, chainsOnly))
	if f := w.first(w.verifyExport(cut), Removed, "", 0); f.Checkpoint != 2 || !strings.Contains(f.Detail, "1 of") {
		t.Errorf("%s", f)
	}
	gone := slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return strings.Contains(s, `"subject":"`+string(id)+`"`) })
	w.whole(w.verifyExport(gone, chainsOnly))
	if f := w.first(w.verifyExport(gone), Removed, "", 0); f.Checkpoint != 2 || !strings.Contains(f.Detail, fmt.Sprintf("%d of", len(history))) {
		t.Errorf("%s", f)
	}
	w.rewrite(id, 2, "another reason")
	anew := w.export()
	w.whole(w.verifyExport(anew, chainsOnly))
	if f := w.first(w.verifyExport(anew), Altered, "", 0); f.Checkpoint != 2 || !strings.Contains(f.Detail, "after checkpoint 1") {
		t.Errorf("%s", f)
	}
}

// lastLine is the last line of an export that was made a while after the entries.
func lastLine(lines []string, filter string) string {
	return lastLineAt(lines, filter, time.Now().Add(time.Hour))
}

func lastLineAt(lines []string, filter string, at time.Time) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return fmt.Sprintf(`{"trailer":{"entries":%d,"bodies":0,"sha256":"%s","at":"%s","filter":"%s"}}`+"\n", len(lines), hex.EncodeToString(sum[:]), at.UTC().Format(operation.TimeForm), filter)
}

// An export stays whole when more is recorded and signed after it: checkpoints that were
// made later hold what it cannot hold, and are not held against it. What it does not hold
// of earlier ones is missing all the same.
func TestExportBeforeCheckpoints(t *testing.T) {
	t.Parallel()
	w, id := grown(t)
	lines := w.export()
	made := time.Now().Add(exportSlack)
	ok(t, w.Store.PauseOperation(t.Context(), w.As("ops"), id, "after the export"))
	w.publish()
	later := func(j *Job) { j.Checkpoints = w.dated(3, made.Add(time.Minute)) }
	r := w.verifyExport(append(slices.Clone(lines), lastLineAt(lines, "", made)), later)
	w.whole(r)
	if r.Checkpoints != 2 || r.Later != 1 || r.Made == nil || r.Covered == 0 || r.Covered >= r.Entries || len(r.Remarks) != 1 {
		t.Errorf("%+v", r)
	}
	history := w.history(id)
	cut := slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return strings.HasPrefix(s, fmt.Sprintf(`{"id":%d,`, history[len(history)-2].ID)) })
	if f := w.first(w.verifyExport(append(cut, lastLineAt(cut, "", made)), later), Removed, "", 0); f.Checkpoint != 2 {
		t.Errorf("%s", f)
	}
}

// The last line tells how much there was; a filtered export is not held to have all.
func TestExportTrailer(t *testing.T) {
	t.Parallel()
	w, id := grown(t)
	lines := w.export()
	r := w.verifyExport(append(slices.Clone(lines), lastLine(lines, "")))
	w.whole(r)
	if len(r.Remarks) != 0 {
		t.Errorf("%v", r.Remarks)
	}
	if r := w.verifyExport(lines); len(r.Remarks) != 1 {
		t.Errorf("without its last line: %v", r.Remarks)
	}
	if r := w.verifyExport(append(slices.Clone(lines[1:]), lastLine(lines, ""))); r.Broken == 0 {
		t.Error("a missing line is not found")
	}
	part := slices.DeleteFunc(slices.Clone(lines), func(s string) bool {
		return !strings.Contains(s, `"subject":"`+string(id)+`"`) || strings.Contains(s, `"seq":2,`)
	})
	w.whole(w.verifyExport(append(part, lastLine(part, "from=2027-01-01"))))
	part[0] = strings.Replace(part[0], `"seq":1`, `"seq":9`, 1)
	if r := w.verifyExport(append(part, lastLine(part, "from=2027-01-01"))); r.Broken == 0 {
		t.Error("an altered entry in a filtered export is not found")
	}
}

func TestProve(t *testing.T) {
	t.Parallel()
	w, id := grown(t)
	ok(t, w.Store.PauseOperation(t.Context(), w.As("ops"), id, "once more")) // after the newest checkpoint
	var p checkpoint.Proof
	var c checkpoint.Checkpoint
	prove := func(id operation.ID, keys *checkpoint.Keys, file []byte) error {
		return store.ReadRecord(t.Context(), w.url, func(rec *store.Record) (err error) {
			p, c, err = Prove(rec, id, bytes.NewReader(file), keys)
			return err
		})
	}
	file := w.bytes()
	ok(t, prove(id, w.keys, file))
	raw, err := json.Marshal(p)
	ok(t, err)
	var q checkpoint.Proof
	ok(t, json.Unmarshal(raw, &q))
	if _, err := q.Check(w.keys); err != nil || c.Number != 2 || len(q.Entries) != len(w.history(id))-1 {
		t.Errorf("%v, checkpoint %d, %d entries", err, c.Number, len(q.Entries))
	}
	_, others := newKey(t)
	if _, err := q.Check(others); err == nil {
		t.Error("proven by another key")
	}
	if prove("op_none", w.keys, file) == nil || prove(id, others, file) == nil || prove(id, w.keys, nil) == nil {
		t.Error("proven without an operation, a known key or a published checkpoint")
	}
	w.do(`UPDATE checkpoint_leaves SET hashes = overlay(hashes PLACING '\x00' FROM 1) WHERE first = 0`)
	if prove(id, w.keys, file) == nil {
		t.Error("proven by a log that is not the signed one")
	}
}
