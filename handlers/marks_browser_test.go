package handlers_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// unmarked finds characters that turn or hide text anywhere on a page: in its texts, its
// attributes, its title.
const unmarked = `(() => {
  const bad = /[\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF\u061C\u00AD\u2028\u2029\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/u
  const out = []
  if (bad.test(document.title)) out.push('title: ' + document.title)
  for (const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT); walker.nextNode();) {
    const n = walker.currentNode
    if (n.nodeType === Node.TEXT_NODE && bad.test(n.data)) out.push('text: ' + n.data.slice(0, 80))
    if (n.nodeType === Node.ELEMENT_NODE) for (const a of n.attributes) if (bad.test(a.value)) out.push(n.localName + ' ' + a.name + ': ' + a.value.slice(0, 80))
  }
  return out
})()`

// TestNothingOnThePagesTurnsOrHidesText writes characters that turn, hide and imitate into
// every place of a letter, and looks for them on every page that shows it.
func TestNothingOnThePagesTurnsOrHidesText(t *testing.T) {
	t.Parallel()
	h := letterHouse(t)
	nasty := "\u202Egpj\u202C\u200B\u2066\u2069\u061C\u00AD\uFEFFexe"
	long := strings.Repeat("very long ", 44) + nasty // of some 460 characters
	_, id := h.letters(t)
	first := letter("subject", long, "text", "a "+nasty, "html", `<a href="https://x.example/`+nasty+`">`+nasty+`</a>`, "cc", []any{nasty + " <a@example.test>"},
		"extra", map[string]any{"k" + nasty: nasty}, "attachments", []any{map[string]any{"filename": "invoice" + nasty, "content": "eA=="}})
	newVersion(h, t, id, "author", first, true)
	second := letter("subject", "short "+nasty, "text", "b "+nasty, "extra", map[string]any{"k" + nasty: "other"})
	newVersion(h, t, id, "author", second, true)
	newVersion(h, t, id, "author", first, true)
	run := h.runOf(t, id)
	ctx := chromium(t)
	h.signedIn(t, ctx, "lead")
	for _, path := range []string{opPath(id), opPath(id) + "?view=changes&since=2&to=3", opPath(id) + "?view=changes&since=3&to=2", "/runs/" + run, "/inbox", "/operations"} {
		var found []string
		var wide bool
		if err := chromedp.Run(ctx, chromedp.EmulateViewport(390, 844), chromedp.Navigate(h.url+path), chromedp.WaitVisible("#main", chromedp.ByQuery), chromedp.Evaluate(unmarked, &found),
			chromedp.Evaluate(`document.documentElement.scrollWidth > document.documentElement.clientWidth`, &wide)); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, f := range found {
			t.Errorf("%s holds %q", path, f)
		}
		if wide {
			t.Errorf("%s scrolls sideways on a phone", path)
		}
	}
	// the marks themselves are there
	var marks int
	if err := chromedp.Run(ctx, chromedp.Navigate(h.url+opPath(id)), chromedp.Evaluate(`document.querySelectorAll('h1 .mark[title="U+202E"]').length`, &marks)); err != nil {
		t.Fatal(err)
	}
	if marks != 1 {
		t.Errorf("%d marks stand in the heading", marks)
	}
}
