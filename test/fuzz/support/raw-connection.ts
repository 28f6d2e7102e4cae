import { connect, type Socket } from 'node:net'

/** A connection as it is: what came over it so far, and whether the other end has closed it. */
export type RawConnection = {
  readonly socket: Socket
  received(): string
  isClosed(): boolean
  statuses(): readonly number[]
}

export const openRaw = async (port: number): Promise<RawConnection> => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.setNoDelay(true)
  let received = ''
  let closed = false
  const opened = Promise.withResolvers<void>()
  const end = (): void => {
    closed = true
    opened.resolve()
  }
  socket.once('connect', opened.resolve)
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
  })
  socket.on('end', end).on('close', end).on('error', end)
  await opened.promise
  return {
    socket,
    received: () => received,
    isClosed: () => closed,
    statuses: () => [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)),
  }
}

export const sendRaw = async (port: number, bytes: string): Promise<RawConnection> => {
  const connection = await openRaw(port)
  connection.socket.write(Buffer.from(bytes, 'latin1'))
  return connection
}
