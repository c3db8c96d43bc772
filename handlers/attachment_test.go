package handlers_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store/storetest"

	"golang.org/x/net/html"
)

// file is one file of a form, as a browser sends it.
type file struct {
	field, name, kind string
	data              []byte
}

func screenshot(t testing.TB, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// upload sends a form with files, as its browser would.
func (b *browser) upload(a *answer, testid string, files []file, set ...string) *answer {
	b.t.Helper()
	action, form := a.form(testid)
	for i := 0; i+1 < len(set); i += 2 {
		form.Set(set[i], set[i+1])
	}
	kind, body := multipartOf(b.t, form, files)
	return b.postBody(action, kind, body)
}

func multipartOf(t testing.TB, form url.Values, files []file) (kind string, body io.Reader) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for _, f := range files { // before the fields: what is typed must not be lost with them
		h := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"; filename="%s"`, f.field, f.name)}, "Content-Type": {f.kind}}
		p, err := w.CreatePart(h)
		if err == nil {
			_, err = p.Write(f.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, list := range form {
		for _, v := range list {
			if err := w.WriteField(name, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), &buf
}

func (b *browser) postBody(path, kind string, body io.Reader) *answer {
	b.t.Helper()
	req, err := http.NewRequest(http.MethodPost, b.url+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header = http.Header{"Origin": {b.url}, "Sec-Fetch-Site": {"same-origin"}, "Content-Type": {kind}, "Accept-Language": {"en"}}
	res, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	a := &answer{t: b.t, status: res.StatusCode, to: res.Header.Get("Location"), header: res.Header, body: string(raw)}
	if a.doc, err = html.Parse(bytes.NewReader(raw)); err != nil {
		b.t.Fatal(err)
	}
	return a
}

// links finds the addresses of all attachments on a page.
func (a *answer) attachments() []string {
	var out []string
	find(a.doc, func(n *html.Node) bool {
		if to := attr(n, "href"); n.Data == "a" && attr(n, "class") != "thumb" && strings.Contains(to, "/attachments/") {
			out = append(out, to)
		}
		return false
	})
	return out
}

// TestFilesOfACase brings a screenshot and a document with an answer: the second person
// sees both, and each is served so that it can do nothing.
func TestFilesOfACase(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops, ops2 := h.as(t, "ops"), h.as(t, "ops2")
	shot, doc := screenshot(t, 640, 360), []byte("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")
	files := []file{{"not_done_files", `<b>log'.png`, "text/html", shot}, {"files_destination", "search.pdf", "image/svg+xml", doc},
		{"done_files", "of another answer.png", "image/png", []byte("<script>")}, {"not_done_files", "", "application/octet-stream", nil}}
	asked := ops.upload(ops.get(opPath(id)), "form-reconcile", files, checked("finding", "not_done", "then", "request_reexecution", "not_done_how", "log", "not_done_evidence", "From 9 to 10.")...)
	asked.want(303)
	h.wantState(t, id, operation.ReexecutionRequested)

	page := ops2.get(opPath(id)).want(200).says("A log or an export of Plain service (sandbox) shows none. From 9 to 10.", `<b>log'.png`, "search.pdf")
	if form := page.has("panel"); find(form, func(n *html.Node) bool { return attr(n, "data-testid") == "attachment" }) == nil {
		t.Error("the second person's form does not show what is attached")
	}
	seen := map[string]bool{}
	for _, to := range page.attachments() {
		a := ops2.get(to).want(200)
		want, kind, how := string(shot), "image/png", "inline"
		if a.header.Get("Content-Type") == "application/pdf" {
			want, kind, how = string(doc), "application/pdf", "attachment"
		}
		seen[kind] = true
		if a.body != want || a.header.Get("Content-Type") != kind {
			t.Errorf("%s: %d bytes of %s", to, len(a.body), a.header.Get("Content-Type"))
		}
		for name, v := range map[string]string{"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'", "Content-Disposition": how + "; filename=atc_",
			"Cache-Control": "private", "Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY"} {
			if got := a.header.Get(name); !strings.HasPrefix(got, v) {
				t.Errorf("%s: %s is %q, want %q", kind, name, got, v)
			}
		}
		again := ops2.send(http.MethodGet, to, nil, nil)
		if again.header.Get("Etag") == "" {
			t.Error("no tag to ask with")
		}
	}
	if len(seen) != 2 {
		t.Errorf("kinds served: %v", seen)
	}
}

// TestAttachmentIsForWhoSeesTheOperation: nobody is asked to sign in; a stranger learns
// nothing, not even that it is there.
func TestAttachmentIsForWhoSeesTheOperation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	other := h.Receive(t, storetest.CouponEvent())[0]
	ops := h.as(t, "ops")
	ops.upload(ops.get(opPath(id)), "form-evidence", []file{{"files", "a.png", "image/png", screenshot(t, 2, 2)}}, "evidence", "See the picture.").want(303)
	to := ops.get(opPath(id)).attachments()[0]
	ops.get(to).want(200)
	if a := h.nobody(t).get(to).want(303); !strings.HasPrefix(a.to, "/sign-in") {
		t.Errorf("nobody is led to %s", a.to)
	}
	h.limited(t, operation.RoleOpsOwner, "campaign-follow-up")
	stranger := h.nobody(t)
	h.session(t, stranger, h.Users["only-ops_owner"])
	foreign := stranger.get(to).want(404)
	missing := stranger.get(opPath(id) + "/attachments/atc_00000000000000000000000000").want(404)
	if foreign.text() != missing.text() {
		t.Errorf("a foreign attachment is told from a missing one: %s", foreign.text())
	}
	file := to[strings.LastIndex(to, "/"):]
	for _, path := range []string{opPath(other) + "/attachments" + file, opPath(id) + "/attachments/x", opPath(id) + "/attachments/%00", opPath(id) + "/attachments" + strings.ToUpper(file)} {
		ops.get(path).want(404)
	}
	if a := h.as(t, "auditor").get(to); a.status != 200 {
		t.Errorf("the auditor gets %d", a.status)
	}
}

// TestFilesRefused: what is not taken is named at its field, what was typed stays, the
// other files must be chosen again, and nothing is recorded.
func TestFilesRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	ops := h.as(t, "ops")
	page := ops.get(opPath(id))
	good := file{"done_files", "good.png", "image/png", screenshot(t, 2, 2)}
	many := make([]file, 11)
	for i := range many {
		many[i] = good
	}
	for name, x := range map[string]struct {
		files []file
		says  string
	}{
		"html":     {[]file{good, {"done_files", "page.png", "image/png", []byte("<!DOCTYPE html><script>alert(1)</script>")}}, "“page.png” is not of a kind that is accepted."},
		"polyglot": {[]file{{"done_files", "a.gif", "image/gif", []byte("GIF89a/*<script>")}}, "“a.gif” is not of a kind"},
		"svg":      {[]file{{"done_files", "a.svg", "image/png", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)}}, "“a.svg” is not of a kind"},
		"cut":      {[]file{{"done_files", "cut.png", "image/png", good.data[:30]}}, "“cut.png” cannot be read to its end"},
		"empty":    {[]file{{"done_files", "empty.png", "image/png", nil}}, "“empty.png” is empty."},
		"large":    {[]file{{"done_files", "large.png", "image/png", make([]byte, 10<<20+1)}}, "“large.png” is too large"},
		"together": {[]file{{"done_files", "1.pdf", "", pdfOf(9 << 20)}, {"done_files", "2.pdf", "", pdfOf(9 << 20)}, {"done_files", "3.pdf", "", pdfOf(9 << 20)}}, "“3.pdf” is too large"},
		"many":     {many, "At most 10 files can come with one form."},
	} {
		a := ops.upload(page, "form-reconcile", x.files, "finding", "done", "done_reference", "note_1", "done_evidence", "Typed with care.")
		if a.want(422).says(x.says, "Typed with care.", "The text is kept"); a.has("error-done_files") == nil {
			t.Errorf("%s: the field is not marked", name)
		}
	}
	h.wantState(t, id, operation.Review)
	if n := h.Count(t, "attachment_bodies"); n != 0 {
		t.Errorf("%d files are kept", n)
	}
	action, _ := page.form("form-reconcile")
	kind, _ := multipartOf(t, nil, nil)
	huge := io.LimitReader(neverEnding('x'), 70<<20)
	ops.postBody(action, kind, io.MultiReader(strings.NewReader("--"+strings.TrimPrefix(kind, "multipart/form-data; boundary=")+"\r\nContent-Disposition: form-data; name=\"done_files\"; filename=\"x.png\"\r\n\r\n"), huge)).want(413).says("Too large", "Nothing was changed")
	// a form without files has the smaller bound of all pages
	ops.upload(page, "form-pause", nil, "reason", strings.Repeat("x", 3<<20)).want(413)
}

func pdfOf(n int) []byte {
	return append([]byte("%PDF-1.4\n"), append(bytes.Repeat([]byte("x"), n), "\n%%EOF"...)...)
}

type neverEnding byte

func (b neverEnding) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

// TestFieldCase42_FilesMustBeChosenAgain: the session ended meanwhile. The text comes
// back, the files do not, and the page says so; nothing is decided by signing in.
func TestFieldCase42_FilesMustBeChosenAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const pass = "a long pass phrase"
	h.SetPassword(t, "ops", pass)
	id := h.unknown(t)
	ops := h.as(t, "ops")
	page := ops.get(opPath(id)).want(200)
	if _, err := h.Owner.Exec(`UPDATE sessions SET revoked_at = clock_timestamp()`); err != nil {
		t.Fatal(err)
	}
	shot := file{"done_files", "a.png", "image/png", append(screenshot(t, 2, 2), make([]byte, 200<<10)...)}
	sent := ops.upload(page, "form-reconcile", []file{shot}, "finding", "done", "done_reference", "note_1", "done_how", "seen", "done_evidence", "Typed with care.").want(303)
	in := ops.follow(sent).want(200)
	back := ops.follow(ops.submit(in, "form-signin", "email", storetest.Email("ops"), "password", pass).want(303)).want(200)
	back.says("Typed with care.", "The text is kept. 1 file must be chosen again.")
	h.wantState(t, id, operation.Review)
	ops.submit(back, "form-reconcile").want(303)
	h.wantState(t, id, operation.Confirmed)
}
