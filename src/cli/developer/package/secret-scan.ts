import {
  isTimeKeyed,
  parseSecret,
  parseToken,
  secretKindOf,
  secretPrefixes,
  webhookSecretPrefix,
} from '../../../domain/secret.ts'

/** A private key with content: as a file, inside JSON, or indented in YAML. A program that only names the header does not match. */
const privateKey =
  /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[ \t]*(?:\\n|\\r|[\r\n])+[ \t]*(?:[\w-]+: [^\r\n]*\s+)*[A-Za-z0-9+/=]{40}/
/** Secrets of this platform, by prefix and length. Their checksum tells real ones from samples. */
const ofThePlatform = new RegExp(`\\b(?:${Object.values(secretPrefixes).join('|')})[0-9A-Za-z]{71}\\b`, 'g')
/** Webhook secrets have no checksum, so the length decides. JSON may escape a slash. */
const ofWebhooks = new RegExp(`\\b${webhookSecretPrefix}(?:[0-9A-Za-z+]|\\\\?/){43}=`)
/** Longer than any match, so that none is missed between two pieces. */
const overlap = 512

/** Searches the content of one file for secrets, piece by piece. */
export const createSecretScan = () => {
  let rest = ''
  let isFound = false
  return {
    /** Searches the next piece of the same file. */
    see: (piece: Uint8Array): void => {
      if (isFound) return
      const text = rest + Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString('latin1')
      isFound = privateKey.test(text) || ofWebhooks.test(text) || (text.match(ofThePlatform) ?? []).some(isReal)
      rest = text.slice(-overlap)
    },
    /** Whether any piece so far has a secret. */
    found: () => isFound,
  }
}

/** Whether the content of a file has a secret. */
export const hasSecret = (content: Uint8Array): boolean => {
  const scan = createSecretScan()
  scan.see(content)
  return scan.found()
}

const isReal = (text: string): boolean => {
  const kind = secretKindOf(text)
  return kind !== null && (isTimeKeyed(kind) ? parseToken(kind, text) : parseSecret(kind, text)) !== null
}
