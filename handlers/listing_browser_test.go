package handlers_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views/chrometest"

	"github.com/chromedp/chromedp"
)

// TestListsInABrowser: an author puts addresses on the suppression list, by hand and from a
// file, and makes a batch of a list with faults; an ops owner takes an address off again. axe
// finds nothing on the way, and nothing sticks out on a telephone, in Japanese and Polish too.
func TestListsInABrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.ApplyMailing(t, "")
	b := chrometest.Start(t)
	l := &listTour{house: h, t: t, tab: h.signedInTab(t, b, chrometest.Phone(), "author"), dir: t.TempDir()}
	pages := l.suppressions(h.signedInTab(t, b, chrometest.Look{}, "ops"))
	pages = append(pages, l.batch()...)
	for _, lang := range []string{"ja", "pl"} {
		look := chrometest.Phone()
		look.Language = lang
		tab := h.signedInTab(t, b, look, "author")
		for _, page := range pages {
			tab.Get(h.url + page)
			tab.Narrow(page + " " + lang)
			tab.AxeFor(page+" "+lang, chrometest.LayoutOnly)
			if said := tab.Text("main"); strings.Contains(said, "{{.") || strings.Contains(said, "suppression.") || strings.Contains(said, "newbatch.") {
				t.Errorf("%s %s says a key, and no sentence", page, lang)
			}
		}
	}
}

// listTour is an author with files at a browser.
type listTour struct {
	*house
	t   *testing.T
	tab *chrometest.Tab
	dir string
}

// good: no fault of accessibility, nothing that sticks out.
func (l *listTour) good(what string) {
	l.t.Helper()
	l.tab.Axe(what)
	l.tab.Narrow(what)
}

// says fails where a part of the page lacks a sentence.
func (l *listTour) says(what, selector string, want ...string) {
	l.t.Helper()
	text := l.tab.Text(selector)
	for _, w := range want {
		if !strings.Contains(text, w) {
			l.t.Errorf("%s does not say %q:\n%s", what, w, text)
		}
	}
}

// press presses a button and waits for the page that the expression knows.
func (l *listTour) press(testid, then string) {
	l.t.Helper()
	l.tab.Do(clicks(`[data-testid="`+testid+`"]`), holds(then+` && document.readyState === 'complete'`))
}

// file chooses a file of this text for a field.
func (l *listTour) file(field, name, text string) {
	l.t.Helper()
	path := filepath.Join(l.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.tab.Do(chromedp.SetUploadFiles(field, []string{path}))
}

const flashed = `document.querySelector('[data-testid="flash"]') !== null`

// suppressions gives pages to be looked at in other languages.
func (l *listTour) suppressions(ops *chrometest.Tab) (pages []string) {
	l.t.Helper()
	l.tab.Get(l.url + "/suppressions")
	l.good("the empty suppression list")
	l.press("add", `document.querySelector('#error-address, #add-address-error, [aria-invalid="true"]') !== null`)
	l.tab.Allow(`422 \(Unprocessable`)
	l.good("a form without an address")
	l.tab.Do(chromedp.SendKeys("#add-address", "Kim@Example.test"), chromedp.SendKeys("#add-note", "Asked by telephone."))
	l.press("add", flashed)
	l.file("#suppression-file", "people.csv", "Name;E-Mail\nKim;kim@example.test\nLee;lee@example.test\nNobody;\nTwo;x@example.test, y@example.test\n")
	l.press("upload", `location.pathname.startsWith('/suppressions/imports/')`)
	l.says("the look at a file", "main", "4 rows", "1 new")
	l.good("the look at a file")
	l.press("begin", flashed)
	l.good("the suppression list")
	if n := l.Count(l.t, "suppressions"); n != 2 {
		l.t.Fatalf("%d addresses", n)
	}
	var one store.SuppressionID
	if err := l.Owner.QueryRow(`SELECT id FROM suppressions WHERE address = 'lee@example.test'`).Scan(&one); err != nil {
		l.t.Fatal(err)
	}
	page := "/suppressions/" + string(one)
	ops.Get(l.url + page)
	ops.Axe("one address")
	ops.Do(chromedp.SendKeys("#lift-reason", "They asked for it again."), clicks(`[data-testid="lift"]`), holds(flashed))
	if n := l.Count(l.t, "suppressions WHERE lifted_at IS NOT NULL"); n != 1 {
		l.t.Errorf("%d were taken off", n)
	}
	ops.Axe("one that was taken off")
	l.file("#suppression-file", "more.csv", "mail\nann@example.test\nben@example.test\n")
	l.press("upload", `location.pathname.startsWith('/suppressions/imports/')`)
	return []string{"/suppressions", page, l.path()}
}

func (l *listTour) path() (p string) {
	l.t.Helper()
	l.tab.Eval(`location.pathname`, &p)
	return p
}

// batch uploads a list with faults, corrects what can be corrected, and makes a batch.
func (l *listTour) batch() (pages []string) {
	l.t.Helper()
	const fresh = "/flows/mailing/batches/new"
	upload := func(name, text string) string {
		l.tab.Get(l.url + fresh)
		l.file("#list", name, text)
		l.press("upload", `location.pathname.startsWith('/lists/')`)
		return l.path()
	}
	l.tab.Get(l.url + fresh)
	l.good("a new list")
	upload("broken.csv", "email,name\n\"a,b\n")
	l.says("a file that cannot be read", `[data-testid="list-broken"]`, "line 2")
	l.good("a file that cannot be read")
	list := "Mail;Name;Shoe size\nann@example.test;Ann;37\nkim@example.test;Kim;41\nANN@example.test;Ann;37\nno address;Ben;44\ncy@example.test;;40\n"
	page := upload("people.csv", list)
	l.tab.Do(chromedp.SetValue(`[name="column.email"]`, "1"), chromedp.SetValue(`[name="content.in.season"]`, "spring"), chromedp.SetValue(`[name="content.text.subject"]`, "Hello {{name}}"))
	l.press("look-again", `document.querySelector('[data-testid="list-item"]') !== null`)
	l.says("the preview", "main", "Shoe size", "Hello Ann", "no address", "kim@example.test")
	l.good("the preview")
	var odd int
	if l.tab.Eval(`document.querySelectorAll('[data-testid="list-row"]').length`, &odd); odd != 4 {
		l.t.Errorf("%d rows are named, want two with problems and two that are left out", odd)
	}
	waiting := upload("waiting.csv", strings.Replace(list, "Shoe size", "Size", 1))
	l.tab.Get(l.url + page)
	l.press("create", `location.pathname.startsWith('/batches/')`)
	l.good("the draft")
	id := operation.BatchID(strings.TrimPrefix(l.path(), "/batches/"))
	if l.BatchState(l.t, id) != operation.BatchDraft || l.Count(l.t, "batch_items WHERE batch_id = $1 AND problems <> ''", string(id)) != 2 {
		l.t.Errorf("the batch is %s", l.BatchState(l.t, id))
	}
	at := "/batches/" + string(id)
	l.tab.Get(l.url + at + "/revise")
	l.good("another list for a batch")
	l.file("#list", "better.csv", "email,name\nann@example.test,Ann\ncy@example.test,Cy\n")
	l.press("upload", `location.pathname.startsWith('/lists/')`)
	l.says("what another list changes", `[data-testid="list-diff"]`, "cy@example.test")
	l.good("what another list changes")
	other := l.path()
	return []string{fresh, waiting, other, at + "/revise"}
}
