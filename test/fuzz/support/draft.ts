/*
 * A request in the making. Secrets stand in it as markers and are put in at the last moment, so that a draft can be printed, and is
 * the same in every run with the same seed.
 */

export type Pairs = readonly (readonly [name: string, value: string])[]

export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'form'; readonly fields: Pairs }
  /** Text that is sent as it is, bar its encoding. */
  | { readonly kind: 'text'; readonly text: string }

export type Draft = {
  /** What it began as: `POST /api/app-platform/token`. */
  readonly operation: string
  /** Whether method and path are still those of the operation. */
  readonly isOnPath: boolean
  readonly method: string
  readonly path: string
  readonly query: Pairs
  readonly headers: Pairs
  readonly body: Body
  readonly encoding: 'utf8' | 'utf16le' | 'latin1'
  /** Bytes of the encoded body that are replaced: where, as a share of its length in thousandths, and by what. */
  readonly flips: readonly (readonly [thousandths: number, byte: number])[]
  readonly isChunked: boolean
}

/** Stands for a secret: `~~session~~`, or with its 17th character replaced by Q: `~~session.17.Q~~`. */
export const secret = (name: string): string => `~~${name}~~`
/** The name of the session cookie, which the port of the server is part of. */
export const sessionCookieName = secret('sessionCookieName')
export const damagedSecret = (name: string, at: number, by: string): string => `~~${name}.${at}.${by}~~`
export const markers = /~~([a-zA-Z]+)(?:\.(\d+)\.(\w))?~~/g

export const formText = (fields: Pairs): string =>
  fields.map(([name, value]) => `${escape(name)}=${escape(value)}`).join('&')
const escape = (text: string): string => encodeURIComponent(text.toWellFormed())

const bodyText = (body: Body): string | null => {
  switch (body.kind) {
    case 'none':
      return null
    case 'json':
      return JSON.stringify(body.value)
    case 'form':
      return formText(body.fields)
    case 'text':
      return body.text
    default:
      return body satisfies never
  }
}

/** All of the draft as text, each part with its markers. */
export type Written = {
  readonly target: string
  readonly headers: Pairs
  readonly body: string | null
}

export const write = (draft: Draft): Written => {
  // A query that has been written already stands under an empty name.
  const query = draft.query.map(([name, value]) => (name === '' ? value : formText([[name, value]]))).join('&')
  return {
    target: query === '' ? draft.path : `${draft.path}?${query}`,
    headers: draft.headers,
    body: bodyText(draft.body),
  }
}

export const encodeBody = (draft: Draft, text: string): Uint8Array => {
  const bytes = Buffer.from(text, draft.encoding)
  for (const [thousandths, byte] of draft.flips)
    if (bytes.length > 0) bytes[Math.floor((thousandths * (bytes.length - 1)) / 1_000)] = byte
  return bytes
}

export const withHeader = (draft: Draft, name: string, value: string): Draft => ({
  ...draft,
  headers: [...withoutHeader(draft, name).headers, [name, value]],
})
export const withoutHeader = (draft: Draft, name: string): Draft => ({
  ...draft,
  headers: draft.headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase()),
})
