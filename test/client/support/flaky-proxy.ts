import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** What goes wrong with a request. */
type Mishap =
  /** The server answers, but the answer never arrives. */
  | 'answer lost'
  /** The server answers, but all bytes of the answer arrive as spaces. */
  | 'answer blanked'
  /** The connection breaks before the server gets the request. */
  | 'request lost'
  /** Another program answers instead of the server. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }

type Passed = {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body: string
}

/** A real proxy in front of a server that loses requests and answers on demand. */
export type FlakyProxy = {
  readonly url: string
  /** All requests, in order. */
  readonly passed: readonly Passed[]
  /** Queues mishaps for the next requests of this method and path (below the contract's base). Null means none. */
  next(route: string, ...mishaps: readonly (Mishap | null)[]): void
  close(): void
}

const base = '/api/app-platform'

export const startFlakyProxy = async (upstream: string): Promise<FlakyProxy> => {
  const passed: Passed[] = []
  const mishaps = new Map<string, (Mishap | null)[]>()

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await Array.fromAsync(request))
    const method = request.method ?? ''
    const path = (request.url ?? '').replace(base, '')
    const headers = headersOf(request)
    passed.push({ method, path, headers, body: body.toString() })
    const mishap = mishaps.get(`${method} ${path.replace(/\?.*$/, '')}`)?.shift() ?? null
    if (mishap === 'request lost') return void request.socket.destroy()
    if (typeof mishap === 'object' && mishap !== null) {
      return void response.writeHead(mishap.status, mishap.headers).end(mishap.body ?? '')
    }
    const answer = await fetch(upstream + (request.url ?? ''), {
      method,
      headers,
      redirect: 'manual',
      ...(body.length === 0 ? {} : { body }),
    })
    const bytes = new Uint8Array(await answer.arrayBuffer())
    if (mishap === 'answer lost') return void request.socket.destroy()
    if (mishap === 'answer blanked') bytes.fill(0x20)
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(bytes)
  }

  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    passed,
    next: (route, ...more) => void mishaps.set(route, [...(mishaps.get(route) ?? []), ...more]),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const perConnection = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding'])

const headersOf = (request: IncomingMessage): Headers => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (!perConnection.has(name) && value !== undefined) headers.set(name, [value].flat().join(', '))
  }
  return headers
}
