package handlers_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store/storetest"
	"holdpoint/views/chrometest"

	"github.com/chromedp/chromedp"
)

// TestStarterInABrowser: an author signs in and starts the demonstration's flow by hand,
// then from a CSV file with a bad row; the same file again begins nothing. An ops owner
// looks at the sources, and decides about held news. axe finds nothing on the way.
func TestStarterInABrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.SetPassword(t, "author", "a long pass phrase")
	browser := chrometest.Start(t)
	tab := browser.Tab(t, chrometest.Phone())
	file := filepath.Join(t.TempDir(), "call-back.csv")
	raw, err := os.ReadFile("../docs/examples/call-back.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}

	tab.Get(h.url + "/")
	tab.Do(chromedp.SendKeys(`#email`, storetest.Email("author")), chromedp.SendKeys(`#password`, "a long pass phrase"),
		chromedp.Click(`[data-testid="form-signin"] [data-testid="submit"]`), holds(`location.pathname !== '/sign-in' && document.readyState === 'complete'`))
	tab.Get(h.url + "/flows/call-back")
	tab.Do(chromedp.Click(`[data-testid="start-link"]`), holds(`location.pathname === '/flows/call-back/start' && document.readyState === 'complete'`))
	tab.Axe("the start page")
	tab.Narrow("the start page")
	tab.Do(chromedp.SendKeys(`#content-customer_ref`, "C-9"), chromedp.SendKeys(`#content-phone`, "+48 600 100 200"), chromedp.SendKeys(`#content-reason`, "teapot"),
		chromedp.Click(`[data-testid="start"]`), holds(`location.pathname.startsWith('/runs/') && document.readyState === 'complete'`))
	if n := h.Count(t, "runs"); n != 1 {
		t.Fatalf("%d runs by the form", n)
	}

	upload := func() {
		tab.Get(h.url + "/flows/call-back/start")
		tab.Do(chromedp.SetUploadFiles(`#table`, []string{file}), chromedp.Click(`[data-testid="upload"]`), holds(`location.pathname.startsWith('/starts/') && document.readyState === 'complete'`))
	}
	upload()
	tab.Axe("the preview")
	tab.Narrow("the preview")
	if got := tab.Text(`[data-testid="start-sums"]`); !strings.Contains(got, "3 rows") || !strings.Contains(got, "2 fit") || !strings.Contains(got, "1 does not") {
		t.Errorf("the preview counts %q", got)
	}
	tab.Do(chromedp.Click(`[data-testid="begin"]`), holds(`document.querySelector('[data-testid="start-counts"]') && document.readyState === 'complete'`))
	tab.Axe("the results")
	tab.Narrow("the results")
	if got := tab.Text(`[data-testid="start-counts"]`); !strings.Contains(got, "2 runs started") || !strings.Contains(got, "1 row refused") {
		t.Errorf("the results count %q", got)
	}
	if n := h.Count(t, "runs"); n != 3 {
		t.Fatalf("%d runs after the file", n)
	}
	var csv string
	tab.Eval(`document.querySelector('[data-testid="start-csv"]').getAttribute('href')`, &csv)
	h.startResults(t, csv)

	upload()
	if got := tab.Text(`[data-testid="start-sums"]`); !strings.Contains(got, "0 fit") || !strings.Contains(got, "2 have their runs already") {
		t.Errorf("the same file again: %q", got)
	}
	var begins bool
	tab.Eval(`document.querySelector('[data-testid="begin"]') !== null`, &begins)
	if begins || h.Count(t, "runs") != 3 {
		t.Error("the same file again begins something")
	}
	tab.Do(chromedp.Click(`[data-testid="drop"]`), holds(`location.pathname === '/flows/call-back/start' && document.querySelector('[data-testid="flash"]') !== null`))
	h.opsLooks(t, browser)
}

// startResults takes the results along: one line for each row, recorded as an export.
func (h *house) startResults(t *testing.T, path string) {
	t.Helper()
	_, body := h.as(t, "author").file(t, path)
	if lines := strings.Split(strings.TrimSpace(body), "\n"); len(lines) != 4 || !strings.Contains(lines[2], "2,refused,inputs,phone") {
		t.Errorf("the results are %q", body)
	}
	done := h.looks(t, "author", "export_done")
	if len(done) != 1 || done[0]["export"] != "start" || done[0]["rows"] != "3" || !strings.HasPrefix(path, "/starts/"+strings.TrimPrefix(done[0]["filter"], "id=")) {
		t.Errorf("recorded: %v", done)
	}
}

// opsLooks walks an ops owner through sources and held news.
func (h *house) opsLooks(t *testing.T, browser *chrometest.Browser) {
	t.Helper()
	id := h.unknown(t)
	tied, aside := h.heldNews(t, "mine", operation.NewsEffect), h.heldNews(t, "theirs", operation.NewsDelivered)
	tab := h.signedInTab(t, browser, chrometest.Look{}, "ops")
	for _, path := range []string{"/sources", "/sources/by-hand", "/news", tied} {
		tab.Get(h.url + path)
		tab.Axe(path)
	}
	tab.Do(chromedp.SetValue(`#tie-operation`, string(id)), chromedp.SendKeys(`#news_tie-reason`, "Their page shows it."), chromedp.Click(`[data-testid="form-news-tie"] [data-testid="submit"]`),
		holds(`document.querySelector('[data-testid="flash"]') !== null && document.readyState === 'complete'`))
	tab.Get(h.url + aside)
	tab.Do(chromedp.SendKeys(`#news_aside-reason`, "Another shop's."), chromedp.Click(`[data-testid="form-news_aside"] [data-testid="submit"]`),
		holds(`document.querySelector('[data-testid="flash"]') !== null && document.readyState === 'complete'`))
	if a, b := h.newsState(t, tied), h.newsState(t, aside); a != "tied" || b != "aside" {
		t.Errorf("the news is %s and %s", a, b)
	}
	h.wantState(t, id, operation.Confirmed)
	tab.Get(h.url + "/news?" + url.Values{"state": {"aside"}}.Encode())
	if got := tab.Text("main"); !strings.Contains(got, "Another shop's.") {
		t.Error("the list does not say why it was put aside")
	}
}
