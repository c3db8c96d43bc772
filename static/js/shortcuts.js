// The list of keys, over the page. It is the page /shortcuts, which also works alone.

const path = '/shortcuts'

export async function showShortcuts(event) {
  event.preventDefault()
  let dialog = document.getElementById('shortcuts-dialog')
  if (!dialog) {
    try {
      dialog = build(await (await fetch(path, { headers: { 'Holdpoint-Live': '1' } })).text())
    } catch {
      return location.assign(path)
    }
    if (!dialog) return location.assign(path)
    document.body.append(dialog)
  }
  if (!dialog.open) dialog.showModal()
}

function build(text) {
  const list = new DOMParser().parseFromString(text, 'text/html').querySelector('[data-shortcuts]')
  if (!list) return null
  const dialog = document.createElement('dialog')
  dialog.id = 'shortcuts-dialog'
  dialog.className = 'shortcuts-dialog'
  dialog.setAttribute('aria-label', list.dataset.title)
  const close = document.createElement('button')
  close.className = 'btn'
  close.autofocus = true
  close.textContent = list.dataset.close
  const form = document.createElement('form')
  form.method = 'dialog'
  form.append(close)
  const head = document.createElement('h2')
  head.textContent = list.dataset.title
  dialog.append(head, document.importNode(list, true), form)
  dialog.addEventListener('click', e => { if (e.target === dialog) dialog.close() })
  return dialog
}
