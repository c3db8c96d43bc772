package chrometest

import (
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// AxeColours is AxeFor(what, ColoursOnly) for the elements that NewColours looks at.
func (tab *Tab) AxeColours(what string) {
	tab.t.Helper()
	for _, v := range tab.NewColours() {
		tab.t.Errorf("%s: axe: %s", what, v)
	}
}

// NewColours is Violations(ColoursOnly) for those elements alone whose colours no page of
// this tab has shown before: contrast depends on the colour and the size of a text and on what
// lies behind it, and most pages show again what others have shown.
func (tab *Tab) NewColours() []string {
	tab.t.Helper()
	tab.loadAxe()
	var found []string
	tab.Do(chromedp.Evaluate(axeColours, &found, awaited))
	return found
}

func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// axeColours finds the elements with text whose colours are new, and asks axe-core about them.
// What was seen is kept in the session of the tab.
const axeColours = `(async () => {
  const seen = new Set(JSON.parse(sessionStorage.colours || '[]')), behind = new Map(), fresh = []
  const ground = el => {
    if (!el) return ''
    if (!behind.has(el)) {
      const s = getComputedStyle(el)
      const own = s.backgroundColor === 'rgba(0, 0, 0, 0)' && s.backgroundImage === 'none' && s.opacity === '1' ? '' : '<' + [s.backgroundColor, s.backgroundImage, s.opacity]
      behind.set(el, ground(el.parentElement) + own)
    }
    return behind.get(el)
  }
  for (const el of document.body.querySelectorAll('*')) {
    const shows = el.matches('input, select, textarea') || [...el.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim())
    if (!shows || !el.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue
    const s = getComputedStyle(el)
    let key = [s.color, s.fontSize, s.fontWeight, s.textShadow, el.matches(':disabled, [aria-disabled]'), ground(el)]
    if (el.localName === 'a') key.push('a', s.textDecorationLine, getComputedStyle(el.parentElement).color)
    key = key.join(';')
    if (seen.has(key)) continue
    seen.add(key)
    fresh.push(el)
  }
  if (!fresh.length) return []
  sessionStorage.colours = JSON.stringify([...seen])
  const r = await axe.run({include: fresh}, {resultTypes: ['violations'], ` + string(ColoursOnly) + `})
  return r.violations.flatMap(` + axeLines + `)
})()`
