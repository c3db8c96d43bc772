package handlers_test

import (
	"context"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store/storetest"
	"holdpoint/views/chrometest"

	"github.com/chromedp/chromedp"
)

// TestBrowser signs in as a marketing lead in a real browser, opens the operation from
// the inbox and approves it.
func TestBrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SetPassword(t, "lead", "a long pass phrase")
	id := h.Receive(t, storetest.CampaignEvent())[0]
	ctx := chromium(t)

	var url, flash string
	err := chromedp.Run(ctx,
		chromedp.EmulateViewport(390, 844),
		chromedp.Navigate(h.url+"/"),
		chromedp.WaitVisible(`[data-testid="form-signin"]`),
		chromedp.SendKeys(`#email`, storetest.Email("lead")),
		chromedp.SendKeys(`#password`, "a long pass phrase"),
		chromedp.Click(`[data-testid="form-signin"] [data-testid="submit"]`),
		chromedp.WaitVisible(`[data-id="`+string(id)+`"] a`),
		chromedp.Click(`[data-id="`+string(id)+`"] a`),
		chromedp.WaitVisible(`[data-testid="form-decide"]`),
		chromedp.Click(`[data-testid="choice-approve"]`),
		chromedp.SendKeys(`#comment`, "Fine."),
		chromedp.Click(`[data-testid="form-decide"] [data-testid="submit"]`),
		chromedp.WaitVisible(`[data-testid="flash"]`),
		chromedp.Location(&url),
		chromedp.Text(`[data-testid="flash"]`, &flash),
	)
	if err != nil {
		t.Fatal(err)
	}
	if url != h.url+opPath(id) || flash == "" {
		t.Errorf("after approving: at %s, message %q", url, flash)
	}
	h.wantState(t, id, operation.Ready)
}

// chromium starts a headless browser of its own, for 90 seconds.
func chromium(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(chrometest.Start(t).Context(), 90*time.Second)
	t.Cleanup(cancel)
	return ctx
}
