import { PlatformError, refuse, tooLarge } from '../domain/errors.ts'
import { checkIntegers, invalidJson, parseStrictJson } from '../domain/strict-json.ts'
import type { Call } from './call.ts'

/**
 * The body as JSON, read more strictly than `request.json()`, which also repairs bad UTF-8.
 * @throws payload_too_large as soon as more bytes have come than the route takes; invalid_json also for invalid UTF-8; and what
 * `parseStrictJson` throws
 */
export const readJson = async (call: Call): Promise<unknown> => parseStrictJson(decodeUtf8(await readBytes(call)))

/** A caller who leaves in the middle has sent invalid JSON. It is not a failure of the server. */
const readBytes = async ({ request, bodyLimitBytes }: Call): Promise<Uint8Array> => {
  const length = request.headers.get('content-length')
  if (length !== null && Number(length) > bodyLimitBytes) throw tooLarge(bodyLimitBytes)
  try {
    const bytes = length === null ? await readChunks(request, bodyLimitBytes) : await request.bytes()
    if (bytes.length > bodyLimitBytes) throw tooLarge(bodyLimitBytes)
    return bytes
  } catch (error) {
    throw error instanceof PlatformError ? error : invalidJson()
  }
}

const readChunks = async (request: Request, limitBytes: number): Promise<Uint8Array> => {
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let total = 0
  for await (const chunk of request.body) {
    total += chunk.length
    if (total > limitBytes) throw tooLarge(limitBytes)
    chunks.push(chunk)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch {
    throw invalidJson()
  }
}

/**
 * Parses a body that has been read and that is stored to be returned later.
 * @throws also invalid_request for an integer that would not be returned as it was sent
 */
export const parseStrictBytes = (bytes: Uint8Array): unknown => {
  const text = decodeUtf8(bytes)
  const value = parseStrictJson(text)
  checkIntegers(text)
  return value
}

/** The fields of a form, each with its values in order of appearance. */
export type FormFields = ReadonlyMap<string, readonly string[]>

/**
 * A body of `application/x-www-form-urlencoded`, read strictly: UTF-8, two hex digits after every percent sign, no NUL. Pages and
 * the standard endpoints read their forms with it.
 * @throws payload_too_large, invalid_request
 */
export const readForm = async (call: Call): Promise<FormFields> => parseForm(decodeFormText(await readBytes(call)))

const parseForm = (text: string): FormFields => {
  const fields = new Map<string, string[]>()
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals === -1 ? pair : pair.slice(0, equals))
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1))
    const values = fields.get(name)
    // Appended in place: a new list for each value would make a field that is sent ten thousand times quadratic.
    if (values === undefined) fields.set(name, [value])
    else values.push(value)
  }
  return fields
}

/** Nearly all values of programs are plain. A NUL is refused below. */
const mayNeedDecoding = /[%+\0]/

/** @throws invalid_request unless it is UTF-8 without NUL */
const decodeFormText = (bytes: Uint8Array): string => {
  try {
    const text = decodeUtf8(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // Refused below.
  }
  throw refuse('invalid_request', { message: badForm })
}

const decode = (text: string): string => {
  if (!mayNeedDecoding.test(text)) return text
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '))
    if (!decoded.includes('\0')) return decoded
  } catch {
    // Refused below.
  }
  throw refuse('invalid_request', { message: badForm })
}

export const badForm = 'The form is not properly encoded.'
