/** Why a redirect URI cannot be registered, for a program and for a person. */
type RedirectUriFault = { readonly code: RedirectUriFaultCode; readonly message: string }
export type RedirectUriFaultCode =
  'too_long' | 'characters' | 'scheme' | 'fragment' | 'user_info' | 'wildcard' | 'host' | 'form' | 'reserved_parameter'

type Rule = readonly [code: RedirectUriFaultCode, message: string, isBroken: (text: string) => boolean]

/** The redirect URIs that one environment of an app may have. */
export const maximumRedirectUris = 100

const maximumLength = 2048
// RFC 3986 section 2: whatever else is read differently by different parsers, a backslash above all.
const uriCharacters = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/
const host = /^(?:[a-z0-9._-]+|\[[0-9a-f:]+\])(?::\d+)?$/
/** What the answer adds; a client that found one of them twice could take the wrong one (RFC 6749 section 3.1). */
const answerParameters = ['code', 'state', 'iss', 'error']

/** In order; the first broken rule is told. */
const rules: readonly Rule[] = [
  ['too_long', 'A redirect URI has at most 2048 characters.', (text) => text.length > maximumLength],
  [
    'characters',
    'A redirect URI has only the characters that RFC 3986 allows; others are percent-encoded.',
    (text) => !uriCharacters.test(text),
  ],
  ['scheme', 'A redirect URI starts with https://.', (text) => !text.startsWith('https://')], // spec section 5, point 4
  ['fragment', 'A redirect URI has no fragment (#).', (text) => text.includes('#')], // RFC 6749 section 3.1.2
  [
    'user_info',
    'A redirect URI has no user name or password before the host.',
    (text) => authorityOf(text).includes('@'),
  ],
  ['wildcard', 'A redirect URI has no wildcard (*).', (text) => text.includes('*')], // spec section 4
  [
    'host',
    'A redirect URI has a host in lower case, and nothing but a port after it.',
    (text) => !host.test(authorityOf(text)),
  ],
  [
    'form',
    'A redirect URI is written as browsers write it: no default port, no dot segments, no shortened address.',
    (text) => !isAsBrowsersWriteIt(text),
  ],
  [
    'reserved_parameter',
    'The query of a redirect URI has none of code, state, iss and error: the answer adds them.',
    (text) => answerParameters.some((name) => new URL(text).searchParams.has(name)),
  ],
]

/** What keeps a redirect URI from being registered; null when nothing does (contract section 3). */
export const redirectUriFault = (text: string): RedirectUriFault | null => {
  const broken = rules.find(([, , isBroken]) => isBroken(text))
  return broken === undefined ? null : { code: broken[0], message: broken[1] }
}

/** Byte for byte, nothing is parsed (RFC 9700 §2.1). */
export const redirectUriMatches = (registered: string, presented: string): boolean => registered === presented

/** The URI with the parameters added to its query, which is kept as it is (RFC 6749 §4.1.2). */
export const redirectTarget = (uri: string, parameters: Readonly<Record<string, string>>): string => {
  const added = new URLSearchParams(parameters).toString()
  if (!uri.includes('?')) return `${uri}?${added}`
  return uri.endsWith('?') || uri.endsWith('&') ? uri + added : `${uri}&${added}`
}

const authorityOf = (text: string): string => text.slice('https://'.length).split(/[/?#]/, 1)[0] ?? ''

/** The parser changes nothing, but for the slash that it adds after a bare host. */
const isAsBrowsersWriteIt = (text: string): boolean => {
  const parsed = URL.parse(text)
  if (parsed === null) return false
  const path = text.slice('https://'.length + authorityOf(text).length)
  return parsed.href === (path.startsWith('/') ? text : `https://${authorityOf(text)}/${path}`)
}
