/** One answer as it was received. */
export type RawAnswer = { readonly status: number; readonly headers: Headers; readonly body: string }

const parseAnswer = (text: string): RawAnswer => {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  )
  return { status: Number(statusLine.split(' ')[1] ?? 0), headers, body: rest.join('\r\n\r\n') }
}

/** Sends exactly these bytes and returns everything received until the server closed, or until it was `enough`. */
export const sendRaw = async (
  port: number,
  request: string | Uint8Array,
  enough: (text: string) => boolean = isWhole,
): Promise<string> => {
  const done = Promise.withResolvers<string>()
  let text = ''
  const connection = { closed: false }
  const end = () => {
    connection.closed = true
    done.resolve(text)
  }
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (_, bytes) => {
        text += bytes.toString('latin1')
        if (enough(text)) done.resolve(text)
      },
      close: end,
      error: end,
    },
  })
  let rest: Uint8Array = typeof request === 'string' ? Buffer.from(request, 'latin1') : request
  while (rest.length > 0 && !connection.closed) {
    rest = rest.subarray(Math.max(0, socket.write(rest)))
    if (rest.length > 0) await Bun.sleep(1)
  }
  const received = await done.promise
  socket.end()
  return received
}

/** Whether an answer with a Content-Length is complete. */
const isWhole = (text: string): boolean => {
  const end = text.indexOf('\r\n\r\n')
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end + 2))?.[1]
  return end !== -1 && length !== undefined && text.length >= end + 4 + Number(length)
}

/** Bytes that no HTTP client would send. */
export const rawAnswer = async (port: number, request: string | Uint8Array): Promise<RawAnswer> =>
  parseAnswer(await sendRaw(port, request))
