package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"

	"github.com/lib/pq"
)

// TestErase erases one closed operation: nothing while it is open, everything but facts
// and hashes afterwards, and its history still verifies.
func TestErase(t *testing.T) {
	t.Parallel()
	f, s := inDoubt(t)
	admin := f.Fresh(t, "admin")
	if _, err := f.Store.EraseOperation(t.Context(), admin, s.id, "asked for by the customer"); err == nil {
		t.Fatal("an open operation was erased")
	}
	if n := f.Count(t, "erasures"); n != 0 {
		t.Fatalf("%d erasures of an open operation", n)
	}
	sh := s.shown("It is there.")
	sh.Files = store.Attached{Evidence: []store.Attachment{attachment(t, "log.png", pngOf(t, 3, 2))}}
	s.must(f.Store.ConfirmDone(t.Context(), f.As("ops"), sh, store.Reference{ID: "cpn_1"}))
	_, err := f.Store.EraseOperation(t.Context(), f.As("ops"), s.id, "asked for")
	refused(t, err, operation.CodeNotEntitled)
	_, err = f.Store.EraseOperation(t.Context(), admin, s.id, " ")
	refused(t, err, operation.CodeReasonMissing)
	before, err := f.Store.FindOperation(t.Context(), f.As("ops"), s.id)
	s.must(err)
	hash := before.Current().HashHex()
	for _, want := range [][]store.RetentionKind{{store.RetainContents, store.RetainAttachments, store.RetainEvidence}, nil} { // twice is once
		went, err := f.Store.EraseOperation(t.Context(), admin, s.id, "asked for by the customer")
		if s.must(err); !slices.Equal(went, want) {
			t.Errorf("erased %v, want %v", went, want)
		}
	}
	p, err := f.Store.FindOperation(t.Context(), f.As("ops"), s.id)
	s.must(err)
	if p.Current().Content() != nil || p.Current().HashHex() != hash || p.Title != "" || !p.ChainOK || p.TargetReference != "cpn_1" || !p.Attachments[0].Erased {
		t.Errorf("after erasure: content %v, hash %s of %s, title %q, chain %v, target %q", p.Current().Content(), p.Current().HashHex(), hash, p.Title, p.ChainOK, p.TargetReference)
	}
	for _, a := range p.Attempts {
		if a.Resolved != nil || len(a.ResolvedHash) != 32 {
			t.Errorf("attempt %s keeps bytes %v, hash of %d bytes", a.ID, a.Resolved, len(a.ResolvedHash))
		}
	}
	if n := f.Count(t, "event_bodies"); n != 0 {
		t.Errorf("%d events keep their body", n)
	}
	if n := f.Count(t, "runs WHERE inputs <> '{}'"); n != 0 {
		t.Errorf("%d runs keep their inputs", n)
	}
	if n := f.Count(t, "history WHERE subject_id = $1 AND action IN ('erase_contents', 'erase_attachments', 'erase_evidence')", string(s.id)); n != 3 {
		t.Errorf("%d entries tell of it", n)
	}
	if len(p.Evidence) == 0 || len(p.Erasures) != 3 || p.Erasures[0].ActorID != admin.ID || p.Erasures[0].Reason != "asked for by the customer" || p.People[admin.ID] == "" {
		t.Errorf("erasures %+v of %d pieces of evidence", p.Erasures, len(p.Evidence))
	}
	for _, e := range p.Evidence {
		if e.Body != "" || e.Link != "" || len(e.Hash) != 32 || e.By == "" {
			t.Errorf("evidence keeps %q and %q, hash of %d bytes, by %q", e.Body, e.Link, len(e.Hash), e.By)
		}
	}
	// What comes afterwards is erased by another erasure, and nothing else is recorded.
	s.must(f.Store.AddStatement(t.Context(), f.As("ops"), s.shown("They called again."), "https://log.example/1"))
	if p.MayErase() != nil {
		t.Error("it may not be erased once more")
	}
	if went, err := f.Store.EraseOperation(t.Context(), admin, s.id, "asked for once more"); err != nil || !slices.Equal(went, []store.RetentionKind{store.RetainEvidence}) {
		t.Errorf("erased %v, %v", went, err)
	}
	if n := f.Count(t, "erasures WHERE reason = 'asked for once more'"); n != 1 {
		t.Errorf("%d further erasures, want one, of the statement", n)
	}
	if n := f.Count(t, "evidence WHERE body <> '' OR link <> ''"); n != 0 {
		t.Errorf("%d pieces of evidence keep their text", n)
	}
}

// TestOnlyErasureTakesBodies: the application's role can neither change nor delete a
// body by itself, nor have it taken while the operation is open.
func TestOnlyErasureTakesBodies(t *testing.T) {
	t.Parallel()
	f, s := inDoubt(t)
	s.must(f.Store.AddStatement(t.Context(), f.As("ops"), s.shown("They called."), ""))
	for _, q := range []string{`DELETE FROM version_bodies`, `UPDATE version_bodies SET content = ''`, `DELETE FROM event_bodies`, `UPDATE event_bodies SET data = ''`, `DELETE FROM attachment_bodies`,
		`UPDATE erasures SET reason = 'x'`, `UPDATE evidence SET body = ''`, `UPDATE deliveries SET body = NULL, erased_at = now()`} {
		var p *pq.Error
		if _, err := f.Store.DB().Exec(q); !errors.As(err, &p) || p.Code != "42501" {
			t.Errorf("%s: %v", q, err)
		}
	}
	var p *pq.Error
	for _, kind := range []string{"contents", "attachments", "evidence"} {
		if _, err := f.Store.DB().Exec(`SELECT erase_bodies($1, $2)`, string(s.id), kind); !errors.As(err, &p) || p.Constraint != "bodies_kept" {
			t.Errorf("%s of an open operation: %v", kind, err)
		}
	}
	var gone int
	if err := f.Store.DB().QueryRow(`SELECT gone + events FROM erase_deliveries(1000)`).Scan(&gone); err != nil || gone != 0 {
		t.Errorf("%d deliveries lost their body without a term: %v", gone, err)
	}
	// The owner's statements meet the triggers: only an erased text, and only with its erasure.
	for _, q := range []string{`UPDATE evidence SET body = ''`, `UPDATE evidence SET result = 'one'`} {
		if _, err := f.Owner.Exec(q); !errors.As(err, &p) || p.Constraint != "evidence_append_only" {
			t.Errorf("%s: %v", q, err)
		}
	}
	for _, q := range []string{`UPDATE deliveries SET body = NULL`, `UPDATE deliveries SET body = 'x', erased_at = now()`, `UPDATE deliveries SET erased_at = now(), body = NULL, body_hash = ''`} {
		if _, err := f.Owner.Exec(q); !errors.As(err, &p) || p.Constraint != "deliveries_append_only" {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// TestRetention lets a term run out: the preview tells exactly what goes, the sweep takes
// it, and nothing else.
func TestRetention(t *testing.T) {
	t.Parallel()
	f, s := inDoubt(t)
	s.must(f.Store.ConfirmDone(t.Context(), f.As("ops"), s.shown("It is there."), store.Reference{ID: "cpn_1"}))
	admin := f.Fresh(t, "admin")
	invalid(t, f.Store.SetRetention(t.Context(), admin, map[store.RetentionKind]int{store.RetainContents: 7}), "retention_days")
	refused(t, f.Store.SetRetention(t.Context(), f.As("ops"), map[store.RetentionKind]int{store.RetainContents: 30}), operation.CodeNotEntitled)
	ok(t, f.Store.SetRetention(t.Context(), admin, map[store.RetentionKind]int{store.RetainContents: 30}))
	preview := func(want int) {
		t.Helper()
		rows, err := f.Store.FindRetention(t.Context(), admin, nil)
		ok(t, err)
		for _, r := range rows {
			if r.Kind == store.RetainContents && (r.Days != 30 || r.Preview.Operations != want || (want > 0) != (len(r.Preview.Names()) == 1)) {
				t.Errorf("preview %+v, want %d", r, want)
			}
		}
	}
	preview(0)
	if n, err := f.Store.SweepRetention(t.Context(), store.System("job")); n != 0 || err != nil {
		t.Fatalf("%d erased too early: %v", n, err)
	}
	old := time.Now().Add(-31 * 24 * time.Hour)
	if _, err := f.Owner.Exec(`ALTER TABLE operations DISABLE TRIGGER USER; UPDATE operations SET created_at = LEAST(created_at, CAST('` + old.Format(time.RFC3339) + `' AS timestamptz)), updated_at = '` + old.Format(time.RFC3339) + `'; ALTER TABLE operations ENABLE TRIGGER USER`); err != nil {
		t.Fatal(err)
	}
	preview(1)
	for _, want := range []int{1, 0} {
		if n, err := f.Store.SweepRetention(t.Context(), store.System("job")); n != want || err != nil {
			t.Fatalf("%d erased, want %d: %v", n, want, err)
		}
	}
	preview(0)
	p, err := f.Store.FindOperation(t.Context(), f.As("ops"), s.id)
	ok(t, err)
	if p.Current().Content() != nil || !p.ChainOK {
		t.Errorf("content %v, chain %v", p.Current().Content(), p.ChainOK)
	}
}
