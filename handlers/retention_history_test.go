package handlers_test

import (
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// TestRetentionOfHistoryPages: the term of the history is previewed by months and saved; once
// words went, the operation, its timeline, the history and both files say so, and nobody's
// name and no reason is on them.
func TestRetentionOfHistoryPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.settledNote(t)
	h.Age(t, operation.SubjectOperation, string(id), func(n int, at time.Time) time.Time { return at.AddDate(-3, n, 0) })
	admin := h.as(t, "admin")
	admin.get("/installation/retention?preview=1&history=364").want(200).says("at least 365")
	preview := admin.get("/installation/retention?preview=1&history=365").want(200).says("Words of the history", "entries lose their words now", "Month (UTC)")
	admin.follow(admin.submit(preview, "form-save").want(303)).says("The terms are saved")
	before := admin.get("/history/of/operation/" + string(id)).want(200).says("ops ops owner")
	if before.has("words-gone") != nil {
		t.Fatal("words are gone before the term")
	}
	if n, err := h.Store.SweepRetention(t.Context(), store.System("job")); err != nil || n < 3 {
		t.Fatalf("%d entries: %v", n, err)
	}
	auditor := h.as(t, "auditor")
	for _, path := range []string{opPath(id), "/history/of/operation/" + string(id), "/history?kind=operation&subject=" + string(id)} {
		a := auditor.get(path).want(200).says("words removed under the term on", "a person (name removed)", "ops owner")
		if a.has("words-gone") == nil {
			t.Errorf("%s does not mark it", path)
		}
	}
	auditor.get("/history?action=thin_history").want(200).says("Words of old entries removed")
	_, body := auditor.file(t, "/history/export.csv?kind=operation&subject="+string(id))
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(body, "\ufeff"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	last := len(rows[0]) - 1
	for _, row := range rows[1:] {
		if rows[0][last] != "words_removed" || !strings.HasSuffix(row[last], "Z") || !strings.HasPrefix(row[11], "words removed under the term on") || row[3] != "" || row[4] != "" {
			t.Errorf("the file has %q", row)
		}
	}
	_, body = auditor.file(t, "/history/export.jsonl?kind=operation&subject="+string(id))
	if n := strings.Count(body, `"removed":"`); n != len(rows)-1 || strings.Contains(body, string(h.Users["ops"])) {
		t.Errorf("%d of %d lines say that words were removed: %s", n, len(rows)-1, body)
	}
}
