/** A conversation that no client would have, and what comes of it. */
export type RawCase = {
  readonly what: string
  /** The bytes, given a whole request that makes a version, to be smuggled in. */
  readonly bytes: (inner: string) => string
  /** The status of every answer, in order. */
  readonly answers: readonly number[]
  readonly closes: boolean
  /** Whether the inner request is one of its own, so that it is carried out. */
  readonly carriesOut: boolean
}

type Outcome = 'refused' | 'one request' | 'two requests'
export type Row = readonly [
  what: string,
  bytes: (inner: string) => string,
  answers: readonly number[],
  outcome: Outcome,
]

export const casesOf = (rows: readonly Row[]): readonly RawCase[] =>
  rows.map(([what, bytes, answers, outcome]) => ({
    what,
    bytes,
    answers,
    closes: outcome === 'refused',
    carriesOut: outcome === 'two requests',
  }))

export const line = (text: string, ...headers: readonly string[]) =>
  `${[text, 'Host: a', ...headers].join('\r\n')}\r\n\r\n`
export const post = (...headers: readonly string[]) =>
  line(
    'POST /api/app-platform/token HTTP/1.1',
    'X-Service-Api-Version: 2026-08',
    'Content-Type: application/json',
    ...headers,
  )
export const get = (...headers: readonly string[]) => line('GET /healthz HTTP/1.1', ...headers)
export const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
export const last = '0\r\n\r\n'
export const chunked = 'Transfer-Encoding: chunked'
