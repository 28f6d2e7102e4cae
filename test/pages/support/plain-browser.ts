import { fetchPatiently } from '../../support/fetch-patiently.ts'
import { cookieNamed } from '../../support/cookie.ts'

/** The answer, with the page as text. */
export type Seen = { readonly status: number; readonly headers: Headers; readonly text: string }

/** A browser without a screen: it keeps cookies, follows no redirects, and sends forms as they are on the page. */
export type PlainBrowser = {
  /** By their names; over plain HTTP without the prefix, which is the same for all. */
  readonly cookies: Map<string, string>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Seen>
  post(path: string, fields: Fields, headers?: Readonly<Record<string, string>>): Promise<Seen>
  /** Sends a form with files, as a browser encodes it; or a body of one as it is, with the type that `headers` name. */
  upload(path: string, fields: FileFields | Blob, headers?: Readonly<Record<string, string>>): Promise<Seen>
  /** The page with a form for `action`. If it has a link there instead, because the step is confirmed first, the page that it leads to. */
  pageWith(page: string, action: string): Promise<string>
  /** The hidden fields of that form. */
  formOn(page: string, action: string): Promise<Record<string, string>>
  /** Sends that form to its address, with its hidden fields and these. */
  submit(page: string, action: string, fields?: Fields): Promise<Seen>
  /** The page that the answer leads to by itself, as the browser would load it; the answer itself when it leads nowhere. */
  follow(answer: Seen): Promise<Seen>
}
type Fields = Readonly<Record<string, string | readonly string[]>>
type FileFields = Readonly<Record<string, string | File | readonly string[]>>

/** `publicUrl`: the address that the server says it has, whose port is in the names of its cookies. */
export const plainBrowser = (url: string, publicUrl = url): PlainBrowser => {
  const cookies = new Map<string, string>()
  let prefix = cookieNamed(publicUrl, 'session').replace(/session$/, '')
  /** Names that other programs, such as an app, have set as they are. */
  const foreign = new Set<string>()
  const fullName = (name: string) => (name.startsWith('__Host-') || foreign.has(name) ? name : prefix + name)
  const send = async (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string | FormData | Blob,
  ) => {
    const cookie = [...cookies].map(([name, value]) => `${fullName(name)}=${value}`).join('; ')
    const response = await fetchPatiently(url + path, {
      method,
      redirect: 'manual',
      headers: { accept: 'text/html', ...(cookie === '' ? {} : { cookie }), ...headers },
      ...(body === undefined ? {} : { body }),
    })
    for (const set of response.headers.getSetCookie()) {
      prefix = /^app-platform-\d+-/.exec(set)?.[0] ?? prefix // of the public address, which can have another port
      if (!set.startsWith(prefix)) foreign.add(set.slice(0, set.indexOf('=')))
      keep(cookies, set.replace(prefix, ''))
    }
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const browser: PlainBrowser = {
    cookies,
    get: async (path, headers = {}) => await send('GET', path, headers),
    post: async (path, fields, headers = {}) =>
      await send('POST', path, { ...fromAPageOfOurs, ...headers }, encoded(fields)),
    upload: async (path, fields, headers = {}) =>
      await send(
        'POST',
        path,
        { 'sec-fetch-site': 'same-origin', ...headers },
        fields instanceof Blob ? fields : multipart(fields),
      ),
    pageWith: async (page, action) => {
      const { text } = await browser.get(page)
      const link = formFor(text, action) === undefined ? linkTo(text, action) : null
      return link === null ? text : (await browser.get(link)).text
    },
    formOn: async (page, action) => hiddenFields(await browser.pageWith(page, action), action),
    submit: async (page, action, fields = {}) => {
      const text = await browser.pageWith(page, action)
      return await browser.post(addressOf(text, action), { ...hiddenFields(text, action), ...fields })
    },
    follow: async (answer) => {
      const location = leadsTo(answer)
      return location === null ? answer : await browser.get(location, { 'sec-fetch-site': 'same-origin' })
    },
  }
  return browser
}

/** Where an answer leads by itself, by a redirect or as a page that goes on; null if it stays. */
export const leadsTo = ({ headers }: Pick<Seen, 'headers'>): string | null =>
  headers.get('location') ?? headers.get('refresh')?.replace(/^0; url=/, '') ?? null

const fromAPageOfOurs = {
  'content-type': 'application/x-www-form-urlencoded',
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'navigate',
}

const keep = (cookies: Map<string, string>, set: string): void => {
  const [pair = '', ...rules] = set.split('; ')
  const name = pair.slice(0, pair.indexOf('='))
  if (rules.includes('Max-Age=0')) cookies.delete(name)
  else cookies.set(name, pair.slice(pair.indexOf('=') + 1))
}

const encoded = (fields: Fields): string => {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    for (const each of typeof value === 'string' ? [value] : value) form.append(name, each)
  }
  return form.toString()
}

const multipart = (fields: FileFields): FormData => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (value instanceof File) form.append(name, value)
    else for (const each of typeof value === 'string' ? [value] : value) form.append(name, each)
  }
  return form
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}
const unescaped = (html: string): string =>
  html.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity)

/** The page's first link to a path, with its query; null without one. */
const linkTo = (html: string, path: string): string | null => {
  const links = [...html.matchAll(/<a\b[^>]*\bhref="([^"]*)"/g)].map(([, href = '']) => unescaped(href))
  return links.find((href) => href === path || href.startsWith(`${path}?`)) ?? null
}

/** The form that changes something. A page may also have one that searches it, with the same path. */
const formFor = (html: string, action: string) =>
  [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].find(
    ([, attributes = '']) =>
      attributes.includes('method="post"') && actionIn(attributes).split('?', 1)[0] === action.split('?', 1)[0],
  )

const actionIn = (attributes: string): string => unescaped(/ action="([^"]*)"/.exec(attributes)?.[1] ?? '')

/** Where the page's first form for this action is sent, with its query. @throws Error when there is none */
export const addressOf = (html: string, action: string): string => {
  const form = formFor(html, action)
  if (form === undefined) throw new Error(`The page has no form for ${action}.`)
  return actionIn(form[1] ?? '')
}

/** The hidden fields of the page's first form for this action. @throws Error when there is none */
export const hiddenFields = (html: string, action: string): Record<string, string> => {
  const form = formFor(html, action)
  if (form === undefined) throw new Error(`The page has no form for ${action}.`)
  const inputs = [...(form[2] ?? '').matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
  return Object.fromEntries(inputs.map(([, name = '', value = '']) => [unescaped(name), unescaped(value)]))
}

/** A browser that the user has signed in with. */
export const signedInBrowser = async (
  url: string,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<PlainBrowser> => {
  const browser = plainBrowser(url)
  const { status } = await browser.submit('/sign-in', '/sign-in', { email, password })
  if (status !== 303) throw new Error(`Signing in was answered with ${status}.`)
  return browser
}
