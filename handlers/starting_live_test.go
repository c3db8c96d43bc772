package handlers_test

import (
	"os"
	"testing"

	"holdpoint/store"
	"holdpoint/views/chrometest"
)

// TestLiveStart: the page of a table's results follows the rows as the jobs do them, also
// those that are refused and change no operation, and rests when all are done.
func TestLiveStart(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	raw, err := os.ReadFile("../docs/examples/call-back.csv")
	if err != nil {
		t.Fatal(err)
	}
	author := h.As("author")
	id, err := h.Store.AddStart(t.Context(), author, store.NewStart{Flow: "call-back", FormID: "live", Name: "call-back.csv", Body: raw})
	if err != nil {
		t.Fatal(err)
	}
	st, _, err := h.Store.FindStart(t.Context(), author, id)
	if err == nil {
		err = h.Store.BeginStart(t.Context(), author, id, st.Rev)
	}
	if err != nil {
		t.Fatal(err)
	}
	browser := chrometest.Start(t)
	results, list := h.tabAs(t, browser, h.url, "author", chrometest.Phone()), h.tabAs(t, browser, h.url, "author", chrometest.Look{})
	results.Get(h.url + "/starts/" + string(id))
	list.Get(h.url + "/flows/call-back/start")
	const going = `document.querySelector('[data-live][data-going]')`
	for _, tab := range []*chrometest.Tab{results, list} {
		streams(t, tab)
		until(t, tab, "the work goes on", going)
	}
	if done, err := h.Store.RunStart(t.Context(), id); err != nil || !done {
		t.Fatalf("the rows: %v, %v", done, err)
	}
	until(t, results, "the counts", `document.querySelector('[data-testid="start-counts"]').innerText.includes('2 runs started') && document.querySelector('[data-testid="start-counts"]').innerText.includes('1 row refused')`)
	for _, tab := range []*chrometest.Tab{results, list} {
		until(t, tab, "it rests", `!`+going)
	}
	results.Axe("the results, as they came")
	results.Narrow("the results, as they came")
	results.Shot("starting-live")
}
