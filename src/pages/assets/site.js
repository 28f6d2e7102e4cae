// Small conveniences. Every page works without this script.

// Shows times in the reader's time zone, which they name: fields take UTC, as the page itself has it. The calendar is that of the fields.
const moment = { year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' }
const local = (date, form) => date.toLocaleString(undefined, { ...form, calendar: 'gregory' })
for (const time of document.querySelectorAll('time[datetime]')) {
  const here = local(new Date(time.dateTime), { ...moment, timeZoneName: 'short' })
  if (time.dataset.ago === undefined) [time.title, time.textContent] = [time.textContent, here]
  else time.title = here
}

// The days of a list begin at midnight where the reader is. The page itself has those of UTC.
for (const days of document.querySelectorAll('.timeline-days')) {
  const lists = new Map()
  for (const event of days.querySelectorAll('.timeline > li')) {
    const day = local(new Date(event.querySelector('time').dateTime), { dateStyle: 'full' })
    if (!lists.has(day)) lists.set(day, [])
    lists.get(day).push(event)
  }
  const [heading, list] = days.children
  const parts = [...lists].flatMap(([day, events], index) => {
    const [title, own] = [heading.cloneNode(), list.cloneNode()]
    title.id = `day-${index}`
    title.textContent = day
    own.setAttribute('aria-labelledby', title.id)
    own.append(...events)
    return [title, own]
  })
  days.replaceChildren(...parts)
}

// A choice in a filter narrows the list at once. Who chooses by keyboard walks through the choices, and then presses the button.
let isPointed = false
document.addEventListener('keydown', () => (isPointed = false), true)
document.addEventListener('pointerdown', () => (isPointed = true), true)
for (const form of document.querySelectorAll('search form')) {
  form.addEventListener('change', ({ target }) => {
    if (isPointed && target.matches('select')) form.requestSubmit()
  })
}

// Shows the whole of a text that is cut off to those who point at it.
document.addEventListener('mouseover', ({ target }) => {
  const text = target.closest('.row-title > *, .row-facts bdi, .crumbs bdi, .switcher bdi')
  if (text === null || text.title !== '') return
  const isCut = text.scrollWidth > text.clientWidth || text.scrollHeight > text.clientHeight + 4
  if (text.clientWidth > 0 && isCut) text.title = text.textContent.trim()
})

// Leads to what is wrong in a form, if the page itself has not done so.
const wrong = document.querySelector('[aria-invalid=true], .problem[tabindex]')
if (wrong !== null && document.querySelector('[autofocus]') === null) wrong.focus()

// Shows the copy buttons if the browser can copy.
for (const button of document.querySelectorAll('[data-copy]')) {
  if (navigator.clipboard === undefined) continue
  button.hidden = false
  const words = button.textContent
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy)
    await navigator.clipboard.writeText(source.value ?? source.textContent)
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = words), 2000)
  })
}

for (const button of document.querySelectorAll('[data-print]')) {
  button.hidden = false
  button.addEventListener('click', () => window.print())
}

// A choice of a whole group and the choices in it change together.
for (const group of document.querySelectorAll('input[name=groups]')) {
  const members = [...group.form.querySelectorAll('input[name=kinds]')].filter(
    ({ value }) => group.value === 'all' || value.startsWith(`${group.value}.`),
  )
  const show = () => {
    const chosen = members.filter((member) => member.checked).length
    group.checked = chosen === members.length
    group.indeterminate = chosen > 0 && !group.checked
  }
  group.addEventListener('change', () => {
    for (const member of members) member.checked = group.checked
  })
  group.form.addEventListener('change', show)
  show()
}

// A second press sends nothing for some seconds. Then the answer may be lost, and the server refuses what it has already done.
const releasedAfterMs = 5000
for (const form of document.querySelectorAll('form[data-once]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent !== undefined) return event.preventDefault()
    form.dataset.sent = ''
    setTimeout(() => {
      if (form.dataset.sending === undefined) delete form.dataset.sent // an upload is still on its way
    }, releasedAfterMs)
  })
}
// A page that is restored from the browser's cache can be sent again.
window.addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent
})

// The current tab of a row that scrolls is in sight.
for (const link of document.querySelectorAll('.area [aria-current], .tabs [aria-current]')) {
  const row = link.closest('ul')
  const wanted = link.offsetLeft - (row.clientWidth - link.offsetWidth) / 2
  // From the beginning of a tab on, so that no count is cut in half.
  const [first, ...others] = [...row.querySelectorAll('a')]
  const whole = [...others].find(({ offsetLeft }) => offsetLeft >= wanted) ?? link
  row.scrollLeft = wanted <= 0 ? 0 : Math.min(whole.offsetLeft, link.offsetLeft) - first.offsetLeft
}

// A menu closes when the Escape key is pressed, and when something else is chosen.
for (const menu of document.querySelectorAll('details.switcher')) {
  document.addEventListener('click', ({ target }) => {
    if (!menu.contains(target)) menu.open = false
  })
  menu.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') menu.open = false
  })
}

// A form that the server cannot keep over a sign-in, because it is long or has a file, is kept in this tab.
const keptName = 'kept-form'
const keep = (form) => {
  const data = new FormData(form)
  const owner = data.get('ticket_owner')
  if (owner === null || form.querySelector('input[type=password]') !== null) return
  const names = [...new Set(data.keys())].filter((name) => name !== 'ticket' && name !== 'ticket_owner')
  const sent = names.map((name) => [name, data.getAll(name)])
  const typed = sent.filter(([, values]) => values.every((value) => typeof value === 'string'))
  const kept = { action: form.getAttribute('action'), owner, typed: Object.fromEntries(typed) }
  try {
    sessionStorage.setItem(keptName, JSON.stringify(kept))
  } catch {
    sessionStorage.removeItem(keptName) // it is too long for the tab as well
  }
}
const fillIn = (form, { typed }) => {
  for (const field of form.querySelectorAll('input:not([type=hidden], [type=file]), select, textarea')) {
    const values = typed[field.name] ?? []
    if (field.matches('[type=checkbox], [type=radio]')) field.checked = values.includes(field.value)
    else if (values.length > 0) field.value = values[0]
    if (values.some((value) => value !== '')) field.closest('details')?.setAttribute('open', '')
  }
  const notice = document.createElement('p')
  notice.className = 'notice'
  notice.setAttribute('role', 'status')
  notice.textContent =
    'This form is filled in as it was when your session ended. It has not been sent. Files have to be chosen again.'
  form.prepend(notice)
}
const lost = document.querySelector('[data-kept]')
const kept = JSON.parse(sessionStorage.getItem(keptName))
if (kept !== null && lost !== null) {
  sessionStorage.setItem(keptName, JSON.stringify({ ...kept, isLost: true }))
  lost.textContent = lost.dataset.kept
} else if (kept?.isLost === true) {
  const forms = [...document.querySelectorAll('form[data-once]')]
  const form = forms.find(
    (one) => one.getAttribute('action') === kept.action && one.elements.ticket_owner?.value === kept.owner,
  )
  if (form !== undefined) fillIn(form, kept)
  if (forms.length > 1 || form !== undefined) sessionStorage.removeItem(keptName)
} else {
  sessionStorage.removeItem(keptName)
}
for (const form of document.querySelectorAll('form[data-once]')) form.addEventListener('submit', () => keep(form))
