import { turn } from '../domain/awaitable.ts'
import { type PlatformError, refuse, tooLarge } from '../domain/errors.ts'
import { networkKeyOf } from '../domain/ip-address.ts'
import { ownerOf } from '../operations/apps/app-record.ts'
import type { Call } from './call.ts'
import { idleSeconds } from './server.ts'
import type { Door, Uploader } from './door.ts'
import { createWaitingLine, type WaitingLine } from '../runtime/waiting-line.ts'

/** An upload up to this size never waits for a slot. */
const smallBytes = 256 * 1024
/** How far a sender may fall behind the least rate; also the longest silence, however fast it was before. */
const longestLagMs = 10_000
const leastBytesPerMs = (16 * 1024) / 1_000
/** How long a large upload may take to arrive, at any rate. */
const longestUploadMs = 300_000
/** Bytes of a body that are taken at a time; then other requests have a turn. */
const stepBytes = 128 * 1024

/**
 * The whole body of an upload, which its slot has room for. What has not been read stays with the sender.
 * @throws payload_too_large, invalid_request, unavailable; `cutShort` if the caller leaves in the middle
 */
export const readWhole = async (door: Door, call: Call, cutShort: PlatformError): Promise<Buffer> => {
  const sender = { longestMs: longestUploadMs, uploader: async () => await uploaderOf(door, call), cutShort }
  const whole = Number(call.request.headers.get('content-length') ?? call.bodyLimitBytes)
  let body = Buffer.alloc(Math.min(whole, smallBytes))
  let length = 0
  for await (const step of bodySteps(door, call, sender)) {
    if (length + step.length > body.length) body = Buffer.concat([body], whole) // it has a slot by now
    body.set(step, length)
    length += step.length
  }
  return body.subarray(0, length)
}

/** The app is known by now: only an app or its owner may send a large body. */
const uploaderOf = async ({ platform }: Door, { notes, address }: Call): Promise<Uploader> => {
  const app = notes.appId ?? ''
  return { app, account: (await ownerOf(platform, app)) ?? '', network: networkKeyOf(address) }
}

/** How long an import may take to arrive, at any rate. */
const longestImportMs = 900_000

/** The lines of an import, in small steps. The builder may send two at a time, which is the share of an app. */
export const importSteps = (door: Door, call: Call): AsyncGenerator<Uint8Array> => {
  const uploader = { app: 'import', account: 'import', network: networkKeyOf(call.address) }
  const cutShort = refuse('invalid_request', { message: 'The body ended too early.' })
  return bodySteps(door, call, { longestMs: longestImportMs, uploader: async () => uploader, cutShort })
}

type Sender = {
  readonly longestMs: number
  readonly uploader: () => Promise<Uploader>
  /** The refusal if the caller leaves in the middle: it is not a failure of the server. */
  readonly cutShort: PlatformError
}

/** The body in small steps, with a turn for other requests between them. */
async function* bodySteps(
  door: Door,
  call: Call,
  { longestMs, uploader, cutShort }: Sender,
): AsyncGenerator<Uint8Array> {
  const deadline = call.startedAt + longestMs
  let total = 0
  for await (const chunk of fastEnough(call.request.body, cutShort)) {
    total += chunk.length
    if (total > call.bodyLimitBytes) throw tooLarge(call.bodyLimitBytes)
    if (total > smallBytes) call.release ??= heldOpen(call, await door.uploadSlots.enter(await uploader()))
    if (performance.now() > deadline) throw refuse('unavailable', { retryAfterSeconds: 1 })
    for (let at = 0; at < chunk.length; at += stepBytes) {
      yield chunk.subarray(at, at + stepBytes)
      await turn()
    }
  }
}

/**
 * Bun reads ahead, and takes a sender for idle while this server is busy with what it has read. A sender that is idle itself is
 * noticed by `fastEnough`.
 */
const heldOpen = ({ connection, request }: Call, leave: () => void): (() => void) => {
  connection?.timeout(request, 0)
  return () => {
    leave()
    connection?.timeout(request, idleSeconds)
  }
}

/**
 * The body as it arrives, unless it is too slow to hold a slot for. Only the time spent waiting for the sender counts. HTTP 408
 * would be exact, but the contract has no such code, and clients treat an unknown 408 as a 400 (RFC 9110 section 15). It is not
 * a 5xx, because a slow sender must not look like a failure of the server.
 */
async function* fastEnough(body: Request['body'], cutShort: PlatformError): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  let allowedLagMs = longestLagMs
  try {
    for (;;) {
      const askedAt = performance.now()
      const read = reader.read().catch(() => {
        throw cutShort
      })
      const { value, done } = await inTime(read, allowedLagMs)
      if (done) return
      const caughtUpMs = value.length / leastBytesPerMs - (performance.now() - askedAt)
      allowedLagMs = Math.min(longestLagMs, allowedLagMs + caughtUpMs)
      yield value
    }
  } finally {
    void reader.cancel().catch(() => undefined) // the rest is not needed
  }
}

const tooSlow = 'The body arrived at less than 16 KiB a second.'

const inTime = async <T>(read: Promise<T>, milliseconds: number): Promise<T> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(refuse('invalid_request', { message: tooSlow })), milliseconds)
  try {
    return await Promise.race([read, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

type Shares = { readonly all: number } & { readonly [Part in keyof Uploader]: number }

/** Large uploads that may be in memory at a time, whole and with what is made of them. One app, account or network leaves room for others. */
export const slotShares: Shares = { all: 5, app: 2, account: 3, network: 3 }
/** Uploads that may wait for a slot. Each holds as much in memory as an upload may have without one. */
export const lineShares: Shares = { all: 64, app: 8, account: 16, network: 16 }
const parts = ['app', 'account', 'network'] as const

/** Whether one more of this uploader stays within the shares. */
const hasRoom = (who: Uploader, others: readonly Uploader[], shares: Shares): boolean =>
  others.length < shares.all &&
  parts.every((part) => others.filter((other) => other[part] === who[part]).length < shares[part])

/** How long a large upload waits for a slot. */
const longestSlotWaitMs = 20_000

/** First come, first served, but an upload whose app, account or network has its share already lets others pass. */
export const createUploadSlots = (longestWaitMs = longestSlotWaitMs): WaitingLine<Uploader> => {
  const running: Uploader[] = []
  return createWaitingLine<Uploader>(
    { longestWaitMs, retryAfterSeconds: 5, monotonicMs: () => performance.now() },
    {
      begin: (who) => {
        const isFree = hasRoom(who, running, slotShares)
        if (isFree) running.push(who)
        return isFree
      },
      end: (who) => void running.splice(running.indexOf(who), 1),
      inOrder: (waiting) => waiting,
      crowdedOut: (waiting) => {
        const [newest, ...others] = waiting.toReversed()
        if (newest === undefined) return null
        const places = others.map(({ place }) => place)
        return hasRoom(newest.place, places, lineShares) ? null : newest
      },
    },
  )
}
