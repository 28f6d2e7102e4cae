/** Why a redirect URI cannot be registered, for a program and for a person. */
export type RedirectUriFault = { readonly code: string; readonly message: string }

type Rule = readonly [code: string, message: string, isBroken: (text: string) => boolean]

/** In order; the first broken rule is told. */
const rules: readonly Rule[] = [
  ['too_long', 'A redirect URI has at most 2048 characters.', (text) => text.length > 2048],
  // No spaces, control characters, backslashes or letters outside ASCII: they are read differently by different parsers.
  ['characters', 'A redirect URI has plain ASCII characters only, without spaces or backslashes.', (text) =>
    !/^[\x21-\x5b\x5d-\x7e]*$/.test(text) || /["<>^`{|}]/.test(text)],
  ['scheme', 'A redirect URI starts with https://.', (text) => !text.startsWith('https://')],
  ['fragment', 'A redirect URI has no fragment (#).', (text) => text.includes('#')], // RFC 6749 §3.1.2
  ['user_info', 'A redirect URI has no user name or password before the host.', (text) => authorityOf(text).includes('@')],
  ['wildcard', 'A redirect URI has no wildcard (*).', (text) => text.includes('*')],
  ['form', 'A redirect URI is a complete URL as browsers write it: lower-case host, no default port, no dot segments.', (text) =>
    !URL.canParse(text) || !isAsBrowsersWriteIt(text)],
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

const authorityOf = (text: string): string => text.slice('https://'.length).split(/[/?#]/)[0] ?? ''

/** The parser changes nothing, but for the slash that it adds after a bare host. */
const isAsBrowsersWriteIt = (text: string): boolean => {
  const { href, host } = new URL(text)
  return host !== '' && (href === text || href === text.replace(/^https:\/\/[^/?]*/, (origin) => `${origin}/`))
}
