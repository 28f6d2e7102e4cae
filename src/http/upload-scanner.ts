import { Ascii } from '../domain/strict-json.ts'
import { artifactIntake, type ReceivedArtifact } from '../operations/artifacts/artifacts.ts'

/** The file of an upload; null if it was not base64. */
export type UploadedFile = { readonly artifact: ReceivedArtifact | null }

/** An upload without its file: the JSON as sent, with an empty string instead of the base64. */
export type ScannedUpload = {
  readonly json: Uint8Array
  /** Null if there is none, or if a name on its path is spelled with escapes; then the file is still in the JSON. */
  readonly file: UploadedFile | null
}

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

/** Where the file is: in the object `artifact` of the outermost object. */
const keys = ['"artifact"', '"contentBase64"'] as const
const longestKey = Math.max(...keys.map((key) => key.length))

/**
 * Takes the file out of an upload as it arrives, so that megabytes never become a string or a parsed value. It does not check the
 * JSON: the file's string is replaced by an empty string, so the rest is valid JSON exactly if the whole was.
 */
export class UploadScanner {
  readonly #json: Uint8Array[] = []
  /** The last key at each of the first two levels. */
  readonly #keys: [string | null, string | null] = [null, null]
  #depth = 0
  #afterColon = false
  #state: 'between' | 'in_string' | 'in_file' = 'between'
  /** The string just read, with its quotes, cut to the length of the longest key. */
  #string = ''
  /** Whether the next byte of a string is escaped. */
  #escaped = false
  #intake: Base64Intake | null = null
  #file: UploadedFile | null = null
  /** The bytes of the current chunk are kept as JSON from this position on. */
  #keptTo = 0

  /** @throws payload_too_large for a file of more than 10 MiB */
  take(bytes: Uint8Array): void {
    this.#keptTo = 0
    for (let at = 0; at < bytes.length;) {
      at = this.#state === 'between' ? this.#between(bytes, at) : this.#within(bytes, at)
    }
    if (this.#state !== 'in_file') this.#keep(bytes, bytes.length)
  }

  finish(): ScannedUpload {
    return { json: Buffer.concat(this.#json), file: this.#file }
  }

  #keep(bytes: Uint8Array, end: number): void {
    if (end > this.#keptTo) this.#json.push(bytes.subarray(this.#keptTo, end))
    this.#keptTo = end
  }

  /** Reads up to and including the quote that opens the next string. */
  #between(bytes: Uint8Array, start: number): number {
    for (let at = start; at < bytes.length; at += 1) {
      const code = bytes[at] ?? 0
      if (code !== Ascii.quote) {
        this.#token(code)
        continue
      }
      this.#open()
      if (this.#state === 'in_file') this.#keep(bytes, at + 1)
      return at + 1
    }
    return bytes.length
  }

  #token(code: number): void {
    switch (code) {
      case Ascii.colon:
        if (this.#depth === 1) this.#keys[0] = this.#string
        if (this.#depth === 2) this.#keys[1] = this.#string
        break
      case Ascii.openBrace:
      case Ascii.openBracket:
        this.#depth += 1
        break
      case Ascii.closeBrace:
      case Ascii.closeBracket:
        this.#depth -= 1
        break
    }
    if (!isSpace(code)) this.#afterColon = code === Ascii.colon
  }

  #open(): void {
    const isFile = this.#afterColon && this.#depth === 2 && this.#keys[0] === keys[0] && this.#keys[1] === keys[1]
    this.#state = isFile && this.#intake === null ? 'in_file' : 'in_string'
    if (this.#state === 'in_file') this.#intake = base64Intake()
    this.#string = '"'
    this.#escaped = false
    this.#afterColon = false
  }

  /** Reads up to and including the quote that closes the string. */
  #within(bytes: Uint8Array, start: number): number {
    const quote = this.#closingQuote(bytes, start)
    const end = quote === -1 ? bytes.length : quote
    if (this.#state === 'in_file') this.#takeFile(bytes.subarray(start, end), end)
    if (this.#string.length < longestKey) {
      this.#string += Buffer.from(bytes.subarray(start, Math.min(end, start + longestKey))).toString('latin1')
    }
    if (quote === -1) return end
    if (this.#state === 'in_file') this.#closeFile()
    this.#string += '"'
    this.#state = 'between'
    return end + 1
  }

  #takeFile(inside: Uint8Array, end: number): void {
    this.#keptTo = end
    if (this.#intake?.take(inside) === false) this.#giveUpFile(this.#intake)
  }

  #closeFile(): void {
    const artifact = this.#intake?.finish() ?? null
    if (artifact !== null) this.#file = { artifact }
    else if (this.#intake !== null) this.#giveUpFile(this.#intake)
  }

  /** If it is not base64, it stays in the JSON as text, because invalid JSON is reported first. */
  #giveUpFile(intake: Base64Intake): void {
    this.#file = { artifact: null }
    this.#json.push(intake.rest())
    this.#state = 'in_string'
  }

  /** The position of the unescaped quote, or -1. Remembers whether the first byte of the next chunk is escaped. */
  #closingQuote(bytes: Uint8Array, start: number): number {
    for (let at = start; ;) {
      const quote = bytes.indexOf(Ascii.quote, at)
      const end = quote === -1 ? bytes.length : quote
      let backslashes = 0
      while (end - backslashes > start && bytes[end - 1 - backslashes] === Ascii.backslash) backslashes += 1
      // Backslashes that reach back to the start continue an escape from the chunk before.
      const isEscaped = (backslashes % 2 === 1) !== (this.#escaped && end - backslashes === start)
      if (quote === -1) this.#escaped = isEscaped
      if (quote === -1 || !isEscaped) return quote
      at = quote + 1
    }
  }
}

type Base64Intake = ReturnType<typeof base64Intake>

/** Decodes a file in base64 from the inside of a JSON string, as it arrives. */
export const base64Intake = () => {
  const intake = artifactIntake()
  let waiting: Uint8Array = new Uint8Array()
  let broken = false

  return {
    /**
     * False if this is not strict base64 (RFC 4648 section 4); nothing is taken from then on.
     * @throws payload_too_large
     */
    take: (bytes: Uint8Array): boolean => {
      const arrived = Buffer.concat([waiting, bytes])
      const text = unescaped(arrived)
      // The last characters may be padding or half of an escape, so they wait for what follows.
      const usable = Math.max(0, text.length - 1 - ((text.length - 1) % 4))
      const decoded = decode(text.slice(0, usable))
      broken ||= decoded === null || hasEscape(text) || (usable > 0 && text[usable - 1] === '=')
      waiting = broken || decoded === null ? arrived : Buffer.from(text.slice(usable), 'latin1')
      if (!broken && decoded !== null) intake.take(decoded)
      return !broken
    },
    /** What was not decoded. After a `take` that returned false, it begins with the fault. */
    rest: () => waiting,
    /** The file; null if it was not base64. */
    finish: (): ReceivedArtifact | null => {
      const decoded = broken ? null : decode(Buffer.from(waiting).toString('latin1'))
      if (decoded === null) return null
      intake.take(decoded)
      return intake.finish()
    },
  }
}

/** Some encoders escape the slash in JSON (RFC 8259 section 7). It is the only character of base64 that is escaped. */
const unescaped = (bytes: Buffer): string => {
  const text = bytes.toString('latin1')
  return text.includes('\\') ? text.replaceAll('\\/', '/') : text
}

/** An escape of another character than the slash. A backslash at the very end may still become an escaped slash. */
const hasEscape = (text: string): boolean => {
  const at = text.indexOf('\\')
  return at !== -1 && at < text.length - 1
}

/** Bun's decoder is strict, except that it skips white space. */
const decode = (text: string): Uint8Array | null => {
  try {
    const bytes = Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
    return bytes.length === (text.length / 4) * 3 - padding ? bytes : null
  } catch {
    return null
  }
}
