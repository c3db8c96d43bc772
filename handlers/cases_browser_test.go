package handlers_test

import (
	"fmt"
	"testing"
	"time"

	"holdpoint/views/chrometest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestCaseQueueFromTheKeyboard settles ten cases of a frozen list without a mouse: ticked
// all, frozen, and each settled and left by the keys alone.
func TestCaseQueueFromTheKeyboard(t *testing.T) {
	t.Parallel()
	const n = 10
	h := newHouse(t)
	h.manyUnknown(t, n)
	tab := h.signedInTab(t, chrometest.Start(t), chrometest.Look{}, "ops")
	tab.Get(h.url + "/cases")
	tab.Axe("the list of cases")
	tab.Do(chromedp.KeyEvent("j"), holds(`document.activeElement.matches('[data-row-link]')`), chromedp.KeyEvent("x"),
		holds(`document.querySelectorAll('[name=case]:checked').length === 1`), chromedp.Focus(`[data-testid="pick-all"]`), chromedp.KeyEvent(" "),
		chromedp.KeyEvent("s"), holds(`document.activeElement.dataset.testid === 'do-settle'`), chromedp.KeyEvent("s"))
	for i := range n {
		tab.Do(holds(`document.activeElement.id === 'finding-done' && document.readyState === 'complete'`))
		if i == 0 {
			tab.Axe("a case of the list")
		}
		tab.Do(chromedp.KeyEvent(" "), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(fmt.Sprintf("note_%d", i)), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(" "), chromedp.KeyEvent(kb.Enter),
			holds(`document.activeElement.dataset.testid === 'to-next' && document.readyState === 'complete'`))
		if i+1 < n {
			tab.Do(chromedp.KeyEvent("n"))
		}
	}
	if got := h.Count(t, "operations WHERE state = 'confirmed' AND confirmed_by = 'person' AND target_reference LIKE 'note\\_%'"); got != n {
		t.Errorf("%d operations are settled, want %d", got, n)
	}
	if got := h.Count(t, "case_queue_items WHERE done_as = 'settled'"); got != n {
		t.Errorf("%d of the list are settled, want %d", got, n)
	}
}

// TestCaseClockInTheBrowser: a page that is visible and in use beats; the clock on it
// comes from the server.
func TestCaseClockInTheBrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	path := h.caseOf(t, h.unknown(t))
	tab := h.signedInTab(t, chrometest.Start(t), chrometest.Look{}, "ops")
	tab.Get(h.url + path)
	tab.Do(holds(`document.querySelector('main[data-beat]') !== null && document.documentElement.dataset.script === 'on'`))
	tab.Do(chromedp.KeyEvent("j"), chromedp.Sleep(0))
	// it leaves: what it counted since is told on the way
	tab.Get(h.url + path)
	tab.Do(holds(`document.readyState === 'complete'`))
	for limit := time.Now().Add(20 * time.Second); h.Count(t, "case_active WHERE last_beat > first_beat") != 1; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("no clock runs")
		}
	}
	if n := h.Count(t, "case_active WHERE active_ms > extract(epoch FROM last_beat - first_beat) * 1000"); n != 0 {
		t.Error("more was counted than went by")
	}
}
