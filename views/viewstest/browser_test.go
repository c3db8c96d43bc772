package viewstest

import (
	"context"
	"net/http/httptest"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser starts a headless Chromium; without one the test fails.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("browser tests take several seconds")
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Fatal("no chromium on this machine: apt-get install chromium (make test does)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("no-first-run", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	ctx, done := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); done(); cancel(); stop() })
	return ctx
}

// wide finds elements that stick out of the page to the side.
const wide = `(() => {
  const width = document.documentElement.clientWidth
  if (document.documentElement.scrollWidth <= width) return ''
  for (const el of document.querySelectorAll('main *')) {
    const box = el.getBoundingClientRect()
    if (box.right > width + 1 && box.width > 1 && !el.closest('.stages, .vh, .request')) return el.outerHTML.slice(0, 160)
  }
  return 'page is ' + document.documentElement.scrollWidth + ' wide'
})()`

func TestPagesInABrowser(t *testing.T) {
	ctx := browser(t)
	srv := httptest.NewServer(Gallery())
	defer srv.Close()
	var faults []string
	chromedp.ListenTarget(ctx, func(ev any) {
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			faults = append(faults, e.ExceptionDetails.Error())
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.LevelError {
				faults = append(faults, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	if err := chromedp.Run(ctx, cdplog.Enable(), runtime.Enable()); err != nil {
		t.Fatal(err)
	}
	// 320 px and the language with the longest words: where pages break first
	if err := chromedp.Run(ctx, emulation.SetDeviceMetricsOverride(320, 900, 1, true)); err != nil {
		t.Fatal(err)
	}
	for _, f := range All() {
		faults = nil
		var out string
		if err := chromedp.Run(ctx, chromedp.Navigate(srv.URL+"/gallery/pl/"+f.Name), chromedp.Evaluate(wide, &out)); err != nil {
			t.Fatal(err)
		}
		if out != "" {
			t.Errorf("%s is too wide: %s", f.Name, out)
		}
		for _, fault := range faults {
			t.Errorf("%s: %s", f.Name, fault)
		}
	}
}
