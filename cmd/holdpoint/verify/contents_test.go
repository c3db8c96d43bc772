package verify

import (
	"os"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func (w *world) bytes() []byte {
	w.t.Helper()
	raw, err := os.ReadFile(w.file.Path)
	ok(w.t, err)
	return raw
}

// sent gives an operation that was sent and confirmed.
func (w *world) sent() operation.ID {
	w.t.Helper()
	id, worker := w.Ready(w.t), store.Job("worker")
	d, err := w.Store.ClaimAndDispatch(w.t.Context(), worker, id, "worker")
	ok(w.t, err)
	_, err = w.Store.Record(w.t.Context(), worker, d.Attempt, d.Fence, operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "co_" + string(id)})
	ok(w.t, err)
	if s := w.State(w.t, id); s != operation.Confirmed {
		w.t.Fatalf("the operation is %s", s)
	}
	return id
}

// Erased bodies leave everything else verifiable, and are told from altered ones.
func TestErasedAndAltered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.sent()
	open := w.Ready(t)
	w.Receive(t, storetest.CouponEvent())
	w.publish()
	r := w.verify(withContents)
	w.whole(r)
	if r.Bodies == nil || r.Bodies.Whole < 3 || r.Bodies.Erased != 0 {
		t.Fatalf("%+v", r.Bodies)
	}
	all := r.Bodies.Whole
	// What goes without the history's word is gone, also of an operation that is closed, and where a row tells of an erasure.
	w.do(`CREATE TEMPORARY TABLE kept AS SELECT * FROM version_bodies WHERE version_id IN (SELECT id FROM content_versions WHERE operation_id = $1)`, string(id))
	w.do(`DELETE FROM version_bodies WHERE version_id IN (SELECT version_id FROM kept)`)
	w.do(`INSERT INTO erasures (id, operation_id, kind, actor_kind, actor_id, reason, at, since) VALUES ('era_forged', $1, 'contents', 'system', 'command', 'x', now(), now())`, string(id))
	r = w.verify(withContents)
	w.first(r, Removed, id, 0)
	if r.Bodies.Erased != 1 || r.Bodies.Whole != all-1 {
		t.Errorf("%+v", r.Bodies)
	}
	w.whole(w.verify())
	w.do(`INSERT INTO version_bodies SELECT * FROM kept`)
	w.whole(w.verify(withContents))

	// Of an operation that is not closed, nothing may be gone, and nothing may be altered.
	w.do(`UPDATE version_bodies SET content = replace(content, ':', ': ') WHERE version_id IN (SELECT id FROM content_versions WHERE operation_id = $1)`, string(open))
	w.whole(w.verify(withContents)) // the same content, written another way
	w.do(`UPDATE version_bodies SET request = replace(request, '"url":"', '"url":"https://elsewhere.example/') WHERE version_id IN (SELECT id FROM content_versions WHERE operation_id = $1)`, string(open))
	if f := w.first(w.verify(withContents), Altered, open, 0); !strings.Contains(f.Detail, "version") {
		t.Errorf("%s", f)
	}
	w.whole(w.verify())
	w.do(`DELETE FROM version_bodies WHERE version_id IN (SELECT id FROM content_versions WHERE operation_id = $1)`, string(open))
	w.first(w.verify(withContents), Removed, open, 0)
}

// The bytes that left and what is attached are compared with their hashes too.
func TestAlteredRequestAndAttachment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.sent()
	w.do(`UPDATE attempts SET resolved = replace(resolved, '"url":"', '"url":"https://elsewhere.example/') WHERE operation_id = $1`, string(id))
	if f := w.first(w.verify(withContents), Altered, id, 0); !strings.Contains(f.Detail, "request") {
		t.Errorf("%s", f)
	}
	w.do(`UPDATE attempts SET resolved = replace(resolved, '"url":"https://elsewhere.example/', '"url":"') WHERE operation_id = $1`, string(id))
	w.do(`INSERT INTO attachments (id, operation_id, evidence_id, round, item, place, kind, size, width, height, hash, given_by, at)
		SELECT 'atc_test', $1, NULL, 1, 'log', 1, 'application/pdf', 3, 0, 0, sha256('abc'), id, now() FROM users LIMIT 1`, string(id))
	w.do(`INSERT INTO attachment_bodies (attachment_id, name, data) VALUES ('atc_test', 'x.pdf', 'abc')`)
	w.whole(w.verify(withContents))
	w.do(`UPDATE attachment_bodies SET data = 'abd'`)
	if f := w.first(w.verify(withContents), Altered, id, 0); !strings.Contains(f.Detail, "attachment") {
		t.Errorf("%s", f)
	}
	w.do(`DELETE FROM attachment_bodies`)
	if f := w.first(w.verify(withContents), Removed, id, 0); !strings.Contains(f.Detail, "attachment") || strings.Contains(f.String(), "entry 0") {
		t.Errorf("%s", f)
	}
}

// An erasure that is recorded leaves everything verifiable, also after the operation was
// opened again; evidence is compared with its hash.
func TestErasedByVerb(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.sent()
	shown := func(form string) store.Shown {
		p, err := w.Store.FindOperation(t.Context(), w.As("ops"), id)
		ok(t, err)
		return store.Shown{Operation: id, Revision: p.Revision, FormID: form, Reason: "I have seen it: " + form}
	}
	ok(t, w.Store.AddStatement(t.Context(), w.As("ops"), shown("form-1"), "https://log.example/1"))
	w.publish()
	r := w.verify(withContents)
	w.whole(r)
	all := r.Bodies.Whole
	w.do(`UPDATE evidence SET body = body || '!'`)
	if f := w.first(w.verify(withContents), Altered, id, 0); !strings.Contains(f.Detail, "evidence") {
		t.Errorf("%s", f)
	}
	w.do(`UPDATE evidence SET body = rtrim(body, '!')`)
	_, err := w.Store.EraseOperation(t.Context(), w.Fresh(t, "admin"), id, "asked for")
	ok(t, err)
	w.publish()
	r = w.verify(withContents)
	w.whole(r)
	if r.Bodies.Erased != 3 || r.Bodies.Whole != all-3 { // the version, the bytes sent, the statement
		t.Errorf("%+v of %d", r.Bodies, all)
	}
	ok(t, w.Store.Dispute(t.Context(), w.As("ops"), shown("form-2"), ""))
	if s := w.State(t, id); s.Closed() {
		t.Fatalf("the operation is %s", s)
	}
	w.publish()
	w.whole(w.verify(withContents))
	w.whole(w.verifyExport(w.export()))
}
