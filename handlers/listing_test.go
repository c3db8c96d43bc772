package handlers_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
)

const mailingFile = "Mail;Name;cents;Shoe size\nann@example.test;Ann;100;37\nben@example.test;Ben;200;44\nBen@Example.test;Ben;300;44\n"

// An author hands a list in, sees what it comes to, writes what is the same for all, and
// makes the batch: without scripts, and once however often the button is pressed.
func TestListBecomesABatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "")
	b := h.as(t, "author")
	const fresh = "/flows/mailing/batches/new"
	if a := b.do(http.MethodGet, "/flows/mailing", nil); !strings.Contains(a.body, fresh) {
		t.Error("the flow's page does not lead there")
	}
	a := b.do(http.MethodGet, fresh, nil)
	if none := b.handIn(t, a, "form-list", nil); none.status != http.StatusUnprocessableEntity || !strings.Contains(none.body, "error-list") {
		t.Errorf("without a file: %d", none.status)
	}
	if bad := b.handIn(t, a, "form-list", []file{{"list", "a.csv", "text/csv", []byte("a\n\"b\n")}}); bad.status != http.StatusSeeOther {
		t.Errorf("a file with a fault is shown with it: %d", bad.status)
	} else if p := b.follow(bad); !strings.Contains(p.body, `data-testid="list-broken"`) || strings.Contains(p.body, `data-testid="create"`) {
		t.Errorf("the fault: %s", p.body)
	}
	a = b.do(http.MethodGet, fresh, nil)
	sent := b.handIn(t, a, "form-list", []file{{"list", "=people.csv", "text/csv", []byte(mailingFile)}})
	page := sent.header.Get("Location")
	a = b.follow(sent)
	action, form := a.form("form-list")
	if a.status != 200 || form.Get("encoding") != "utf-8" || form.Get("separator") != "semicolon" || form.Get("column.name") != "2" || form.Get("column.email") != "" {
		t.Fatalf("%d read as %v", a.status, form)
	}
	if !strings.Contains(a.body, "Shoe size") || strings.Contains(a.body, "ann@example.test") {
		t.Error("a column that nothing takes is not named, or an address stands in no field")
	}
	form.Set("column.email", "1")
	form.Set("content.text.subject", "Hello {{name}} <b>")
	a = b.follow(b.do(http.MethodPost, action, form))
	for _, want := range []string{"Hello Ann &lt;b&gt;", `data-testid="list-left_out"`, `data-testid="list-item"`} {
		if !strings.Contains(a.body, want) {
			t.Errorf("the preview lacks %s", want)
		}
	}
	if !strings.Contains(a.body, "error-content.in.season") || !strings.Contains(a.body, "No batch can be made yet.") || strings.Contains(a.body, "It begins as a draft") || strings.Contains(a.body, `data-testid="create"`) {
		t.Error("the preview does not ask for the input that is missing")
	}
	action, form = a.form("form-list")
	create := strings.TrimSuffix(action, "look") + "create"
	if bad := b.do(http.MethodPost, create, form); bad.status != http.StatusUnprocessableEntity || !strings.Contains(bad.body, "error-content.in.season") || !strings.Contains(bad.body, "Hello {{name}} &lt;b&gt;") {
		t.Fatalf("without an input that is needed: %d", bad.status)
	}
	form.Set("content.in.season", "spr\x00ing")
	for _, to := range []string{action, create} {
		if bad := b.do(http.MethodPost, to, form); bad.status != http.StatusUnprocessableEntity || !strings.Contains(bad.body, "error-content.in.season") || !strings.Contains(bad.body, "spr\uFFFDing") {
			t.Fatalf("a character that cannot be stored: %d", bad.status)
		}
	}
	form.Set("content.in.season", "spring")
	changed := b.do(http.MethodPost, create, form)
	if changed.status != http.StatusUnprocessableEntity || h.Count(t, "batches") != 0 || !strings.Contains(changed.body, "our spring offers") || !strings.Contains(changed.body, `data-testid="create"`) {
		t.Fatalf("what was changed is shown first: %d", changed.status)
	}
	_, form = changed.form("form-list")
	var to string
	for range 2 {
		done := b.do(http.MethodPost, create, form)
		if to = done.header.Get("Location"); done.status != http.StatusSeeOther || !strings.HasPrefix(to, "/batches/bat_") {
			t.Fatalf("%d %s", done.status, done.body)
		}
	}
	if h.Count(t, "batches") != 1 || h.Count(t, "runs") != 1 || h.BatchState(t, operation.BatchID(strings.TrimPrefix(to, "/batches/"))) != operation.BatchPendingApproval {
		t.Error("a double click gives several, or it does not wait for approval")
	}
	if a := b.do(http.MethodGet, page, nil); a.status != http.StatusSeeOther || a.header.Get("Location") != to {
		t.Errorf("the list leads to its batch: %d", a.status)
	}
	h.sameListAgain(t, b, to)
	h.listIsTheirs(t, to)
}

// handIn sends a form with its file behind its fields, as browsers do.
func (b *browser) handIn(t *testing.T, a *answer, testid string, files []file) *answer {
	t.Helper()
	action, form := a.form(testid)
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for name := range form {
		if err := w.WriteField(name, form.Get(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		p, err := w.CreateFormFile(f.field, f.name)
		if err == nil {
			_, err = p.Write(f.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.postBody(action, w.FormDataContentType(), &buf)
}

// sameListAgain brings the same file once more.
func (h *house) sameListAgain(t *testing.T, b *browser, batch string) {
	t.Helper()
	a := b.follow(b.handIn(t, b.do(http.MethodGet, "/flows/mailing/batches/new", nil), "form-list", []file{{"list", "other.csv", "text/csv", []byte(mailingFile)}}))
	if !strings.Contains(a.body, `data-testid="list-known"`) || !strings.Contains(a.body, `href="`+batch+`"`) {
		t.Error("it is not said which batch the file made")
	}
	action, form := a.form("form-list")
	form.Set("column.email", "1")
	form.Set("content.in.season", "autumn")
	a = b.follow(b.do(http.MethodPost, action, form))
	_, form = a.form("form-list")
	create := strings.TrimSuffix(action, "look") + "create"
	if no := b.do(http.MethodPost, create, form); no.status != http.StatusUnprocessableEntity || !strings.Contains(no.body, "again-error") || h.Count(t, "batches") != 1 {
		t.Errorf("the same file again: %d", no.status)
	}
	_, drop := a.form("form-drop")
	if gone := b.do(http.MethodPost, strings.TrimSuffix(action, "look")+"drop", drop); gone.status != http.StatusSeeOther || h.Count(t, "list_files WHERE ended_at IS NULL") != 1 {
		t.Errorf("dropped: %d", gone.status) // the one with the fault is left
	}
	// Another list for the batch that is there: what changes is said before.
	a = b.do(http.MethodGet, batch+"/revise", nil)
	a = b.follow(b.handIn(t, a, "form-list", []file{{"list", "new.csv", "text/csv", []byte("email,name\nben@example.test,Ben\ncy@example.test,=Cy\nno address,X\n")}}))
	if !strings.Contains(a.body, `data-testid="list-diff"`) || !strings.Contains(a.body, "cy@example.test") {
		t.Fatalf("the differences: %d %s", a.status, a.body)
	}
	if _, csv := b.file(t, action[:len("/lists/")]+listOf(a.body)+"/problems.csv"); !strings.Contains(csv, "3,no address,no address,item,email") {
		t.Errorf("problems: %s", csv)
	}
	// Other text for all items.
	a = b.do(http.MethodGet, batch+"/revise", nil)
	action, form = a.form("form-text")
	form.Set("content.text.subject", "Bye {{name}}")
	form.Set("do", "look")
	a = b.do(http.MethodPost, action, form)
	if a.status != 200 || !strings.Contains(a.body, "Bye Ann") || !strings.Contains(a.body, `data-testid="save"`) {
		t.Fatalf("other text: %d %s", a.status, a.body)
	}
	action, form = a.form("form-text")
	form.Set("do", "save")
	if saved := b.do(http.MethodPost, action, form); saved.status != http.StatusSeeOther || h.Count(t, "batch_versions") != 2 {
		t.Errorf("saved: %d %s", saved.status, saved.body)
	}
	// The other list becomes a version: the run has its season already, and it is not asked again.
	a = b.do(http.MethodGet, batch+"/revise", nil)
	a = b.follow(b.handIn(t, a, "form-list", []file{{"list", "newer.csv", "text/csv", []byte("email,name\nben@example.test,Ben\ncy@example.test,Cy\n")}}))
	action, form = a.form("form-list")
	if made := b.do(http.MethodPost, strings.TrimSuffix(action, "look")+"create", form); made.status != http.StatusSeeOther || h.Count(t, "batch_versions") != 3 {
		t.Errorf("made: %d %s", made.status, made.body)
	}
}

func listOf(body string) string {
	at := strings.Index(body, "/lists/lst_") + len("/lists/")
	return body[at : at+len("lst_")+26]
}

// listIsTheirs: lists are handed in by authors, and looked at by whoever handed them in.
func (h *house) listIsTheirs(t *testing.T, batch string) {
	t.Helper()
	l, err := h.Store.AddList(t.Context(), h.As("author"), store.NewList{Flow: "mailing", Stage: "letter", FormID: "mine"}, strings.NewReader(mailingFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"lead", "auditor", "ops"} {
		b := h.as(t, who)
		for path, want := range map[string]int{"/flows/mailing/batches/new": 403, "/lists/" + string(l.ID): 403, batch + "/revise": 403} {
			if a := b.do(http.MethodGet, path, nil); a.status != want {
				t.Errorf("%s opens %s: %d", who, path, a.status)
			}
		}
	}
}
