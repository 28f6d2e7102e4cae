import { type PlatformError, refuse, tooLarge } from '../domain/errors.ts'
import { inTurns } from '../domain/awaitable.ts'
import { artifactLimits } from '../domain/version.ts'
import { receiveArtifact, type ReceivedArtifact } from '../operations/artifacts/artifacts.ts'
import type { Call } from './call.ts'
import type { Door } from './door.ts'
import { badForm, type FormFields } from './strict-body.ts'
import { readWhole } from './upload-body.ts'

/** A file of a form. Its content is null if it has more than 10 MiB. */
export type SentFile = { readonly filename: string; readonly content: ReceivedArtifact | null }

export type MultipartForm = { readonly fields: FormFields; readonly files: ReadonlyMap<string, SentFile> }

/** The largest field that is no file, in bytes, and the most parts: to read many takes longer than to read a large one. */
const limits = { fieldBytes: 512 * 1024, parts: 100 } as const

/**
 * A body of `multipart/form-data` (RFC 7578), as browsers send it: UTF-8 without NUL, each file once.
 * @throws payload_too_large, invalid_request, unavailable
 */
export const readMultipart = async (door: Door, call: Call): Promise<MultipartForm> => {
  const contentType = call.request.headers.get('content-type') ?? ''
  const boundary = boundaryOf(contentType)
  const body = await readWhole(door, call, malformed())
  if (hasManyParts(body, `--${boundary}`)) throw malformed()
  const sent = await new Response(body, { headers: { 'content-type': contentType } }).formData().catch(() => {
    throw malformed()
  })
  const checked = textsOf(body)
  const fields = new Map<string, string[]>()
  const files = new Map<string, SentFile>()
  for (const [sentName, value] of sent) {
    const name = unescaped(checked(sentName))
    if (typeof value === 'string') {
      if (Buffer.byteLength(value) > limits.fieldBytes) throw tooLarge(limits.fieldBytes, name)
      fields.set(name, [...(fields.get(name) ?? []), checked(value)])
    } else {
      const filename = unescaped(checked(value.name ?? '')) // Bun gives it none if it is empty
      if (filename === '' && value.size === 0) continue // a file field without a file
      if (files.has(name)) throw malformed()
      const fits = value.size <= artifactLimits.bytes
      files.set(name, { filename, content: fits ? await inTurns(receiveArtifact(await value.bytes())) : null })
    }
  }
  return { fields, files }
}

const malformed = (): PlatformError => refuse('invalid_request', { message: badForm })

/** RFC 2046 section 5.1.1, without spaces. */
const boundaryForm = /^multipart\/form-data; *boundary=(?:"([\w'()+,./:=?-]{1,70})"|([\w'()+./:=?-]{1,70}))$/i

const boundaryOf = (contentType: string): string => {
  const [, quoted, plain] = boundaryForm.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw malformed()
  return boundary
}

const hasManyParts = (body: Buffer, boundary: string): boolean => {
  let parts = -1 // the last boundary begins none
  for (let at = body.indexOf(boundary); at !== -1; at = body.indexOf(boundary, at + boundary.length)) {
    parts += 1
    if (parts > limits.parts) return true
  }
  return false
}

/**
 * Takes the texts of a form in the order in which they were sent. Bun makes U+FFFD of bytes that are no UTF-8: then the text is
 * not in the body.
 */
const textsOf = (body: Buffer): ((text: string) => string) => {
  let place = 0
  return (text) => {
    if (text.includes('\ufffd')) place = body.indexOf(text, place)
    if (place === -1 || text.includes('\0')) throw malformed()
    return text
  }
}

/** Browsers escape only these in names (HTML standard, multipart/form-data encoding algorithm), and Bun leaves them as they are. */
const unescaped = (name: string): string => name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n')
