import { fetchPatiently } from './fetch-patiently.ts'

/** Makes one HTTP request as a client of the contract does, and returns the whole answer. */
export type Call = {
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
}
export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly body: Json
  readonly text: string
}
/** Untyped JSON, which tests check field by field. */
export type Json = ReturnType<typeof JSON.parse>

const base = '/api/app-platform'

/** `path` is relative to the contract's base unless it starts with `/api`, `/healthz` and the like are given as `~/healthz`. */
export const call = async (url: string, method: string, path: string, request: Call = {}): Promise<Answer> => {
  const target = new URL(url + pathFrom(path))
  for (const [name, value] of Object.entries(request.query ?? {})) target.searchParams.set(name, value)
  const headers = new Headers({ 'X-Service-Api-Version': '2026-08' })
  if (request.token !== undefined) headers.set('Authorization', `Bearer ${request.token}`)
  if (request.body !== undefined) headers.set('Content-Type', 'application/json')
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value)
  const response = await fetchPatiently(target, {
    method,
    headers,
    redirect: 'manual',
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parse(text) }
}

const pathFrom = (path: string): string => {
  if (path.startsWith('~')) return path.slice(1)
  return base + path
}

const parse = (text: string): Json => {
  try {
    return JSON.parse(text)
  } catch {
    return JSON.parse('null')
  }
}

/** The body of an answer that a test only needs to go on. @throws what was refused, where the next call would fail for want of it */
export const bodyOf = ({ status, text, body }: Answer): Json => {
  if (status < 200 || status > 299) throw new Error(`A call that a test needs was answered with ${status}: ${text}`)
  return body
}

/** The error code of an answer. */
export const codeOf = (answer: Answer): string => answer.body.error?.code ?? `no error: ${answer.status}`
