package viewstest

import (
	"bytes"
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"holdpoint/views/chrometest"

	"github.com/chromedp/cdproto/emulation"
	cdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// printed are the pages that people print, hand over and sign, and the figures, with how
// many drawings they hold at least.
var printed = map[string]int{"incident": 0, "incident-signed": 0, "report": 0, "report-signed": 0, "flow-sheet": 0, "acceptance-passed": 0, "figures": 1}

// paperWidth is what style sheets leave of A4 for text, in CSS pixels: 180 mm.
const paperWidth = 680

// onPaper says what is wrong with a page in print: what should not be there, what is there
// and cannot be read.
const onPaper = `(() => {
	const wrong = [], main = document.querySelector('main'), doc = document.querySelector('.doc') ?? main
	const name = e => e.tagName.toLowerCase() + (e.className.baseVal ?? e.className ? '.' + String(e.className.baseVal ?? e.className).replaceAll(' ', '.') : '') + ' "' + e.textContent.trim().slice(0, 40) + '"'
	const shown = e => e.checkVisibility({visibilityProperty: true, contentVisibilityAuto: true}) && e.getClientRects().length > 0
	for (const e of document.querySelectorAll('.topbar, nav, .subnav, .tabs, .filters, .pager, .flash, .skip, button, .btn, input:not([type=hidden]), select, textarea, main form'))
		if (shown(e)) wrong.push('not for paper: ' + name(e))
	if (!doc || !shown(doc)) return ['no document']
	for (const e of doc.querySelectorAll('table, tr, td, th, svg.chart, h1, h2, h3, p, li, dt, dd'))
		if (!shown(e) && e.textContent.trim() !== '' && !e.closest('.no-print, nav, .filters, form, dialog, template, button')) wrong.push('missing: ' + name(e))
	for (const e of main.querySelectorAll('*')) {
		if (!shown(e) || e.closest('.visually-hidden')) continue
		const r = e.getBoundingClientRect(), s = getComputedStyle(e)
		if (r.right > innerWidth + 1 || r.left < -1) wrong.push('sticks out: ' + name(e))
		if (e.clientWidth > 1 && s.overflowX !== 'visible' && e.scrollWidth > e.clientWidth + 1) wrong.push('cut: ' + name(e))
		if (e.clientHeight > 1 && s.overflowY !== 'visible' && e.scrollHeight > e.clientHeight + 1) wrong.push('cut below: ' + name(e))
	}
	for (const e of doc.querySelectorAll('time[title]:not([data-rel])'))
		if (getComputedStyle(e).fontSize !== '0px' || getComputedStyle(e, '::after').content !== JSON.stringify(e.title)) wrong.push('a time that is not whole: ' + name(e))
	const words = document.createTreeWalker(doc, NodeFilter.SHOW_TEXT)
	for (let n; n = words.nextNode();) { // of what says when by the day on which it is read, nothing may be left
		const e = n.parentElement, rel = e.closest('time[data-rel]')
		if (shown(e) && !e.closest('.vh, time[title]:not([data-rel])') && (rel || /\b(today|yesterday|tomorrow|dzisiaj|dziś|wczoraj|jutro)\b|今日|昨日|明日|\b\d{1,2} [A-Z][a-z]{2} \d{1,2}:\d{2}\b/.test(n.data))) wrong.push('says nothing on paper: ' + name(e))
	}
	if (document.documentElement.scrollWidth > innerWidth) wrong.push('wider than the paper')
	return [...new Set(wrong)].slice(0, 20)
})()`

// TestPrintedPages: on A4 the documents hold everything and nothing of the screen's
// furniture, nothing is cut, in every language, and they become a PDF in no time.
func TestPrintedPages(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(Gallery())
	t.Cleanup(srv.Close)
	browser := chrometest.Start(t)
	tab := browser.Tab(t, chrometest.Look{Width: paperWidth, Height: 1000})
	tab.Do(emulation.SetEmulatedMedia().WithMedia("print"))
	for name, charts := range printed {
		for _, lang := range []string{"en", "ja", "pl"} {
			tab.Get(srv.URL + "/gallery/" + lang + "/" + name)
			var wrong []string
			tab.Eval(onPaper, &wrong)
			for _, w := range wrong {
				t.Errorf("%s in %s: %s", name, lang, w)
			}
			tab.Shot(name + ".print-" + lang)
			var tables, drawings int
			tab.Eval(`[...document.querySelectorAll('main table')].filter(e => e.checkVisibility()).length`, &tables)
			tab.Eval(`[...document.querySelectorAll('main svg')].filter(e => e.checkVisibility() && e.getBoundingClientRect().height > 20).length`, &drawings)
			if tables == 0 || drawings < charts {
				t.Errorf("%s in %s: %d tables and %d drawings on paper", name, lang, tables, drawings)
			}
		}
		var pdf []byte
		begun := time.Now()
		tab.Do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
			pdf, _, err = cdp.PrintToPDF().WithPreferCSSPageSize(true).Do(ctx)
			return err
		}))
		if took := time.Since(begun); !bytes.HasPrefix(pdf, []byte("%PDF")) || took > 10*time.Second {
			t.Errorf("%s: %d bytes of PDF after %v", name, len(pdf), took)
		}
	}
}
