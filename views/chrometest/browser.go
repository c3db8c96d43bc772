package chrometest

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// limit bounds the life of one test's browser.
const limit = 15 * time.Minute

// Browser is one Chromium with a profile of its own.
type Browser struct {
	ctx context.Context
}

// Context is the browser's first tab, for chromedp.Run, without a look of its own and
// without a watch for faults.
func (b *Browser) Context() context.Context { return b.ctx }

// Start starts a browser that ends with the test. Without Chromium the test fails:
// `make test` installs it.
func Start(t testing.TB) *Browser {
	t.Helper()
	path, err := exec.LookPath("chromium-headless-shell") // starts with a third of the work
	if err != nil {
		path, err = exec.LookPath("chromium")
	}
	if err != nil {
		t.Fatal("Chromium is missing: run the tests by `make test`, or install the package chromium-headless-shell")
	}
	// Not t.TempDir: Chromium still writes into its profile while it ends.
	dir, err := os.MkdirTemp("", "holdpoint-browser-")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("no-first-run", true), chromedp.Flag("disable-quic", true),
		// frames of others are processes of their own, as in the browsers of people
		chromedp.Flag("site-per-process", true))
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx)
		end()
		stop()
		cancel()
		_ = os.RemoveAll(dir)
	})
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("the browser does not start: %v", err)
	}
	return &Browser{ctx: ctx}
}
