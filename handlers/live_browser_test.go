package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
	"holdpoint/views/chrometest"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabAs is a tab in which a person has signed in.
func (h *house) tabAs(t *testing.T, browser *chrometest.Browser, base, short string, look chrometest.Look) *chrometest.Tab {
	t.Helper()
	b := newBrowser(t, base)
	h.session(t, b, h.Users[short])
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	tab := browser.Tab(t, look)
	for _, c := range b.http.Jar.Cookies(u) {
		tab.Do(network.SetCookie(c.Name, c.Value).WithURL(base).WithHTTPOnly(true))
	}
	return tab
}

// until waits until an expression of the page is true.
func until(t *testing.T, tab *chrometest.Tab, what, expression string) {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); time.Now().Before(limit); time.Sleep(30 * time.Millisecond) {
		var ok bool
		tab.Eval("(() => { try { return !!("+expression+") } catch { return false } })()", &ok) // a page may be on its way
		if ok {
			return
		}
	}
	var body string
	tab.Eval("location.pathname + ' ' + document.activeElement.outerHTML.slice(0, 200) + document.activeElement.value + document.querySelector('main').innerText.slice(0, 300)", &body)
	t.Fatalf("never: %s\n%s", what, body)
}

// streams waits until the page's stream is open: the first line has come.
func streams(t *testing.T, tab *chrometest.Tab) {
	t.Helper()
	until(t, tab, "the stream is open", `document.documentElement.dataset.stream`)
}

func row(id operation.ID) string {
	return fmt.Sprintf(`document.querySelector('[data-rows] [data-id="%s"]')`, id)
}

// TestLiveInbox: over two servers, rows change in place, new ones wait behind a line, gone
// ones stay greyed; counts follow; nothing moves.
func TestLiveInbox(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	other := serve(t, h.Open(t, h.AppURL))
	first, second := h.Receive(t, storetest.CampaignEvent())[0], h.Receive(t, storetest.CampaignEvent())[0]
	browser := chrometest.Start(t)
	tab := h.tabAs(t, browser, other, "lead", chrometest.Look{})
	tab.Get(other + "/inbox")
	until(t, tab, "the row", row(first))
	streams(t, tab)
	tab.Eval(`window.was = `+row(second)+`; window.top0 = was.getBoundingClientRect().top`, nil)

	lead := h.as(t, "second")
	lead.submit(lead.get(opPath(first)).want(200), "form-decide", "decision", "approve").want(303)
	until(t, tab, "the decided row is greyed", row(first)+`?.dataset.gone`)
	until(t, tab, "the count follows", `document.querySelector('[data-testid="nav-inbox"]').innerText.includes('1')`)
	third := h.Receive(t, storetest.CampaignEvent())[0]
	until(t, tab, "a line says that one is new", `document.querySelector('.live-new')?.innerText.startsWith('1 new')`)
	var moved bool
	tab.Eval(`window.was !== `+row(second)+` || window.top0 !== was.getBoundingClientRect().top`, &moved)
	if moved {
		t.Error("a row moved or was replaced")
	}
	until(t, tab, "it is said", `document.getElementById('live').textContent.includes('1 new')`)
	tab.Axe("inbox with changes")
	tab.Shot("live-inbox")
	tab.Do(chromedp.Click(`.live-new`))
	until(t, tab, "the new row", row(third)+` && !`+row(first))
}

// TestLiveOperation: the open operation shows a decision of somebody else in place; what
// is being typed stays, and a notice says what happened.
func TestLiveOperation(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CampaignEvent())[0]
	browser := chrometest.Start(t)
	reader := h.tabAs(t, browser, h.url, "auditor", chrometest.Look{StillPictures: true})
	writer := h.tabAs(t, browser, h.url, "lead", chrometest.Look{})
	for _, tab := range []*chrometest.Tab{reader, writer} {
		tab.Get(h.url + opPath(id))
	}
	reader.Do(chromedp.WaitVisible(`[data-testid="panel"]`))
	streams(t, reader)
	writer.Do(chromedp.SendKeys(`#comment`, "Half a thou", chromedp.ByQuery))
	streams(t, writer)

	b := h.as(t, "second")
	b.submit(b.get(opPath(id)).want(200), "form-decide", "decision", "request_changes", "comment", "Say it in Polish").want(303)
	until(t, reader, "the state changed in place", `document.querySelector('[data-testid="state"]').dataset.state === 'draft'`)
	until(t, reader, "the history has the entry", `document.querySelector('[data-testid="history"]').innerText.includes('Sam Second')`)
	until(t, reader, "it is said", `document.getElementById('live').textContent.includes('Now:')`)
	reader.Shot("live-operation")
	until(t, writer, "the notice", `document.querySelector('[data-testid="live-notice"]')`)
	var typed string
	writer.Eval(`document.querySelector('#comment').value`, &typed)
	if typed != "Half a thou" {
		t.Errorf("what was typed is now %q", typed)
	}
	until(t, writer, "the columns beside it are true", `document.querySelector('[data-testid="state"]').dataset.state === 'draft'`)
	writer.Axe("operation that changed under the hands")
	writer.Shot("live-notice")
	// Sent all the same, it decides nothing, and is kept.
	writer.Do(chromedp.SendKeys(`#comment`, "ght", chromedp.ByQuery), chromedp.Evaluate(`document.querySelector('[data-testid="form-decide"]').requestSubmit()`, nil))
	until(t, writer, "the page that shows both", `[...document.querySelectorAll('textarea')].some(t => t.value === 'Half a thought') || document.querySelector('main').innerText.includes('Half a thought')`)
	writer.Allow("409")
	h.wantState(t, id, operation.Draft)
}

// TestLiveAttempt: an open page that is told of an attempt shows what a fresh one shows.
func TestLiveAttempt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Ready(t)
	tab := h.tabAs(t, chrometest.Start(t), h.url, "auditor", chrometest.Look{})
	tab.Get(h.url + opPath(id))
	streams(t, tab)
	if _, err := h.Store.ClaimAndDispatch(t.Context(), store.Job("w1"), id, "w1"); err != nil {
		t.Fatal(err)
	}
	until(t, tab, "the attempt is shown", `document.querySelector('[data-testid="state"]').dataset.state === 'in_progress'`)
	var fresh string
	tab.Do(chromedp.Evaluate(`fetch(location.href).then(a => a.text()).then(text =>
		new DOMParser().parseFromString(text, 'text/html').querySelector('#history tbody').textContent)`, &fresh, awaited))
	until(t, tab, "the history is whole", fmt.Sprintf(`document.querySelector('#history tbody').textContent === %q`, fresh))
}

// awaited lets an expression wait for its promise.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// TestLiveStopsWhileHidden: a hidden page lets its stream go; shown again, it is told
// what it missed.
func TestLiveStopsWhileHidden(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CampaignEvent())[0]
	tab := h.tabAs(t, chrometest.Start(t), h.url, "lead", chrometest.Look{})
	tab.Get(h.url + "/inbox")
	streams(t, tab)
	hide := func(hidden bool) {
		tab.Eval(fmt.Sprintf(`Object.defineProperty(document, 'hidden', { value: %v, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`, hidden), nil)
	}
	hide(true)
	b := h.as(t, "second")
	b.submit(b.get(opPath(id)).want(200), "form-decide", "decision", "approve").want(303)
	time.Sleep(2500 * time.Millisecond)
	var gone bool
	tab.Eval(`!!`+row(id)+`.dataset.gone`, &gone)
	if gone {
		t.Error("a hidden page was updated")
	}
	hide(false)
	until(t, tab, "what it missed", row(id)+`.dataset.gone`)
}

// press sends one key as a keyboard does, and counts it.
type keyboard struct {
	t     *testing.T
	tab   *chrometest.Tab
	count int
}

func (k *keyboard) press(keys ...string) {
	k.t.Helper()
	for _, key := range keys {
		k.tab.Do(chromedp.KeyEvent(key))
		k.count++
	}
}

// TestTenApprovalsByKeyboard: ten approvals with at most three keys each, from the open
// inbox on, by real key events.
func TestTenApprovalsByKeyboard(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var ids []operation.ID
	for range 10 {
		ids = append(ids, h.Receive(t, storetest.CampaignEvent())[0])
	}
	tab := h.tabAs(t, chrometest.Start(t), h.url, "lead", chrometest.Look{})
	tab.Get(h.url + "/inbox")
	until(t, tab, "ten rows", `document.querySelectorAll('[data-rows] [data-id]').length === 10 && document.documentElement.dataset.script`)
	k := &keyboard{t: t, tab: tab}
	begun := time.Now()
	for i := range ids {
		k.press(kb.Enter) // the inbox's first row, then the link to the next decision
		until(t, tab, fmt.Sprintf("decision %d", i+1), `document.querySelector('[data-testid="form-decide"] [data-key="a"]') && document.documentElement.dataset.script && !document.querySelector('[data-testid="flash"]')`)
		k.press("a")
		until(t, tab, "approve has the focus", `document.activeElement?.dataset.key === 'a'`)
		k.press("a")
		until(t, tab, "the flash with the next decision in focus", `document.querySelector('[data-testid="flash"]') && document.activeElement?.dataset.testid === 'next' && document.documentElement.dataset.script`)
	}
	t.Logf("%d keys for %d approvals, in %v", k.count, len(ids), time.Since(begun).Round(time.Millisecond))
	if k.count > 3*len(ids) {
		t.Errorf("%d keys for %d approvals", k.count, len(ids))
	}
	for _, id := range ids {
		h.wantState(t, id, operation.Ready)
	}
}

// TestKeys: what single keys do, what they must not do, and that they can be switched off.
func TestKeys(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id, other := h.Receive(t, storetest.CampaignEvent())[0], h.Receive(t, storetest.CampaignEvent())[0]
	tab := h.tabAs(t, chrometest.Start(t), h.url, "lead", chrometest.Look{})
	k := &keyboard{t: t, tab: tab}
	open := func(path string) {
		t.Helper()
		tab.Get(h.url + path)
		until(t, tab, "the script runs", `document.documentElement.dataset.script`)
	}
	open("/inbox")
	k.press("j")
	until(t, tab, "the first row has the focus", `document.activeElement === document.querySelectorAll('[data-row-link]')[0]`)
	k.press("j")
	until(t, tab, "the second", `document.activeElement === document.querySelectorAll('[data-row-link]')[1]`)
	k.press("k")
	until(t, tab, "the first again", `document.activeElement === document.querySelectorAll('[data-row-link]')[0]`)
	k.press("/")
	until(t, tab, "the search has the focus", `document.activeElement.type === 'search'`)
	k.press("j", "?", "g", "o")
	until(t, tab, "keys are text in a field", `document.activeElement.value.endsWith('j?go') && location.pathname === '/inbox'`)
	tab.Eval(`document.activeElement.blur()`, nil)
	k.press("?")
	until(t, tab, "the list of keys", `document.querySelector('dialog[open]')`)
	tab.Axe("the list of keys")
	tab.Shot("keys")
	k.press("j")
	k.press(kb.Escape)
	until(t, tab, "it is closed", `!document.querySelector('dialog[open]')`)
	k.press("g", "o")
	until(t, tab, "operations", `location.pathname === '/operations' && document.documentElement.dataset.script`)
	k.press("g", "i")
	until(t, tab, "inbox", `location.pathname === '/inbox' && document.documentElement.dataset.script`)

	open(opPath(id))
	k.press("a")
	until(t, tab, "approve has the focus", `document.activeElement?.dataset.key === 'a'`)
	held := func(kind input.KeyType) *input.DispatchKeyEventParams {
		return input.DispatchKeyEvent(kind).WithKey("a").WithCode("KeyA").WithText("a").WithWindowsVirtualKeyCode(65).WithAutoRepeat(true)
	}
	tab.Do(held(input.KeyDown), held(input.KeyDown), held(input.KeyDown))
	tab.Do(chromedp.SendKeys(`#comment`, "a a r", chromedp.ByQuery))
	time.Sleep(300 * time.Millisecond)
	h.wantState(t, id, operation.PendingApproval) // neither a key held down nor typing decides
	tab.Do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierCtrl)))
	until(t, tab, "Ctrl and Enter decides while typing", `document.querySelector('[data-testid="flash"]')`)
	h.wantState(t, id, operation.Ready)

	// switched off
	open("/shortcuts")
	tab.Axe("shortcuts")
	tab.Do(chromedp.Click(`[data-testid="single-keys"]`), chromedp.Click(`[data-testid="form-keys"] [data-testid="submit"]`))
	until(t, tab, "it is kept", `document.querySelector('[data-testid="flash"]') && document.documentElement.dataset.keys === 'off' && !document.querySelector('[data-testid="single-keys"]').checked`)
	open(opPath(other))
	k.press("a", "a", "?", "g", "o")
	time.Sleep(300 * time.Millisecond)
	until(t, tab, "nothing happened", `location.pathname === '`+opPath(other)+`' && document.activeElement?.dataset.key !== 'a' && !document.querySelector('dialog[open]')`)
	h.wantState(t, other, operation.PendingApproval)
	tab.Do(chromedp.Focus(`#comment`), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierCtrl)))
	until(t, tab, "Ctrl and Enter still decides", `document.querySelector('[data-testid="flash"]')`)
}

// TestBudget: the first view of an inbox with 50 rows, as a browser loads it.
func TestBudget(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 50 {
		h.Receive(t, storetest.CampaignEvent())
	}
	tab := h.tabAs(t, chrometest.Start(t), h.url, "lead", chrometest.Look{})
	tab.Get(h.url + "/inbox")
	until(t, tab, "the rows", `document.querySelectorAll('[data-rows] [data-id]').length >= 50`)
	streams(t, tab)
	var all, script float64
	var seen []string
	for _, r := range arrived(t, tab) {
		all += r.Bytes
		seen = append(seen, fmt.Sprintf("%s %s %.0f", r.Kind, strings.TrimPrefix(r.URL, h.url), r.Bytes))
		switch r.Kind {
		case "Script":
			script += r.Bytes
		case "Font":
			t.Errorf("a font is loaded: %s", r.URL)
		}
	}
	t.Logf("%.0f bytes, of them %.0f script:\n%s", all, script, strings.Join(seen, "\n"))
	if all > 60*1024 || script > 25*1024 || script == 0 {
		t.Errorf("%.0f bytes, of them %.0f script", all, script)
	}
}

// arrived waits until everything that a page asks for is there, the icon too, which comes
// after the page is ready, and gives it without the stream, which never ends.
func arrived(t *testing.T, tab *chrometest.Tab) []chrometest.Request {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		all := slices.DeleteFunc(tab.Requests(), func(r chrometest.Request) bool { return strings.Contains(r.URL, "/live?") })
		i := slices.IndexFunc(all, func(r chrometest.Request) bool { return r.Bytes == 0 })
		if i < 0 {
			return all
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not loaded", all[i].URL)
		}
	}
}

// TestShortcutsWithoutScript: the list of keys is a page, and the switch a form.
func TestShortcutsWithoutScript(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	b := h.as(t, "auditor")
	p := b.get("/shortcuts").want(http.StatusOK).says("Keyboard shortcuts", "Previous row", "Ctrl")
	action, form := p.form("form-keys")
	form.Del("single") // as a browser sends an empty box
	b.follow(b.post(action, form)).want(http.StatusOK).says("Saved")
	if u, err := h.Store.FindUser(t.Context(), h.Users["auditor"]); err != nil || u.SingleKeys {
		t.Errorf("single keys act: %v, %v", u.SingleKeys, err)
	}
	b.follow(b.submit(b.get("/shortcuts"), "form-keys", "single", "yes")).want(http.StatusOK)
	if u, err := h.Store.FindUser(t.Context(), h.Users["auditor"]); err != nil || !u.SingleKeys {
		t.Errorf("single keys act: %v, %v", u.SingleKeys, err)
	}
}
