// Asks the browser for a passkey, and sends its answer with the form. Without this script the form is hidden.

const { PublicKeyCredential: Credential } = window

for (const place of document.querySelectorAll('[data-passkey]')) {
  if (Credential?.parseRequestOptionsFromJSON === undefined) continue
  place.hidden = false
  const form = place.querySelector('form')
  const problem = form.querySelector('.problem')
  const options = JSON.parse(place.dataset.options)
  const ask = async () =>
    place.dataset.passkey === 'create'
      ? await navigator.credentials.create({ publicKey: Credential.parseCreationOptionsFromJSON(options) })
      : await navigator.credentials.get({ publicKey: Credential.parseRequestOptionsFromJSON(options) })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    problem.hidden = true
    try {
      const credential = await ask()
      form.elements.passkey.value = JSON.stringify(credential.toJSON())
      form.submit()
    } catch {
      delete form.dataset.sent
      problem.hidden = false
    }
  })
}

// What is said to those who cannot use it.
for (const words of document.querySelectorAll('[data-without-passkey]')) {
  words.hidden = Credential?.parseRequestOptionsFromJSON !== undefined
}
