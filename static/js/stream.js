// The stream of changes. The browser comes back by itself with the last line that it got;
// a hidden page lets go of it, since a browser has only a few connections to a server.

const beats = 55_000 // without a line for so long, the connection is dead

export function openStream(heard, ended) {
  let source, timer
  let lastLine = ''
  let wait = 2000
  const close = () => {
    clearTimeout(timer)
    source?.close()
    source = undefined
    delete document.documentElement.dataset.stream
  }
  const again = () => {
    close()
    timer = setTimeout(open, wait + Math.random() * 1000)
    wait = Math.min(wait * 2, 60_000)
  }
  const note = event => {
    if (event.lastEventId) lastLine = event.lastEventId
    document.documentElement.dataset.stream = 'open'
    clearTimeout(timer)
    timer = setTimeout(again, beats)
  }
  function open() {
    if (source || document.hidden) return
    clearTimeout(timer)
    const from = lastLine ? { after: lastLine } : { at: document.documentElement.dataset.liveAt }
    source = new EventSource('/live?' + new URLSearchParams(from))
    source.addEventListener('beat', note)
    source.addEventListener('change', event => {
      note(event)
      heard(JSON.parse(event.data))
    })
    source.addEventListener('end', () => {
      close()
      ended()
    })
    source.addEventListener('open', () => { wait = 2000 })
    source.addEventListener('error', () => {
      if (source?.readyState === EventSource.CLOSED) again() // refused: the browser does not try again
    })
  }
  return { open, close }
}
