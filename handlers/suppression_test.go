package handlers_test

import (
	"net/http"
	"strings"
	"testing"
)

// The suppression list by its pages, without scripts: add, find, import after a look at what
// it would change, take along, take off.
func TestSuppressionPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b, ops := h.as(t, "author"), h.as(t, "ops")
	a := b.do(http.MethodGet, "/suppressions", nil)
	action, form := a.form("form-add")
	form.Set("address", " ")
	bad := b.do(http.MethodPost, action, form)
	if bad.status != http.StatusUnprocessableEntity || !strings.Contains(bad.body, "error-address") {
		t.Fatalf("%d %s", bad.status, bad.body)
	}
	action, form = bad.form("form-add")
	form.Set("address", "Kim@Example.test")
	form.Set("channel", "effect:email")
	for range 2 {
		if x := b.do(http.MethodPost, action, form); x.status != http.StatusSeeOther {
			t.Fatalf("%d %s", x.status, x.body)
		}
	}
	if n := h.Count(t, "suppressions WHERE address = 'kim@example.test' AND scope = 'effect' AND channel = 'email'"); n != 1 {
		t.Errorf("a double click gives %d entries", n)
	}

	a = b.do(http.MethodGet, "/suppressions", nil)
	if none := b.upload(a, "form-import", nil); none.status != http.StatusUnprocessableEntity {
		t.Errorf("without a file: %d", none.status)
	}
	csv := []byte("Name;E-Mail\nKim;KIM@example.test\nLee;lee@example.test\nLee;LEE@example.test\n;\nNobody;\nM\xfcller;=mueller@example.test\nTwo;x@example.test, y@example.test\nMore;v@example.test;w@example.test\nWord;nobody\n")
	up := b.upload(a, "form-import", []file{{"file", "people.csv", "text/csv", csv}})
	page := b.follow(up)
	if page.status != http.StatusOK || h.Count(t, "suppressions") != 1 {
		t.Fatalf("%d %s", page.status, page.body)
	}
	for _, want := range []string{"8 rows", "3 new", "1 again in the file", "4 without an address", "one identifier with a digit in it"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the preview does not say %q", want)
		}
	}
	action, form = page.form("form-begin")
	if form.Get("encoding") != "windows-1252" || form.Get("separator") != "semicolon" || form.Get("column") != "2" {
		t.Errorf("read as %v", form)
	}
	for range 2 {
		if x := b.do(http.MethodPost, action, form); x.status != http.StatusSeeOther {
			t.Fatalf("%d %s", x.status, x.body)
		}
	}
	if n := h.Count(t, "suppressions WHERE source = 'import'"); n != 3 || h.Count(t, "suppression_files") != 0 {
		t.Errorf("%d imported, %d files kept", n, h.Count(t, "suppression_files"))
	}
	if other := ops.do(http.MethodGet, strings.TrimSuffix(action, "/begin"), nil); other.status != http.StatusNotFound {
		t.Errorf("somebody else's file: %d", other.status)
	}

	found := b.do(http.MethodGet, "/suppressions?q=KIM", nil)
	if n := strings.Count(found.body, `data-testid="suppression-row"`); n != 2 {
		t.Errorf("%d rows for kim", n)
	}
	_, out := b.file(t, "/suppressions/export.csv?reason=unsubscribed")
	if !strings.Contains(out, "'=mueller@example.test") || strings.Count(out, "\n") != 5 {
		t.Errorf("the file: %s", out)
	}
	if h.Count(t, "history WHERE action = 'export_done' AND links LIKE '%suppressions%'") != 1 {
		t.Error("the export is not recorded")
	}

	var id string
	if err := h.Owner.QueryRow(`SELECT id FROM suppressions WHERE scope = 'effect'`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	if mine := b.do(http.MethodGet, "/suppressions/"+id, nil); mine.status != http.StatusOK || strings.Contains(mine.body, "form-lift") {
		t.Errorf("an author may take it off: %d", mine.status)
	}
	one := ops.do(http.MethodGet, "/suppressions/"+id, nil)
	action, form = one.form("form-lift")
	if x := ops.do(http.MethodPost, action, form); x.status != http.StatusUnprocessableEntity {
		t.Errorf("without a reason: %d", x.status)
	}
	form.Set("reason", "They subscribed again.")
	if x := ops.do(http.MethodPost, action, form); x.status != http.StatusSeeOther || h.Count(t, "suppressions WHERE lifted_at IS NOT NULL") != 1 {
		t.Errorf("%d %s", x.status, x.body)
	}
	if a := ops.do(http.MethodGet, "/suppressions?lifted=yes", nil); !strings.Contains(a.body, id) {
		t.Error("the lifted one is not found")
	}
}
