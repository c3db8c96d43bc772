// Rows of a list: those that are there change in place; new ones wait behind a line, so
// that nothing moves; those that are gone stay, greyed, until the page is loaded again.
import { morph, mark } from './morph.js'

// showRows brings the lists up to date and gives what is to be said about it.
export function showRows(next, texts) {
  const shown = rowsOf(document)
  const present = rowsOf(next)
  if (!document.querySelector('[data-rows]') && !present.size) return ''
  const queue = location.pathname === '/inbox' && !new URLSearchParams(location.search).has('tab') // who is gone from it is decided
  let fresh = 0
  let gone = 0
  for (const [id, row] of present) {
    const old = shown.get(id)
    if (!old) fresh++
    else {
      delete old.dataset.gone
      delete old.lastElementChild.dataset.gone
      mark(morph(old, row))
    }
  }
  for (const [id, row] of shown) {
    if (present.has(id) || row.dataset.gone || !queue) continue
    row.dataset.gone = 'yes'
    row.lastElementChild.dataset.gone = texts.dataset.gone // shown over its end
    gone++
  }
  const line = newLine(fresh, texts)
  if (line) return line
  return gone ? texts.dataset.goneSaid.replace('{n}', gone) : ''
}

function rowsOf(doc) {
  const rows = [...doc.querySelectorAll('[data-rows] [data-id]')]
  return new Map(rows.map(row => [row.dataset.id, row]))
}

// newLine shows how many are new, above the list and over it.
function newLine(n, texts) {
  const list = document.querySelector('[data-rows]') || document.querySelector('.calm') || document.querySelector('main')
  let line = document.querySelector('.live-new')
  if (!n || !list) {
    line?.remove()
    return ''
  }
  const text = texts.dataset.new.replace('{n}', n)
  if (!line) {
    line = document.createElement('a')
    line.className = 'live-new'
    line.dataset.testid = 'live-new'
    line.href = location.pathname + location.search
    list.prepend(line)
  }
  if (line.textContent === text) return ''
  line.textContent = text
  return text
}
