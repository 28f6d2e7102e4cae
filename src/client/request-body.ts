import type { PlatformRequest } from './transport.ts'

type Content = Pick<PlatformRequest, 'body' | 'form' | 'lines' | 'onUpload'>

export const contentTypeOf = ({ body, form, lines }: Content): Record<string, string> => {
  if (lines !== undefined) return { 'Content-Type': 'application/x-ndjson' }
  if (form !== undefined) return { 'Content-Type': 'application/x-www-form-urlencoded' }
  return body === undefined ? {} : { 'Content-Type': 'application/json' }
}

/** A stream needs `duplex`, without which Node refuses it. */
type Body = RequestInit & { readonly duplex?: 'half' }

export const bodyOf = ({ body, form, lines, onUpload }: Content): Body => {
  if (lines !== undefined) return { body: lines(), duplex: 'half' }
  if (form !== undefined) return { body: new URLSearchParams(form).toString() }
  if (body === undefined) return {}
  const text = JSON.stringify(body)
  return onUpload === undefined ? { body: text } : { body: uploadStream(text, onUpload), duplex: 'half' }
}

const pieceBytes = 64 * 1024

/** A body that is sent piece by piece, so that its progress can be reported. */
const uploadStream = (
  text: string,
  onUpload: (sentBytes: number, totalBytes: number) => void,
): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  let sent = 0
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const piece = bytes.subarray(sent, sent + pieceBytes)
        sent += piece.length
        onUpload(sent, bytes.length)
        if (piece.length > 0) controller.enqueue(piece)
        if (sent === bytes.length) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/** A record, or a part of a file that has such lines already. */
export type Line = object | string | Uint8Array

export type Lines = Iterable<Line> | AsyncIterable<Line>

/**
 * The lines as a body. A part is read when the one before has been sent.
 * @param failed called with what the source throws
 */
export const lineStream = (lines: Lines, failed: (error: unknown) => void): ReadableStream<Uint8Array> => {
  const source = Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]()
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        let text = ''
        try {
          while (text.length < pieceBytes) {
            const part = await source.next()
            const value = part.done === true ? null : part.value
            if (value !== null && !(value instanceof Uint8Array)) {
              text += typeof value === 'string' ? value : `${JSON.stringify(value)}\n`
              continue
            }
            if (text !== '') controller.enqueue(encoder.encode(text))
            if (value === null) controller.close()
            else controller.enqueue(value)
            return
          }
          controller.enqueue(encoder.encode(text))
        } catch (error) {
          failed(error)
          controller.error(error)
        }
      },
      cancel: async () => void (await source.return?.()),
    },
    { highWaterMark: 0 },
  )
}
