import { codeOf } from '../domain/error-code.ts'
/** The parts of an error that may be logged: its kind, code and place; the message only if it cannot contain a caller's data. */
type DescribedCause = {
  readonly name: string
  readonly code?: string
  readonly message?: string
  readonly at?: readonly string[]
  readonly cause?: DescribedCause
}

const deepest = 4
const frames = 8

/** Errors whose messages are sentences of the engine or the store. Quoted parts are removed even from these. */
const ownMessages = new Set([
  'TypeError',
  'ReferenceError',
  'RangeError',
  'SQLiteError',
  'DatabaseUnusable',
  'PlatformError',
])

const word = /^[A-Za-z0-9_.]{1,60}$/

export const describeCause = (thrown: unknown, depth = 0): DescribedCause => {
  if (!(thrown instanceof Error)) return { name: typeof thrown }
  const name = word.test(thrown.name) ? thrown.name : 'Error'
  const code = loggedCode(thrown)
  return {
    name,
    ...(typeof code === 'string' && word.test(code) ? { code } : {}),
    ...(ownMessages.has(name) ? { message: blank(thrown.message) } : {}),
    ...(depth === 0 ? { at: framesOf(thrown) } : {}),
    ...(thrown.cause === undefined || depth >= deepest ? {} : { cause: describeCause(thrown.cause, depth + 1) }),
  }
}

/** Of PostgreSQL the SQLSTATE, which Bun keeps in `errno`, since one code stands for all errors of a server. */
const loggedCode = (error: Error): unknown =>
  'errno' in error && typeof error.errno === 'string' ? error.errno : codeOf(error)

/** Removes quoted parts, and every word that is long enough to be a secret. */
const blank = (message: string): string =>
  message
    .slice(0, 300)
    .replaceAll(/(["'`]).*?(?:\1|$)/gs, '$1…$1')
    .replaceAll(/[^\s.]{20,}/g, '…')

/** Only the lines with a place, since the first lines of a stack repeat the message. */
const framesOf = (error: Error): readonly string[] =>
  (error.stack ?? '')
    .split('\n')
    .map((line) => /^\s+at (?:(?:async )?[\w.<>$ ]{1,80} \()?([^()\s]{1,300}:\d+:\d+)\)?$/.exec(line)?.[0].trim())
    .filter((line) => line !== undefined)
    .slice(0, frames)

/** Whether the certificate of another machine is not trusted: expired, for another name, or of an unknown issuer. */
export const isOfCertificate = (error: unknown): boolean =>
  /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|CRL/.test(String(codeOf(error)))
