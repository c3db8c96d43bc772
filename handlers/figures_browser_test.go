package handlers_test

import (
	"testing"

	"holdpoint/views/chrometest"
)

// TestFiguresInBrowser: the figures, one of them and the list behind a number stand
// without faults on a phone, in the dark and in every language, and a number leads to
// its list.
func TestFiguresInBrowser(t *testing.T) {
	t.Parallel()
	browser := chrometest.Start(t)
	h := newHouse(t)
	h.Ready(t)
	tab := h.signedInTab(t, browser, chrometest.Phone(), "ops")
	for _, path := range []string{"/figures", "/figures?flow=newsletter-coupon&span=90", "/figures/events", "/figures/approval_delay", "/figures/events/list?span=7"} {
		tab.Get(h.url + path)
		tab.Axe(path)
		tab.Narrow(path)
	}
	tab.Get(h.url + "/figures")
	var leads string
	tab.Eval(`document.querySelector('[data-figure="events"] a[data-testid="number"]').href`, &leads)
	tab.Get(leads)
	var size, rows int
	tab.Eval(`Number(document.querySelector('[data-testid="size"]').dataset.size)`, &size)
	tab.Eval(`document.querySelectorAll('[data-testid="item"]').length`, &rows)
	if size != 1 || rows != 1 {
		t.Errorf("the list of one event has %d rows and says %d", rows, size)
	}
}
