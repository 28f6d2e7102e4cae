import { type PlatformError, refuse, tooLarge } from './errors.ts'
import { isKeptInteger } from './text.ts'

const maximumDepth = 32

/**
 * The characters that a body may have outside strings. Parsing a million numbers blocks the server for a tenth of a second; a
 * file or a text costs next to nothing, however long it is.
 */
const maximumOutsideStrings = 2 * 1024 * 1024

/**
 * JSON, read more strictly than `JSON.parse`, which takes the last of two equal keys and lets lone surrogates through.
 * @throws payload_too_large if more than 2 MiB stand outside strings; invalid_json for everything else: no JSON, an object with two
 * equal keys or a key `__proto__`, NUL or a lone surrogate in a string, a number beyond the range of a double, more than 32 levels
 */
export const parseStrictJson = (text: string): unknown => {
  const members = countMembers(text)
  const value = parse(text)
  if (countKeys(value, text.includes('\\')) !== members) throw invalidJson('an object with the same field twice')
  return value
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw text.startsWith('\ufeff') ? invalidJson('a byte order mark') : invalidJson()
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
    if (outside > maximumOutsideStrings) throw tooLarge(maximumOutsideStrings)
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
        if (depth > maximumDepth) throw invalidJson(`more than ${maximumDepth} levels`)
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
  if (end === -1) throw invalidJson()
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
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalidJson('a number that no double can hold')
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item, escapes)
    return count
  }
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__') throw invalidJson('a field __proto__')
    if (escapes) checkText(key)
    count += 1 + countKeys(inner, escapes)
  }
  return count
}

const checkText = (text: string): void => {
  if (!text.isWellFormed() || text.includes('\0')) throw invalidJson('a text with a NUL or half of a surrogate pair')
}

/** For a text that is JSON. A digit or a minus sign outside strings begins a number. */
export const checkIntegers = (text: string): void => {
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
export const invalidJson = (excess?: string): PlatformError =>
  refuse('invalid_json', excess === undefined ? {} : { message: `The JSON has ${excess}, which is not taken here.` })

/** What is wrong with one line of a file, for the sentence of `invalid_json` is about a whole body. */
export const faultOfLine = (error: PlatformError): string =>
  error.message === invalidJson().message ? 'This is not a JSON object.' : error.message
