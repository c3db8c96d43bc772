// Keeps an open page true. The server tells which operations have changed; the page then
// asks for itself and takes over the parts that differ, in place: nothing that one is
// about to press moves. Without this script the page stays as it was.
import { openStream } from './stream.js'
import { morph, mark } from './morph.js'
import { showRows } from './rows.js'
import { isTouched, warn } from './touched.js'

const gap = { least: 1500, most: 12_000 } // between two looks of a page, in milliseconds
const going = 3000 // how often a page looks by itself while it shows work that goes on

export function keepLive() {
  const texts = document.getElementById('live')
  if (!texts || document.documentElement.dataset.frozen) return
  const page = { texts, timer: 0, last: 0, gap: gap.least, pressed: false }
  const stream = openStream(event => concerns(event) && look(page), () => look(page, stream))
  const wake = () => document.hidden ? stream.close() : stream.open()
  document.addEventListener('visibilitychange', wake)
  addEventListener('pagehide', stream.close)
  addEventListener('pageshow', wake)
  // Between press and release nothing changes: a click goes where it was aimed.
  for (const kind of ['pointerdown', 'pointerup', 'pointercancel']) {
    document.addEventListener(kind, () => { page.pressed = kind === 'pointerdown' }, { capture: true, passive: true })
  }
  // What is done without a change of any operation is told by no event: a row that is refused.
  setInterval(() => { if (!document.hidden && document.querySelector('[data-live][data-going]')) look(page, stream) }, going)
  wake()
}

// concerns says whether this page shows what the event is about.
function concerns(event) {
  if (event.all || event.inbox) return true
  return (event.operations || []).some(o => {
    // A page of a run, or a list with a batch of it: what is counted there changes with any item.
    if (o.run && document.querySelector(`[data-run="${CSS.escape(o.run)}"]`) || o.new && document.querySelector('[data-rows] [data-id]')) return true
    if (!o.id) return false
    const shown = document.querySelectorAll(`[data-id="${CSS.escape(o.id)}"]`)
    return [...shown].some(el => !(Number(el.dataset.revision) >= o.revision))
  })
}

// look asks for the page soon, and not too often while changes keep coming.
function look(page, ended) {
  if (page.timer) return
  const now = Date.now()
  page.gap = now - page.last > gap.most ? gap.least : Math.min(page.gap * 1.25, gap.most)
  const rest = Math.max(page.last + page.gap - now, 100 + Math.random() * 200)
  page.timer = setTimeout(() => run(page, ended), rest)
}

async function run(page, ended) {
  page.timer = 0
  if (document.hidden) return // opening again tells what was missed
  page.last = Date.now()
  let text
  try {
    const answer = await fetch(location.href, { headers: { 'Holdpoint-Live': '1' }, cache: 'no-store' })
    if (new URL(answer.url).pathname === '/sign-in') return stop(page)
    if (!answer.ok) return answer.status >= 500 || answer.status === 429 ? look(page, ended) : stop(page)
    text = await answer.text()
  } catch {
    return look(page, ended) // the network is away
  }
  while (page.pressed) await new Promise(done => setTimeout(done, 50))
  ended?.open() // the session goes on under another token
  take(new DOMParser().parseFromString(text, 'text/html'), page)
}

function stop(page) {
  tell(page, page.texts.dataset.ended)
}

// take brings the parts of the page up to date.
function take(next, page) {
  const main = document.querySelector('main')
  const fresh = next.querySelector('main')
  if (!fresh) return
  document.title = next.title
  const listed = document.querySelector('[data-rows]') !== null
  let changed = false
  let kept = false // a part in which somebody is at work still shows the earlier state
  for (const part of document.querySelectorAll('#nav, [data-live]')) {
    const other = part.id === 'nav' ? next.getElementById('nav') : next.querySelector(`[data-live="${CSS.escape(part.dataset.live)}"]`)
    if (!other || !part.isConnected) continue
    if (isTouched(part, other)) {
      kept = true
      if (main.dataset.revision !== fresh.dataset.revision) warn(part, fresh, page.texts)
      continue
    }
    const height = part.offsetHeight
    if (mark(morph(part, other))) changed = true
    // What stands above a list does not shrink: the rows stay where they are.
    if (listed && part.offsetHeight < height) part.style.minBlockSize = `${height}px`
  }
  const state = fresh.querySelector('[data-testid="state"]')
  if (changed && main.dataset.revision !== fresh.dataset.revision && state) {
    tell(page, page.texts.dataset.state.replace('{state}', state.textContent.trim()))
  }
  if (fresh.dataset.revision) main.dataset.revision = fresh.dataset.revision
  if (fresh.dataset.version && !kept) main.dataset.version = fresh.dataset.version
  const said = showRows(next, page.texts)
  if (said) tell(page, said)
}

// tell says it to those who do not see it.
function tell(page, text) {
  if (page.texts.textContent !== text) page.texts.textContent = text
}
