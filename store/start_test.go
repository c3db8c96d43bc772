package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
	"holdpoint/systems"
)

// starter lets the demonstration's flows be started by hand.
func starter(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	raw, err := fs.ReadFile(systems.Sources(), "starter.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw) + "flows: [campaign-follow-up, newsletter-coupon]\n"
	if _, err := f.Store.Apply(t.Context(), store.System("command"), []store.File{{Name: "starter.yaml", Source: []byte(text)}}); err != nil {
		t.Fatal(err)
	}
}

var campaign = map[string]string{"customer_ref": "C-1", "email": "kim@example.test", "campaign": "Spring"}

func TestStartRun(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	author := f.As("author")
	if _, _, err := f.Store.StartRun(t.Context(), author, "campaign-follow-up", "form-1", campaign); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("without a starter: %v", err)
	}
	starter(t, f)
	if _, wrong, err := f.Store.StartRun(t.Context(), author, "campaign-follow-up", "form-0", map[string]string{"email": "x"}); err != nil || fmt.Sprint(wrong) != "[campaign customer_ref email]" {
		t.Errorf("wrong inputs: %v %v", wrong, err)
	}
	for _, who := range []string{"lead", "auditor"} {
		var no *operation.Refusal
		if _, _, err := f.Store.StartRun(t.Context(), f.As(who), "campaign-follow-up", "form-2", campaign); !errors.As(err, &no) || no.Code != operation.CodeNotEntitled {
			t.Errorf("%s starts: %v", who, err)
		}
	}
	var wg sync.WaitGroup
	got := make([]store.Receipt, 6)
	for i := range got {
		wg.Go(func() {
			rec, _, err := f.Store.StartRun(t.Context(), author, "campaign-follow-up", "form-1", campaign)
			if err != nil {
				t.Error(err)
			}
			got[i] = rec
		})
	}
	wg.Wait()
	if n := f.Count(t, "runs"); n != 1 {
		t.Fatalf("a double click gives %d runs", n)
	}
	for _, r := range got {
		if len(r.Runs) != 1 || r.Runs[0] != got[0].Runs[0] {
			t.Errorf("another run is named: %+v", r)
		}
	}
	if f.Count(t, "content_versions WHERE author_kind = 'person' AND author_id = $1", author.ID) != 2 {
		t.Error("whoever gave the inputs is not the author")
	}
	if rec, _, err := f.Store.StartRun(t.Context(), author, "campaign-follow-up", "form-3", campaign); err != nil || rec.Verdict != store.VerdictAccepted {
		t.Errorf("another form: %+v %v", rec, err)
	}
}

const people = "customer_ref;email;campaign\nC-1;a@example.test;Spring\nC-2;no address;Spring\nC-3;c@example.test;Spring\nC-3;d@example.test;Spring\n"

func addStart(t *testing.T, f *storetest.Fixture, flow, form, body string) store.Start {
	t.Helper()
	id, err := f.Store.AddStart(t.Context(), f.As("author"), store.NewStart{Flow: flow, FormID: form, Name: "people.csv", Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	st, _, err := f.Store.FindStart(t.Context(), f.As("author"), id)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func runStart(t *testing.T, f *storetest.Fixture, st store.Start) string {
	t.Helper()
	if err := f.Store.BeginStart(t.Context(), f.As("author"), st.ID, st.Rev); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if done, err := f.Store.RunStart(t.Context(), st.ID); err != nil || !done {
				t.Errorf("%v %v", done, err)
			}
		})
	}
	wg.Wait()
	now, rows, err := f.Store.FindStart(t.Context(), f.As("author"), st.ID)
	if err != nil || now.EndedAt == nil || now.Body != nil {
		t.Fatalf("the table has not ended: %+v %v", now, err)
	}
	var out []string
	for _, r := range rows {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%d %s %s", r.Row, r.Result, r.Reason+r.Fields), " "))
	}
	return strings.Join(out, ", ")
}

func TestStartTable(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	starter(t, f)
	st := addStart(t, f, "campaign-follow-up", "up-1", people)
	if again := addStart(t, f, "campaign-follow-up", "up-1", people); again.ID != st.ID {
		t.Error("the same form gives two tables")
	}
	if f.Count(t, "events WHERE source = 'starter'") != 0 {
		t.Fatal("something began before it was begun")
	}
	if got := runStart(t, f, st); got != "1 started, 2 refused inputsemail, 3 started, 4 started" {
		t.Errorf("first: %s", got)
	}
	if n := f.Count(t, "runs"); n != 3 {
		t.Fatalf("%d runs", n)
	}
	if got := runStart(t, f, addStart(t, f, "campaign-follow-up", "up-2", people)); got != "1 known, 2 refused inputsemail, 3 known, 4 known" {
		t.Errorf("the same file again: %s", got)
	}
	other := addStart(t, f, "campaign-follow-up", "up-2b", people)
	if err := f.Store.SetStart(t.Context(), f.As("author"), other.ID, other.Rev, store.StartReading{Encoding: other.Encoding, Separator: other.Separator, Columns: other.Columns(), KeyColumn: 1}); err != nil {
		t.Fatal(err)
	}
	other.Rev++
	if got := runStart(t, f, other); got != "1 known, 2 refused inputsemail, 3 known, 4 known twice" {
		t.Errorf("the same file with another key: %s", got)
	}
	keyed := addStart(t, f, "campaign-follow-up", "up-3", people+"C-1;a@example.test;Spring\n;x@example.test;Spring\n")
	if err := f.Store.SetStart(t.Context(), f.As("author"), keyed.ID, keyed.Rev, store.StartReading{Encoding: keyed.Encoding, Separator: keyed.Separator, Columns: keyed.Columns(), KeyColumn: 1}); err != nil {
		t.Fatal(err)
	}
	if err := f.Store.BeginStart(t.Context(), f.As("author"), keyed.ID, keyed.Rev); err == nil {
		t.Error("begun as it was not shown")
	}
	keyed.Rev++
	if got := runStart(t, f, keyed); got != "1 started, 2 refused inputsemail, 3 started, 4 known twice, 5 known twice, 6 refused inputscustomer_ref" {
		t.Errorf("with a key column: %s", got)
	}
	for i, x := range []struct {
		body string
		key  int
		want string // the rows whose run is there
	}{{people, 0, "1 3 4"}, {people + "\n", 0, ""}, {people + "\n", 1, "1 3"}, {"customer_ref;email\nC-9;a@example.test\nC-3;c@example.test\n", 1, "2"}} {
		st := addStart(t, f, "campaign-follow-up", fmt.Sprint("look-", i), x.body)
		st.KeyColumn = x.key
		table, err := st.Table()
		if err != nil {
			t.Fatal(err)
		}
		have, err := f.Store.StartedRows(t.Context(), st, table)
		var got []string
		for _, r := range table.Rows {
			if have[r.Number] != "" {
				got = append(got, fmt.Sprint(r.Number))
			}
		}
		if err != nil || strings.Join(got, " ") != x.want {
			t.Errorf("table %d: rows %v have a run, want %s: %v", i, got, x.want, err)
		}
	}
	changed := addStart(t, f, "campaign-follow-up", "up-4", "customer_ref,email,campaign\nC-1,other@example.test,Spring\n")
	if err := f.Store.SetStart(t.Context(), f.As("author"), changed.ID, 1, store.StartReading{Encoding: "utf-8", Separator: ",", Columns: changed.Columns(), KeyColumn: 1}); err != nil {
		t.Fatal(err)
	}
	changed.Rev = 2
	if got := runStart(t, f, changed); got != "1 conflict" {
		t.Errorf("the same key with other inputs: %s", got)
	}
	coupon := "code;percent_off\nA-1;5\nA-2;x\n"
	if got := runStart(t, f, addStart(t, f, "newsletter-coupon", "up-5", coupon)); !strings.HasPrefix(got, "1 started, 2 refused") {
		t.Errorf("another flow: %s", got)
	}
	moved := addStart(t, f, "campaign-follow-up", "up-6", "customer_ref,email,campaign\nC-7,g@example.test,Summer, or autumn\nC-8,h@example.test,Summer,,\n")
	if got := runStart(t, f, moved); got != "1 refused cells, 2 started" {
		t.Errorf("more cells than the header: %s", got)
	}
	if f.Count(t, "history WHERE subject_kind = 'flow' AND action = 'start_table'") != 7 {
		t.Error("not each beginning is in the history")
	}
}

func TestStartRights(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	starter(t, f)
	for _, who := range []string{"lead", "auditor", "ops"} {
		if _, err := f.Store.AddStart(t.Context(), f.As(who), store.NewStart{Flow: "campaign-follow-up", FormID: "x" + who, Name: "a", Body: []byte(people)}); err == nil {
			t.Errorf("%s hands a table in", who)
		}
	}
	st := addStart(t, f, "campaign-follow-up", "mine", people)
	if err := f.Store.BeginStart(t.Context(), f.As("lead"), st.ID, st.Rev); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another person begins it: %v", err)
	}
	if seen, _, err := f.Store.FindStart(t.Context(), f.As("auditor"), st.ID); err != nil || seen.Body != nil {
		t.Errorf("an auditor reads the file: %v", err)
	}
	if err := f.Store.BeginStart(t.Context(), f.As("author"), st.ID, st.Rev); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Owner.ExecContext(t.Context(), `DELETE FROM user_roles WHERE user_id = $1 AND role = 'author'`, f.As("author").ID); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Store.RunStart(t.Context(), st.ID); err != nil {
		t.Fatal(err)
	}
	if f.Count(t, "start_rows WHERE reason = 'not_entitled'") != 3 || f.Count(t, "runs") != 0 {
		t.Error("runs began for a person who may not any more")
	}
}

// A table whose process died goes on; one that nobody begins is removed.
func TestSweepStarts(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	starter(t, f)
	st, left := addStart(t, f, "campaign-follow-up", "a", people), addStart(t, f, "campaign-follow-up", "b", people+"C-9;i@example.test;x\n")
	if err := f.Store.BeginStart(t.Context(), f.As("author"), st.ID, st.Rev); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Store.SweepStarts(t.Context()); n != 0 || err != nil {
		t.Fatalf("%d %v", n, err)
	}
	if _, err := f.Owner.ExecContext(t.Context(), `ALTER TABLE starts DISABLE TRIGGER starts_facts; UPDATE starts SET begun_at = begun_at - interval '1 minute', created_at = created_at - interval '25 hours'; ALTER TABLE starts ENABLE TRIGGER starts_facts`); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Store.SweepStarts(t.Context()); n != 2 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if f.Count(t, "runs") != 3 || f.Count(t, "starts WHERE body IS NOT NULL") != 0 {
		t.Error("the table did not go on, or a file stayed")
	}
	if err := f.Store.BeginStart(t.Context(), f.As("author"), left.ID, left.Rev); err == nil {
		t.Error("a removed table begins")
	}
	if _, err := f.Owner.ExecContext(t.Context(), `UPDATE starts SET begun_at = now()`); err == nil {
		t.Error("an ended table changes")
	}
}
