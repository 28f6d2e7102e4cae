import { fetchPatiently } from '../../support/fetch-patiently.ts'
import { challengeOf } from '../../../src/domain/pkce.ts'
import { type AppInWorld, verifier } from '../../support/world.ts'
import { leadsTo } from './plain-browser.ts'
import { sessionCookieOf } from '../../support/cookie.ts'

/** Parameters of a request, by their names on the wire; null leaves one out. */
export type Asked = Readonly<Record<string, string | null>>

export const askedBy = (app: AppInWorld): Readonly<Record<string, string>> => ({
  response_type: 'code',
  client_id: app.development.clientId,
  redirect_uri: app.redirectUri,
  scope: 'profile:read site:read',
  state: 'af0ifjsldkj',
  code_challenge: challengeOf(verifier),
  code_challenge_method: 'S256',
})

export const askPath = (app: AppInWorld, change: Asked = {}, more = ''): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...askedBy(app), ...change })) if (value !== null) query.set(name, value)
  return `/oauth/authorize?${query.toString()}${more}`
}

/** A page as text, with its status and headers. */
export type Seen = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Where it leads by itself. */
  readonly location: string | null
}

/** A browser without a screen: it sends its session cookie and the origin of its requests, and follows no redirects. */
export const look = async (url: string, path: string, session: string | null = null): Promise<Seen> =>
  await seenOf(
    await fetchPatiently(url + path, {
      redirect: 'manual',
      headers: session === null ? {} : { cookie: sessionCookieOf(url, session) },
    }),
  )

type Posted = { readonly session?: string | null; readonly headers?: Readonly<Record<string, string>> }

export const sameOrigin = { 'Sec-Fetch-Site': 'same-origin' } as const

export const post = async (
  url: string,
  path: string,
  fields: Readonly<Record<string, string>>,
  { session = null, headers = sameOrigin }: Posted = {},
): Promise<Seen> =>
  await seenOf(
    await fetchPatiently(url + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...headers, ...(session === null ? {} : { cookie: sessionCookieOf(url, session) }) },
      body: new URLSearchParams(fields),
    }),
  )

const seenOf = async (response: Response): Promise<Seen> => ({
  status: response.status,
  headers: response.headers,
  text: await response.text(),
  location: leadsTo(response),
})

/** The hidden fields of the form that is sent to `action`. */
export const fieldsOf = ({ text }: Seen, action = '/oauth/authorize'): Readonly<Record<string, string>> => {
  const form = text.split('<form').find((part) => part.includes(` action="${action}"`))
  if (form === undefined) throw new Error(`no form for ${action} in: ${text}`)
  const fields = form.split('</form>')[0] ?? ''
  return Object.fromEntries(
    [...fields.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll('&amp;', '&'),
    ]),
  )
}

/** The parameters that the redirect adds, as the app receives them. */
export const answerOf = ({ location }: Seen): Readonly<Record<string, string>> =>
  Object.fromEntries(new URL(location ?? 'https://nowhere.example').searchParams)
