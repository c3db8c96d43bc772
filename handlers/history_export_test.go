package handlers_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store/storetest"
)

// nasty are reasons that a spreadsheet must not take for formulas, and how the CSV holds
// them; numbers stay numbers.
var nasty = map[string]string{
	`=HYPERLINK("http://x","ok")`: `'=HYPERLINK("http://x","ok")`, `+1`: `+1`, `-1+1`: `'-1+1`, `@SUM`: `'@SUM`, "\t=1": "'=1", `-12.50`: `-12.50`,
	"said \"yes\",\nand ; left": "said \"yes\",\nand ; left", `🫖 – ティーポット`: `🫖 – ティーポット`, `＝1+1`: `'＝1+1`,
}

// nastyReasons writes entries with such reasons as other people's clients would bring them.
func (h *house) nastyReasons(t *testing.T) {
	t.Helper()
	for reason := range nasty {
		if _, err := h.Store.PauseFlow(t.Context(), h.As("ops"), "newsletter-coupon", reason); err != nil {
			t.Fatal(err)
		}
		if err := h.Store.ResumeFlow(t.Context(), h.As("ops"), "newsletter-coupon", "again"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFieldCase50HistoryExport: 100,000 entries as CSV and as JSON Lines. In the CSV no
// cell is a formula and numbers are intact; the JSON Lines hold the exact values, verify,
// and end with their count and hash. Both are recorded with the hash of the file.
func TestFieldCase50HistoryExport(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Ready(t)
	if _, err := h.Owner.Exec(storetest.MultiplyHistory, 100_000); err != nil {
		t.Fatal(err)
	}
	h.nastyReasons(t)
	b := h.as(t, "auditor")
	var entries int
	if err := h.Owner.QueryRow(`SELECT count(*) FROM history`).Scan(&entries); err != nil {
		t.Fatal(err)
	}
	if entries < 100_000 {
		t.Fatalf("%d entries", entries)
	}

	head, body := b.file(t, "/history/export.csv")
	if kind := head.Get("Content-Type"); kind != "text/csv; charset=utf-8; header=present" || !strings.HasPrefix(body, "\ufeff") {
		t.Errorf("UTF-8 is not stated: %s, %q", kind, body[:3])
	}
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(body, "\ufeff"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for i, row := range rows[1:] {
		if row[8] == "pause" {
			got[row[11]] = true
		}
		if !strings.HasSuffix(row[1], "Z") || row[0] == "" || row[0][0] == '\'' {
			t.Fatalf("row %d: %v", i, row)
		}
	}
	for _, want := range nasty {
		if !got[want] {
			t.Errorf("no cell holds %q", want)
		}
	}
	if n := len(rows) - 1; n != entries+1 { // and its own beginning
		t.Errorf("%d rows, want %d", n, entries+1)
	}
	h.recorded(t, "csv", body, len(rows)-1)

	_, body = b.file(t, "/history/export.jsonl")
	h.wholeLines(t, body, entries+3)
	h.recorded(t, "jsonl", body, entries+3)

	// whose rights leave something out says so in the last line, as a filter does
	_, part := h.as(t, "lead").file(t, "/history/export.jsonl")
	if of := `"filter":"rights=part"`; !strings.Contains(part, of) || strings.Contains(body, of) {
		t.Error("the last line does not tell whose export is a part")
	}
}

// recorded: the newest complete export is this one.
func (h *house) recorded(t *testing.T, format, body string, rows int) {
	t.Helper()
	done := h.looks(t, "auditor", "export_done")
	if len(done) == 0 {
		t.Fatal("the export is not recorded")
	}
	last, sum := done[len(done)-1], sha256.Sum256([]byte(body))
	if last["export"] != "history" || last["format"] != format || last["rows"] != itoa(rows) || last["evidence"] != hex.EncodeToString(sum[:]) {
		t.Errorf("recorded: %v, want %s with %d rows and the hash of the file", last, format, rows)
	}
	if begun := h.looks(t, "auditor", "export"); len(begun) != len(done) {
		t.Errorf("%d exports begun, %d complete", len(begun), len(done))
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// wholeLines: every line is an exact entry whose hash is right where it was not copied,
// and the last says how many there are and what they hash to.
func (h *house) wholeLines(t *testing.T, body string, entries int) {
	t.Helper()
	lines := strings.SplitAfter(body, "\n")
	lines = lines[:len(lines)-1]
	exact, said := 0, map[string]bool{}
	sum := sha256.New()
	for _, raw := range lines[:len(lines)-1] {
		sum.Write([]byte(raw))
		var l operation.Line
		if err := json.Unmarshal([]byte(raw), &l); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if l.Entry.Hash() == l.Hash {
			exact++
		}
		if l.Entry.Action == "pause" {
			said[l.Entry.Reason] = true
		}
	}
	for reason := range nasty {
		if !said[strings.TrimSpace(reason)] {
			t.Errorf("no line says exactly %q", reason)
		}
	}
	var last struct {
		Trailer struct {
			Entries int
			SHA256  string
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if last.Trailer.Entries != entries || len(lines)-1 != entries || last.Trailer.SHA256 != hex.EncodeToString(sum.Sum(nil)) {
		t.Errorf("trailer %+v for %d lines, want %d", last.Trailer, len(lines)-1, entries)
	}
	if exact < 2*len(nasty) {
		t.Errorf("only %d entries have the hash that they state", exact)
	}
}

// TestHistoryExportContent adds what was approved and sent, with the hashes that it can be
// checked by; what was erased is said to be.
func TestHistoryExportContent(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	op := h.Ready(t)
	erased := h.Ready(t)
	if _, err := h.Owner.Exec(`ALTER TABLE version_bodies DISABLE TRIGGER USER`); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Owner.Exec(`DELETE FROM version_bodies b USING content_versions v WHERE v.id = b.version_id AND v.operation_id = $1`, string(erased)); err != nil {
		t.Fatal(err)
	}
	type body struct {
		Body struct {
			Operation, Version, Attempt, Hash, Salt string
			Content, Request                        *string
			Erased                                  bool
		}
	}
	found := map[string]body{}
	for _, raw := range strings.Split(h.as(t, "auditor").get("/history/export.jsonl?content=yes").want(200).body, "\n") {
		if strings.HasPrefix(raw, `{"body":`) {
			var b body
			if err := json.Unmarshal([]byte(raw), &b); err != nil {
				t.Fatal(err)
			}
			found[b.Body.Operation] = b
		}
	}
	if b := found[string(op)].Body; b.Content == nil || b.Request == nil || b.Salt == "" || len(b.Hash) != 64 || b.Erased || !json.Valid([]byte(*b.Content)) {
		t.Errorf("content: %+v", b)
	}
	if b := found[string(erased)].Body; b.Content != nil || b.Request != nil || !b.Erased || len(b.Hash) != 64 {
		t.Errorf("erased content: %+v", b)
	}
	h.limited(t, operation.RoleAuditor, "campaign-follow-up")
	a := h.as(t, "only-auditor").get("/history/export.jsonl?content=yes").want(200)
	if strings.Contains(a.body, string(op)) {
		t.Error("an auditor of another flow takes this one's content out")
	}
	if x := h.looks(t, "auditor", "export_done"); len(x) != 1 || x[0]["content"] != "yes" {
		t.Errorf("recorded: %v", x)
	}
}

// TestHistoryExportCut: a reader who goes away ends the query; the file is not whole, and
// the record says so.
func TestHistoryExportCut(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Ready(t)
	if _, err := h.Owner.Exec(storetest.MultiplyHistory, 60_000); err != nil {
		t.Fatal(err)
	}
	b := h.as(t, "auditor")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, "GET", h.url+"/history/export.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := b.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	in := bufio.NewReader(res.Body)
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if n := h.begun(t); n == 0 {
		t.Error("the export ended before its first line was read: nothing is streamed")
	}
	leave()
	rest, err := io.ReadAll(in)
	if err == nil || strings.Contains(string(rest), "trailer") {
		t.Errorf("the rest of the file came whole (%d bytes, %v)", len(rest), err)
	}
	for until := time.Now().Add(20 * time.Second); len(h.looks(t, "auditor", "export_cut")) == 0; {
		if time.Now().After(until) {
			t.Fatal("that it broke off is not recorded")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if n := h.begun(t); n > 0 {
		t.Errorf("%d transactions go on after the reader went", n)
	}
	if x := h.looks(t, "auditor", "export_done"); len(x) != 0 {
		t.Errorf("recorded as complete: %v", x)
	}
}

// begun counts the transactions besides this one that read the history of this database.
func (h *house) begun(t *testing.T) (n int) {
	t.Helper()
	err := h.Owner.QueryRow(`SELECT count(DISTINCT pid) FROM pg_locks WHERE locktype = 'relation' AND relation = CAST('history' AS regclass) AND pid <> pg_backend_pid()
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// file takes a file out as it comes, without reading it as a page.
func (b *browser) file(t *testing.T, path string) (head http.Header, body string) {
	t.Helper()
	res, err := b.http.Get(b.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v", path, res.StatusCode, err)
	}
	return res.Header, string(raw)
}
