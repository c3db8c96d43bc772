// Counts for how long the page of a case is visible and in use, and tells the server now
// and then. Nobody at the keyboard for two minutes is idle. The server believes no more
// than the time that went by; without this script only the time in hand is known.

export function keepBeat() {
  const main = document.querySelector('main[data-beat]')
  if (!main) return
  const clock = { url: main.dataset.beat, every: Number(main.dataset.beatEvery), idle: Number(main.dataset.idleAfter), active: 0, from: 0, touched: performance.now() }
  for (const kind of ['pointerdown', 'pointermove', 'keydown', 'wheel', 'input']) {
    document.addEventListener(kind, () => touch(clock), { capture: true, passive: true })
  }
  document.addEventListener('visibilitychange', () => document.hidden ? leave(clock) : touch(clock))
  addEventListener('pagehide', () => leave(clock))
  addEventListener('pageshow', () => touch(clock))
  if (!document.hidden) clock.from = clock.touched
  tell(clock) // the first only starts the clock
  setInterval(() => { count(clock); if (clock.active > 0) tell(clock) }, clock.every)
}

function touch(clock) {
  count(clock)
  clock.touched = performance.now()
  if (!document.hidden && !clock.from) clock.from = clock.touched
}

// count adds what went by since the last look, as far as somebody was there.
function count(clock) {
  if (!clock.from) return
  const now = performance.now()
  const until = Math.min(now, clock.touched + clock.idle)
  if (until > clock.from) clock.active += until - clock.from
  clock.from = until < now ? 0 : now
}

function leave(clock) {
  count(clock)
  clock.from = 0
  if (clock.active > 0) navigator.sendBeacon(clock.url, body(clock))
}

function body(clock) {
  const form = new URLSearchParams({ active_ms: Math.round(clock.active) })
  clock.active = 0
  return form
}

async function tell(clock) {
  try {
    const answer = await fetch(clock.url, { method: 'POST', body: body(clock), headers: { 'Holdpoint-Live': '1' }, redirect: 'error' })
    if (!answer.ok) return
    const times = await answer.json()
    for (const el of document.querySelectorAll('[data-clock]')) {
      el.textContent = times[el.dataset.clock] ?? el.textContent
    }
  } catch {
    // the next one tells of what comes; what the server has not heard of is not counted
  }
}
