package intake_test

import (
	"strings"
	"testing"
)

// A bare list whose texts are people's: one that cannot be stored, or that reads in two
// ways, keeps none of the others out. Inside an object the whole body is refused.
func TestItems_OneUnreadable(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.apply(strings.Replace(listSource, "${body.events}", "${body}", 1))
	h.apply(noteFlow("list"))
	good := func(id string) string { return `{"id":"` + id + `","type":"note","fields":{"note":"n"}}` }
	bad := []string{`{"id":"b","type":"note","fields":{"note":"\u0000"}}`, `{"id":"b","id":"c","type":"note"}`, `{"id":"b","type":"note","fields":{"note":"\ud800"}}`}
	r, out := h.list(h.url, "["+good("a")+","+strings.Join(bad, ",")+","+good("d")+"]")
	if h.want(r, 200); out.Counts["accepted"] != 2 || out.Counts["refused"] != 3 || out.Items[1].Code != "nul" || out.Items[2].Code != "duplicate_key" || out.Items[3].Code != "encoding" {
		t.Errorf("%+v", out)
	}
	if n := h.Count(t, "events WHERE source = 'list'"); n != 2 {
		t.Errorf("%d events", n)
	}
	r, out = h.list(h.url, "["+strings.Join(bad, ",")+"]")
	if h.want(r, 400); out.Counts["refused"] != 3 {
		t.Errorf("%+v", out)
	}
	for _, body := range []string{`[` + good("x") + `,`, `[` + good("x") + `] {}`, `{"events":[` + good("x") + `],"events":[]}`} {
		r, _ := h.list(h.url, body)
		h.want(r, 400)
	}
	if n := h.Count(t, "events WHERE source = 'list'"); n != 2 {
		t.Errorf("%d events", n)
	}
}
