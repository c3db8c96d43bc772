package handlers_test

import (
	"net/url"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
	"holdpoint/views/chrometest"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// way is one look in which every role walks its main path.
type way struct {
	name string
	look chrometest.Look
}

var ways = []way{
	{"wide", chrometest.Look{}},
	{"phone-dark-ja", chrometest.Look{Width: 390, Height: 844, Dark: true, Language: "ja"}},
	{"phone-pl-noscript", chrometest.Look{Width: 390, Height: 844, Language: "pl", NoScript: true}},
	{"wide-dark-ja-noscript", chrometest.Look{Dark: true, Language: "ja", NoScript: true}},
	{"wide-pl", chrometest.Look{Language: "pl"}},
}

// TestRolesInABrowser lets each role walk its main path in a real browser, in every
// look, with and without scripts: what it decides is in the database afterwards, each
// page is free of faults for axe-core, nothing sticks out, nothing is asked elsewhere.
func TestRolesInABrowser(t *testing.T) {
	t.Parallel()
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			b := chrometest.Start(t)
			walk := func(name, who string, path func(*stroll)) {
				t.Run(name, func(t *testing.T) {
					path(&stroll{Tab: b.Tab(t, w.look), t: t, h: h, noScript: w.look.NoScript, language: w.look.Language, name: name + "." + w.name, who: who})
				})
			}
			walk("approver", "lead", (*stroll).approver)
			walk("author", "author", (*stroll).author)
			walk("ops_owner", "ops", (*stroll).opsOwner)
			walk("auditor", "auditor", (*stroll).auditor)
			walk("admin", "admin", (*stroll).admin)
		})
	}
}

// stroll is one person at one browser.
type stroll struct {
	*chrometest.Tab
	t         *testing.T
	h         *house
	noScript  bool
	language  string
	name, who string
}

// enter signs the person in without the form.
func (w *stroll) enter() {
	w.t.Helper()
	b := w.h.as(w.t, w.who)
	home, err := url.Parse(w.h.url)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range b.http.Jar.Cookies(home) {
		w.Do(network.SetCookie(c.Name, c.Value).WithURL(w.h.url).WithHTTPOnly(true))
	}
}

// open opens a page of ours and looks at it.
func (w *stroll) open(path string) {
	w.t.Helper()
	w.Get(w.h.url + path)
	w.check(path)
}

// check looks at the page that is open now.
func (w *stroll) check(what string) {
	w.t.Helper()
	w.Narrow(what)
	switch {
	case w.noScript:
	case w.language == "pl": // names, roles and colours are those of the English page
		w.AxeFor(what, chrometest.LayoutOnly)
	default:
		w.Axe(what)
	}
}

// press clicks the first element with a test ID below a selector.
func (w *stroll) press(selector string) {
	w.t.Helper()
	w.Do(chromedp.ScrollIntoView(selector, chromedp.ByQuery), chromedp.Click(selector, chromedp.ByQuery))
}

// choose ticks a radio button or a box by its label.
func (w *stroll) choose(selector string) {
	w.t.Helper()
	w.press(`label:has(` + selector + `)`)
}

// write types into an empty field.
func (w *stroll) write(selector, text string) {
	w.t.Helper()
	w.Do(chromedp.SendKeys(selector, text, chromedp.ByQuery))
}

// answered waits for the message after a form was sent.
func (w *stroll) answered(what string) {
	w.t.Helper()
	w.Do(chromedp.WaitVisible(tid("flash"), chromedp.ByQuery))
	w.check(what)
}

func tid(id string) string { return `[data-testid="` + id + `"]` }

// approver signs in, opens an operation from the inbox and approves it.
func (w *stroll) approver() {
	w.h.SetPassword(w.t, "lead", "a long pass phrase")
	id := w.h.Receive(w.t, storetest.CampaignEvent())[0]
	w.open("/")
	w.write(`#email`, storetest.Email("lead"))
	w.write(`#password`, "a long pass phrase")
	w.press(tid("form-signin") + " " + tid("submit"))
	w.Do(chromedp.WaitVisible(`[data-id="`+string(id)+`"] a`, chromedp.ByQuery))
	w.check("inbox")
	w.press(`[data-id="` + string(id) + `"] a`)
	w.Do(chromedp.WaitVisible(tid("form-decide"), chromedp.ByQuery))
	w.check("operation to approve")
	w.choose(tid("choice-approve"))
	w.press(tid("form-decide") + " " + tid("submit"))
	w.answered("approved")
	w.h.wantState(w.t, id, operation.Ready)
	w.Shot("path-" + w.name)
}

// author writes a letter and submits it.
func (w *stroll) author() {
	id := w.h.Receive(w.t, storetest.InvoiceEvent())[1]
	w.enter()
	w.open("/inbox")
	w.open(opPath(id))
	w.press(tid("do-edit"))
	w.Do(chromedp.WaitVisible(tid("form-edit"), chromedp.ByQuery))
	w.check("edit")
	var open []string
	w.Eval(`[...document.querySelectorAll('[data-testid="form-edit"] :is(input:not([type=hidden],[type=checkbox],[type=radio]), textarea)')].filter(e => !e.value && !e.readOnly && e.id).map(e => '#' + CSS.escape(e.id))`, &open)
	for _, field := range open {
		w.write(field, "We are sorry.")
	}
	w.choose(tid("field-submit"))
	w.press(tid("form-edit") + " " + tid("submit"))
	w.answered("submitted")
	w.h.wantState(w.t, id, operation.PendingApproval)
}

// opsOwner settles an unknown outcome: the effect is there.
func (w *stroll) opsOwner() {
	id := w.h.review(w.t)
	w.enter()
	w.open("/inbox")
	w.open(opPath(id))
	w.choose(tid("choice-done"))
	w.write(`#done-reference`, "co-"+string(id))
	w.write(`#done-evidence`, "Their log shows it.")
	w.check("reconcile")
	w.press(tid("form-reconcile") + " " + tid("submit"))
	w.answered("settled")
	w.h.wantState(w.t, id, operation.Confirmed)
	w.Shot("path-" + w.name)
}

// auditor reads everything and is offered no decision.
func (w *stroll) auditor() {
	id := w.h.Receive(w.t, storetest.CouponEvent())[0]
	w.enter()
	for _, path := range []string{"/inbox", "/operations", opPath(id), "/deliveries", "/flows", "/flows/newsletter-coupon", "/destinations", "/destinations/billing", "/people", "/account"} {
		w.open(path)
		var nodes []*cdp.Node
		w.Do(chromedp.Nodes(tid("form-decide")+","+tid("form-reconcile")+","+tid("form-pause"), &nodes, chromedp.ByQueryAll, chromedp.AtLeast(0)))
		if len(nodes) > 0 {
			w.t.Errorf("%s offers an auditor a decision", path)
		}
	}
}

// admin pauses a destination and resumes it.
func (w *stroll) admin() {
	w.enter()
	w.open("/people")
	for _, verb := range []string{"pause", "resume"} {
		w.open("/destinations/partner")
		w.press(`details:has(` + tid("form-"+verb) + `) > summary`)
		w.write(tid("form-"+verb)+` :is(input:not([type=hidden]), textarea)`, "Their outage.")
		w.check(verb)
		w.press(tid("form-"+verb) + " " + tid("submit"))
		w.answered(verb + "d")
	}
	d, err := w.h.Store.FindDestination(w.t.Context(), "partner")
	if err != nil || d.Paused != nil {
		w.t.Errorf("after the resume: %v %v", d.Paused, err)
	}
}

// review gives an operation whose outcome is unknown and which a person must settle.
func (h *house) review(t *testing.T) operation.ID {
	t.Helper()
	id := h.Ready(t)
	job := store.Job("hand")
	d, err := h.Store.ClaimAndDispatch(t.Context(), job, id, "hand")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Store.Record(t.Context(), job, d.Attempt, d.Fence, operation.Result{Mismatch: true, Proof: operation.Proof{Code: "mismatch", Status: 400}}); err != nil {
		t.Fatal(err)
	}
	h.wantState(t, id, operation.Review)
	return id
}
