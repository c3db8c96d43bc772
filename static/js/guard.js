// Warns before typed text is lost, and lets a form be sent once only. The server
// counts a second press as the same decision in any case.

export function guardText() {
  let dirty = false
  document.addEventListener('input', event => {
    if (event.target.closest('form[data-guard]')) dirty = true
  })
  document.addEventListener('submit', event => {
    const form = event.target
    if (form.method !== 'post' || 'download' in form.dataset) return
    if (form.dataset.sent) {
      event.preventDefault()
      return
    }
    form.dataset.sent = 'yes'
    form.setAttribute('aria-busy', 'true')
    dirty = false
  })
  addEventListener('beforeunload', event => {
    if (dirty) event.preventDefault()
  })
  // Coming back with the Back button shows the old page: it may be sent again.
  addEventListener('pageshow', () => {
    for (const form of document.querySelectorAll('form[data-sent]')) {
      delete form.dataset.sent
      form.removeAttribute('aria-busy')
    }
  })
}
