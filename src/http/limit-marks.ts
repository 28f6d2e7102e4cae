import { hash } from 'node:crypto'

/** What a limit knows a key by: a number of 32 bits that says where to look, and 48 more bits to find it there. */
export type LimitMark = { readonly number: number; readonly fingerprint: number }

const rememberedMarks = 4096

/**
 * Marks come from SHA-256 over a secret and the key: nobody can find another's, or a key that has the same. Hashing
 * costs more than all the rest of a count, and a call counts the same few keys several times; so the marks of the latest
 * keys are remembered, and forgotten all at once. Keys must be of bounded length.
 */
export const createLimitMarks = (secret: string): ((key: string) => LimitMark) => {
  const marks = new Map<string, LimitMark>()
  return (key) => {
    const known = marks.get(key)
    if (known !== undefined) return known
    const digest = hash('sha256', secret + key, 'buffer')
    const mark = { number: digest.readUInt32LE(0), fingerprint: digest.readUIntLE(4, 6) }
    if (marks.size >= rememberedMarks) marks.clear()
    marks.set(key, mark)
    return mark
  }
}
