import type { Door } from './door.ts'

// Every cookie of this server is named, written, read and deleted here. All have one path and one set of attributes, and together they
// stay within one budget, so that they leave room in the Cookie header for those of other programs.

/**
 * `session` is the signed-in user. `visit` ties forms to a browser before anyone has signed in. `device` marks a browser in which
 * someone has signed in before. `shown` carries a new secret to the page that shows it. `kept` has the fields of a form that was
 * sent after its session had ended. `proved` says that the person has lately proved again who they are. `pending` is a sign-in that lacks the
 * second factor. `handover-…` remembers that this browser has taken that request to sign in to the builder,
 * `oidc-…` what the answer of the identity provider must fit, and `way` that the session came from there.
 */
export type CookieStem = OwnCookie | 'kept' | TabCookie
type OwnCookie = 'session' | 'visit' | 'device' | 'shown' | 'proved' | 'pending' | 'way'
export type TabCookie = `${Elsewhere}-${string}`
type Elsewhere = 'handover' | 'oidc'

type At = { readonly platform: Pick<Door['platform'], 'publicUrl'> }

const isSecure = (publicUrl: string): boolean => publicUrl.startsWith('https://')

/**
 * `__Host-` ties a cookie to this host, over HTTPS only (RFC 6265bis section 4.1.3.2). Programs on other ports of a host get its cookies too
 * (RFC 6265 section 8.5), so without HTTPS the names say whose they are, and the port tells two of these servers apart.
 */
const prefixOf = (publicUrl: string): string =>
  isSecure(publicUrl) ? '__Host-' : `app-platform-${/:(\d+)$/.exec(publicUrl)?.[1] ?? '80'}-`

export const cookieName = ({ platform }: At, stem: CookieStem): string => prefixOf(platform.publicUrl) + stem

const lineOf = (publicUrl: string, name: string, value: string, maxAgeSeconds: number): string =>
  [
    `${name}=${value}`,
    'Path=/',
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(isSecure(publicUrl) ? ['Secure'] : []),
  ].join('; ')

/** The `Set-Cookie` of a cookie that scripts cannot read and that forms of other sites do not send. */
export const setCookie = (at: At, stem: CookieStem, value: string, maxAgeSeconds: number): string =>
  lineOf(at.platform.publicUrl, cookieName(at, stem), value, maxAgeSeconds)

/** The `Set-Cookie` that deletes it. */
export const forgetCookie = (at: At, stem: CookieStem): string => setCookie(at, stem, '', 0)

/** Browsers accept 4,096 characters for one cookie. All of ours together need no more, with their names. */
export const cookieBudget = 4_096

/** Of it, a cookie that remembers a form or a tab leaves this for the session and for what comes with it. */
const reserved = 700

/** The pairs of a Cookie header, in its order. Browsers write every pair as it was set and part them with semicolons alone. */
const pairsIn = (header: string | null): readonly (readonly [name: string, value: string])[] =>
  (header ?? '').split(';').flatMap((part) => {
    const at = part.indexOf('=')
    return at === -1 ? [] : [[part.slice(0, at).trim(), part.slice(at + 1).trim()] as const]
  })

/** A pair in the header, with what parts it from the next. */
const lengthOf = (name: string, value: string): number => name.length + value.length + '=; '.length

/** More cookies of one name are not tried. */
const mostOfOneName = 8

/**
 * The unchecked values of one of our cookies. Without HTTPS a program on another path or a parent domain can set one of the same name, and the
 * server cannot tell which is which: the reader takes the first that is genuine.
 */
export const cookieValues = (at: At, request: Request, stem: CookieStem): readonly string[] => {
  const wanted = cookieName(at, stem)
  return pairsIn(request.headers.get('cookie'))
    .flatMap(([name, value]) => (name === wanted && value !== '' ? [value] : []))
    .slice(0, mostOfOneName)
}

/** The first of them that can be read; null if none can. */
export const readCookie = <T>(
  at: At,
  request: Request,
  stem: CookieStem,
  read: (value: string) => T | null,
): T | null => {
  for (const value of cookieValues(at, request, stem)) {
    const found = read(value)
    if (found !== null) return found
  }
  return null
}

export const hasCookie = (at: At, request: Request, stem: CookieStem): boolean =>
  cookieValues(at, request, stem).length > 0

const ownCookies: ReadonlySet<string> = new Set<OwnCookie>([
  'session',
  'visit',
  'device',
  'shown',
  'proved',
  'pending',
  'way',
])
const isTab = (stem: string): boolean => stem.startsWith('handover-') || stem.startsWith('oidc-')

/** The cookies of this server in a request, by their stems, oldest first, as browsers send them. */
const oursIn = (publicUrl: string, request: Request): Map<string, string> => {
  const prefix = prefixOf(publicUrl)
  const ours = pairsIn(request.headers.get('cookie'))
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => [name.slice(prefix.length), value] as const)
  return new Map(ours.filter(([stem]) => ownCookies.has(stem) || stem === 'kept' || isTab(stem)))
}

/** Whether a cookie with what a form or a tab needs later has room; the older ones make room for it. */
export const hasRoom = (at: At, request: Request, stem: 'kept' | TabCookie, value: string): boolean => {
  const { publicUrl } = at.platform
  let taken = 0
  for (const [name, held] of oursIn(publicUrl, request)) {
    if (ownCookies.has(name)) taken += lengthOf(prefixOf(publicUrl) + name, held)
  }
  return Math.max(taken, reserved) + lengthOf(cookieName(at, stem), value) <= cookieBudget
}

/**
 * Keeps the cookies that a browser has after this answer within the budget. The oldest tabs are deleted first, then a kept form: any site can open
 * tabs here, and must not use up what a session needs.
 */
export const keepWithinBudget = (publicUrl: string, request: Request, headers: Headers): void => {
  const lines = headers.getSetCookie()
  if (lines.length === 0) return
  const prefix = prefixOf(publicUrl)
  const after = oursIn(publicUrl, request)
  const isNew = new Set<string>()
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^=;]*)=([^;]*)/.exec(line) ?? []
    const stem = name.slice(prefix.length)
    after.delete(stem)
    if (value !== '') after.set(stem, value)
    isNew.add(stem)
  }
  let length = [...after].reduce((sum, [stem, value]) => sum + lengthOf(prefix + stem, value), 0)
  for (const stem of [...[...after.keys()].filter(isTab), 'kept']) {
    const value = after.get(stem)
    if (length <= cookieBudget) return
    if (value === undefined || isNew.has(stem)) continue
    length -= lengthOf(prefix + stem, value)
    headers.append('set-cookie', lineOf(publicUrl, prefix + stem, '', 0))
  }
}
