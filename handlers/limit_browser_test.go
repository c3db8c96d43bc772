package handlers_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
	"holdpoint/views/chrometest"

	"github.com/chromedp/chromedp"
)

// TestLimitInABrowser: a limit is set in the browser, its breach is shown there with its
// task, a review is commented on and signed, and only the review goes to paper.
func TestLimitInABrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tab := h.signedInTab(t, chrometest.Start(t), chrometest.Look{}, "ops")
	tab.Get(h.url + "/figures/limits/new")
	tab.Axe("the form of a limit")
	tab.Do(chromedp.SetValue(`[data-testid="field-figure"]`, "events"), chromedp.SetValue(`[data-testid="field-span"]`, "24"), chromedp.SetValue(`[data-testid="field-value"]`, "0"),
		chromedp.SetValue(`[data-testid="field-margin"]`, "0"), chromedp.Click(`[data-testid="submit"]`), chromedp.WaitVisible(`[data-testid="limit-result"]`))
	h.Receive(t, storetest.CouponEvent())
	if n, err := h.Store.JudgeLimits(t.Context(), store.NoticeChannels{Mail: true}, 0, func(l store.LimitSeen, _ string) string { return string(l.Figure) }); n != 1 || err != nil {
		t.Fatalf("%d moves, %v", n, err)
	}
	tab.Get(h.url + "/figures/limits")
	tab.Axe("the limits")
	tab.Do(chromedp.Click(`[data-testid="limit-row"] a`), chromedp.WaitVisible(`[data-testid="breach"]`))
	tab.Axe("a limit")
	if s := tab.Text(`[data-testid="limit-result"]`); s == "" {
		t.Error("the page does not say that the figure is over its limit")
	}
	if n := h.Count(t, "limit_breaches b JOIN improvement_tasks k ON k.id = b.task_id"); n != 1 {
		t.Errorf("%d breaches with a task", n)
	}
	tab.Do(chromedp.Click(`[data-testid="drill"]`), chromedp.WaitVisible(`[data-testid="size"]`))
	var listed int
	if tab.Eval(`document.querySelectorAll('[data-testid="item"]').length`, &listed); listed != 1 {
		t.Errorf("%d events behind the breach", listed)
	}

	now := time.Now()
	id, err := h.Store.MakeReport(t.Context(), store.NoticeChannels{}, operation.Period{Kind: operation.Weekly, Key: "2026-W20", From: now.Add(-time.Hour), To: now.Add(-time.Second), Before: now.Add(-2 * time.Hour)}, "")
	if err != nil {
		t.Fatal(err)
	}
	tab.Get(h.url + "/reports/" + string(id))
	tab.Axe("a review")
	tab.Do(chromedp.Click(`[data-testid="section-open"] summary`), chromedp.SendKeys(`[data-testid="section-open"] [data-testid="field-body"]`, "Nothing to add."),
		chromedp.Click(`[data-testid="form-comment-open"] button`), chromedp.WaitVisible(`[data-testid="comment"]`))
	if n := h.Count(t, "report_comments WHERE report_id = $1 AND body = 'Nothing to add.'", string(id)); n != 1 {
		t.Fatalf("%d comments", n)
	}
	tab.Do(chromedp.Click(`[data-testid="field-read"]`), chromedp.Click(`[data-testid="form-sign"] button`), chromedp.WaitVisible(`[data-testid="signature"]`))
	if n := h.Count(t, "report_signatures WHERE report_id = $1 AND comments = 1", string(id)); n != 1 {
		t.Errorf("%d signatures", n)
	}
	tab.Axe("a signed review")
}
