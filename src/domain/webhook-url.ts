type Rule = readonly [message: string, isBroken: (text: string) => boolean]

const maximumLength = 2048
// RFC 3986 section 2: whatever else is read differently by different parsers, a backslash above all.
const uriCharacters = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/
/** A name, an IPv4 address or an IPv6 one in brackets; no dot at the end, which names the same host another way. */
const host = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:]+\])(?::\d+)?$/

/** In order; the first broken rule is told. */
const rules: readonly Rule[] = [
  ['A webhook URL has at most 2048 characters.', (text) => text.length > maximumLength],
  [
    'A webhook URL has only the characters that RFC 3986 allows; others are percent-encoded.',
    (text) => !uriCharacters.test(text),
  ],
  ['A webhook URL starts with https://.', (text) => !text.startsWith('https://')],
  ['A webhook URL has no fragment (#).', (text) => text.includes('#')],
  ['A webhook URL has no user name or password before the host.', (text) => authorityOf(text).includes('@')],
  ['A webhook URL has a host in lower case, and nothing but a port after it.', (text) => !host.test(authorityOf(text))],
  [
    'A webhook URL is written as browsers write it: no default port, no dot segments, no shortened address.',
    (text) => !isAsBrowsersWriteIt(text),
  ],
]

/** What keeps a URL from being registered, in a sentence; null when nothing does. Says nothing of where it leads. */
export const webhookUrlFault = (text: string): string | null =>
  rules.find(([, isBroken]) => isBroken(text))?.[0] ?? null

const authorityOf = (text: string): string => text.slice('https://'.length).split(/[/?#]/, 1)[0] ?? ''

/** The parser changes nothing, but for the slash that it adds after a bare host: 127.1 and 0x7f000001 are changed. */
const isAsBrowsersWriteIt = (text: string): boolean => {
  const parsed = URL.parse(text)
  if (parsed === null) return false
  const path = text.slice('https://'.length + authorityOf(text).length)
  return parsed.href === (path.startsWith('/') ? text : `https://${authorityOf(text)}/${path}`)
}
