import { PlatformError, refuse } from '../domain/errors.ts'
import { isKeptInteger } from '../domain/text.ts'
import type { Call } from './call.ts'

const maximumDepth = 32

/**
 * The characters that a body may have outside strings. Parsing a million numbers blocks the server for a tenth of a second; a
 * file or a text costs next to nothing, however long it is.
 */
const maximumOutsideStrings = 2 * 1024 * 1024

/**
 * The body as JSON, read more strictly than `request.json()`, which repairs bad UTF-8, takes the last of two equal keys and
 * lets lone surrogates through.
 * @throws payload_too_large as soon as more bytes have come than the route takes, or if more than 2 MiB stand outside strings;
 * invalid_json for everything else: an empty body, invalid UTF-8, broken JSON, an object with two equal keys or a key
 * `__proto__`, NUL or a lone surrogate in a string, a number beyond the range of a double, more than 32 levels
 */
export const readJson = async (call: Call): Promise<unknown> => parseStrictJson(decodeUtf8(await readBytes(call)))

/** A caller who leaves in the middle has sent invalid JSON. It is not a failure of the server. */
const readBytes = async ({ request, bodyLimitBytes }: Call): Promise<Uint8Array> => {
  const length = request.headers.get('content-length')
  if (length !== null && Number(length) > bodyLimitBytes) throw refuse('payload_too_large')
  try {
    const bytes = length === null ? await readChunks(request, bodyLimitBytes) : await request.bytes()
    if (bytes.length > bodyLimitBytes) throw refuse('payload_too_large')
    return bytes
  } catch (error) {
    throw error instanceof PlatformError ? error : invalid()
  }
}

const readChunks = async (request: Request, limitBytes: number): Promise<Uint8Array> => {
  if (request.body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let total = 0
  for await (const chunk of request.body) {
    total += chunk.length
    if (total > limitBytes) throw refuse('payload_too_large')
    chunks.push(chunk)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch {
    throw invalid()
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

export const parseStrictJson = (text: string): unknown => {
  const members = countMembers(text)
  const value = parse(text)
  if (countKeys(value, text.includes('\\')) !== members) throw invalid('an object with the same field twice')
  return value
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw text.startsWith('\ufeff') ? invalid('a byte order mark') : invalid()
  }
}

/** The characters that structure JSON, by code. */
export const enum Ascii {
  quote = 34,
  minus = 45,
  zero = 48,
  nine = 57,
  colon = 58,
  openBracket = 91,
  backslash = 92,
  closeBracket = 93,
  openBrace = 123,
  closeBrace = 125,
}

/**
 * The number of `key: value` pairs in the text, if it is JSON: the colons outside its strings. It runs before the parser, so
 * that deep nesting never reaches it. Strings are skipped, so an artifact of megabytes costs one search.
 */
const countMembers = (text: string): number => {
  let members = 0
  let depth = 0
  let outside = 0
  for (let at = 0; at < text.length; at += 1) {
    outside += 1
    if (outside > maximumOutsideStrings) throw refuse('payload_too_large')
    switch (text.charCodeAt(at)) {
      case Ascii.quote:
        at = endOfString(text, at)
        break
      case Ascii.colon:
        members += 1
        break
      case Ascii.openBrace:
      case Ascii.openBracket:
        depth += 1
        if (depth > maximumDepth) throw invalid(`more than ${maximumDepth} levels`)
        break
      case Ascii.closeBrace:
      case Ascii.closeBracket:
        depth -= 1
        break
    }
  }
  return members
}

const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  if (end === -1) throw invalid()
  return end
}

const isEscaped = (text: string, at: number): boolean => {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === Ascii.backslash) backslashes += 1
  return backslashes % 2 === 1
}

/** The number of keys in a parsed value. If the text had more pairs, two keys were equal. */
const countKeys = (value: unknown, escapes: boolean): number => {
  // Without an escape in the text, valid UTF-8 cannot hold a lone surrogate, nor valid JSON a NUL.
  if (typeof value === 'string' && escapes) checkText(value)
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalid('a number that no double can hold')
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item, escapes)
    return count
  }
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__') throw invalid('a field __proto__')
    if (escapes) checkText(key)
    count += 1 + countKeys(inner, escapes)
  }
  return count
}

const checkText = (text: string): void => {
  if (!text.isWellFormed() || text.includes('\0')) throw invalid('a text with a NUL or half of a surrogate pair')
}

/** For a text that is JSON. A digit or a minus sign outside strings begins a number. */
const checkIntegers = (text: string): void => {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === Ascii.quote) at = endOfString(text, at)
    else if (code === Ascii.minus || (code >= Ascii.zero && code <= Ascii.nine)) {
      const end = endOfNumber(text, at)
      if (!isKeptInteger(text.slice(at, end))) throw refuse('invalid_request', { message: tooLongInteger })
      at = end - 1
    }
  }
}

const endOfNumber = (text: string, start: number): number => {
  notOfNumber.lastIndex = start
  return notOfNumber.exec(text)?.index ?? text.length
}
const notOfNumber = /[^\d.eE+-]/g

const tooLongInteger = 'An integer in the body is too long to be kept digit for digit: send it as a string.'

/** JSON that any parser takes is refused with what is wrong with it: whoever sent it has none that says so. */
const invalid = (excess?: string): PlatformError =>
  refuse('invalid_json', excess === undefined ? {} : { message: `The JSON has ${excess}, which is not taken here.` })

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

/** The text of a field or a header of a part. @throws invalid_request unless it is UTF-8 without NUL */
export const decodeFormText = (bytes: Uint8Array): string => {
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

const badForm = 'The form is not properly encoded.'
