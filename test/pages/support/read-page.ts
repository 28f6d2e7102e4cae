/** A form as a browser without scripts would send it, with what its fields hold at first. */
export type PageForm = {
  readonly action: string
  readonly method: string
  readonly fields: readonly (readonly [name: string, value: string])[]
}
export type ReadPage = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Paths of this server that the page leads to. */
  readonly links: readonly string[]
  readonly forms: readonly PageForm[]
}

/** Gets a page as the browser with this cookie would, and does not follow redirects. */
export const readPage = async (url: string, cookie: string | null): Promise<ReadPage> => {
  const headers = { accept: 'text/html', ...(cookie === null ? {} : { cookie }) }
  const response = await fetch(url, { headers, redirect: 'manual' })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, ...partsOf(text, url) }
}

type Fields = [name: string, value: string][]
type FormSoFar = { action: string; method: string; fields: Fields }

const partsOf = (html: string, url: string): Pick<ReadPage, 'links' | 'forms'> => {
  const links: string[] = []
  const forms: FormSoFar[] = []
  const fieldsHere = (): Fields => forms.at(-1)?.fields ?? []
  new HTMLRewriter()
    .on('a[href]', {
      element: (a) => {
        const target = new URL(textOf(a.getAttribute('href')), url)
        if (target.origin === new URL(url).origin) links.push(target.pathname + target.search)
      },
    })
    .on('form', {
      element: (form) => {
        const action = new URL(textOf(form.getAttribute('action')), url).pathname
        forms.push({ action, method: textOf(form.getAttribute('method')).toUpperCase(), fields: [] })
      },
    })
    .on('form input[name]', { element: (input) => readInput(input, fieldsHere()) })
    .on('form select[name]', { element: (select) => void fieldsHere().push([textOf(select.getAttribute('name')), '']) })
    .on('form option', { element: (option) => choose(option, fieldsHere()) })
    .on('form textarea[name]', {
      element: (area) => void fieldsHere().push([textOf(area.getAttribute('name')), 'Some text']),
    })
    .on('form button[name]', { element: (button) => readButton(button, fieldsHere()) })
    .transform(html)
  return { links, forms }
}

const textOf = (attribute: string | null): string =>
  (attribute ?? '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

/** Empty fields get something plausible, so that a refusal is about who asks and not about what. */
const readInput = (input: HTMLRewriterTypes.Element, fields: Fields): void => {
  const name = textOf(input.getAttribute('name'))
  const type = input.getAttribute('type') ?? 'text'
  const value = textOf(input.getAttribute('value'))
  const isChoice = type === 'checkbox' || type === 'radio'
  if (isChoice && !input.hasAttribute('checked') && fields.some(([known]) => known === name)) return
  if (type !== 'submit') fields.push([name, value === '' && type !== 'hidden' ? 'something' : value])
}

/** The first option, unless another one is selected. */
const choose = (option: HTMLRewriterTypes.Element, fields: Fields): void => {
  const field = fields.at(-1)
  if (field !== undefined && (field[1] === '' || option.hasAttribute('selected'))) {
    field[1] = textOf(option.getAttribute('value'))
  }
}

/** Where buttons say what is to be done, the first one is pressed. */
const readButton = (button: HTMLRewriterTypes.Element, fields: Fields): void => {
  const name = textOf(button.getAttribute('name'))
  if (!fields.some(([known]) => known === name)) fields.push([name, textOf(button.getAttribute('value'))])
}
