import { processorTimeOf } from '../../support/processor.ts'
import { argv } from 'node:process'
import { seeded } from '../../support/proof.ts'

/** What a crowd of callers does: a JSON file, named on its command line. */
export type CrowdPlan = {
  readonly port: number
  readonly serverPid: number
  readonly seconds: number
  readonly seed: number
  /** Whole requests; `@ADDRESS` in them becomes another address every time. */
  readonly calls: readonly { readonly name: string; readonly weight: number; readonly text: string }[]
  /** Calls per second, sent whether or not earlier ones are answered; null: each caller calls again after an answer. */
  readonly perSecond: number | null
  /** Connections at most, or exactly so many where everybody asks again. */
  readonly connections: number
  /** Whoever has waited so long hangs up. */
  readonly patienceMs: number
}

/** What came of the calls of one kind. */
export type CrowdTally = {
  /** Answered with success. */
  good: number
  /** 429 or 503 with Retry-After. */
  turnedAway: number
  /** Any other answer. */
  odd: number
  /** Hung up on. */
  late: number
  /** The connection ended before there was an answer. */
  broken: number
  p50Ms: number
  p99Ms: number
}

type Kind = CrowdTally & { readonly milliseconds: number[] }

export type CrowdReport = {
  readonly seconds: number
  /** How much of the processor the server got of what it wanted, from 0 to 1. */
  readonly processorShare: number
  /** Calls that found no connection to be sent on. */
  readonly unsent: number
  readonly kinds: Readonly<Record<string, CrowdTally>>
  /** The first odd answer, to be shown. */
  readonly oddity: string | null
}

/** The whole answer, once it is all there. */
const isComplete = (text: string): boolean => {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end + 2))?.[1] ?? 0)
  return text.length >= end + 4 + length
}

/** 429 or 503, with a time to come back, and a request ID to ask about. */
const isTurnedAway = (status: number, text: string): boolean =>
  (status === 429 || status === 503) &&
  /\r\nretry-after: \d+\r\n/i.test(text) &&
  /\r\nx-request-id: req_[0-9a-f]{32}\r\n/i.test(text)

type Line = {
  readonly socket: Bun.Socket<Line>
  kind: Kind | null
  rest: Buffer
  text: string
  sentAt: number
}

const newKind = (): Kind => ({
  good: 0,
  turnedAway: 0,
  odd: 0,
  late: 0,
  broken: 0,
  p50Ms: 0,
  p99Ms: 0,
  milliseconds: [],
})

const tallied = ({ milliseconds, ...tally }: Kind): CrowdTally => {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
  return { ...tally, p50Ms: at(0.5), p99Ms: at(0.99) }
}

const crowd = async (plan: CrowdPlan): Promise<CrowdReport> => {
  const chance = seeded(plan.seed)
  const kinds = new Map(plan.calls.map(({ name }) => [name, newKind()]))
  const deck = plan.calls.flatMap((one) => Array.from({ length: one.weight }, () => one))
  const idle: Line[] = []
  const busy = new Set<Line>()
  let open = 0
  let unsent = 0
  let oddity: string | null = null
  let running = true

  const send = (line: Line): void => {
    const one = deck[chance(deck.length)]
    if (one === undefined) return
    const address = `10.${chance(250)}.${chance(250)}.${chance(250)}`
    line.kind = kinds.get(one.name) ?? null
    line.text = ''
    line.sentAt = performance.now()
    line.rest = Buffer.from(one.text.replace('@ADDRESS', address), 'latin1')
    busy.add(line)
    flush(line)
  }
  const flush = (line: Line): void => {
    if (line.rest.length > 0) line.rest = line.rest.subarray(Math.max(0, line.socket.write(line.rest)))
  }
  const answered = (line: Line): void => {
    const { kind, text } = line
    busy.delete(line)
    if (kind === null) return
    line.kind = null
    const status = Number(text.slice(9, 12))
    if (status < 400) {
      kind.good += 1
      kind.milliseconds.push(performance.now() - line.sentAt)
    } else if (isTurnedAway(status, text)) kind.turnedAway += 1
    else {
      kind.odd += 1
      oddity ??= text
    }
    if (!running || /\r\nconnection: close\r\n/i.test(text)) return void line.socket.end()
    if (plan.perSecond === null) send(line)
    else idle.push(line)
  }
  const ended = (line: Line | undefined): void => {
    open -= 1
    if (line === undefined) return
    busy.delete(line)
    const at = idle.indexOf(line)
    if (at !== -1) idle.splice(at, 1)
    if (line.kind !== null) line.kind.broken += 1
    line.kind = null
    if (running && plan.perSecond === null) connect()
  }
  const connect = (): void => {
    open += 1
    let line: Line | undefined
    void Bun.connect<Line>({
      hostname: '127.0.0.1',
      port: plan.port,
      socket: {
        open: (socket) => {
          line = { socket, kind: null, rest: Buffer.alloc(0), text: '', sentAt: 0 }
          socket.data = line
          send(line)
        },
        data: (socket, chunk) => {
          socket.data.text += chunk.toString('latin1')
          if (isComplete(socket.data.text)) answered(socket.data)
        },
        drain: (socket) => flush(socket.data),
        close: () => ended(line),
        error: () => undefined,
        connectError: () => ended(line),
      },
    }).catch(() => undefined)
  }
  const hangUp = (): void => {
    const since = performance.now() - plan.patienceMs
    for (const line of busy) {
      if (line.sentAt > since) break // in the order of their asking
      if (line.kind !== null) line.kind.late += 1
      line.kind = null
      line.socket.terminate()
    }
  }

  const startedAt = performance.now()
  const before = processorTimeOf(plan.serverPid)
  let due = 0
  if (plan.perSecond === null) for (let count = 0; count < plan.connections; count += 1) connect()
  while (performance.now() - startedAt < plan.seconds * 1000) {
    if (plan.perSecond !== null) {
      const target = ((performance.now() - startedAt) / 1000) * plan.perSecond
      for (; due < target; due += 1) {
        const line = idle.pop()
        if (line !== undefined) send(line)
        else if (open < plan.connections) connect()
        else unsent += 1
      }
    }
    hangUp()
    await Bun.sleep(1)
  }
  running = false
  const seconds = (performance.now() - startedAt) / 1000
  const after = processorTimeOf(plan.serverPid)
  const ranMs = after.ranMs - before.ranMs
  const wantedMs = ranMs + after.waitedMs - before.waitedMs
  const processorShare = ranMs > 0 ? ranMs / wantedMs : 1
  for (const line of [...idle, ...busy]) {
    line.kind = null // a caller that still waits is counted neither way
    line.socket.terminate()
  }
  return {
    seconds,
    processorShare,
    unsent,
    kinds: Object.fromEntries([...kinds].map(([name, kind]) => [name, tallied(kind)])),
    oddity,
  }
}

if (import.meta.main) {
  await Bun.write(Bun.stdout, JSON.stringify(await crowd(JSON.parse(await Bun.file(argv[2] ?? '').text()))))
  process.exit(0)
}
