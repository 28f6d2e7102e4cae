// Comfort only: every page works without this.

// Times in the reader's own zone; the page itself says UTC.
for (const time of document.querySelectorAll('time[datetime]')) {
  time.title = time.textContent
  time.textContent = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
}

// Copy buttons appear only where they can work.
for (const button of document.querySelectorAll('[data-copy]')) {
  if (navigator.clipboard === undefined) continue
  button.hidden = false
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy)
    await navigator.clipboard.writeText(source.value ?? source.textContent)
    button.textContent = 'Copied'
  })
}

// A second press sends nothing; the server would refuse it as well.
for (const form of document.querySelectorAll('form[data-once]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent !== undefined) event.preventDefault()
    form.dataset.sent = ''
  })
}
// A page that comes back from the browser's memory may be sent again.
window.addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent
})
