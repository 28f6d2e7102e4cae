// oxlint-disable unicorn/consistent-function-scoping -- what a page is handed is one expression
// Runs inside a page after the first press of the Tab key: gives the focus to everything that takes it, and a sentence for what goes wrong.
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
  const faults = []
  const inTurn = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
  for (const element of inTurn.filter(hasToBeReached)) {
    document.activeElement.blur()
    const before = looks(element)
    element.focus()
    if (document.activeElement !== element || element.tabIndex < 0) {
      faults.push(`The Tab key does not reach ${name(element)}`)
      continue
    }
    if (before === looks(element)) faults.push(`Nobody sees that it has the focus: ${name(element)}`)
    const { bottom, top } = element.getBoundingClientRect()
    if (bottom <= 0 || top >= innerHeight) faults.push(`Has the focus outside the window: ${name(element)}`)
  }
  return faults
})()
