package chrometest

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
)

//go:embed vendor/axe.min.js
var axe string

// axeRun asks for rules of WCAG 2.2 AA and of good practice, and gives a line for each
// element at fault. It stands for the rules.
const axeRun = `axe.run(document, {resultTypes: ['violations'], %s}).then(r => r.violations.flatMap(` + axeLines + `))`

// axeLines gives the lines of one violation.
const axeLines = `v => v.nodes.map(n => v.id + ': ' + v.help + ' — ' + n.target.join(' ') + ' — ' + (n.any[0] || n.all[0] || n.none[0] || {message: ''}).message)`

// Rules are those that Violations looks at.
type Rules string

// The rules. Contrast takes most of the time and depends on the colours alone; names and
// roles depend on the markup alone, which differs between widths and not between languages.
const (
	ButContrast Rules = `rules: {'color-contrast': {enabled: false}}`
	ColoursOnly Rules = `runOnly: ['color-contrast', 'link-in-text-block']`
	// TargetsOnly asks whether what is pressed is large enough for a thumb, or far enough from
	// its neighbours (WCAG 2.5.8).
	TargetsOnly Rules = `runOnly: ['target-size']`
	// LayoutOnly are those whose answer depends on where things stand.
	LayoutOnly Rules = `runOnly: ['scrollable-region-focusable', 'link-in-text-block', 'avoid-inline-spacing']`
)

// Axe reports each violation that axe-core finds in the page of the tab as an error of
// the test; contrast as AxeColours does.
func (tab *Tab) Axe(what string) {
	tab.t.Helper()
	tab.AxeFor(what, ButContrast)
	tab.AxeColours(what)
}

// AxeFor is Axe for some of the rules.
func (tab *Tab) AxeFor(what string, rules Rules) {
	tab.t.Helper()
	for _, v := range tab.Violations(rules) {
		tab.t.Errorf("%s: axe: %s", what, v)
	}
}

// Violations are what axe-core finds, a line for each element. A tab without scripts
// cannot use it.
func (tab *Tab) Violations(rules Rules) []string {
	tab.t.Helper()
	tab.loadAxe()
	var found []string
	tab.Do(chromedp.Evaluate(fmt.Sprintf(axeRun, rules), &found, awaited))
	return found
}

// loadAxe brings axe-core into the page that is open, once.
func (tab *Tab) loadAxe() {
	tab.t.Helper()
	var there bool
	if tab.Eval(`typeof axe === 'object'`, &there); !there {
		tab.Do(chromedp.Evaluate(axe, nil))
	}
}

// Narrow reports what sticks out of the page as an error of the test.
func (tab *Tab) Narrow(what string) {
	tab.t.Helper()
	if found := tab.Wide(); len(found) > 0 {
		tab.t.Errorf("%s is too wide: %s", what, strings.Join(found, "\n"))
	}
}

// Wide lists elements that stick out of the page to the side; those inside a box that
// scrolls by itself (marked data-scrolls) may.
func (tab *Tab) Wide() []string {
	tab.t.Helper()
	var found []string
	tab.Eval(wide, &found)
	return found
}

// wide finds elements that stick out of the page to the side.
var wide = fmt.Sprintf(`(() => {
  const width = document.documentElement.clientWidth
  if (document.documentElement.scrollWidth <= width) return []
  const out = [...document.querySelectorAll('main *')].filter(el => {
    const box = el.getBoundingClientRect()
    return box.right > width + 1 && box.width > 1 && !el.closest(%q)
  }).slice(0, 3).map(el => el.outerHTML.slice(0, 160))
  return out.length ? out : ['the page is ' + document.documentElement.scrollWidth + ' wide']
})()`, ".stages, .vh, .request, [data-scrolls]")
