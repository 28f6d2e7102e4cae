/** A value that must be nowhere, and what it is called when it is found. */
export type Canary = { readonly name: string; readonly value: string }

/** The value as it stands, and as an encoder might have left it: base64 at every alignment, hex, percent, JSON, ASCII. */
const formsOf = (value: string): string[] => {
  const bytes = Buffer.from(value)
  const inBase64 = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    // Only the characters that depend on nothing but the value.
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

/** The random part of one of our secrets: what stands before it, the key of a row, may be told. */
const secretSyntax = /^ap[a-z]{1,2}(?:_dev|_live)?_[0-9A-Za-z]{22}([0-9A-Za-z]{43})[0-9A-Za-z]{6}$/

/** A haystack's name and its bytes. */
export type Haystack = { readonly name: string; readonly content: Buffer }

/** Sentences about every canary that is in a haystack, whole or as the first half of its random part. */
export const findCanaries = (canaries: readonly Canary[], haystacks: readonly Haystack[]): string[] =>
  canaries.flatMap(({ name, value }) => {
    const random = secretSyntax.exec(value)?.[1]
    const needles = new Set([...formsOf(value), ...(random === undefined ? [] : formsOf(random.slice(0, 20)))])
    return haystacks
      .filter(({ content }) => [...needles].some((needle) => content.includes(needle)))
      .map((haystack) => `${name} is in ${haystack.name}`)
  })
