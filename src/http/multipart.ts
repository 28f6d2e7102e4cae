import { PlatformError, refuse } from '../domain/errors.ts'
import { artifactIntake, type ReceivedArtifact } from '../operations/artifacts/artifacts.ts'
import type { Call } from './call.ts'
import type { Door } from './door.ts'
import { decodeFormText, type FormFields } from './strict-body.ts'
import { uploadSteps } from './upload-body.ts'

/** A file of a form. Its content is null if it has more than 10 MiB; nothing of it is kept then. */
export type SentFile = { readonly filename: string; readonly content: ReceivedArtifact | null }

export type MultipartForm = { readonly fields: FormFields; readonly files: ReadonlyMap<string, SentFile> }

/** The largest field that is no file, in bytes, the most parts, and the longest headers of a part. */
const limits = { fieldBytes: 512 * 1024, parts: 100, headerBytes: 4096 } as const

/**
 * A body of `multipart/form-data` (RFC 7578), read strictly and in small steps, as uploads of programs are. Files are hashed as
 * they arrive. Only what browsers send is understood: no preamble, no other headers than a part needs, UTF-8.
 * @throws payload_too_large, invalid_request, unavailable
 */
export const readMultipart = async (door: Door, call: Call): Promise<MultipartForm> => {
  const reader = new MultipartReader(boundaryOf(call.request.headers.get('content-type') ?? ''))
  try {
    for await (const step of uploadSteps(door, call)) reader.take(step)
  } catch (error) {
    throw error instanceof PlatformError ? error : malformed() // the caller left in the middle
  }
  return reader.finish()
}

/** RFC 2046 section 5.1.1, without spaces. */
const boundaryForm = /^multipart\/form-data; *boundary=(?:"([\w'()+,./:=?-]{1,70})"|([\w'()+./:=?-]{1,70}))$/i

const boundaryOf = (contentType: string): string => {
  const [, quoted, plain] = boundaryForm.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw malformed()
  return boundary
}

const malformed = (): PlatformError => refuse('invalid_request', { message: 'The form is not properly encoded.' })

/** Where the content of a part goes. */
type Sink = { readonly take: (bytes: Uint8Array) => void; readonly end: () => void }

const blankLine = Buffer.from('\r\n\r\n')

/** Takes a body apart as it arrives. */
export class MultipartReader {
  readonly #delimiter: Buffer
  readonly #fields = new Map<string, string[]>()
  readonly #files = new Map<string, SentFile>()
  /** What has arrived and is not yet understood. The line end before the first boundary is missing in a body. */
  #rest: Buffer = Buffer.from('\r\n')
  #state: 'start' | 'after boundary' | 'headers' | 'content' | 'end' = 'start'
  #sink: Sink | null = null
  #parts = 0

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
  }

  /** @throws invalid_request, payload_too_large */
  take(bytes: Uint8Array): void {
    this.#rest = Buffer.concat([this.#rest, bytes])
    while (this.#advance());
  }

  /** @throws invalid_request for a body that ends too early */
  finish(): MultipartForm {
    if (this.#state !== 'end' || !['', '\r\n'].includes(this.#rest.toString('latin1'))) throw malformed()
    return { fields: this.#fields, files: this.#files }
  }

  /** False if more must arrive first. */
  #advance(): boolean {
    switch (this.#state) {
      case 'start':
        return this.#start()
      case 'after boundary':
        return this.#afterBoundary()
      case 'headers':
        return this.#headers()
      case 'content':
        return this.#content()
      case 'end':
        if (this.#rest.length > 2) throw malformed()
        return false
    }
  }

  #skip(length: number): Buffer {
    const skipped = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return skipped
  }

  #start(): boolean {
    if (this.#rest.length < this.#delimiter.length) return false
    if (!this.#skip(this.#delimiter.length).equals(this.#delimiter)) throw malformed()
    this.#state = 'after boundary'
    return true
  }

  #afterBoundary(): boolean {
    if (this.#rest.length < 2) return false
    const next = this.#skip(2).toString('latin1')
    if (next !== '\r\n' && next !== '--') throw malformed()
    this.#state = next === '--' ? 'end' : 'headers'
    return true
  }

  #headers(): boolean {
    const end = this.#rest.indexOf(blankLine)
    if (end === -1 && this.#rest.length < limits.headerBytes) return false
    if (end === -1 || end > limits.headerBytes) throw malformed()
    const { name, filename } = partOf(decodeFormText(this.#skip(end)))
    this.#skip(blankLine.length)
    this.#parts += 1
    if (this.#parts > limits.parts) throw malformed()
    this.#sink = filename === null ? this.#field(name) : this.#file(name, filename)
    this.#state = 'content'
    return true
  }

  #content(): boolean {
    const end = this.#rest.indexOf(this.#delimiter)
    // The last bytes may be the beginning of a delimiter.
    const length = end === -1 ? Math.max(0, this.#rest.length - this.#delimiter.length) : end
    if (length > 0) this.#sink?.take(this.#skip(length))
    if (end === -1) return false
    this.#skip(this.#delimiter.length)
    this.#sink?.end()
    this.#state = 'after boundary'
    return true
  }

  #field(name: string): Sink {
    const pieces: Uint8Array[] = []
    let length = 0
    return {
      take: (bytes) => {
        length += bytes.length
        if (length > limits.fieldBytes) throw refuse('payload_too_large', { param: name })
        pieces.push(bytes)
      },
      end: () => {
        const values = this.#fields.get(name)
        const value = decodeFormText(Buffer.concat(pieces))
        if (values === undefined) this.#fields.set(name, [value])
        else values.push(value)
      },
    }
  }

  /** A file field without a file is sent as an empty file without a name. */
  #file(name: string, filename: string): Sink {
    const intake = artifactIntake()
    let isTooLarge = false
    let isEmpty = true
    return {
      take: (bytes) => {
        isEmpty = false
        isTooLarge ||= !fits(intake, bytes)
      },
      end: () => {
        if (filename === '' && isEmpty) return
        if (this.#files.has(name)) throw malformed()
        this.#files.set(name, { filename, content: isTooLarge ? null : intake.finish() })
      },
    }
  }
}

const fits = (intake: ReturnType<typeof artifactIntake>, bytes: Uint8Array): boolean => {
  try {
    intake.take(bytes)
    return true
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'payload_too_large') return false
    throw error
  }
}

const disposition = /^content-disposition: form-data; name="([^"]*)"(?:; filename="([^"]*)")?$/i
const contentType = /^content-type: [\x20-\x7e]*$/i

/** The name of a part, and of its file if it has one. @throws invalid_request */
const partOf = (headers: string) => {
  const [first = '', second = 'content-type: ', ...others] = headers.split('\r\n')
  const [, name, filename] = disposition.exec(first) ?? []
  if (name === undefined || name === '' || !contentType.test(second) || others.length > 0) throw malformed()
  return { name: unescaped(name), filename: filename === undefined ? null : unescaped(filename) }
}

/** Browsers escape only these (HTML standard, multipart/form-data encoding algorithm). */
const unescaped = (text: string): string => text.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n')
