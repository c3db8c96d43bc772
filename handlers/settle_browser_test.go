package handlers_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store/storetest"
	"holdpoint/views/chrometest"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// signedInTab is a tab with the session of a person who has signed in.
func (h *house) signedInTab(t *testing.T, b *chrometest.Browser, look chrometest.Look, who string) *chrometest.Tab {
	t.Helper()
	tab := b.Tab(t, look)
	tab.Do(emulation.SetFocusEmulationEnabled(true)) // several windows are open, and only one has the focus
	u, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range h.as(t, who).http.Jar.Cookies(u) {
		tab.Do(network.SetCookie(k.Name, k.Value).WithURL(h.url + "/"))
	}
	return tab
}

// holds waits until an expression is true in the page. Polling inside the page would
// need what its policy forbids.
func holds(expression string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		for {
			var yes bool
			if err := chromedp.Evaluate(expression, &yes).Do(ctx); err == nil && yes {
				return nil
			}
			if err := chromedp.Sleep(20 * time.Millisecond).Do(ctx); err != nil {
				var at string
				_ = chromedp.Location(&at).Do(context.WithoutCancel(ctx))
				return fmt.Errorf("at %s, waiting for %s: %w", at, expression, err)
			}
		}
	})
}

// TestTenUnknownFromTheKeyboard settles ten unknown outcomes with one reference each. It
// counts every key that is pressed besides those of the reference, once with scripts and
// once without: at most six for each.
func TestTenUnknownFromTheKeyboard(t *testing.T) {
	t.Parallel()
	const each = 6
	browser := chrometest.Start(t)
	for name, look := range map[string]chrometest.Look{"scripts": {}, "without": {NoScript: true}, "phone": chrometest.Phone()} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			n := 10
			if name != "scripts" {
				n = 3
			}
			ids := h.manyUnknown(t, n)
			tab := h.signedInTab(t, browser, look, "ops")
			tab.Get(h.url + opPath(ids[0]) + "?settle=1") // as the link from the one before opens it
			tab.Do(holds(`document.activeElement.id === 'finding-done'`))
			keys := 0
			press := func(key string) {
				keys++
				tab.Do(chromedp.KeyEvent(key))
			}
			for i := range n {
				press(" ") // the first answer has the focus: yes, one
				press(kb.Tab)
				tab.Do(chromedp.KeyEvent(fmt.Sprintf("note_%d", i)))
				press(kb.Tab)
				press(" ") // I saw it myself
				press(kb.Enter)
				tab.Do(holds(`document.activeElement.dataset.testid === 'to-next' && document.readyState === 'complete'`))
				if i+1 < n {
					press(kb.Enter) // the link to the next has the focus
					tab.Do(holds(`document.activeElement.id === 'finding-done' && document.readyState === 'complete'`))
				}
			}
			if keys > each*n {
				t.Errorf("%d keys for %d outcomes, want at most %d each", keys, n, each)
			}
			if got := h.Count(t, "operations WHERE state = 'confirmed' AND confirmed_by = 'person' AND target_reference LIKE 'note\\_%'"); got != n {
				t.Errorf("%d operations are settled, want %d", got, n)
			}
			if got := h.Count(t, "evidence WHERE kind = 'statement' AND body = 'I saw it at Plain service (sandbox) myself.'"); got != n {
				t.Errorf("%d statements, want %d", got, n)
			}
			if text := tab.Text("main"); !strings.Contains(text, "No other unknown outcome waits for you") {
				t.Error("the end is not said")
			}
		})
	}
}

// manyUnknown makes operations whose answer was lost.
func (h *house) manyUnknown(t *testing.T, n int) []operation.ID {
	t.Helper()
	var ids []operation.ID
	for range n {
		ids = append(ids, h.unknown(t))
	}
	return ids
}

// TestFieldCase12_DoubleClickBackReload presses twice, goes back and presses again, and
// reloads what came of it: one decision, one entry, one set of files.
func TestFieldCase12_DoubleClickBackReload(t *testing.T) {
	t.Parallel()
	browser := chrometest.Start(t)
	for name, look := range map[string]chrometest.Look{"scripts": {}, "without": {NoScript: true}} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			id := h.Receive(t, storetest.CouponEvent())[0]
			tab := h.signedInTab(t, browser, look, "lead")
			const submit = `[data-testid="form-decide"] [data-testid="submit"]`
			tab.Get(h.url + opPath(id))
			tab.Do(chromedp.Click(`[data-testid="choice-approve"]`), chromedp.DoubleClick(submit), chromedp.WaitVisible(`[data-testid="flash"]`))
			tab.Do(chromedp.Reload(), chromedp.WaitNotPresent(`[data-testid="form-decide"]`))
			tab.Do(chromedp.NavigateBack(), chromedp.WaitReady("main"))
			var again bool
			tab.Eval(`!!document.querySelector('`+submit+`')`, &again)
			if again { // the browser shows the old page: its form can be sent once more
				tab.Do(chromedp.Click(submit), chromedp.WaitNotPresent(`[data-testid="form-decide"]`))
			}
			tab.Do(chromedp.Reload(), chromedp.WaitReady("main"))
			h.wantState(t, id, operation.Ready)
			if n := h.Count(t, "approvals"); n != 1 {
				t.Errorf("%d decisions, want 1", n)
			}
			if n := h.Count(t, "history WHERE action = 'approve' OR to_state = 'ready' AND from_state <> 'ready'"); n > 2 || n == 0 {
				t.Errorf("%d entries of it", n)
			}
			if n := h.Count(t, "river_job WHERE kind = 'execute'"); n != 1 {
				t.Errorf("%d wake-ups, want 1", n)
			}
		})
	}
}

// TestPastedScreenshot pastes a picture into the form of a case and sends it: it is there
// with the evidence, and shown small.
func TestPastedScreenshot(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	tab := h.signedInTab(t, chrometest.Start(t), chrometest.Look{}, "ops")
	tab.Get(h.url + opPath(id))
	tab.Do(chromedp.Click(`[data-testid="choice-done"]`), chromedp.SendKeys("#done-reference", "note_1"), chromedp.Click("#done-how-seen"), chromedp.Focus("#done-evidence"))
	var files int
	tab.Eval(`(async () => {
		const bytes = Uint8Array.from(atob('`+base64.StdEncoding.EncodeToString(screenshot(t, 400, 300))+`'), c => c.charCodeAt(0))
		const data = new DataTransfer()
		data.items.add(new File([bytes], 'image.png', {type: 'image/png'}))
		data.items.add('only text', 'text/plain')
		document.activeElement.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}))
		return 0
	})() && document.querySelector('#done-files').files.length`, &files)
	if files != 1 {
		t.Fatalf("%d files in the form, want the pasted one", files)
	}
	if said := tab.Text(`#done-files ~ .chosen`); !strings.HasPrefix(said, "Pasted: screenshot-") {
		t.Errorf("the page says %q", said)
	}
	tab.Axe("a pasted screenshot")
	tab.Do(chromedp.Click(`[data-testid="form-reconcile"] [data-testid="submit"]`), chromedp.WaitVisible(`[data-testid="attachment"] img`))
	tab.Do(chromedp.ScrollIntoView(`[data-testid="attachment"] img`), holds(`(i => i.complete && i.naturalWidth === 400)(document.querySelector('[data-testid="attachment"] img'))`))
	h.wantState(t, id, operation.Confirmed)
	if n := h.Count(t, "attachments WHERE kind = 'image/png' AND width = 400 AND evidence_id IS NOT NULL"); n != 1 {
		t.Errorf("%d attachments, want 1", n)
	}
	tab.Axe("a case with a screenshot")
	tab.Shot("settled-with-screenshot")
}
