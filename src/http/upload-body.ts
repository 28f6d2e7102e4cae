import { turn } from '../domain/awaitable.ts'
import { PlatformError, refuse } from '../domain/errors.ts'
import { networkKeyOf } from '../domain/ip-address.ts'
import { ownerOf } from '../operations/apps/app-record.ts'
import type { Call } from './call.ts'
import { idleSeconds } from './server.ts'
import { parseStrictBytes } from './strict-body.ts'
import type { Door, Uploader } from './door.ts'
import { type ScannedUpload, UploadScanner } from './upload-scanner.ts'
import { createWaitingLine, type WaitingLine } from '../runtime/waiting-line.ts'

/** An upload up to this size never waits for a slot. */
const smallBytes = 256 * 1024
/** How far a sender may fall behind the least rate; also the longest silence, however fast it was before. */
const longestLagMs = 10_000
const leastBytesPerMs = (16 * 1024) / 1_000
/** How long a large upload may take to arrive, at any rate. */
const longestUploadMs = 300_000
/** Bytes that are decoded and hashed at a time, in about half a millisecond; then other requests have a turn. */
const stepBytes = 128 * 1024

/**
 * The body of an upload as JSON, without its file: that is decoded and hashed as it arrives, alongside other requests. In
 * the body it is an empty string. `call.file` has it.
 * @throws payload_too_large, invalid_json, invalid_request, unavailable
 */
export const readUpload = async (door: Door, call: Call): Promise<unknown> => {
  const { json, file } = await scan(door, call)
  call.file = file
  return parseStrictBytes(json)
}

/** The app is known by now: only an app or its owner may send a large body. */
const uploaderOf = async ({ platform }: Door, { notes, address }: Call): Promise<Uploader> => {
  const app = notes.appId ?? ''
  return { app, account: (await ownerOf(platform, app)) ?? '', network: networkKeyOf(address) }
}

/** A caller who leaves in the middle has sent invalid JSON. It is not a failure of the server. */
const scan = async (door: Door, call: Call): Promise<ScannedUpload> => {
  const scanner = new UploadScanner()
  try {
    for await (const step of uploadSteps(door, call)) scanner.take(step)
  } catch (error) {
    throw error instanceof PlatformError ? error : refuse('invalid_json')
  }
  return scanner.finish()
}

/** The body in small steps, with a turn for other requests between them. What has not been read stays with the sender. */
export async function* uploadSteps(door: Door, call: Call): AsyncGenerator<Uint8Array> {
  yield* bodySteps(door, call, { longestMs: longestUploadMs, uploader: async () => await uploaderOf(door, call) })
}

/** How long an import may take to arrive, at any rate. */
const longestImportMs = 900_000

/** The lines of an import. The builder may send two at a time, which is the share of an app. */
export async function* importSteps(door: Door, call: Call): AsyncGenerator<Uint8Array> {
  const uploader = { app: 'import', account: 'import', network: networkKeyOf(call.address) }
  try {
    yield* bodySteps(door, call, { longestMs: longestImportMs, uploader: async () => uploader })
  } catch (error) {
    throw error instanceof PlatformError ? error : refuse('invalid_request', { message: 'The body ended too early.' })
  }
}

type Sender = { readonly longestMs: number; readonly uploader: () => Promise<Uploader> }

async function* bodySteps(door: Door, call: Call, { longestMs, uploader }: Sender): AsyncGenerator<Uint8Array> {
  const deadline = call.startedAt + longestMs
  let total = 0
  for await (const chunk of fastEnough(call.request.body)) {
    total += chunk.length
    if (total > call.bodyLimitBytes) throw refuse('payload_too_large')
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
async function* fastEnough(body: Request['body']): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  let allowedLagMs = longestLagMs
  try {
    for (;;) {
      const askedAt = performance.now()
      const { value, done } = await inTime(reader.read(), allowedLagMs)
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

/** Large uploads that may be in memory at a time, 10 MiB each at most. One app, account or network leaves room for others. */
export const slotShares: Shares = { all: 8, app: 2, account: 4, network: 4 }
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
