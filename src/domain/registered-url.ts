/*
 * The URLs that apps register: where browsers come back to (redirect URIs), where webhooks are sent, and the page that
 * the builder shows in a frame (`embedUrl` of a manifest). One list of checks serves all three; what differs is written
 * where the three lists are made. URLs in the store were accepted by these rules, so a rule can be made stricter only
 * for new ones.
 */

/** What a URL must have, as the end of a sentence that begins with its kind, and what breaks it. */
type Rule = readonly [sentence: string | ((url: string) => string), isBroken: (url: string) => boolean]

const maximumLength = 2048
// RFC 3986 section 2. Parsers differ on every other character, above all on the backslash.
const uriCharacters = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/

/** In order; the first broken rule is reported. */
const beforeHost: readonly Rule[] = [
  ['has at most 2048 characters.', (url) => url.length > maximumLength],
  [(url) => `has a host in ASCII: ${asciiHostOf(url) ?? ''}.`, (url) => asciiHostOf(url) !== null],
  ['has only the characters that RFC 3986 allows; others are percent-encoded.', (url) => !uriCharacters.test(url)],
  [
    'starts with https://, on localhost too: the guide “Your first app” shows how to get a certificate for it.',
    (url) => /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/?#]|$)/.test(url),
  ],
  ['starts with https:// in lower case.', (url) => /^https:\/\//i.test(url) && !url.startsWith('https://')],
  ['starts with https://.', (url) => !url.startsWith('https://')], // spec section 5, point 4
  ['has no fragment (#).', (url) => url.includes('#')], // RFC 6749 section 3.1.2
  ['has no user name or password before the host.', (url) => authorityOf(url).includes('@')],
]
/** The host of a URL as it must be registered, if it is written in other letters; else null. */
const asciiHostOf = (url: string): string | null => {
  if (!url.startsWith('https://') || !/^[^@\\\s]*\P{ASCII}[^@\\\s]*$/u.test(authorityOf(url))) return null
  return URL.parse(`https://${authorityOf(url)}`)?.host ?? null
}
/** No dot at the end of a name: it would be a second name for the same host. Nothing can be reached at port 0. */
const hostRule: Rule = [
  'has a host in lower case, and nothing but a port after it.',
  (url) =>
    !/^(?:(?!-)[a-z0-9_-]+(?<!-)(?:\.(?!-)[a-z0-9_-]+(?<!-))*|\[[0-9a-f:]+\])(?::(?!0+$)\d+)?$/.test(authorityOf(url)),
]
const formRules: readonly Rule[] = [
  ["has no apostrophe (') in its query: browsers write it as %27.", (url) => /\?.*'/s.test(url)],
  [
    'is written as browsers write it: no default port, no dot segments, no shortened address.',
    (url) => !isAsBrowsersWriteIt(url),
  ],
]

const authorityOf = (url: string): string => url.slice('https://'.length).split(/[/?#]/, 1)[0] ?? ''

/** The parser changes nothing, except that it adds a slash after a bare host. It does change 127.1 and 0x7f000001. */
const isAsBrowsersWriteIt = (url: string): boolean => {
  const parsed = URL.parse(url)
  if (parsed === null) return false
  const path = url.slice('https://'.length + authorityOf(url).length)
  return parsed.href === (path.startsWith('/') ? url : `https://${authorityOf(url)}/${path}`)
}

/** The sentence of the first broken rule, about this kind of URL; null when none is broken. */
const faultOf = (kind: string, rules: readonly Rule[], url: string): string | null => {
  const broken = rules.find(([, isBroken]) => isBroken(url))
  if (broken === undefined) return null
  const [sentence] = broken
  return `${kind} ${typeof sentence === 'string' ? sentence : sentence(url)}`
}

/** The redirect URIs that one environment of an app may have. */
export const maximumRedirectUris = 100

/** What an answer has. A client that found one of them twice could take the wrong one (RFC 6749 section 3.1). */
const answerParameters = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri']
const answeredIn = (uri: string): readonly string[] =>
  answerParameters.filter((name) => new URL(uri).searchParams.has(name))

const redirectUriRules: readonly Rule[] = [
  ...beforeHost,
  ['has no wildcard (*).', (url) => url.includes('*')], // spec section 4
  hostRule,
  ...formRules,
  [
    (url) => `has no ${answeredIn(url).join(' or ')} in its query, which the answer adds: give it another name.`,
    (url) => answeredIn(url).length > 0,
  ],
]

/** Why a redirect URI cannot be registered, as a sentence; else null (contract section 3). */
export const redirectUriFault = (uri: string): string | null => faultOf('A redirect URI', redirectUriRules, uri)

/** Byte for byte; nothing is parsed (RFC 9700 section 2.1). */
export const redirectUriMatches = (registered: string, presented: string): boolean => registered === presented

/**
 * The URI with the parameters of the answer added to its query, which is kept as it is (RFC 6749 section 4.1.2), but for what an answer
 * may have: a URI that was registered before the rule above loses it.
 */
export const redirectTarget = (uri: string, parameters: Readonly<Record<string, string>>): string => {
  const added = new URLSearchParams(parameters).toString()
  const [place = '', ...rest] = uri.split('?')
  const own = rest
    .join('?')
    .split('&')
    .filter((pair) => !isAnswer(pair))
    .join('&')
  return own === '' || own.endsWith('&') ? `${place}?${own}${added}` : `${place}?${own}&${added}`
}

const isAnswer = (pair: string): boolean => answerParameters.some((name) => new URLSearchParams(pair).has(name))

const webhookUrlRules: readonly Rule[] = [...beforeHost, hostRule, ...formRules]

/** Why a webhook URL cannot be registered, as a sentence; else null. Where the host leads is checked elsewhere. */
export const webhookUrlFault = (url: string): string | null => faultOf('A webhook URL', webhookUrlRules, url)

/**
 * Whether a text from outside that is kept as it came is an address with one of these schemes (`https:`). Browsers drop line breaks and
 * tabs, take a backslash for a slash, and need no slashes after `https:`; others read another address, so none of that is taken.
 */
export const isPlainAddress = (text: string, ...schemes: readonly string[]): boolean => {
  const url = URL.parse(text)
  if (url === null || !schemes.includes(url.protocol) || /[\p{Cc}\\]|^\s|\s$/u.test(text)) return false
  const isWritten = url.host === '' || /^https?:\/\/[^/]/i.test(text)
  return isWritten && url.username === '' && url.password === ''
}

/** The URL of an app's page for the builder, and the origin of its frame. */
type EmbedUrl = { readonly url: string; readonly origin: string }

const embedUrlRules: readonly Rule[] = [
  ...beforeHost, // the one-time code goes into the fragment
  hostRule,
  ['has a host that is no IPv6 address.', (url) => authorityOf(url).startsWith('[')], // a Content-Security-Policy cannot name one
  ...formRules,
]

/** What is wrong with the `embedUrl` of a manifest; null when nothing is, or when it has none. */
export const embedUrlFault = ({ embedUrl }: Readonly<Record<string, unknown>>): string | null => {
  if (embedUrl === undefined) return null
  return typeof embedUrl === 'string' ? faultOf('embedUrl', embedUrlRules, embedUrl) : 'embedUrl is a text.'
}

/** The page that the manifest names for the builder; null when it names none that may be opened. */
export const embedUrlOf = (manifest: Readonly<Record<string, unknown>>): EmbedUrl | null => {
  const { embedUrl } = manifest
  if (typeof embedUrl !== 'string' || embedUrlFault(manifest) !== null) return null
  return { url: embedUrl, origin: new URL(embedUrl).origin }
}
