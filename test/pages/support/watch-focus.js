// oxlint-disable unicorn/consistent-function-scoping -- what a page is handed is one expression
// Runs inside a page before somebody goes through it with the Tab key; `window.unreached()` then tells what went wrong.
;(() => {
  // What a person sees of it: a frame without a width, or a colour that nothing has, is nothing.
  const looks = (element) => {
    const style = getComputedStyle(element)
    const outline = style.outlineStyle === 'none' || style.outlineWidth === '0px' ? '' : style.outline
    const border = style.borderTopStyle === 'none' || style.borderTopWidth === '0px' ? '' : style.borderTopColor
    return [outline, border, style.boxShadow, style.backgroundColor].join()
  }
  const name = (element) => element.outerHTML.slice(0, 160).replaceAll(/\s+/g, ' ')
  const hasToBeReached = (element) =>
    element.checkVisibility({ visibilityProperty: true }) &&
    !element.matches(':disabled, [type=hidden], [tabindex="-1"]:not(a, button, input, select, textarea)')
  const selector = 'a[href], button, input, select, textarea, summary, [tabindex]'
  document.activeElement?.blur() // a field with an error has the focus from the beginning
  const before = new Map(
    [...document.querySelectorAll(selector)].filter(hasToBeReached).map((element) => [element, looks(element)]),
  )
  const faults = []
  const reached = new Set()
  document.addEventListener('focusin', ({ target }) => {
    reached.add(target)
    if (before.get(target) === looks(target)) faults.push(`Nobody sees that it has the focus: ${name(target)}`)
    const { bottom, top } = target.getBoundingClientRect()
    if (bottom <= 0 || top >= innerHeight) faults.push(`Has the focus outside the window: ${name(target)}`)
  })
  // Of the choices of one group, Tab reaches one; the arrow keys reach the others.
  const hasReachedGroup = ({ type, name: group }) => type === 'radio' && [...reached].some((one) => one.name === group)
  window.unreached = () => [
    ...new Set(faults),
    ...[...before.keys()]
      .filter((element) => !reached.has(element) && !hasReachedGroup(element))
      .map((element) => `The Tab key does not reach ${name(element)}`),
  ]
  // A field for a day has a stop for its day, its month, its year and its calendar.
  return before.size + 3 * document.querySelectorAll('input[type=date]').length
})()
