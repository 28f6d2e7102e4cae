/** The bytes of an answer as they were sent until the connection ended. */
type OnTheWire = { readonly bytes: number; readonly isWhole: boolean }

/**
 * Requests a page and stops reading after the first bytes until `meanwhile` is done: a server then has
 * room for only as much as the system buffers between the two. `fetch` would keep reading in the background.
 */
export const readSlowly = async (
  base: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  meanwhile: () => Promise<void>,
): Promise<OnTheWire> => {
  const { hostname, host, port } = new URL(base)
  const lines = Object.entries({ host, ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
  const { promise, resolve, reject } = Promise.withResolvers<OnTheWire>()
  let bytes = 0
  let tail = ''
  await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (socket) => void socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`),
      data: (socket, piece) => {
        if (bytes === 0) {
          socket.pause()
          void meanwhile().then(() => socket.resume(), reject)
        }
        bytes += piece.length
        tail = (tail + piece.toString('latin1')).slice(-8)
      },
      close: () => resolve({ bytes, isWhole: tail.endsWith('\r\n0\r\n\r\n') }), // the last chunk (RFC 9112 section 7.1)
      error: (_, error) => reject(error),
    },
  })
  return await promise
}
