// Sends a form with a file and shows how far it is. Without this script the browser sends the form as any other.

const watch = (form) => {
  const input = form.querySelector('input[type=file]')
  input.addEventListener('change', () => refuseLargeFile(input))
  form.addEventListener('submit', (event) => {
    if (event.defaultPrevented || input.files.length === 0) return
    event.preventDefault()
    if (form.dataset.sending === undefined) send(form, input)
  })
}

const refuseLargeFile = (input) => {
  const isTooLarge = (input.files[0]?.size ?? 0) > Number(input.dataset.largest)
  input.setCustomValidity(isTooLarge ? `The file is larger than ${input.dataset.largest / 1048576} MiB.` : '')
  input.reportValidity()
}

const send = (form, input) => {
  form.dataset.sending = ''
  const { bar, say, end } = showProgress(form)
  const fail = () => {
    end()
    say('The upload failed, and nothing was changed. Check your connection and send it again.')
    delete form.dataset.sending
    delete form.dataset.sent
  }
  const call = new XMLHttpRequest()
  call.upload.addEventListener('progress', ({ loaded, total }) => {
    bar.value = loaded / total
    if (loaded === total) say('The file has arrived. The server is checking it…')
  })
  call.addEventListener('error', fail)
  call.addEventListener('load', () => {
    const isRedirected = call.responseURL !== form.action
    if (isRedirected) location.assign(call.responseURL)
    else if (!showPage(call.responseText, input)) fail()
  })
  call.open('POST', form.action)
  call.setRequestHeader('accept', 'text/html')
  call.send(new FormData(form))
}

const showProgress = (form) => {
  form.querySelector('.upload')?.remove()
  const [place, bar, words] = ['div', 'progress', 'p'].map((name) => document.createElement(name))
  place.className = 'upload'
  bar.setAttribute('aria-label', 'Upload')
  words.setAttribute('role', 'status')
  place.append(bar, words)
  form.append(place)
  const say = (text) => void (words.textContent = text)
  say('Uploading…')
  return { bar, say, end: () => bar.remove() }
}

// The page that refuses the form takes the place of this one, and the file stays chosen.
const showPage = (html, input) => {
  const next = new DOMParser().parseFromString(html, 'text/html')
  const main = next.querySelector('main')
  if (main === null) return false
  const { files } = input
  document.title = next.title
  document.querySelector('main').replaceWith(main)
  for (const advice of main.querySelectorAll('[data-choose-again]')) advice.remove()
  for (const form of main.querySelectorAll('form[data-progress]')) {
    form.querySelector('input[type=file]').files = files
    watch(form)
  }
  const first = main.querySelector('[autofocus]') ?? main
  first.focus()
  return true
}

for (const form of document.querySelectorAll('form[data-progress]')) watch(form)
