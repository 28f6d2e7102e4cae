/** An error as far as it may be logged: what kind, which code, where; and the message where it is surely not a caller's. */
type DescribedCause = {
  readonly name: string
  readonly code?: string
  readonly message?: string
  readonly at?: readonly string[]
  readonly cause?: DescribedCause
}

const deepest = 4
const frames = 8

/** Errors whose messages are the engine's or the store's own sentences; what they quote is blanked all the same. */
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
  return {
    name,
    ...('code' in thrown && typeof thrown.code === 'string' && word.test(thrown.code) ? { code: thrown.code } : {}),
    ...(ownMessages.has(name) ? { message: blank(thrown.message) } : {}),
    ...(depth === 0 ? { at: framesOf(thrown) } : {}),
    ...(thrown.cause === undefined || depth >= deepest ? {} : { cause: describeCause(thrown.cause, depth + 1) }),
  }
}

/** Whatever stands in quotes, and every word long enough to be a secret. */
const blank = (message: string): string =>
  message
    .slice(0, 300)
    .replaceAll(/(["'`]).*?(?:\1|$)/gs, '$1…$1')
    .replaceAll(/[^\s.]{20,}/g, '…')

/** Only the lines that name a place: the first lines of a stack repeat the message. */
const framesOf = (error: Error): readonly string[] =>
  (error.stack ?? '')
    .split('\n')
    .map((line) => /^\s+at (?:(?:async )?[\w.<>$ ]{1,80} \()?([^()\s]{1,300}:\d+:\d+)\)?$/.exec(line)?.[0].trim())
    .filter((line) => line !== undefined)
    .slice(0, frames)
