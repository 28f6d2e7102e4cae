import { connect, type Socket } from 'node:net'

/** A request as it goes over the wire: nothing is added, repaired or put in order. */
export type WireRequest = {
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array | null
  readonly isChunked: boolean
}

export type WireAnswer = {
  readonly status: number
  /** Repeats are joined by a comma. */
  readonly headers: Headers
  readonly text: string
}

/** One connection that is used for one request after the other, and opened again when the server has closed it. */
export type Line = {
  /** Null when the server closed the connection without a whole answer, twice. */
  ask(request: WireRequest): Promise<WireAnswer | null>
  hangUp(): void
}

const crlf2 = Buffer.from('\r\n\r\n')

export const openLine = (port: number): Line => {
  let socket: Socket | null = null
  const fresh = async (): Promise<Socket> => {
    const opened = connect(port, '127.0.0.1')
    opened.setNoDelay(true)
    opened.on('error', () => opened.destroy())
    const connected = Promise.withResolvers<void>()
    opened.once('connect', connected.resolve)
    opened.once('close', () => connected.resolve())
    await connected.promise
    return opened
  }
  return {
    ask: async (request) => {
      const bytes = bytesOf(request)
      for (let tried = 0; tried < 2; tried += 1) {
        socket = socket === null || socket.destroyed ? await fresh() : socket
        const answer = await exchange(socket, bytes, request.method === 'HEAD')
        if (answer === null || answer.headers.get('connection') === 'close') socket.destroy()
        if (answer !== null) return answer
      }
      return null
    },
    hangUp: () => void socket?.destroy(),
  }
}

const bytesOf = ({ method, target, headers, body, isChunked }: WireRequest): Buffer => {
  const framing = body === null ? [] : [isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`]
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), ...framing]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  if (body === null) return head
  return Buffer.concat([head, ...(isChunked ? chunksOf(body) : [body])])
}

function* chunksOf(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += 4_096) {
    const chunk = body.subarray(at, at + 4_096)
    yield Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')])
  }
  yield Buffer.from('0\r\n\r\n')
}

const exchange = async (socket: Socket, bytes: Buffer, isHead: boolean): Promise<WireAnswer | null> => {
  const done = Promise.withResolvers<WireAnswer | null>()
  let received: Buffer = Buffer.alloc(0)
  const take = (data: Buffer): void => {
    received = received.length === 0 ? data : Buffer.concat([received, data])
    const answer = readAnswer(received, isHead)
    if (answer !== null) done.resolve(answer)
  }
  const end = (): void => done.resolve(null)
  socket.on('data', take).once('close', end)
  if (socket.destroyed) end()
  else socket.write(bytes)
  const answer = await done.promise
  socket.off('data', take).off('close', end)
  return answer
}

/** The answer once all of it has come. */
const readAnswer = (received: Buffer, isHead: boolean): WireAnswer | null => {
  const headEnd = received.indexOf(crlf2)
  if (headEnd === -1) return null
  const [statusLine = '', ...lines] = received.subarray(0, headEnd).toString('latin1').split('\r\n')
  const status = Number(statusLine.split(' ')[1])
  const rest = received.subarray(headEnd + 4)
  if (status < 200) return readAnswer(rest, isHead)
  const headers = new Headers()
  for (const line of lines) headers.append(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim())
  const body = isHead || status === 204 || status === 304 ? Buffer.alloc(0) : readBody(headers, rest)
  return body === null ? null : { status, headers, text: body.toString('utf8') }
}

const readBody = (headers: Headers, rest: Buffer): Buffer | null => {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(rest)
  const length = Number(headers.get('content-length') ?? 0)
  return rest.length < length ? null : rest.subarray(0, length)
}

const readChunks = (rest: Buffer): Buffer | null => {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd === -1) return null
    const size = Number.parseInt(rest.subarray(at, lineEnd).toString('latin1'), 16)
    const next = lineEnd + 2 + size + 2
    if (rest.length < next) return null
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(rest.subarray(lineEnd + 2, next - 2))
    at = next
  }
}
