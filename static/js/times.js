// Keeps relative times true while a page stays open. The server wrote them; the
// pattern of each ("in {d}", "{d} late") comes with the element, the length of time
// from Intl. A browser without Intl.DurationFormat keeps the server's words.

const units = [['days', 86400], ['hours', 3600], ['minutes', 60]]

function lengthOf(seconds) {
  const length = {}
  let rest = seconds
  for (const [name, size] of units) {
    if (name === 'minutes' && seconds >= 6 * 3600) break
    if (name === 'hours' && seconds >= 2 * 86400) break
    length[name] = Math.floor(rest / size)
    rest -= length[name] * size
    if (!length[name]) delete length[name]
  }
  return length
}

function refresh(format) {
  for (const el of document.querySelectorAll('time[data-rel]')) {
    const distance = (Date.parse(el.dateTime) - Date.now()) / 1000
    const pattern = distance > 0 ? el.dataset.ahead : el.dataset.past
    const target = el.firstChild
    if (!pattern || Math.abs(distance) < 60 || target?.nodeType !== Node.TEXT_NODE) continue
    target.data = pattern.replace('{d}', format.format(lengthOf(Math.abs(distance))))
  }
}

export function keepTimes() {
  if (!('DurationFormat' in Intl) || document.documentElement.dataset.frozen) return
  const format = new Intl.DurationFormat(document.documentElement.lang, { style: 'short' })
  setInterval(() => refresh(format), 60_000)
}
