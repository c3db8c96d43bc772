// Signs in, confirms and adds by passkeys. Loaded only where a page asks for one; without
// it the page's other ways remain.

const text = (element, message) => {
  element.textContent = message
  element.parentElement.hidden = !message
}

const bytes = base64url => Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0))
const base64url = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

// Older browsers know no JSON form of options and answers.
function optionsOf(json) {
  const o = { ...json, challenge: bytes(json.challenge) }
  if (json.user) o.user = { ...json.user, id: bytes(json.user.id) }
  for (const list of ['allowCredentials', 'excludeCredentials']) {
    if (json[list]) o[list] = json[list].map(c => ({ ...c, id: bytes(c.id) }))
  }
  return o
}

function answerOf(credential) {
  const r = credential.response
  const response = { clientDataJSON: base64url(r.clientDataJSON) }
  for (const part of ['attestationObject', 'authenticatorData', 'signature', 'userHandle']) {
    if (r[part]) response[part] = base64url(r[part])
  }
  if (r.getTransports) response.transports = r.getTransports()
  return {
    id: credential.id, rawId: base64url(credential.rawId), type: credential.type, response,
    authenticatorAttachment: credential.authenticatorAttachment ?? undefined,
    clientExtensionResults: credential.getClientExtensionResults(),
  }
}

async function post(address, body) {
  const answer = await fetch(address, {
    method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
  })
  const said = await answer.json().catch(() => ({}))
  if (!answer.ok) throw new Error(said.error ?? '')
  return said
}

async function run(place) {
  const { start, finish, back, mode } = place.dataset
  const asked = await post(start, {})
  if (asked.to) return asked.to
  const publicKey = optionsOf(asked.publicKey)
  const credential = mode === 'add' ? await navigator.credentials.create({ publicKey }) : await navigator.credentials.get({ publicKey })
  const name = place.querySelector('[data-passkey-name]')?.value ?? ''
  return (await post(finish, { credential: answerOf(credential), name, return: back })).to
}

if (globalThis.PublicKeyCredential) {
  for (const place of document.querySelectorAll('[data-passkey]')) {
    const button = place.querySelector('button')
    const problem = place.querySelector('[data-passkey-error]')
    place.hidden = false
    button.addEventListener('click', async () => {
      const name = place.querySelector('[data-passkey-name]')
      if (name && !name.reportValidity()) return
      button.disabled = true
      text(problem, '')
      try {
        location.assign(await run(place))
      } catch (e) {
        // a DOMException is the browser's own: cancelled, too late, known already
        const known = e instanceof DOMException ? '' : e.message
        text(problem, known || (e.name === 'InvalidStateError' ? place.dataset.known : place.dataset.failed))
        button.disabled = false
        button.focus()
      }
    })
  }
}
