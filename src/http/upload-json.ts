import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { inTurns } from '../domain/awaitable.ts'
import { refuse } from '../domain/errors.ts'
import type { Call } from './call.ts'
import type { Door } from './door.ts'
import { parseStrictBytes } from './strict-body.ts'
import { readWhole } from './upload-body.ts'

/**
 * The body of an upload as JSON. The file is decoded from the bytes into `call.file`, and something else stands in its place when
 * the rest is parsed: parsed with the rest, as a text of 14 MB and a value as long, it took 100 MB more (measured). What is not base64
 * stays in the body, because invalid JSON is reported first; so does a file that is not found because its field is written with escapes.
 * @throws payload_too_large, invalid_json, invalid_request, unavailable
 */
export const readUpload = async (door: Door, call: Call): Promise<unknown> => {
  const body = await readWhole(door, call, refuse('invalid_json'))
  const place = placeOfFile(body)
  const file = place === null ? null : await inTurns(decodeBase64(body.subarray(place.start, place.end)))
  if (place === null || file === null) return parseStrictBytes(body)
  // The sender cannot know it yet, so the field has it only if the file stood there.
  const standIn = call.requestId
  const rest = [body.subarray(0, place.start), Buffer.from(standIn), body.subarray(place.end)]
  const value = parseStrictBytes(Buffer.concat(rest))
  const upload = Type.Object({ artifact: Type.Object({ contentBase64: Type.Literal(standIn) }) })
  if (!Value.Check(upload, value)) return parseStrictBytes(body)
  call.file = file
  return value
}

/** In JSON, a quote that follows a letter ends a string, so this is a key, and what follows is its value. */
const opening = /^"contentBase64"[ \t\n\r]*:[ \t\n\r]*"/

const placeOfFile = (body: Buffer): { readonly start: number; readonly end: number } | null => {
  const key = Math.max(0, body.indexOf('"contentBase64"'))
  const [before] = opening.exec(body.toString('latin1', key, key + 64)) ?? []
  if (before === undefined) return null
  const start = key + before.length
  const end = body.indexOf('"', start)
  return end === -1 ? null : { start, end }
}

/** Decoded at a time, in less than half a millisecond; then other requests have a turn. A multiple of four. */
const stepBytes = 256 * 1024

/** The bytes behind strict base64 (RFC 4648 section 4), in small steps; null for anything else. */
export function* decodeBase64(text: Buffer): Generator<undefined, Uint8Array | null> {
  const padding = text.subarray(-2).filter((code) => code === equalsSign).length
  const bytes = new Uint8Array(Math.ceil((text.length / 4) * 3))
  let length = 0
  for (let at = 0; at < text.length; at += stepBytes) {
    const step = text.toString('latin1', at, at + stepBytes)
    try {
      length += bytes.subarray(length).setFromBase64(step, { lastChunkHandling: 'strict' }).written
    } catch {
      return null
    }
    yield
  }
  // Bun's decoder skips white space, and padding ends each step.
  return length === (text.length / 4) * 3 - padding ? bytes.subarray(0, length) : null
}

const equalsSign = 61
