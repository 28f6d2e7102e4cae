import type { TSchema } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { PlatformError, refuse } from '../domain/errors.ts'
import { bodyCheck } from './checked-body.ts'
import { contextOf } from './request-context.ts'
import { parseStrictBytes } from './strict-json.ts'
import { createUploadSlots, type UploadSlots } from './upload-slots.ts'
import { type ScannedUpload, type UploadedFile, UploadScanner } from './upload-scanner.ts'

/** An upload up to this size never waits for a slot. */
const smallBytes = 256 * 1024
/** Of larger ones so many are in memory at a time; each is up to 10 MiB there. */
const slotCount = 4
const longestWaitMs = 20_000
/** How long a large upload may take to arrive: nobody keeps a slot by sending a byte now and then. */
const longestUploadMs = 300_000
/** Bytes that are decoded and hashed in one go, about half a millisecond; then everybody else has a turn. */
const stepBytes = 128 * 1024

const files = new WeakMap<Request, UploadedFile>()

/** The file that came with an upload, if it came where it is looked for. */
export const uploadedFileOf = (request: Request): UploadedFile | null => files.get(request) ?? null

/**
 * Decodes an upload as `jsonBody` decodes other bodies, but for its file: that is decoded and hashed as it arrives,
 * beside other requests, and stands in the body as an empty string. `uploadedFileOf` has it.
 * @throws payload_too_large, invalid_json, invalid_request, unavailable
 */
export const uploadBody = (schema: TSchema) => {
  const check = bodyCheck(schema)
  const slots = createUploadSlots(slotCount, longestWaitMs)
  return new Elysia()
    .onParse({ as: 'scoped' }, () => ({}))
    .onTransform({ as: 'scoped' }, async (context) => {
      const { request } = context
      const { json, file } = await scan(request, slots)
      if (file !== null) files.set(request, file)
      context.body = check(parseStrictBytes(json))
    })
}

/** A caller who leaves in the middle has sent no JSON; it is not a failure of ours. */
const scan = async (request: Request, slots: UploadSlots): Promise<ScannedUpload> => {
  const scanner = new UploadScanner()
  try {
    for await (const step of stepsOf(request, slots)) scanner.take(step)
  } catch (error) {
    throw error instanceof PlatformError ? error : refuse('invalid_json')
  }
  return scanner.finish()
}

/** The body in small steps with a turn for everybody else between them; what has not been read stays with the sender. */
async function* stepsOf(request: Request, slots: UploadSlots): AsyncGenerator<Uint8Array> {
  const context = contextOf(request)
  const deadline = context.startedAt + longestUploadMs
  let total = 0
  for await (const chunk of request.body ?? []) {
    total += chunk.length
    if (total > context.bodyLimitBytes) throw refuse('payload_too_large')
    if (total > smallBytes) context.release ??= await slots.take()
    if (performance.now() > deadline) throw refuse('unavailable', { retryAfterSeconds: 1 })
    for (let at = 0; at < chunk.length; at += stepBytes) {
      yield chunk.subarray(at, at + stepBytes)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
