package store_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/lib/pq"
)

func attachment(t testing.TB, name string, data []byte) store.Attachment {
	t.Helper()
	a, err := store.NewAttachment(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// inDoubt is an invoice whose answer was lost and which a person must settle.
func inDoubt(t *testing.T) (*storetest.Fixture, *stand) {
	t.Helper()
	f := storetest.NewFixture(t)
	quick(t, f)
	s := &stand{f: f, t: t, id: f.Receive(t, storetest.CouponEvent())[0]}
	f.Approve(t, s.id, "lead")
	s.send()
	s.report(mismatch)
	if got := f.State(t, s.id); got != operation.Review {
		t.Fatalf("state %s, want review", got)
	}
	return f, s
}

// TestAttach settles an operation with files at the statement and at an answer: each is
// there for whoever decides next, with its hash in the history.
func TestAttach(t *testing.T) {
	t.Parallel()
	f, s := inDoubt(t)
	shot, log := pngOf(t, 30, 20), []byte(pdf)
	sh := s.shown("Their log shows none.")
	sh.Files = store.Attached{Evidence: []store.Attachment{attachment(t, `C:\shots\log <b>.png`, shot)},
		Answers: map[operation.ChecklistItem][]store.Attachment{operation.CheckDestination: {attachment(t, "log.pdf", log)}}}
	var all store.Answers
	for _, item := range operation.Checklist {
		all = append(all, operation.Answer{Item: item, Yes: true, Comment: "looked at it"})
	}
	time.Sleep(2 * time.Millisecond) // settle_after of the last request
	for range 2 {                    // the same form twice is one decision
		s.must(f.Store.ConfirmNotDone(t.Context(), f.As("ops"), sh, all, true))
	}
	page, err := f.Store.FindOperation(t.Context(), f.As("ops2"), s.id)
	s.must(err)
	if len(page.Attachments) != 2 || !page.ChainOK {
		t.Fatalf("%d attachments, chain verifies: %v", len(page.Attachments), page.ChainOK)
	}
	for _, a := range page.Attachments {
		want, name := shot, "log <b>.png"
		if a.Item != "" {
			want, name = log, "log.pdf"
		} else if a.Evidence != page.Evidence[len(page.Evidence)-1].ID {
			t.Errorf("the picture belongs to %s", a.Evidence)
		}
		sum := sha256.Sum256(want)
		if a.Name != name || a.Size != len(want) || !bytes.Equal(a.Hash, sum[:]) || a.Erased {
			t.Errorf("facts %+v, want those of %s", a, name)
		}
		if n := f.Count(t, "history WHERE action = 'attachment' AND evidence_hash = $1 AND position($2 IN links) > 0", hex.EncodeToString(sum[:]), string(a.ID)); n != 1 {
			t.Errorf("%d entries for %s", n, name)
		}
		row, data, err := f.Store.FindAttachment(t.Context(), f.As("ops2"), s.id, a.ID)
		if err != nil || !bytes.Equal(data, want) || row.Kind != a.Kind {
			t.Errorf("read %d bytes of %s: %v", len(data), row.Kind, err)
		}
	}
	if n := f.Count(t, "attachment_bodies"); n != 2 {
		t.Errorf("%d bodies, want 2", n)
	}
}

// TestNothingAttachedWithoutItsDecision: refused decisions leave no file behind, and no
// file is dropped where nothing takes it.
func TestNothingAttachedWithoutItsDecision(t *testing.T) {
	t.Parallel()
	f, s := inDoubt(t)
	with := func(n int, data []byte) store.Shown {
		sh := s.shown("Seen it.")
		for range n {
			sh.Files.Evidence = append(sh.Files.Evidence, attachment(t, "shot.png", data))
		}
		return sh
	}
	small := pngOf(t, 2, 2)
	sh := with(1, small)
	sh.Revision++
	var r *operation.Refusal
	if err := f.Store.AddStatement(t.Context(), f.As("ops"), sh, ""); !errors.As(err, &r) || r.Code != operation.CodeStaleRevision {
		t.Errorf("stale: %v", err)
	}
	if err := f.Store.ConfirmDone(t.Context(), f.As("lead"), with(1, small), store.Reference{ID: "x"}); !errors.As(err, &r) || r.Code != operation.CodeNotEntitled {
		t.Errorf("not entitled: %v", err)
	}
	if err := f.Store.Hold(t.Context(), f.As("ops"), with(1, small), time.Now().Add(time.Hour)); err == nil {
		t.Error("a file was dropped: a hold keeps none")
	}
	var bad *store.Invalid
	if err := f.Store.AddStatement(t.Context(), f.As("ops"), with(store.FilesMax+1, small), ""); !errors.As(err, &bad) || bad.Code != "files_many" {
		t.Errorf("too many: %v", err)
	}
	large := append([]byte("%PDF-1.4\n"), append(bytes.Repeat([]byte("x"), store.FileLimit-100), "%%EOF"...)...)
	if err := f.Store.AddStatement(t.Context(), f.As("ops"), with(3, large), ""); !errors.As(err, &bad) || bad.Code != "files_large" {
		t.Errorf("too large together: %v", err)
	}
	if n := f.Count(t, "attachment_bodies") + f.Count(t, "attachments"); n != 0 {
		t.Errorf("%d rows stay of what was refused", n)
	}
	s.must(f.Store.AddStatement(t.Context(), f.As("ops"), with(1, large), ""))
}

// TestAttachmentsAreSeenLikeTheirOperation: a foreign one is like a missing one.
func TestAttachmentsAreSeenLikeTheirOperation(t *testing.T) {
	t.Parallel()
	f, s := inDoubt(t)
	other := f.Receive(t, storetest.CampaignEvent())[0]
	sh := s.shown("Seen it.")
	sh.Files.Evidence = []store.Attachment{attachment(t, "shot.png", pngOf(t, 2, 2))}
	s.must(f.Store.AddStatement(t.Context(), f.As("ops"), sh, ""))
	page, err := f.Store.FindOperation(t.Context(), f.As("ops"), s.id)
	s.must(err)
	id := page.Attachments[0].ID
	link, err := f.Store.AddUser(t.Context(), store.System("command"), store.NewUser{Email: "else@example.test", Name: "Else",
		Roles: []store.RoleGrant{{Role: operation.RoleOpsOwner, Flow: "campaign-follow-up"}}})
	s.must(err)
	stranger := store.Actor{Kind: operation.ActorPerson, ID: string(link.User), Name: "Else", Channel: "web"}
	for name, err := range map[string]error{
		"foreign":           second(f.Store.FindAttachment(t.Context(), stranger, s.id, id)),
		"missing":           second(f.Store.FindAttachment(t.Context(), f.As("ops"), s.id, "atc_00000000000000000000000000")),
		"another operation": second(f.Store.FindAttachment(t.Context(), f.As("ops"), other, id)),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second(_ store.AttachmentRow, _ []byte, err error) error { return err }

// TestAttachmentConstraints asks the database itself for what the rules forbid.
func TestAttachmentConstraints(t *testing.T) {
	t.Parallel()
	f, s := inDoubt(t)
	sh := s.shown("Seen it.")
	sh.Files.Evidence = []store.Attachment{attachment(t, "shot.png", pngOf(t, 2, 2))}
	s.must(f.Store.AddStatement(t.Context(), f.As("ops"), sh, ""))
	body := `INSERT INTO attachment_bodies VALUES ('atc_x', '', 'abc'); `
	row := func(set string) string {
		return body + `INSERT INTO attachments (id, operation_id, evidence_id, place, kind, size, width, height, hash, given_by, at) SELECT 'atc_x', operation_id, evidence_id, ` + set + `, given_by, at FROM attachments`
	}
	for _, x := range []struct{ q, constraint string }{
		{row(`1, 'image/png', 3, 2, 2, sha256('abd')`), "attachments_exact"},
		{row(`1, 'image/png', 4, 2, 2, sha256('abc')`), "attachments_exact"},
		{row(`1, 'image/svg+xml', 3, 2, 2, sha256('abc')`), "attachments_kind"},
		{row(`1, 'image/png', 3, 0, 2, sha256('abc')`), "attachments_pixels"},
		{row(`1, 'image/png', 3, 20000, 20000, sha256('abc')`), "attachments_pixels"},
		{row(`1, 'application/pdf', 3, 2, 2, sha256('abc')`), "attachments_pixels"},
		{row(`101, 'image/png', 3, 2, 2, sha256('abc')`), "attachments_place"},
		{body + `SET CONSTRAINTS ALL IMMEDIATE`, "attachment_bodies_of"},
		{`INSERT INTO attachment_bodies VALUES ('atc_x', '', '')`, "attachment_bodies_size"},
		{`INSERT INTO attachment_bodies SELECT 'atc_x', '', convert_to(repeat('x', 10485761), 'UTF8')`, "attachment_bodies_size"},
		{`UPDATE attachments SET size = 5`, "attachments_append_only"},
		{`DELETE FROM attachments`, "attachments_append_only"},
		{`UPDATE attachment_bodies SET data = 'x'`, "attachment_bodies_kept"},
		{`DELETE FROM attachment_bodies`, "attachment_bodies_kept"},
		{`TRUNCATE attachment_bodies`, "attachment_bodies_append_only"},
	} {
		var p *pq.Error
		if _, err := f.Owner.Exec(x.q); !errors.As(err, &p) || p.Constraint != x.constraint {
			t.Errorf("%s: %v, want %s", x.q, err, x.constraint)
		}
	}
	// once the operation is closed, the body may go; facts, hash and history stay
	s.must(f.Store.ConfirmDone(t.Context(), f.As("ops"), s.shown("It is there."), store.Reference{ID: "cpn_1"}))
	if _, err := f.Owner.Exec(`DELETE FROM attachment_bodies`); err != nil {
		t.Fatal(err)
	}
	page, err := f.Store.FindOperation(t.Context(), f.As("ops"), s.id)
	s.must(err)
	a := page.Attachments[0]
	if !a.Erased || a.Name != "" || len(a.Hash) != 32 || a.Width != 2 || !page.ChainOK {
		t.Errorf("after erasure: %+v, chain verifies: %v", a, page.ChainOK)
	}
	if err := second(f.Store.FindAttachment(t.Context(), f.As("ops"), s.id, a.ID)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an erased body is read: %v", err)
	}
}
