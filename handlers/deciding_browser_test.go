package handlers_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store/storetest"
	"holdpoint/views/chrometest"

	"github.com/chromedp/chromedp"
)

// TestPhoneDecidesInThreeTaps opens the link of a mail on a phone and approves: at most
// three taps, each on something that is in view and large enough, with and without scripts.
func TestPhoneDecidesInThreeTaps(t *testing.T) {
	t.Parallel()
	browser := chrometest.Start(t)
	for name, noScript := range map[string]bool{"scripts": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			id := h.Receive(t, storetest.CampaignEvent())[0]
			look := chrometest.Phone()
			look.NoScript = noScript
			tab := h.signedInTab(t, browser, look, "lead")
			taps := 0
			tap := func(selector string) {
				t.Helper()
				taps++
				tab.Do(chromedp.WaitVisible(selector), chromedp.Click(selector))
			}
			tab.Get(h.url + opPath(id) + "?from=mail")
			h.wantState(t, id, operation.PendingApproval) // the link decides nothing
			var height float64
			const submit = `[data-testid="form-decide"] [data-testid="submit"]`
			if !noScript {
				tab.Eval(`document.querySelector('`+submit+`').getBoundingClientRect().height`, &height)
				if height < 44 {
					t.Errorf("the button is %.0f px high, want 44", height)
				}
			}
			tap(`.reach .btn, [data-testid="reach"]`)
			tap(submit)
			tab.Do(chromedp.WaitVisible(`[data-testid="flash"]`))
			if taps > 3 {
				t.Errorf("%d taps, want at most 3", taps)
			}
			h.wantState(t, id, operation.Ready)
		})
	}
}

// TestApproveTogetherInABrowser reviews a list on a phone without scripts and approves it.
func TestApproveTogetherInABrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 3 {
		h.Receive(t, storetest.CouponEvent())
	}
	look := chrometest.Phone()
	look.NoScript = true
	tab := h.signedInTab(t, chrometest.Start(t), look, "lead")
	tab.Get(h.url + "/approve-together?flow=newsletter-coupon&stage=coupon")
	tab.Do(chromedp.WaitVisible(`[data-testid="together-item"]`), chromedp.Click(`[data-testid="form-approve-together"] [data-testid="submit"]`), chromedp.WaitVisible(`[data-testid="together-row"]`))
	if text := tab.Text("main"); !strings.Contains(text, "3 versions approved") {
		t.Errorf("the report says: %s", text)
	}
	tab.Do(chromedp.Reload(), chromedp.WaitVisible(`[data-testid="together-row"]`))
	if n := h.Count(t, "approvals"); n != 3 {
		t.Errorf("%d approvals, want 3", n)
	}
}
