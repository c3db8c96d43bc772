package handlers_test

import (
	"strings"
	"testing"

	"holdpoint/store/storetest"
	"holdpoint/views/chrometest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestHistoryInABrowser reads the history as an auditor does: filters, the folded ones too,
// the keyboard, a timeline, a phone; with and without scripts.
func TestHistoryInABrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	op := h.Ready(t)
	h.Receive(t, storetest.CampaignEvent())
	b := chrometest.Start(t)
	for name, look := range map[string]chrometest.Look{"wide": {}, "phone-dark-ja": {Width: 390, Height: 844, Dark: true, Language: "ja"}, "small-pl-noscript": {Width: 320, Height: 640, Language: "pl", NoScript: true}} {
		t.Run(name, func(t *testing.T) {
			w := &stroll{Tab: b.Tab(t, look), t: t, h: h, noScript: look.NoScript, name: "history." + name, who: "auditor"}
			w.enter()
			w.open("/history?action=create")
			w.rows("create")
			w.Do(chromedp.Click(`.history-more > summary`, chromedp.ByQuery), chromedp.SetValue(`#subject`, string(op), chromedp.ByQuery), chromedp.Click(`[data-testid="filter"]`, chromedp.ByQuery),
				chromedp.WaitVisible(`[data-testid="timeline"]`, chromedp.ByQuery)) // only the filtered page has it
			w.check("filtered")
			var subject string
			w.Do(chromedp.Value(`#subject`, &subject, chromedp.ByQuery))
			if subject != string(op) {
				t.Errorf("the subject that is filtered by is %q", subject)
			}
			w.rows("create")
			w.Do(chromedp.Click(`[data-testid="timeline"]`, chromedp.ByQuery), chromedp.WaitVisible(`[data-testid="timeline-event"]`, chromedp.ByQuery))
			w.check("timeline")
			if look.NoScript || look.Width > 0 {
				return
			}
			w.open("/inbox")
			w.Do(chromedp.KeyEvent("g"), chromedp.KeyEvent("h"), chromedp.WaitVisible(`.history-list`, chromedp.ByQuery), chromedp.KeyEvent("j"), chromedp.KeyEvent("j"), chromedp.KeyEvent(kb.Enter),
				chromedp.WaitNotPresent(`.history-list .c-about`, chromedp.ByQuery))
		})
	}
}

// rows: the list has rows, all of one action.
func (w *stroll) rows(action string) {
	w.t.Helper()
	var all []string
	w.Eval(`[...document.querySelectorAll('[data-testid="history-row"]')].map(r => r.dataset.action)`, &all)
	if len(all) == 0 || strings.Trim(strings.Join(all, " "), action+" ") != "" {
		w.t.Errorf("rows of %q: %v", action, all)
	}
}
