// Lets a screenshot be pasted into a form that takes files. The file is put into the
// form's own field, so that the form is sent as it would be without this.

export function takePasted() {
  document.addEventListener('paste', event => {
    const files = [...(event.clipboardData?.files ?? [])].filter(file => file.type.startsWith('image/'))
    const field = files.length && fieldFor(event.target)
    if (!field) return
    event.preventDefault()
    add(field, files)
  })
}

// fieldFor finds the files' field nearest to where the person is: in the same answer of
// the form, else the first open one.
function fieldFor(target) {
  const at = target instanceof Element ? target : document.activeElement
  for (let place = at; place; place = place.parentElement) {
    if (place.matches('.files, .check-ask, .choice-fields, form') || place === document.body) {
      const field = [...place.querySelectorAll('[data-files] input[type=file]')].find(input => input.checkVisibility())
      if (field) return field
    }
  }
  return null
}

function add(field, files) {
  const all = new DataTransfer()
  for (const file of field.files) all.items.add(file)
  for (const file of files) all.items.add(named(file, all.items.length + 1))
  field.files = all.files
  field.dispatchEvent(new Event('input', { bubbles: true }))
  field.dispatchEvent(new Event('change', { bubbles: true }))
  const said = field.closest('[data-files]').querySelector('[data-pasted]')
  said.textContent = said.dataset.pasted.replace('{f}', [...field.files].map(file => file.name).join(', '))
}

// named gives a pasted picture a name of its own: browsers call every one image.png.
function named(file, number) {
  const kind = file.type.slice('image/'.length)
  const at = new Date().toISOString().slice(0, 19).replace(/:/g, '')
  return new File([file], `screenshot-${at}-${number}.${kind}`, { type: file.type })
}
