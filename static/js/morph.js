// Makes one part of the page like another, changing only what differs: what has the
// focus keeps it, what is typed stays, a frame with the same address is not loaded again.

// Set by the browser or by scripts, not by the server.
const own = new Set(['open', 'data-sent', 'aria-busy', 'data-gone', 'value', 'checked', 'selected'])

// morph gives the elements that now say something else.
export function morph(now, next) {
  const changed = []
  step(now, next, changed)
  return changed
}

// differs reports whether morph would change something.
export function differs(now, next) {
  return morph(now.cloneNode(true), next).length > 0
}

// mark lets what has changed be seen for a moment.
export function mark(changed) {
  for (const el of changed) {
    const shown = el.closest('li, tr, p, dd, h1, h2, header, section, [data-live]') || el
    shown.classList.add('live-fresh')
    setTimeout(() => shown.classList.remove('live-fresh'), 240)
  }
  return changed.length > 0
}

function step(now, next, changed) {
  if (now.matches('[name="form_id"]')) return
  if (now.matches('time[data-rel]') && now.dateTime === next.dateTime) return // times.js keeps it
  if (attributes(now, next)) changed.push(now)
  if (now.matches('textarea')) {
    if (now.defaultValue !== next.defaultValue) now.defaultValue = next.defaultValue
    return
  }
  children(now, next, changed)
}

function attributes(now, next) {
  let changed = false
  for (const { name, value } of next.attributes) {
    if (own.has(name) && !(name === 'value' && now.type === 'hidden')) continue
    if (now.getAttribute(name) === value || name === 'class' && sameClasses(now, next)) continue
    now.setAttribute(name, value)
    changed ||= now.type !== 'hidden'
  }
  for (const { name } of [...now.attributes]) {
    if (own.has(name) || next.hasAttribute(name) || name === 'class' && now.getAttribute(name) === 'live-fresh') continue
    now.removeAttribute(name)
    changed = true
  }
  return changed
}

function sameClasses(now, next) { // by attribute: a shape of a picture has no className to compare
  return (now.getAttribute('class') ?? '').replace(/ ?\blive-fresh\b/, '') === next.getAttribute('class')
}

function children(now, next, changed) {
  const had = [...now.childNodes].filter(n => !isKept(n))
  const used = new Set()
  let at = now.firstChild
  let differs = false
  for (const want of next.childNodes) {
    const have = had.find(n => !used.has(n) && alike(n, want))
    if (!have) {
      now.insertBefore(document.importNode(want, true), at)
      differs ||= says(want)
      continue
    }
    used.add(have)
    if (have === at) at = at.nextSibling
    else now.insertBefore(have, at)
    if (want.nodeType === Node.ELEMENT_NODE) step(have, want, changed)
    else if (have.data !== want.data) {
      have.data = want.data
      differs ||= says(want)
    }
  }
  for (const left of had) {
    if (used.has(left)) continue
    left.remove()
    differs ||= says(left)
  }
  if (differs) changed.push(now)
}

// isKept: shown once, after an action, or by a script; the server would not send it again.
function isKept(node) {
  return node.nodeType === Node.ELEMENT_NODE && node.matches('.flash, .live-notice')
}

function says(node) {
  return node.nodeType === Node.ELEMENT_NODE || node.nodeType === Node.TEXT_NODE && node.data.trim() !== ''
}

// alike: the same thing in both pages, perhaps with other words.
function alike(a, b) {
  if (a.nodeType !== b.nodeType || a.nodeName !== b.nodeName) return false
  return a.nodeType !== Node.ELEMENT_NODE || key(a) === key(b)
}

function key(el) {
  return el.id || el.dataset?.id || el.getAttribute('name') || el.getAttribute('href') || el.getAttribute('src') || ''
}
