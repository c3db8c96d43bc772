// A part in which somebody is at work is not replaced under their hands.

// isTouched: typed or chosen in, in focus, under the pointer, or shown with what was
// typed before.
export function isTouched(part, next) {
  const fields = [...part.querySelectorAll('input:not([type=hidden]), textarea, select')]
  if (!fields.length && !part.querySelector('form')) return false
  const focus = document.activeElement
  return part.contains(focus) && focus.closest('form') !== null || part.matches('.panel:hover') || part.querySelector('.errors, .field-error') !== null ||
    fields.some(field => isChanged(field) || holdsText(field, next))
}

function isChanged(field) {
  if (field.matches('[type=radio], [type=checkbox]')) return field.checked !== field.defaultChecked
  if (field.matches('select')) return [...field.options].some(o => o.selected !== o.defaultSelected) && field.selectedIndex > 0
  return field.value !== field.defaultValue
}

// holdsText: words that the server has kept for its writer, and would not send again.
function holdsText(field, next) {
  if (!field.matches('textarea, [type=text], [type=url], input:not([type])') || !field.value || !field.name) return false
  const other = next.querySelector(`[name="${CSS.escape(field.name)}"]`)
  return !other || other.defaultValue !== field.value
}

// warn says in the form that what it is about has changed; what was typed stays. The
// other parts of the page show the new state.
export function warn(part, fresh, texts) {
  const form = part.querySelector('form:focus-within') || part.querySelector('form')
  if (!form) return
  let note = part.querySelector('.live-notice')
  if (!note) {
    note = document.createElement('p')
    note.className = 'live-notice'
    note.dataset.testid = 'live-notice'
    note.setAttribute('role', 'status')
    form.append(note)
  }
  const version = fresh.dataset.version
  const newer = version && version !== document.querySelector('main').dataset.version
  const link = document.createElement('a')
  link.href = newer ? '#approved' : '#history'
  link.textContent = texts.dataset.see
  note.replaceChildren((newer ? texts.dataset.version.replace('{n}', version) : texts.dataset.changed) + ' ', link)
}
