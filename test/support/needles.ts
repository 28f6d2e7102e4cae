/** A value that must not occur anywhere, and its name for messages. */
export type Canary = { readonly name: string; readonly value: string }

/** The value in its usual encodings: plain, base64 at every alignment, hex, percent, JSON and ASCII. */
const formsOf = (value: string): string[] => {
  const bytes = Buffer.from(value)
  const inBase64 = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    // Only the characters that depend on the value alone.
    return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
  })
  const inBase64Url = inBase64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  const hex = bytes.toString('hex')
  return [
    value,
    ...inBase64,
    ...inBase64Url,
    hex,
    hex.toUpperCase(),
    encodeURIComponent(value),
    new URLSearchParams([['', value]]).toString().slice(1),
    JSON.stringify(value).slice(1, -1),
    inAscii(JSON.stringify(value).slice(1, -1)),
  ]
}

const inAscii = (text: string): string =>
  text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The random part of a secret. The part before it, the key of the row, may be disclosed. */
const secretSyntax = /^ap[a-z]{1,2}(?:_dev|_live)?_[0-9A-Za-z]{22}([0-9A-Za-z]{43})[0-9A-Za-z]{6}$/

/** The name and the bytes of what is searched. */
export type Haystack = { readonly name: string; readonly content: Buffer }

/** Sentences about every canary that is found, whole or as the first half of its random part. */
export const findCanaries = (canaries: readonly Canary[], haystacks: readonly Haystack[]): string[] =>
  canaries.flatMap(({ name, value }) => {
    const random = secretSyntax.exec(value)?.[1]
    const needles = new Set([...formsOf(value), ...(random === undefined ? [] : formsOf(random.slice(0, 20)))])
    return haystacks
      .filter(({ content }) => [...needles].some((needle) => content.includes(needle)))
      .map((haystack) => `${name} is in ${haystack.name}`)
  })
