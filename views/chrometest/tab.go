package chrometest

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Look is how a tab shows pages. The zero value is a light desktop in English.
type Look struct {
	Width, Height int64 // CSS pixels; 0 = 1440 × 1100. Up to 600 wide it is a touch device
	Dark          bool
	Language      string // "ja", "pl"; "" = en
	NoScript      bool
	StillPictures bool // prefers-reduced-motion
}

// Phone is a telephone held upright.
func Phone() Look { return Look{Width: 390, Height: 844} }

// Tab is one page of the browser, with cookies of its own.
type Tab struct {
	Ctx context.Context // for chromedp.Run with a deadline of one's own

	t        testing.TB
	mu       sync.Mutex
	faults   []string
	requests []Request
	allowed  []*regexp.Regexp
}

// Request is one file that a page asked for.
type Request struct {
	URL, Kind string  // the kind as Chromium calls it: Document, Script, Stylesheet, Image, Font…
	Bytes     float64 // as they came over the wire, headers included; 0 = not finished
	id        network.RequestID
}

// Tab opens a tab that closes with the test. A fault that was seen in it and not allowed
// fails the test at its end.
func (b *Browser) Tab(t testing.TB, look Look) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithTargetID(b.window(t)))
	tab := &Tab{Ctx: ctx, t: t}
	chromedp.ListenTarget(ctx, tab.hear)
	t.Cleanup(func() {
		for _, f := range tab.Faults() {
			t.Errorf("in the browser: %s", f)
		}
		cancel()
	})
	if err := chromedp.Run(ctx); err != nil { // the tab lives as long as the context of its first run
		t.Fatalf("in the browser: %v", err)
	}
	tab.Do(append([]chromedp.Action{cdplog.Enable(), runtime.Enable(), network.Enable()}, look.actions()...)...)
	return tab
}

// window opens a window with cookies of its own. Chromium refuses a tab in a context that
// has no window yet.
func (b *Browser) window(t testing.TB) target.ID {
	t.Helper()
	ctx := cdp.WithExecutor(b.ctx, chromedp.FromContext(b.ctx).Browser)
	own, err := target.CreateBrowserContext().WithDisposeOnDetach(true).Do(ctx)
	if err != nil {
		t.Fatalf("in the browser: %v", err)
	}
	id, err := target.CreateTarget("about:blank").WithBrowserContextID(own).WithNewWindow(true).Do(ctx)
	if err != nil {
		t.Fatalf("in the browser: %v", err)
	}
	return id
}

func (l Look) actions() []chromedp.Action {
	if l.Width == 0 {
		l.Width, l.Height = 1440, 1100
	}
	if l.Language == "" {
		l.Language = "en"
	}
	scheme, motion := "light", "no-preference"
	if l.Dark {
		scheme = "dark"
	}
	if l.StillPictures {
		motion = "reduce"
	}
	agent := chromedp.ActionFunc(func(ctx context.Context) error {
		_, _, _, name, _, err := browser.GetVersion().Do(ctx)
		if err != nil {
			return err
		}
		return emulation.SetUserAgentOverride(name).WithAcceptLanguage(l.Language).Do(ctx)
	})
	return []chromedp.Action{
		emulation.SetDeviceMetricsOverride(l.Width, l.Height, 1, l.Width <= 600),
		emulation.SetTouchEmulationEnabled(l.Width <= 600),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion}}),
		emulation.SetScriptExecutionDisabled(l.NoScript), agent,
	}
}

// Show shows the page that is open in another look, as a device does in the evening.
// Colours that change slowly have changed when it returns.
func (tab *Tab) Show(l Look) {
	tab.t.Helper()
	tab.Do(l.actions()...)
	tab.Do(chromedp.Evaluate(`Promise.allSettled(document.getAnimations().map(a => a.finished)).then(() => new Promise(requestAnimationFrame))`, nil, awaited))
}

// patience is how long Do waits for what it is told to do.
const patience = 30 * time.Second

// Do runs actions; one that fails, or waits in vain, ends the test.
func (tab *Tab) Do(actions ...chromedp.Action) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.Ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		tab.t.Fatalf("in the browser: %v", err)
	}
}

// Get opens a page and waits until it is loaded.
func (tab *Tab) Get(address string) { tab.t.Helper(); tab.Do(chromedp.Navigate(address)) }

// Text gives the visible text of the first element that fits the selector.
func (tab *Tab) Text(selector string) string {
	tab.t.Helper()
	var s string
	tab.Do(chromedp.Text(selector, &s, chromedp.ByQuery))
	return s
}

// Eval runs an expression in the page and reads its value into out.
func (tab *Tab) Eval(expression string, out any) {
	tab.t.Helper()
	tab.Do(chromedp.Evaluate(expression, out))
}

// Allow takes away faults that a test provokes, those that fit the pattern.
func (tab *Tab) Allow(pattern string) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.allowed = append(tab.allowed, regexp.MustCompile(pattern))
}

// hear takes down errors of the console, of the policy and of scripts, and requests.
func (tab *Tab) hear(ev any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		tab.faults = append(tab.faults, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeAssert {
			tab.faults = append(tab.faults, "console: "+string(e.Args[0].Value))
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.LevelError {
			tab.faults = append(tab.faults, e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		tab.requests = append(tab.requests, Request{URL: e.Request.URL, Kind: e.Type.String(), id: e.RequestID})
	case *network.EventLoadingFinished:
		for i := range tab.requests {
			if tab.requests[i].id == e.RequestID {
				tab.requests[i].Bytes = e.EncodedDataLength
			}
		}
	}
}

// Faults lists what went wrong so far and was not allowed: errors of the console and of
// the content security policy, uncaught exceptions, requests to other hosts.
func (tab *Tab) Faults() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	list := append([]string{}, tab.faults...)
	for _, r := range tab.requests {
		if u, err := url.Parse(r.URL); err == nil && strings.HasPrefix(u.Scheme, "http") && u.Hostname() != "127.0.0.1" && u.Hostname() != "localhost" {
			list = append(list, "a request to another host: "+r.URL)
		}
	}
	return slices.DeleteFunc(list, func(f string) bool {
		return slices.ContainsFunc(tab.allowed, func(p *regexp.Regexp) bool { return p.MatchString(f) })
	})
}

// Requests lists what the tab asked for since the last Forget.
func (tab *Tab) Requests() []Request {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.requests)
}

// Forget starts the list of requests anew.
func (tab *Tab) Forget() {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.requests = nil
}

// Shot writes a picture of the whole page as NAME.png into the folder that
// HOLDPOINT_SHOTS names; without it nothing is written.
func (tab *Tab) Shot(name string) {
	tab.t.Helper()
	dir := os.Getenv("HOLDPOINT_SHOTS")
	if dir == "" {
		return
	}
	var picture []byte
	tab.Do(chromedp.FullScreenshot(&picture, 100))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tab.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		tab.t.Fatal(err)
	}
}
