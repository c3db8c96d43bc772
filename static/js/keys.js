// The keyboard: j and k move through a list, enter opens, a and r lead to the decision and
// a second press sends it, n goes to the next case of a list, t takes a case, x ticks a
// row, s settles the ticked ones, / searches, g with a letter goes somewhere, ? lists them all.
// Single keys can be switched off; Ctrl and Enter then still sends a decision.
import { showShortcuts } from './shortcuts.js'

const places = { i: '/inbox', o: '/operations', h: '/history' }

export function listenKeys() {
  let afterG = false
  document.addEventListener('keydown', event => {
    if (event.isComposing || event.keyCode === 229) return // a word is being written
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) return sendFrom(event)
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (isTyping(event.target) || document.querySelector('dialog[open]')) return
    if (document.documentElement.dataset.keys === 'off') return
    if (event.key !== 'Shift') afterG = press(event, afterG)
  })
}

// press does what a single key stands for, and gives whether a place is to follow.
function press(event, afterG) {
  const key = event.key
  if (afterG) return go(places[key], event)
  if (key === 'j') move(1, event)
  else if (key === 'k') move(-1, event)
  else if (key === 'Enter') openFirst(event)
  else if (key === '/') focusSearch(event)
  else if (key === '?') showShortcuts(event)
  else if (key === 'n') follow(key, event)
  else if (key === 'x') tickRow(event)
  else if ('arts'.includes(key)) decide(key, event)
  return key === 'g'
}

function isTyping(el) {
  return el.closest('textarea, select, [contenteditable], input:not([type=radio], [type=checkbox], [type=button], [type=submit])') !== null
}

// go follows a place that the navigation offers.
function go(path, event) {
  const link = path && document.querySelector(`.nav a[href="${path}"]`)
  if (link) {
    event.preventDefault()
    link.click()
  }
  return false
}

const links = () => [...document.querySelectorAll('[data-rows] [data-row-link]')]

function move(step, event) {
  const all = links()
  if (!all.length) return
  const row = document.activeElement?.closest('[data-rows] [data-id]')
  const at = row ? all.indexOf(row.querySelector('[data-row-link]')) : -1
  const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)
  all[next].focus()
  event.preventDefault()
}

// openFirst opens the first row while none is chosen.
function openFirst(event) {
  if (event.repeat || !document.activeElement?.matches('body, main')) return
  const first = links().find(link => !link.closest('[data-gone]'))
  if (!first) return
  event.preventDefault()
  first.click()
}

function focusSearch(event) {
  const input = document.querySelector('main input[type=search], input[type=search]')
  if (!input) return
  input.focus()
  event.preventDefault()
}

// follow opens what the key stands for at once.
function follow(key, event) {
  const link = document.querySelector(`a[data-key="${key}"]`)
  if (!link || event.repeat) return
  event.preventDefault()
  link.click()
}

// tickRow ticks the box of the row in which the focus is.
function tickRow(event) {
  const box = document.activeElement?.closest('[data-rows] [data-id]')?.querySelector('input[type=checkbox]')
  if (!box || event.repeat) return
  event.preventDefault()
  box.click()
}

// decide leads to the decision; pressed again there, it sends it. A key that is held
// down sends nothing.
function decide(key, event) {
  const target = [...document.querySelectorAll(`:is(a, button, input, select, textarea)[data-key="${key}"]`)].find(el => el.getClientRects().length > 0 && !el.disabled)
  if (!target) return
  event.preventDefault()
  if (event.repeat) return
  if (document.activeElement !== target) {
    if (key === 'a' && target.matches('[type=radio]')) target.click()
    target.focus()
    return
  }
  const form = target.closest('form[data-decide]')
  if (form) send(form, target)
  else if (target.matches('a, button')) target.click()
}

function sendFrom(event) {
  const form = event.target.closest('form[data-decide]')
  if (!form || event.repeat) return
  event.preventDefault()
  send(form, event.target)
}

function send(form, from) {
  const isButton = el => el.matches('button:not([type=button], [type=reset]), [type=submit]')
  form.requestSubmit(isButton(from) ? from : [...form.querySelectorAll('button, input')].find(isButton))
}
