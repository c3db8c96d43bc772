package handlers_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"golang.org/x/net/html"
)

// count counts the elements with a data-testid.
func (a *answer) count(testid string) int { return strings.Count(a.body, `data-testid="`+testid+`"`) }

// TestLetterIsShownAsAMail shows who really receives it, what its links really open, and
// what travels with it.
func TestLetterIsShownAsAMail(t *testing.T) {
	t.Parallel()
	h := letterHouse(t)
	id := h.written(t, letter("cc", []any{"Bob <bob@example.test>"}, "reply_to", "help@example.test", "urgent", true,
		"html", `<p>Dear</p><a href="https://evil.test/x">bank.example</a>`, "attachments", []any{map[string]any{"filename": "a.pdf", "content": "aGVsbG8="}}))
	page := h.as(t, "lead").get(opPath(id)).want(200)
	page.says("From Shop <shop@example.test>", "Reply-To help@example.test", "Bob <bob@example.test>", "archive@example.test", "3 recipients",
		"a.pdf", "5 bytes", "opens evil.test", "Its words name bank.example, but it opens evil.test.", "Also in this content", "One mail goes to 3 recipients")
	if page.has("mail-link") == nil || page.has("attachments") == nil {
		t.Error("links or attachments are missing")
	}
}

// TestBillIsShownAsFields shows amounts of minor units and lines as a table.
func TestBillIsShownAsFields(t *testing.T) {
	t.Parallel()
	h := letterHouse(t)
	bill, _ := h.letters(t)
	newVersion(h, t, bill, "author", map[string]any{"customer": "cus_1", "note": "x", "currency": "jpy", "amount": 1250,
		"lines": []any{map[string]any{"name": "Tea", "amount": 1000}, map[string]any{"name": "Post", "amount": 250}}}, true)
	h.as(t, "lead").get(opPath(bill)).want(200).says("1,250 JPY", "Stands in the content as 1250, in minor units.", "1,000 JPY", "Sum of the lines 1,250 JPY")
}

// TestAnyTwoVersionsCanBeCompared chooses both sides, sees recipients and amounts first,
// and how many words changed.
func TestAnyTwoVersionsCanBeCompared(t *testing.T) {
	t.Parallel()
	h := letterHouse(t)
	bill, id := h.letters(t)
	newVersion(h, t, id, "author", letter("text", "Dear Ann, we are sorry."), true)
	newVersion(h, t, id, "author", letter("to", []any{"ann@example.test", "eve@example.test"}, "text", "Dear Ann, we are glad and proud."), true)
	newVersion(h, t, id, "author", letter("to", []any{"eve@example.test"}, "text", "お荷物は土曜日に届きます。"), true)
	lead := h.as(t, "lead")
	n := h.Count(t, "content_versions WHERE operation_id = $1", string(id))
	page := lead.get(opPath(id) + fmt.Sprintf("?view=changes&since=%d&to=%d", n-2, n-1)).want(200)
	page.says("Subject Spring unchanged", "3 words added", "1 word removed", fmt.Sprintf("Changes since version %d", n-2))
	if got := page.changed(); got != "added eve@example.test" {
		t.Errorf("recipients: %s", got)
	}
	if got := lead.get(opPath(id) + "?view=changes").want(200).says("characters added").changed(); got != "removed ann@example.test" {
		t.Errorf("recipients: %s", got)
	}
	back := lead.get(opPath(id) + fmt.Sprintf("?view=changes&since=%d&to=%d", n, n-2)).want(200)
	if got := back.changed(); got != "added ann@example.test removed eve@example.test" {
		t.Errorf("recipients back: %s", got)
	}
	lead.get(opPath(id) + "?view=changes&since=99&to=-1").want(200).says(fmt.Sprintf("Changes since version %d", n-1))

	newVersion(h, t, bill, "author", map[string]any{"customer": "cus_1", "note": "x", "currency": "eur", "amount": 1250}, true)
	newVersion(h, t, bill, "author", map[string]any{"customer": "cus_1", "note": "x", "currency": "eur", "amount": 125000}, true)
	lead.get(opPath(bill) + "?view=changes").want(200).says("Amount 12.50 EUR → becomes 1,250.00 EUR")
}

// changed reads the recipients that a page says are added or removed.
func (a *answer) changed() string {
	var out []string
	find(a.doc, func(n *html.Node) bool {
		if c := attr(n, "data-change"); c == "added" || c == "removed" {
			out = append(out, c, strings.TrimSpace(textIn(n)))
		}
		return false
	})
	return strings.Join(out, " ")
}

// TestWhatRanIsWhatWasApproved shows both hashes and the holes, and lets everybody check
// them; a record that disagrees is said aloud.
func TestWhatRanIsWhatWasApproved(t *testing.T) {
	t.Parallel()
	h := letterHouse(t)
	bill, _ := h.letters(t)
	newVersion(h, t, bill, "author", map[string]any{"customer": "cus_1", "note": "x"}, true)
	h.Approve(t, bill, "lead")
	d := h.dispatched(t, bill, operation.OutcomeConfirmed, operation.Proof{Status: 201}, "INV-1")
	lead := h.as(t, "lead")
	page := lead.get(opPath(bill)).want(200).says("What was sent is what was approved.", "{operation_id} "+string(bill), "confirmed by destination")
	want, err := d.Request.Hash()
	if err != nil {
		t.Fatal(err)
	}
	hash := hex.EncodeToString(want[:])
	if strings.Count(page.body, hash) < 2 || page.count("same") != 1 {
		t.Errorf("the hash of the bytes stands %d times, in %d facts", strings.Count(page.body, hash), page.count("same"))
	}
	at := opPath(bill) + "/attempts/" + string(d.Attempt) + "/request"
	canon := lead.get(at + "?form=canonical").want(200)
	if sum := sha256.Sum256([]byte(canon.body)); hex.EncodeToString(sum[:]) != hash {
		t.Error("the canonical form does not have the hash that is shown")
	}
	if body := lead.get(at + "?form=body").want(200); body.body != d.Request.Body {
		t.Errorf("body %q, sent %q", body.body, d.Request.Body)
	}
	// somebody with the database in their hands changes one byte of what was sent
	for _, x := range []struct{ change, says string }{
		{`UPDATE attempts SET resolved = replace(resolved, 'cus_1', 'cus_2') WHERE id = '` + string(d.Attempt) + `'`, "The stored bytes no longer have the hash"},
		{`UPDATE version_bodies SET content = replace(content, '"x"', '"y"') WHERE version_id IN (SELECT version_id FROM attempts WHERE id = '` + string(d.Attempt) + `')`, "The version’s text no longer has the hash"},
	} {
		h.force(t, x.change)
		page = lead.get(opPath(bill)).want(200).says("does not agree with what was approved", x.says)
		if page.has("same") == nil || attr(page.has("same"), "role") != "alert" {
			t.Error("it is not said aloud")
		}
	}
}

// force changes what no trigger would let be changed.
func (h *house) force(t *testing.T, statement string) {
	t.Helper()
	own, err := url.Parse(h.OwnerURL)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := url.Parse(storetest.AdminURL(t))
	if err != nil {
		t.Fatal(err)
	}
	admin.Path = own.Path
	db, err := sql.Open("postgres", admin.String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for _, s := range []string{`SET LOCAL session_replication_role = replica`, statement, `SET LOCAL session_replication_role = origin`} {
		if _, err := tx.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// TestTextFilesAreOnlyText gives hostile content whole, as a file that no browser runs.
func TestTextFilesAreOnlyText(t *testing.T) {
	t.Parallel()
	h := letterHouse(t)
	id := h.written(t, letter("html", "<script>alert(1)</script>"))
	lead := h.as(t, "lead")
	page := lead.get(opPath(id)).want(200)
	version := h.version(t, id)
	for _, path := range []string{"/content", "/content?field=html", "/request"} {
		a := lead.get(opPath(id) + "/versions/" + version + path).want(200)
		if a.header.Get("Content-Type") != "text/plain; charset=utf-8" || a.header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment;") || !strings.HasPrefix(a.header.Get("Content-Security-Policy"), "sandbox; default-src 'none'") {
			t.Errorf("%s: headers %v", path, a.header)
		}
	}
	if a := lead.get(opPath(id) + "/versions/" + version + "/content?field=html"); a.body != "<script>alert(1)</script>" {
		t.Errorf("the source is %q", a.body)
	}
	if !strings.Contains(page.body, "/versions/"+version+"/request") {
		t.Error("the page does not lead to the exact request")
	}
	lead.get(opPath(id) + "/versions/" + version + "/content?field=nothing").want(404)
	h.limited(t, operation.RoleApprover, "newsletter-coupon")
	other := h.nobody(t)
	h.session(t, other, h.Users["only-approver"])
	for _, path := range []string{"/content", "/request", "/preview"} {
		other.get(opPath(id) + "/versions/" + version + path).want(404)
	}
}

func (h *house) version(t *testing.T, id operation.ID) (v string) {
	t.Helper()
	if err := h.Owner.QueryRow(`SELECT version_id FROM operations WHERE id = $1`, string(id)).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFiveMegabytesMakeASmallPage writes letters of five megabytes: their pages, and the
// comparison of both, stay small and say how much is left out.
func TestFiveMegabytesMakeASmallPage(t *testing.T) {
	t.Parallel()
	h := letterHouse(t)
	_, id := h.letters(t)
	text := strings.Repeat("A line of a very long letter, as nobody should write it.\n", 95_000)
	newVersion(h, t, id, "author", letter("text", text, "html", "<p>"+text[:1<<20]), true)
	newVersion(h, t, id, "author", letter("text", text[:2<<20]+"Another line.\n"+text[2<<20:], "html", "<p>"+text[:1<<20]), true)
	lead := h.as(t, "lead")
	for _, path := range []string{"", "?view=changes"} {
		start := time.Now()
		page := lead.get(opPath(id) + path).want(200)
		if len(page.body) > 200<<10 {
			t.Errorf("the page%s has %d bytes", path, len(page.body))
		}
		t.Logf("page%s: %d bytes in %v", path, len(page.body), time.Since(start))
	}
	lead.get(opPath(id)).says("Only the first 12 kB of 5.4 MB are shown here.", "Whole text, as a file", "Whole request as a file, 6.")
	lead.get(opPath(id)+"?view=changes").says("3 words added", "unchanged characters")
	if a := lead.get(opPath(id) + "/versions/" + h.version(t, id) + "/content?field=text").want(200); len(a.body) != len(text)+len("Another line.\n") {
		t.Errorf("the whole text has %d bytes", len(a.body))
	}
}

// TestTwoHundredAttemptsStayReadable shows the first and the newest attempts, and all of
// them behind a link.
func TestTwoHundredAttemptsStayReadable(t *testing.T) {
	t.Parallel()
	h := letterHouse(t)
	bill, _ := h.letters(t)
	newVersion(h, t, bill, "author", map[string]any{"customer": "cus_1", "note": "x"}, true)
	h.Approve(t, bill, "lead")
	h.dispatched(t, bill, operation.OutcomeNotStarted, operation.Proof{Code: "refused_connection", Excerpt: strings.Repeat("<answer>", 5000)}, "")
	h.force(t, `INSERT INTO attempts SELECT (jsonb_populate_record(a, jsonb_build_object('id', left(a.id, 26) || lpad(n::text, 4, '0'), 'number', n, 'fence', n))).* FROM attempts a, generate_series(2, 200) n WHERE a.operation_id = '`+string(bill)+`'`)
	lead := h.as(t, "lead")
	start := time.Now()
	page := lead.get(opPath(bill)).want(200).says("Attempt 1", "Attempt 2", "190 attempts between: show all", "Attempt 193", "Attempt 200")
	if n := page.count("attempt"); n != 10 || len(page.body) > 300<<10 {
		t.Errorf("%d attempts in %d bytes", n, len(page.body))
	}
	if page.count("same") != 1 || !strings.Contains(page.text(), "Sent, attempts 1, 2, 3 and 197 more") {
		t.Errorf("%d facts about what was sent: %s", page.count("same"), page.text())
	}
	t.Logf("%d bytes in %v", len(page.body), time.Since(start))
	if all := lead.get(opPath(bill) + "?all=attempts").want(200); all.count("attempt") != 200 {
		t.Errorf("%d attempts when all are asked for", all.count("attempt"))
	}
}

// TestRunSaysStageByStageWhatWillHappen reads the preview of a run as it goes on.
func TestRunSaysStageByStageWhatWillHappen(t *testing.T) {
	t.Parallel()
	h := letterHouse(t)
	bill, id := h.letters(t)
	lead := h.as(t, "lead")
	run := "/runs/" + h.runOf(t, bill)
	lead.get(run).want(200).says("Nothing is sent before its content is complete and approved.", "Waits for “The bill”, and nothing is sent before its content is complete and approved.", "Oli Ops")
	newVersion(h, t, bill, "author", map[string]any{"customer": "cus_1", "note": "x"}, true)
	newVersion(h, t, id, "author", letter(), true)
	lead.get(run).want(200).says("Nothing is sent before version 2 is approved.", "Waits for “The bill”, and nothing is sent before version 2 is approved.")
	h.Approve(t, bill, "lead")
	h.Approve(t, id, "lead")
	page := lead.get(run).want(200).says("Sent next to Letters, exactly as approved: version 2.", "Sent to Letters once “The bill” is satisfied, exactly as approved: version 2.", "letter-")
	if strings.Contains(page.text(), "ops@example.test") {
		t.Error("a person stands there by their address")
	}
	h.dispatched(t, bill, operation.OutcomeUnknown, operation.Proof{Code: "timeout"}, "")
	lead.get(run).want(200).says("Nothing later is sent before that")
	lead.get(opPath(id)).want(200).says("The bill")
	h.statesDone(t, bill, "INV-7")
	lead.get(run).want(200).says("Kept: it has happened and never runs again.", "confirmed by a person", "INV-7", "Sent next to Letters")
	lead.get(opPath(bill)).want(200).says("confirmed by a person")
	lead.get("/operations").want(200).says("confirmed by a person")
}

// statesDone lets a person confirm an effect.
func (h *house) statesDone(t *testing.T, id operation.ID, reference string) {
	t.Helper()
	sh := store.Shown{Operation: id, Revision: h.Decision(t, id, operation.Approve).Revision, FormID: store.NewFormID(), Reason: "seen there"}
	if err := h.Store.ConfirmDone(t.Context(), h.As("ops"), sh, store.Reference{ID: reference}); err != nil {
		t.Fatal(err)
	}
}

// textIn is the text of one element.
func textIn(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := range n.ChildNodes() {
		b.WriteString(textIn(c))
	}
	return b.String()
}
