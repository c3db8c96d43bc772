package handlers_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdpoint/store"

	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// trap is a listener that hostile content points at. It counts connections and requests.
type trap struct {
	url         string
	connections atomic.Int64
	mu          sync.Mutex
	paths       []string
	hit         chan struct{} // gets a value at the first request
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	x := &trap{hit: make(chan struct{}, 1)}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x.mu.Lock()
		x.paths = append(x.paths, r.URL.Path)
		x.mu.Unlock()
		select {
		case x.hit <- struct{}{}:
		default:
		}
		w.Header().Set("Access-Control-Allow-Origin", "*")
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			x.connections.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	x.url = srv.URL
	return x
}

// seen lists the requests that came.
func (x *trap) seen() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]string{}, x.paths...)
}

// hostile is a mail that tries every way out: each with a path of its own. What is pressed
// covers the whole of it.
func (x *trap) hostile() string {
	return strings.ReplaceAll(`<!doctype html><html><head>
<base href="TRAP/base/"><meta http-equiv="refresh" content="0; url=TRAP/refresh">
<link rel="stylesheet" href="TRAP/sheet.css"><link rel="preload" as="image" href="TRAP/preload.png"><link rel="prefetch" href="TRAP/prefetch">
<link rel="preconnect" href="TRAP"><link rel="dns-prefetch" href="TRAP"><link rel="icon" href="TRAP/icon.png"><link rel="modulepreload" href="TRAP/m.js">
<link rel="manifest" href="TRAP/manifest.json"><link rel="prerender" href="TRAP/prerender">
<style>@import url("TRAP/import.css"); @font-face{font-family:x;src:url("TRAP/font.woff2")} body{background:url("TRAP/background.png");font-family:x}
p::after{content:url("TRAP/content.png")} p{cursor:url("TRAP/cursor.png"),auto;list-style-image:url("TRAP/list.png");border-image:url("TRAP/border.png") 1}
div{background:image-set(url("TRAP/set.png") 1x);mask-image:url("TRAP/mask.svg#m");filter:url("TRAP/filter.svg#f")}</style>
<script>new Image().src="TRAP/script-image";fetch("TRAP/script-fetch");document.title="taken";top.location="TRAP/top"</script><script src="TRAP/script.js"></script>
<script type="speculationrules">{"prefetch":[{"source":"list","urls":["TRAP/speculation"]}]}</script>
</head><body background="TRAP/body.png" onload="fetch('TRAP/onload')">
<p>Dear customer</p><img src="TRAP/img.png" srcset="TRAP/srcset.png 2x" onerror="fetch('TRAP/onerror')"><img src="relative.png" loading="eager"><img src="//127.0.0.1:9/x.png">
<picture><source srcset="TRAP/picture.webp"><img src="TRAP/picture.png"></picture><iframe src="TRAP/frame"></iframe><iframe srcdoc="<img src='TRAP/srcdoc.png'><link rel=preconnect href='TRAP'>"></iframe>
<object data="TRAP/object.svg"></object><embed src="TRAP/embed.svg"><video src="TRAP/video.mp4" poster="TRAP/poster.png" autoplay></video><audio src="TRAP/audio.mp3" autoplay></audio>
<svg><image href="TRAP/svg.png"/><use href="TRAP/use.svg#u"/><script>fetch("TRAP/svg-script")</script><feImage href="TRAP/feimage.png"/></svg>
<table background="TRAP/table.png"><tr><td background="TRAP/td.png">x</td></tr></table><input type="image" src="TRAP/input.png"><div>x</div>
<form id="f" action="TRAP/form" method="post"><input name="a" value="b" autofocus onfocus="document.forms[0].submit()"></form>
<details open ontoggle="fetch('TRAP/toggle')"><summary>x</summary></details><math><mtext href="TRAP/math">x</mtext></math>
<noscript><a href="TRAP/noscript-link">x</a></noscript><svg><style><a xlink:href="TRAP/svg-link" href="TRAP/svg-link">x</a></style></svg>
<a href="TRAP/link" ping="TRAP/ping" style="position:fixed;inset:0;display:block">everything is a link</a></body></html>`, "TRAP", x.url)
}

// console collects what a page complains about.
type console struct {
	mu    sync.Mutex
	lines []string
}

func (c *console) listen(ctx context.Context) {
	chromedp.ListenTarget(ctx, func(ev any) {
		line := ""
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			line = "exception: " + e.ExceptionDetails.Error()
		case *runtime.EventConsoleAPICalled:
			line = "console: " + string(e.Type)
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.LevelError {
				line = e.Entry.Text
			}
		}
		if line != "" {
			c.mu.Lock()
			c.lines = append(c.lines, line)
			c.mu.Unlock()
		}
	})
}

// blocked says that a browser has refused something that the content wanted.
func blocked(line string) bool {
	for _, s := range []string{"Content Security Policy", "sandbox", "blocked", "Unsafe attempt to load URL"} {
		if strings.Contains(line, s) {
			return true
		}
	}
	return false
}

func (c *console) unexpected() (faults []string, refused int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lines {
		if blocked(l) {
			refused++
		} else {
			faults = append(faults, l)
		}
	}
	return faults, refused
}

// signedIn gives a browser the session of one of the people.
func (h *house) signedIn(t *testing.T, ctx context.Context, short string) {
	t.Helper()
	token := store.NewFormID()
	sum := sha256.Sum256([]byte(token))
	err := h.Store.SaveSession(ctx, store.Session{TokenHash: sum[:], UserID: h.Users[short], Data: []byte("{}"), Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(h.url)
	if err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Run(ctx, network.SetCookie("holdpoint_"+u.Port(), token).WithURL(h.url)); err != nil {
		t.Fatal(err)
	}
}

// loaded waits until a frame has loaded all that it may load; open is what opens it.
func loaded(open string) chromedp.Action {
	return chromedp.Evaluate(`new Promise(done => {
  document.addEventListener('load', e => e.target.localName === 'iframe' && done(true), true)
  `+open+`
})`, nil, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })
}

// TestFieldCase46_HostileMailReachesNobody opens the real page of an operation whose mail
// tries every way out, opens its HTML part and presses on it. Nothing reaches the listener
// that it points at: no request, and no connection either.
func TestFieldCase46_HostileMailReachesNobody(t *testing.T) {
	t.Parallel()
	took := leaksWithoutPolicy(t)
	x := newTrap(t)
	h := letterHouse(t)
	id := h.written(t, letter("html", x.hostile(), "subject", "Spring \u202Egpj.exe"))
	ctx := chromium(t)
	var c console
	c.listen(ctx)
	h.signedIn(t, ctx, "lead")
	var title string
	var box struct{ X, Y float64 }
	err := chromedp.Run(ctx, cdplog.Enable(), runtime.Enable(),
		chromedp.EmulateViewport(1440, 1000),
		chromedp.Navigate(h.url+opPath(id)),
		chromedp.WaitVisible(`[data-testid="content"] .mail-part summary`),
		loaded(`document.querySelector('[data-testid="content"] .mail-part summary').click()
  document.querySelector('iframe').scrollIntoView()
  document.querySelector('iframe').src += '' // once more: the first may have come before we listen`),
		chromedp.Evaluate(`(() => { const b = document.querySelector('iframe').getBoundingClientRect(); return {X: b.x + b.width / 2, Y: b.y + b.height / 2} })()`, &box),
	)
	if err != nil {
		t.Fatal(err)
	}
	// pressed, pressed for a new tab, and pressed for a new window
	if err := chromedp.Run(ctx, chromedp.MouseClickXY(box.X, box.Y), chromedp.MouseClickXY(box.X, box.Y, chromedp.ButtonMiddle),
		chromedp.MouseClickXY(box.X, box.Y, chromedp.ButtonModifiers(input.ModifierCtrl)), chromedp.MouseClickXY(box.X, box.Y, chromedp.ButtonModifiers(input.ModifierShift))); err != nil {
		t.Fatal(err)
	}
	// far longer than the same mail needs to get out where nothing holds it
	if err := chromedp.Run(ctx, chromedp.Sleep(max(3*took, 500*time.Millisecond)), chromedp.Title(&title)); err != nil {
		t.Fatal(err)
	}
	if n := x.connections.Load(); n != 0 || len(x.seen()) != 0 {
		t.Errorf("%d connections, requests %v", n, x.seen())
	}
	h.frameLog(t, ctx, &c)
	faults, refused := c.unexpected()
	if len(faults) > 0 {
		t.Errorf("the console says: %s", strings.Join(faults, "\n"))
	}
	if refused == 0 {
		t.Error("the browser refused nothing: was the frame opened at all?")
	}
	if !strings.Contains(title, "[RLO]") {
		t.Errorf("the title is %q", title)
	}
}

// frameLog adds what the browser noted of the frame, which is a process of its own.
func (h *house) frameLog(t *testing.T, ctx context.Context, c *console) {
	t.Helper()
	targets, err := chromedp.Targets(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range targets {
		if !strings.HasSuffix(x.URL, "/preview") {
			continue
		}
		frame, stop := chromedp.NewContext(ctx, chromedp.WithTargetID(x.TargetID))
		defer stop()
		c.listen(frame)
		if err := chromedp.Run(frame, cdplog.Enable(), runtime.Enable()); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("there is no frame with the mail")
}

// leaksWithoutPolicy shows the same mail in a frame with nothing but sandbox, as a page
// without its policy would, and gives how long it takes to load all. It proves that the
// trap works and that the policy is what holds the mail.
func leaksWithoutPolicy(t *testing.T) time.Duration {
	t.Helper()
	x := newTrap(t)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /weak/preview", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "sandbox")
		fmt.Fprint(w, x.hostile())
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><title>weak</title><iframe sandbox=""></iframe>`)
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	ctx := chromium(t)
	if err := chromedp.Run(ctx, chromedp.Navigate(srv.URL+"/")); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := chromedp.Run(ctx, loaded(`document.querySelector('iframe').src = '/weak/preview'`)); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	select {
	case <-x.hit:
	default:
		t.Fatal("with sandbox alone nothing got out either: the test proves nothing")
	}
	if paths := x.seen(); len(paths) < 5 {
		t.Errorf("with sandbox alone only %v got out", paths)
	}
	return took
}
