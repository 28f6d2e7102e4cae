/** A form as a browser without scripts would send it, with the initial values of its fields. */
export type PageForm = {
  /** The path that it is sent to. */
  readonly action: string
  readonly fields: Readonly<Record<string, readonly string[]>>
  /** It has a file field, so it is sent as `multipart/form-data`. */
  readonly isMultipart: boolean
}

/**
 * The forms of a page that change something. Empty fields get a plausible value, so that a refusal is about the sender
 * and not about a value; of several choices the first is taken.
 */
export const formsIn = (html: string): readonly PageForm[] => {
  const forms: (PageForm & { readonly fields: Record<string, string[]> })[] = []
  let fields: Record<string, string[]> = {}
  let selectName = ''
  const offer = (name: string, value: string): void => {
    fields[name] ??= [value]
  }
  const input = {
    element: (element: HTMLRewriterTypes.Element) => {
      const [name, value] = fieldOf(element)
      if (isChoice(element)) offer(name, value)
      else fields[name] = [...(fields[name] ?? []), value]
    },
  }
  new HTMLRewriter()
    .on('form[method="post"]', {
      element: (form) => {
        fields = {}
        const isMultipart = attribute(form, 'enctype') === 'multipart/form-data'
        forms.push({ action: attribute(form, 'action'), fields, isMultipart })
      },
    })
    .on('form[method="post"] input[name]:not([type="file"])', input)
    .on('form[method="post"] textarea[name]', input)
    .on('form[method="post"] button[name]', input)
    .on('form[method="post"] select[name]', {
      element: (select) => {
        selectName = attribute(select, 'name')
      },
    })
    .on('form[method="post"] option', { element: (option) => offer(selectName, attribute(option, 'value')) })
    .transform(html)
  return forms
}

/** Of several with one name, a browser sends one, or as many as the person chooses. It sends all others. */
const isChoice = (input: HTMLRewriterTypes.Element): boolean =>
  input.tagName === 'button' || ['checkbox', 'radio'].includes(attribute(input, 'type'))

const fieldOf = (input: HTMLRewriterTypes.Element): [name: string, value: string] => {
  const value = attribute(input, 'value')
  const isEmpty = value === '' && attribute(input, 'type') !== 'hidden'
  return [attribute(input, 'name'), isEmpty ? 'something' : value]
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

const attribute = (element: HTMLRewriterTypes.Element, name: string): string =>
  (element.getAttribute(name) ?? '').replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, entity) => entities[entity] ?? whole)

/** Whether the page has a field with this name and value: a filter that is set, or a hidden field that keeps it. */
export const shows = (html: string, name: string, value: string): boolean => {
  let isShown = false
  let select = ''
  new HTMLRewriter()
    .on('input[name]', {
      element: (input) => {
        isShown ||= attribute(input, 'name') === name && attribute(input, 'value') === value
      },
    })
    .on('select[name]', { element: (element) => void (select = attribute(element, 'name')) })
    .on('option[selected]', {
      element: (option) => {
        isShown ||= select === name && attribute(option, 'value') === value
      },
    })
    .on('a[aria-current]', {
      element: (link) => {
        isShown ||= new URL(attribute(link, 'href'), 'http://localhost').searchParams.get(name) === value
      },
    })
    .transform(html)
  return isShown
}
