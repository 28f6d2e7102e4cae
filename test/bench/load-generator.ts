import { argv } from 'node:process'

/** Replaces wrk where it is not installed: plain sockets, and the modes of `load.lua`. */
const [, , port = '', mode = '', file = '', connections = '', seconds = ''] = argv
const items = (await Bun.file(file).text()).split('\0')
const [, before = '', after = ''] = /^([\s\S]*refresh_?[tT]oken[=":]+)[^&"]+([\s\S]*)$/.exec(items[0] ?? '') ?? []
const latencies: number[] = []
let next = 0
let refused = 0
let broken = 0
let running = true

const request = (): string => {
  const item = items[mode === 'cycle' ? next % items.length : next]
  next += 1
  return item ?? 'GET /out-of-requests HTTP/1.1\r\nHost: localhost\r\n\r\n'
}

/** Whether the text is a whole answer. */
const complete = (text: string): boolean => {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0)
  return text.length >= end + 4 + length
}

const answered = (text: string, milliseconds: number): void => {
  latencies.push(milliseconds)
  if (!text.startsWith('HTTP/1.1 2')) refused += 1
  const token = mode === 'chain' ? /"refresh_?[tT]oken":"([^"]+)"/.exec(text)?.[1] : undefined
  if (token !== undefined) items.push(before + token + after)
}

type Exchange = { text: string; sentAt: number }
const startedAt = performance.now()
const open = async (): Promise<void> => {
  const ended = Promise.withResolvers<void>()
  await Bun.connect<Exchange>({
    hostname: '127.0.0.1',
    port: Number(port),
    data: { text: '', sentAt: 0 },
    socket: {
      open: (socket) => {
        socket.data = { text: '', sentAt: performance.now() }
        socket.write(request())
      },
      data: (socket, chunk) => {
        const exchange = socket.data
        exchange.text += chunk.toString('latin1')
        if (!complete(exchange.text)) return
        answered(exchange.text, performance.now() - exchange.sentAt)
        if (!running) return void socket.end()
        socket.data = { text: '', sentAt: performance.now() }
        socket.write(request())
      },
      close: () => ended.resolve(),
      error: () => {
        broken += 1
        ended.resolve()
      },
    },
  })
  await ended.promise
}

setTimeout(() => (running = false), Number(seconds) * 1000)
await Promise.all(Array.from({ length: Number(connections) }, open))
const lasted = (performance.now() - startedAt) / 1000
latencies.sort((a, b) => a - b)
const percentile = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0
const result = { requests: latencies.length, seconds: lasted, p50Ms: percentile(0.5), p99Ms: percentile(0.99) }
process.stdout.write(`${JSON.stringify({ ...result, refused, broken, late: 0 })}\n`)
