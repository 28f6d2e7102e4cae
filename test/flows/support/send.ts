import { fetchPatiently } from '../../support/fetch-patiently.ts'
import { connect } from 'node:net'
import type { Answer, Json } from '../../support/call.ts'

/** A request whose body is sent as it is, byte for byte; without a length when it is a stream. */
export type Sent = {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>
}

export const contractPath = '/api/app-platform'

export const send = async (url: string, method: string, path: string, request: Sent = {}): Promise<Answer> => {
  const headers = new Headers({ 'X-Service-Api-Version': '2026-08' })
  if (request.body !== undefined) headers.set('Content-Type', 'application/json')
  if (request.token !== undefined) headers.set('Authorization', `Bearer ${request.token}`)
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value)
  const target = url + (path.startsWith('~') ? path.slice(1) : contractPath + path)
  const response = await fetchPatiently(target, { method, headers, redirect: 'manual', body: request.body ?? null })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: jsonOf(text) }
}

/** The bytes in chunks, so that they travel without a Content-Length. */
export const chunked = (bytes: Uint8Array, chunkBytes = 16 * 1024): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    start: (controller) => {
      for (let at = 0; at < bytes.length; at += chunkBytes) controller.enqueue(bytes.slice(at, at + chunkBytes))
      controller.close()
    },
  })

/** One request as lines on the wire: for what no client library would send, such as a header twice. */
export const sendLines = async (url: string, lines: readonly string[], body = ''): Promise<Answer> => {
  const { hostname, port } = new URL(url)
  const answer = Promise.withResolvers<string>()
  let received = ''
  const socket = connect(Number(port), hostname, () => {
    socket.write(`${[...lines, `Host: ${hostname}:${port}`, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`)
  })
  socket.on('data', (data) => {
    received += data.toString('utf8')
  })
  socket.on('close', () => answer.resolve(received))
  socket.on('error', answer.reject)
  return parseAnswer(await answer.promise)
}

const parseAnswer = (received: string): Answer => {
  const [head = '', ...rest] = received.split('\r\n\r\n')
  const [statusLine = '', ...fields] = head.split('\r\n')
  const headers = new Headers()
  for (const field of fields) {
    const colon = field.indexOf(':')
    headers.append(field.slice(0, colon), field.slice(colon + 1).trim())
  }
  const text = rest.join('\r\n\r\n')
  return { status: Number(statusLine.split(' ')[1]), headers, text, body: jsonOf(text) }
}

const jsonOf = (text: string): Json => {
  try {
    return JSON.parse(text)
  } catch {
    return JSON.parse('null')
  }
}
