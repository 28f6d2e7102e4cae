// oxlint-disable unicorn/consistent-function-scoping -- what a page is handed is one expression
// Runs inside a page, and gives a sentence for everything that no page of ours may be.
;(() => {
  const faults = []
  const name = (element) => element.outerHTML.slice(0, 160).replaceAll(/\s+/g, ' ')

  if (document.documentElement.lang === '') faults.push('The page does not say its language.')
  if (document.title.trim() === '') faults.push('The page has no title.')
  const headings = document.querySelectorAll('h1').length
  if (headings !== 1) faults.push(`There are ${headings} main headings.`)
  if (document.querySelector('meta[name=viewport]') === null) faults.push('The page does not fit itself to phones.')

  // Whoever hears "button" presses the space bar, and a link does nothing then.
  for (const link of document.querySelectorAll('a[role=button]')) faults.push(`Poses as a button: ${name(link)}`)

  const seen = new Set()
  for (const { id } of document.querySelectorAll('[id]')) {
    if (seen.has(id)) faults.push(`Two elements are called "${id}".`)
    seen.add(id)
  }

  // Wider than the window: the page itself, or something that sticks out of it and cannot be scrolled to.
  const width = document.documentElement.clientWidth
  if (document.documentElement.scrollWidth > width) {
    faults.push(`The page is ${document.documentElement.scrollWidth} pixels wide, the window ${width}.`)
  }
  const clips = (element) =>
    element !== null && (getComputedStyle(element).overflowX !== 'visible' || clips(element.parentElement))
  const wide = [...document.querySelectorAll('body *')].filter(
    (element) => element.getBoundingClientRect().right > width + 1 && !clips(element.parentElement),
  )
  if (wide.length > 0) faults.push(`Sticks out of the window: ${name(wide.at(-1))}`)

  // What people wrote must not turn round what stands beside it.
  const isolates = (element) =>
    ['isolate', 'isolate-override', 'plaintext'].includes(getComputedStyle(element).unicodeBidi)
  const blockOf = (element) =>
    getComputedStyle(element).display.startsWith('inline') ? blockOf(element.parentElement) : element
  const isAlone = (node) => blockOf(node.parentElement).textContent.trim() === node.data.trim()
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    if (!node.data.includes('\u202e') || node.parentElement.closest('option, textarea') !== null || isAlone(node))
      continue
    // A block isolates from other blocks, but not from the words beside the text within it.
    const block = blockOf(node.parentElement)
    const around = []
    for (let element = node.parentElement; element !== block; element = element.parentElement) around.push(element)
    if (!around.some(isolates)) faults.push(`Turns round what follows: ${name(node.parentElement)}`)
  }
  return faults
})()
