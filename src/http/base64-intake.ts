import { artifactIntake, type ReceivedArtifact } from '../operations/artifacts/store-artifact.ts'

/** Takes what stands between the quotes of a JSON string that holds a file in base64, as it arrives. */
export type Base64Intake = {
  /**
   * False when this is not base64, in its one strict spelling (RFC 4648 section 4); nothing is taken from then on.
   * @throws payload_too_large
   */
  take(bytes: Uint8Array): boolean
  /** What was not decoded: after a false `take` it begins with what was wrong. */
  rest(): Uint8Array
  /** The file; null when it was not base64. */
  finish(): ReceivedArtifact | null
}

export const base64Intake = (): Base64Intake => {
  const intake = artifactIntake()
  let waiting: Uint8Array = new Uint8Array()
  let broken = false

  return {
    take: (bytes) => {
      const arrived = Buffer.concat([waiting, bytes])
      const text = unescaped(arrived)
      // The last characters may be padding, or the first half of an escape: they wait until nothing follows.
      const usable = Math.max(0, text.length - 1 - ((text.length - 1) % 4))
      const decoded = decode(text.slice(0, usable))
      broken ||= decoded === null || hasEscape(text) || (usable > 0 && text[usable - 1] === '=')
      waiting = broken || decoded === null ? arrived : Buffer.from(text.slice(usable), 'latin1')
      if (!broken && decoded !== null) intake.take(decoded)
      return !broken
    },
    rest: () => waiting,
    finish: () => {
      const decoded = broken ? null : decode(Buffer.from(waiting).toString('latin1'))
      if (decoded === null) return null
      intake.take(decoded)
      return intake.finish()
    },
  }
}

/** Some encoders escape the slash in JSON (RFC 8259 section 7), which is a character of base64; no other escape is one. */
const unescaped = (bytes: Buffer): string => {
  const text = bytes.toString('latin1')
  return text.includes('\\') ? text.replaceAll('\\/', '/') : text
}

/** An escape of anything but a slash; a backslash at the very end may still become one. */
const hasEscape = (text: string): boolean => {
  const at = text.indexOf('\\')
  return at !== -1 && at < text.length - 1
}

/** Bun's decoder is strict about everything but white space, which it leaps over. */
const decode = (text: string): Uint8Array | null => {
  try {
    const bytes = Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
    return bytes.length === (text.length / 4) * 3 - padding ? bytes : null
  } catch {
    return null
  }
}
