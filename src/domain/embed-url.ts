/** Where an app's page for the builder is, and the origin that its frame has. */
export type EmbedUrl = { readonly url: string; readonly origin: string }

type Rule = readonly [message: string, isBroken: (text: string) => boolean]

const maximumLength = 2048
// RFC 3986 section 2: whatever else is read differently by different parsers, a backslash above all.
const uriCharacters = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/
/** A name or an IPv4 address: the only hosts that a Content-Security-Policy can name exactly. */
const host = /^[a-z0-9._-]+(?::\d+)?$/

/** In order; the first broken rule is told. */
const rules: readonly Rule[] = [
  ['embedUrl has at most 2048 characters.', (text) => text.length > maximumLength],
  [
    'embedUrl has only the characters that RFC 3986 allows; others are percent-encoded.',
    (text) => !uriCharacters.test(text),
  ],
  ['embedUrl starts with https://.', (text) => !text.startsWith('https://')],
  ['embedUrl has no fragment (#): the one-time code goes there.', (text) => text.includes('#')],
  [
    'embedUrl has a host in lower case, and nothing but a port after it.',
    (text) => !host.test(text.slice('https://'.length).split(/[/?]/, 1)[0] ?? ''),
  ],
  [
    'embedUrl is written as browsers write it: no default port, no dot segments, no shortened address.',
    (text) => ![text, `${text}/`].includes(URL.parse(text)?.href ?? ''),
  ],
]

/** What is wrong with the `embedUrl` of a manifest; null when nothing is, or when there is none. */
export const embedUrlFault = (manifest: Readonly<Record<string, unknown>>): string | null => {
  const { embedUrl } = manifest
  if (embedUrl === undefined) return null
  if (typeof embedUrl !== 'string') return 'embedUrl is a text.'
  return rules.find(([, isBroken]) => isBroken(embedUrl))?.[0] ?? null
}

/** The page that the manifest names for the builder; null when it names none that may be opened. */
export const embedUrlOf = (manifest: Readonly<Record<string, unknown>>): EmbedUrl | null => {
  const { embedUrl } = manifest
  if (typeof embedUrl !== 'string' || embedUrlFault(manifest) !== null) return null
  return { url: embedUrl, origin: new URL(embedUrl).origin }
}
