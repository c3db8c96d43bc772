// j and k move through a list, enter opens, / searches, g i and g o go to the inbox
// and to the operations.

const places = { i: '/inbox', o: '/operations' }

export function listenKeys() {
  let afterG = false
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.target.closest('input, textarea, select, [contenteditable]')) return
    const key = event.key
    if (afterG && places[key]) location.assign(places[key])
    else if (key === 'j') move(1, event)
    else if (key === 'k') move(-1, event)
    else if (key === '/') focusSearch(event)
    afterG = key === 'g'
  })
}

function move(step, event) {
  const links = [...document.querySelectorAll('[data-rows] [data-row-link]')]
  if (!links.length) return
  const at = links.indexOf(document.activeElement)
  const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(at + step, 0), links.length - 1)
  links[next].focus()
  event.preventDefault()
}

function focusSearch(event) {
  const input = document.querySelector('input[type=search]')
  if (!input) return
  input.focus()
  event.preventDefault()
}
