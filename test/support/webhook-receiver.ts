import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Webhook } from 'svix'
import { eventBodies } from '../../src/http/contract/events.ts'
import { type Certificates, makeCertificates } from '../clients/support/certificates.ts'

/** One call that was received. */
type Received = {
  readonly id: string
  readonly type: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly path: string
}

/** The answer to the n-th call (from 0): a status, perhaps with headers. 'by itself': the function writes the response. */
type Behaviour = (
  call: number,
  response: ServerResponse,
  received: Received,
) => number | { readonly status: number; readonly headers: Readonly<Record<string, string>> } | 'by itself'

export type Receiver = {
  readonly url: string
  readonly received: readonly Received[]
  readonly authority: string
  behave(behaviour: Behaviour): void
  /** Whether the reference library accepts this call with this secret. */
  isSignedWith(received: Received, secret: string): boolean
  /** Stops listening. `start` listens on the same port again. */
  down(): Promise<void>
  up(): Promise<void>
}

let certificates: Promise<Certificates> | null = null
/** The paths of the certificates of all receivers in a test file. */
export const receiverCertificates = async (): Promise<Certificates> => await (certificates ??= makeCertificates())

/** A real HTTPS receiver on the loopback address. It accepts everything by default. */
export const startReceiver = async (host = '127.0.0.1'): Promise<Receiver> => {
  const { authority, certificate, key } = await receiverCertificates()
  const options = { cert: await Bun.file(certificate).text(), key: await Bun.file(key).text() }
  const received: Received[] = []
  let behaviour: Behaviour = takeAll
  let port = 0

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const call = await readCall(request)
    const index = received.push(call) - 1
    const told = behaviour(index, response, call)
    if (told === 'by itself') return
    const { status, headers } = typeof told === 'number' ? { status: told, headers: {} } : told
    response.writeHead(status, headers).end(`answer ${index}`)
  }
  const listen = async () => {
    const server = createServer(options, (request, response) => void answer(request, response).catch(() => undefined))
    const { promise, resolve } = Promise.withResolvers<void>()
    server.listen(port, host, () => resolve())
    await promise
    const address = server.address()
    port = typeof address === 'object' && address !== null ? address.port : 0
    return server
  }
  let server = await listen()

  return {
    url: `https://${host.includes(':') ? `[${host}]` : host}:${port}/hooks`,
    received,
    authority,
    behave: (next) => void (behaviour = next),
    isSignedWith: ({ body, headers }, secret) => {
      try {
        new Webhook(secret).verify(body, headers)
        return true
      } catch {
        return false
      }
    },
    down: async () => {
      server.closeAllConnections()
      const { promise, resolve } = Promise.withResolvers<void>()
      server.close(() => resolve())
      await promise
    },
    up: async () => void (server = await listen()),
  }
}

const takeAll: Behaviour = () => 200

const readCall = async (request: IncomingMessage): Promise<Received> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  const { id, type } = JSON.parse(body)
  refuseUndescribed(type, JSON.parse(body))
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  return { id, type, body, headers, path: request.url ?? '' }
}

/** Fails the test file of whoever receives an event that the document does not describe, down to its last field. */
const refuseUndescribed = (kind: string, event: unknown): void => {
  const schemas = [eventBodies.app.get(kind), eventBodies.builder.get(kind)].filter((schema) => schema !== undefined)
  if (schemas.some((schema) => Value.Check(closed(schema), event))) return
  queueMicrotask(() => {
    throw new Error(`The document does not describe this event: ${JSON.stringify(event)}`)
  })
}

/** The schema without room for further fields. */
const closed = (schema: TSchema): TSchema => {
  const { data } = schema['properties']
  const whole = { ...schema, properties: { ...schema['properties'], data: { ...data, additionalProperties: false } } }
  return { ...whole, additionalProperties: false } as TSchema
}
