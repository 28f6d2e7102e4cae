import { createSocket } from 'node:dgram'

type NameServer = { readonly address: string; stop(): void }

/** A name server on the loopback address: an IPv4 address for each name, no IPv6, and no answer at all for null. */
export const startNameServer = async ({
  answer,
}: {
  readonly answer: (name: string) => string | null
}): Promise<NameServer> => {
  const socket = createSocket('udp4')
  socket.on('message', (question, { address, port }) => {
    const { name, end } = nameIn(question)
    const found = answer(name)
    if (found === null) return
    const isV4 = question.readUInt16BE(end) === typeA
    const record = isV4 ? Buffer.concat([recordHead, Buffer.from(found.split('.').map(Number))]) : Buffer.alloc(0)
    socket.send(Buffer.concat([headOf(question, isV4 ? 1 : 0), question.subarray(12, end + 4), record]), port, address)
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.bind(0, '127.0.0.1', () => resolve())
  await promise
  return { address: `127.0.0.1:${socket.address().port}`, stop: () => void socket.close() }
}

const typeA = 1
/** The name of the question (by a pointer to it), type A, class IN, no time to live, four bytes (RFC 1035 section 4.1.3). */
const recordHead = Buffer.from([0xc0, 0x0c, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4])

const nameIn = (question: Buffer): { name: string; end: number } => {
  const labels: string[] = []
  let at = 12
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.subarray(at + 1, at + 1 + length).toString())
    at += 1 + length
  }
  return { name: labels.join('.'), end: at + 1 }
}

/** The header of an answer to the question: no error, with this number of records. */
const headOf = (question: Buffer, records: number): Buffer => {
  const head = Buffer.from(question.subarray(0, 12))
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records, 6)
  head.writeUInt32BE(0, 8)
  return head
}
