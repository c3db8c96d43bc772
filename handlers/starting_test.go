package handlers_test

import (
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"holdpoint/store"
	"holdpoint/systems"
)

// starter lets the demonstration's campaign be started by hand.
func (h *house) starter(t *testing.T) {
	t.Helper()
	raw, err := fs.ReadFile(systems.Sources(), "starter.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw) + "flows: [campaign-follow-up]\n"
	if _, err := h.Store.Apply(t.Context(), store.System("command"), []store.File{{Name: "starter.yaml", Source: []byte(text)}}); err != nil {
		t.Fatal(err)
	}
}

// An author starts a run by a form, without scripts: errors at the fields, once for a
// double click.
func TestStartByForm(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.starter(t)
	b := h.as(t, "author")
	a := b.do(http.MethodGet, "/flows/campaign-follow-up/start", nil)
	action, form := a.form("form-start")
	form.Set("content.email", "no address")
	form.Set("content.campaign", "Spring <b>")
	bad := b.do(http.MethodPost, action, form)
	if bad.status != http.StatusUnprocessableEntity || !strings.Contains(bad.body, `error-content.email`) || !strings.Contains(bad.body, `error-content.customer_ref`) || !strings.Contains(bad.body, "Spring &lt;b&gt;") {
		t.Fatalf("%d %s", bad.status, bad.body)
	}
	action, form = bad.form("form-start")
	form.Set("content.email", "kim@example.test")
	form.Set("content.customer_ref", "C\x001")
	bad = b.do(http.MethodPost, action, form)
	if bad.status != http.StatusUnprocessableEntity || !strings.Contains(bad.body, `error-content.customer_ref`) || !strings.Contains(bad.body, "C\uFFFD1") || !strings.Contains(bad.body, "kim@example.test") || h.Count(t, "runs") != 0 {
		t.Fatalf("a character that cannot be stored: %d %s", bad.status, bad.body)
	}
	action, form = bad.form("form-start")
	form.Set("form_id", "a\x00b")
	if no := b.do(http.MethodPost, action, form); no.status != http.StatusUnprocessableEntity || strings.Contains(no.body, "form-start") {
		t.Errorf("what no page could mark: %d", no.status)
	}
	_, form = bad.form("form-start")
	form.Set("content.customer_ref", "C-1")
	for range 2 {
		b.do(http.MethodPost, action, form)
	}
	if n := h.Count(t, "runs"); n != 1 {
		t.Errorf("a double click gives %d runs", n)
	}
	if a := h.as(t, "lead").do(http.MethodGet, "/flows/campaign-follow-up/start", nil); a.status != http.StatusForbidden {
		t.Errorf("an approver: %d", a.status)
	}
}

// A table is looked at before it begins, and its results can be taken along.
func TestStartByTable(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.starter(t)
	b := h.as(t, "author")
	csv := []byte("Customer;E-Mail;Campaign\nC-1;a@example.test;Fr\xfchling\nC-2;nonsense;x\n")
	a := b.do(http.MethodGet, "/flows/campaign-follow-up/start", nil)
	if none := b.upload(a, "form-table", nil); none.status != http.StatusUnprocessableEntity {
		t.Errorf("without a file: %d", none.status)
	}
	a = b.follow(b.upload(a, "form-table", []file{{"table", "=people.csv", "text/csv", csv}}))
	if a.status != http.StatusOK || h.Count(t, "runs") != 0 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	action, form := a.form("form-reading")
	if form.Get("encoding") != "windows-1252" || form.Get("separator") != "semicolon" || form.Get("column.email") != "2" {
		t.Errorf("read as %v", form)
	}
	form.Set("column.customer_ref", "1")
	b.do(http.MethodPost, action, form)
	a = b.do(http.MethodGet, strings.TrimSuffix(action, "/reading"), nil)
	if !strings.Contains(a.body, "Frühling") {
		t.Error("the rows are not shown")
	}
	action, form = a.form("form-begin")
	for range 2 {
		b.do(http.MethodPost, action, form)
	}
	page := strings.TrimSuffix(action, "/begin")
	a = b.do(http.MethodGet, page, nil)
	if n := strings.Count(a.body, `data-testid="start-result"`); n != 2 || h.Count(t, "runs") != 1 {
		t.Fatalf("%d results, %d runs: %s", n, h.Count(t, "runs"), a.body)
	}
	_, out := b.file(t, page+"/results.csv")
	if !strings.Contains(out, "'=people.csv,1,started") || !strings.Contains(out, "2,refused,inputs,email") {
		t.Errorf("%s", out)
	}
}

// The page of a source tells what came, what was refused, and which secrets are there.
func TestSourcePage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if _, err := h.Store.RefuseDelivery(t.Context(), store.Unaccepted{Source: "shopify", Verdict: store.VerdictRefused, Reason: "signature: no", Status: 401}); err != nil {
		t.Fatal(err)
	}
	for who, sees := range map[string]bool{"lead": true, "ops": true} {
		b := h.as(t, who)
		if a := b.do(http.MethodGet, "/sources", nil); a.status != 200 || strings.Count(a.body, `data-testid="source-row"`) != 5 {
			t.Errorf("%s: %d", who, a.status)
		}
		a := b.do(http.MethodGet, "/sources/shopify", nil)
		if a.status != 200 || strings.Contains(a.body, `data-code="signature"`) != sees || strings.Contains(a.body, "env:SHOPIFY_WEBHOOK_SECRET_OLD") != sees {
			t.Errorf("%s: %d %s", who, a.status, a.body)
		}
	}
}
