package verify

import (
	"encoding/json"
	"strings"
	"testing"

	"holdpoint/operation"
)

// forged changes an operation's content, and every hash that stands beside it, as somebody
// does who may do anything to the database and knows the format.
func (w *world) forged(id operation.ID) {
	w.t.Helper()
	var v operation.Version
	var version, content, request string
	var salt []byte
	ok(w.t, w.super.QueryRowContext(w.t.Context(), `SELECT v.id, b.content, b.request, b.salt, o.destination, o.action, v.account, v.environment, v.credential
		FROM operations o JOIN content_versions v ON v.id = o.version_id JOIN version_bodies b ON b.version_id = v.id WHERE o.id = $1`, string(id)).
		Scan(&version, &content, &request, &salt, &v.Destination, &v.Action, &v.Account, &v.Environment, &v.Credential))
	forged := strings.Replace(content, "CODE-", "FREE-", 1)
	if forged == content {
		w.t.Fatalf("nothing to forge in %s", content)
	}
	v.Content = json.RawMessage(forged)
	ok(w.t, json.Unmarshal([]byte(request), &v.Request))
	h, err := v.Hash(salt)
	ok(w.t, err)
	w.do(`UPDATE version_bodies SET content = $2 WHERE version_id = $1`, version, forged)
	for _, table := range []string{"approvals", "clearances"} {
		w.do(`UPDATE `+table+` SET hash = $2 WHERE version_id = $1`, version, h[:])
	}
	w.do(`UPDATE content_versions SET hash = $2 WHERE id = $1`, version, h[:])
}

// TestContentAndHashForgedTogether: entries that made, put up and approved a version hold
// its hash, so it cannot be changed without them, contents read or not.
func TestContentAndHashForgedTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.Ready(t)
	w.publish()
	w.whole(w.verify(withContents))
	w.forged(id)
	for _, turn := range []func(*Job){withContents, chainsOnly, func(*Job) {}} {
		r := w.verify(turn)
		if f := w.first(r, Altered, id, 1); !strings.Contains(f.Detail, "version ver_") {
			t.Errorf("%s", f)
		}
		if r.Broken < 2 { // the entry that made it, and the approval
			t.Errorf("%d findings: %v", r.Broken, r.Findings)
		}
	}

	// With the entries changed too, chains fit again, and the checkpoint does not.
	var hash string
	ok(t, w.Owner.QueryRow(`SELECT encode(v.hash, 'hex') FROM content_versions v JOIN operations o ON o.version_id = v.id WHERE o.id = $1`, string(id)).Scan(&hash))
	w.do(`UPDATE history SET links = regexp_replace(links, '"version_hash":"[0-9a-f]+"', '"version_hash":"' || $2 || '"') WHERE subject_id = $1`, string(id), hash)
	w.rewrite(id, 1, "")
	w.whole(w.verify(chainsOnly))
	w.first(w.verify(), Altered, id, 1)

	// A version that is gone with its body.
	w.do(`DELETE FROM content_versions WHERE operation_id = $1`, string(id))
	w.first(w.verify(chainsOnly), Removed, id, 1)
}

// TestSentBytesAndHashForgedTogether: the same of the bytes that left.
func TestSentBytesAndHashForgedTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.sent()
	w.publish()
	w.whole(w.verify(withContents))
	var raw string
	ok(t, w.Owner.QueryRow(`SELECT resolved FROM attempts WHERE operation_id = $1`, string(id)).Scan(&raw))
	raw = strings.Replace(raw, `"url":"`, `"url":"https://elsewhere.example/`, 1)
	var req operation.Request
	ok(t, json.Unmarshal([]byte(raw), &req))
	h, err := req.Hash()
	ok(t, err)
	w.do(`UPDATE attempts SET resolved = $2, resolved_hash = $3 WHERE operation_id = $1`, string(id), raw, h[:])
	r := w.verify(withContents)
	if r.Broken != 1 || r.Findings[0].What != Altered || r.Findings[0].Subject != string(id) || !strings.Contains(r.Findings[0].Detail, "request att_") {
		t.Errorf("%v", r.Findings)
	}
}
