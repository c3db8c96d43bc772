package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

const recipients = "E-Mail;Name;cents;note\nann@example.test;Ann;100;x\nBEN@example.test;Ben;200;\nben@example.test;Ben again;300;\ncy@example.test;;100;\nno address;Dora;1;\n"

func addList(t *testing.T, f *storetest.Fixture, form, body string, batch operation.BatchID) store.ListFile {
	t.Helper()
	ctx, author := t.Context(), f.As("author")
	l, err := f.Store.AddList(ctx, author, store.NewList{Flow: "mailing", Stage: "letter", Batch: batch, FormID: form, Name: "people.csv"}, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if l.EndedAt != nil || l.Found() != nil {
		return l
	}
	l, err = f.Store.LookAtList(ctx, author, l.ID, l.Rev, store.ListReading{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func said(items []store.JudgedItem) string {
	var out []string
	for _, x := range items {
		one := fmt.Sprintf("%d %s", x.Position, x.Key)
		for _, p := range x.Problems {
			one += " " + p.Code + ":" + p.Field
		}
		out = append(out, one+string(x.Excluded))
	}
	return strings.Join(out, ", ")
}

func TestListIsLookedAt(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	ctx, author := t.Context(), f.As("author")
	l := addList(t, f, "form-1", recipients, "")
	if again := addList(t, f, "form-1", recipients, ""); again.ID != l.ID {
		t.Error("the same form gives two lists")
	}
	var no *operation.Refusal
	if _, err := f.Store.AddList(ctx, author, store.NewList{Flow: "mailing", Stage: "letter", FormID: "form-1"}, strings.NewReader("other;\n")); !errors.As(err, &no) || no.Code != operation.CodeKeyReused {
		t.Errorf("the same form with another file: %v", err)
	}
	if got := fmt.Sprint(l.Encoding, l.Separator, l.Columns()); got != "utf-8;map[cents:3 email:1 name:2]" {
		t.Errorf("read as %s", got)
	}
	found := l.Found()
	if found.Total != 5 || found.Included != 4 || found.Duplicates != 1 || found.Problems != 2 || fmt.Sprint(found.Missing, found.Wrong) != "[subject] [season]" {
		t.Errorf("found %+v", found)
	}
	if got := said(found.Left) + " / " + said(found.Odd); !strings.HasPrefix(got, "3 ben@example.testduplicate / 4 cy@example.test empty:name, 5 no address item:email") {
		t.Errorf("rows: %s", got)
	}
	if n := f.Count(t, "batches") + f.Count(t, "batch_items") + f.Count(t, "runs"); n != 0 {
		t.Errorf("a look wrote %d rows", n)
	}
	r := l.Reading()
	r.Inputs, r.Shared = map[string]string{"season": "spring"}, map[string]string{"subject": "Hello {{name}}"}
	r.Columns = map[string]int{"email": 1, "name": 1, "more": 4, "cents": 99}
	l2, err := f.Store.LookAtList(ctx, author, l.ID, l.Rev, r)
	if err != nil {
		t.Fatal(err)
	}
	if found := l2.Found(); fmt.Sprint(l2.Columns()) != "map[email:1 name:1]" || len(found.Missing)+len(found.Wrong) > 0 || !bytes.Contains(found.First[0].Content, []byte("Hello ann@example.test")) {
		t.Errorf("other columns: %v %+v", l2.Columns(), found)
	}
	if _, err := f.Store.LookAtList(ctx, author, l.ID, l.Rev, r); !errors.As(err, &no) || no.Code != operation.CodeStaleRevision {
		t.Errorf("an old page changes how it is read: %v", err)
	}
	r.Separator = "|"
	r.Columns = nil
	if l2, err = f.Store.LookAtList(ctx, author, l.ID, l2.Rev, r); err != nil || l2.Found().Included != 5 || len(l2.Found().Header) != 1 {
		t.Errorf("another separator: %+v %v", l2.Found(), err)
	}
	for _, who := range []string{"lead", "auditor", "ops"} {
		if _, err := f.Store.LookAtList(ctx, f.As(who), l.ID, l2.Rev, r); err == nil {
			t.Errorf("%s changes it", who)
		}
		if _, err := f.Store.AddList(ctx, f.As(who), store.NewList{Flow: "mailing", Stage: "letter", FormID: "f-" + who}, strings.NewReader("a\n")); err == nil {
			t.Errorf("%s hands a list in", who)
		}
	}
	n := 0
	if err := f.Store.EachJudged(ctx, author, l2, func(store.JudgedItem) error { n++; return nil }); err != nil || n != 5 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestListMakesABatch(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	ctx, author := t.Context(), f.As("author")
	const good = "email,name\nann@example.test,Ann\nben@example.test,Ben\n"
	l := addList(t, f, "form-1", good, "")
	var no *operation.Refusal
	if _, _, err := f.Store.MakeBatch(ctx, author, l.ID, l.Rev, false); !errors.As(err, &no) || no.Code != operation.CodeContentMissing || f.Count(t, "runs") != 0 {
		t.Fatalf("without an input that is needed: %v", err)
	}
	r := l.Reading()
	r.Inputs, r.Shared = map[string]string{"season": "spring"}, map[string]string{"subject": "Hello {{name}}"}
	l, err := f.Store.LookAtList(ctx, author, l.ID, l.Rev, r)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	ids := make([]operation.BatchID, 4)
	for i := range ids {
		wg.Go(func() {
			var err error
			if ids[i], _, err = f.Store.MakeBatch(ctx, author, l.ID, l.Rev, false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatalf("batches %v", ids)
		}
	}
	if n := f.Count(t, "batches"); n != 1 || f.Count(t, "list_slices") != 0 {
		t.Fatalf("%d batches, or slices are left", n)
	}
	b, err := f.Store.FindBatch(ctx, author, ids[0])
	if err != nil || b.State != operation.BatchPendingApproval || b.Version.ListName != "people.csv" || b.Included != 2 || b.Version.AuthorID != author.ID {
		t.Fatalf("%+v %v", b, err)
	}
	// The same file again: it is known, whoever brings it and however it is called.
	again := addList(t, f, "form-2", good, "")
	if again, err = f.Store.LookAtList(ctx, author, again.ID, again.Rev, r); err != nil {
		t.Fatal(err)
	}
	if known, err := f.Store.BatchesOfFile(ctx, again); err != nil || len(known) != 1 || known[0] != ids[0] {
		t.Errorf("known %v %v", known, err)
	}
	if id, known, err := f.Store.MakeBatch(ctx, author, again.ID, again.Rev, false); err != nil || !known || id != ids[0] || f.Count(t, "batches") != 1 {
		t.Errorf("the same file once more: %s %v %v", id, known, err)
	}
	third := addList(t, f, "form-3", good, "")
	if third, err = f.Store.LookAtList(ctx, author, third.ID, third.Rev, r); err != nil {
		t.Fatal(err)
	}
	if id, known, err := f.Store.MakeBatch(ctx, author, third.ID, third.Rev, true); err != nil || known || id == ids[0] || f.Count(t, "batches") != 2 {
		t.Errorf("meant once more: %s %v %v", id, known, err)
	}
	revisedByList(t, f, ids[0])
}

// revisedByList gives a batch another list, and says before what that changes.
func revisedByList(t *testing.T, f *storetest.Fixture, id operation.BatchID) {
	t.Helper()
	ctx, author := t.Context(), f.As("author")
	l := addList(t, f, "form-4", "email,name\nann@example.test,Anna\nben@example.test,Ben\ncy@example.test,Cy\n", id)
	if d := l.Found().Diff; d == nil || fmt.Sprint(*d) != "{1 1 0 1 1 [cy@example.test] [] [ann@example.test]}" {
		t.Fatalf("differences %+v", l.Found())
	}
	if _, _, err := f.Store.MakeBatch(ctx, author, l.ID, l.Rev, false); err != nil {
		t.Fatal(err)
	}
	texts, err := f.Store.JudgeTexts(ctx, author, id, map[string]string{"subject": "Goodbye {{name}}"})
	if err != nil || texts.Diff.Changed != 3 || texts.Diff.Same != 0 || texts.Total != 3 {
		t.Errorf("other texts: %+v %v", texts, err)
	}
	b, err := f.Store.FindBatch(ctx, author, id)
	if err != nil || b.Number != 2 || b.Total != 3 || b.Version.Shared()["subject"] != "Hello {{name}}" || b.Version.ListName != "people.csv" {
		t.Errorf("version 2: %+v %v", b, err)
	}
	short := addList(t, f, "form-5", "email,name\nben@example.test,Ben\n", id)
	if d := short.Found().Diff; d.Dropped != 2 || d.Same != 1 || fmt.Sprint(d.Drops) != "[ann@example.test cy@example.test]" {
		t.Errorf("differences %+v", d)
	}
	if err := f.Store.DropList(ctx, author, short.ID); err != nil || f.Count(t, "list_slices") != 0 {
		t.Error(err)
	}
}

// A row with more cells than the header has its texts in wrong places: it is a problem of that
// row, also in a version that is made of the same entries with another text.
func TestListWithMovedCells(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	ctx, author := t.Context(), f.As("author")
	l := addList(t, f, "moved", "email,name\nann@example.test,Ann,,\nben@example.test,Dear Smith, John\n", "")
	if found := l.Found(); said(found.Odd) != "2 ben@example.test cells:" || found.Problems != 1 || found.Included != 2 {
		t.Fatalf("found %+v", found)
	}
	r := l.Reading()
	r.Inputs, r.Shared = map[string]string{"season": "spring"}, map[string]string{"subject": "Hello {{name}}"}
	l, err := f.Store.LookAtList(ctx, author, l.ID, l.Rev, r)
	if err != nil {
		t.Fatal(err)
	}
	id, _, err := f.Store.MakeBatch(ctx, author, l.ID, l.Rev, false)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := f.Store.FindBatch(ctx, author, id); err != nil || b.State != operation.BatchDraft || b.Version.Problems != 1 {
		t.Errorf("the batch: %+v %v", b, err)
	}
	if again, err := f.Store.JudgeTexts(ctx, author, id, map[string]string{"subject": "Goodbye {{name}}"}); err != nil || said(again.Odd) != "2 ben@example.test cells:" {
		t.Errorf("with another text: %+v %v", again, err)
	}
}

func TestListBreaksOff(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	ctx, author := t.Context(), f.As("author")
	n := store.NewList{Flow: "mailing", Stage: "letter", FormID: "cut", Name: "a.csv"}
	lost := errors.New("lost")
	big := strings.Repeat("x", 3<<20)
	if _, err := f.Store.AddList(ctx, author, n, io.MultiReader(strings.NewReader(big), brokenOff{lost})); !errors.Is(err, lost) {
		t.Fatalf("%v", err)
	}
	if f.Count(t, "list_slices") != 0 || f.Count(t, "list_files WHERE file_hash IS NOT NULL") != 0 {
		t.Error("half a list is left")
	}
	if _, err := f.Store.AddList(ctx, author, n, io.LimitReader(onlyZeros{}, store.MaxListBytes+1)); !errors.Is(err, store.ErrListLarge) || f.Count(t, "list_slices") != 0 {
		t.Errorf("too large: %v", err)
	}
	var bad *definition.TableError
	if _, err := f.Store.AddList(ctx, author, n, strings.NewReader("")); !errors.As(err, &bad) {
		t.Errorf("empty: %v", err)
	}
	body := "email,name\n" + strings.Repeat("ann@example.test,Ann\n", 120_000)
	l, err := f.Store.AddList(ctx, author, n, strings.NewReader(body))
	if err != nil || f.Count(t, "list_slices") != 3 {
		t.Fatalf("the same form, whole at last: %v", err)
	}
	if got, err := io.ReadAll(f.Store.ListBytes(ctx, l)); err != nil || string(got) != body {
		t.Errorf("%d of %d bytes, %v", len(got), len(body), err)
	}
	if l, err = f.Store.LookAtList(ctx, author, l.ID, l.Rev, store.ListReading{}); err != nil || l.Found().Fault == nil || l.Found().Fault.Code != "rows" {
		t.Errorf("too many rows: %+v %v", l.Found(), err)
	}
	if ended, err := f.Store.SweepLists(ctx); err != nil || ended != 0 {
		t.Fatalf("%d %v", ended, err)
	}
	if _, err := f.Owner.ExecContext(ctx, `ALTER TABLE list_files DISABLE TRIGGER list_files_facts; UPDATE list_files SET created_at = created_at - interval '25 hours'; ALTER TABLE list_files ENABLE TRIGGER list_files_facts`); err != nil {
		t.Fatal(err)
	}
	if ended, err := f.Store.SweepLists(ctx); err != nil || ended != 1 || f.Count(t, "list_slices") != 0 {
		t.Errorf("%d %v", ended, err)
	}
	if _, _, err := f.Store.MakeBatch(ctx, author, l.ID, l.Rev, false); err == nil {
		t.Error("a list that is gone makes a batch")
	}
	if _, err := f.Owner.ExecContext(ctx, `UPDATE list_files SET name = 'x'`); err == nil {
		t.Error("a list that has ended changes")
	}
}

type brokenOff struct{ err error }

func (f brokenOff) Read([]byte) (int, error) { return 0, f.err }

type onlyZeros struct{}

func (onlyZeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}
