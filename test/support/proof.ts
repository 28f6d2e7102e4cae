import { writeFileSync } from 'node:fs'

/*
 * The settings of a proof. The tests run each proof in its quick form. `bun run prove NAME` runs the long form with a seed that it
 * prints; environment variables say so.
 */

const asked = Bun.env['PROOF_ROUNDS']

/** True for `bun run prove`. */
export const isLong = asked !== undefined

/** The rounds of the proof: `quick` in the tests. */
export const rounds = (quick: number): number => (asked === undefined ? quick : Number(asked))

/** For a proof that cannot give a verdict, for example on a busy machine: `bun run prove` says so and exits with 1. */
export const noVerdict = (reason: string): void => {
  console.log(`  no verdict: ${reason}`)
  if (Bun.env['PROOF_NO_VERDICT'] !== undefined) writeFileSync(Bun.env['PROOF_NO_VERDICT'], reason)
}

/** The source of all randomness in a proof: the same seed gives the same run, except for what the scheduler decides. */
export const seed = Number(Bun.env['PROOF_SEED'] ?? 1)

/** How long one test of a proof may take, in milliseconds. */
export const patience = asked === undefined ? 300_000 : 24 * 60 * 60 * 1_000

/** Mulberry32: returns whole numbers from 0 to `below` - 1, the same ones for the same seed. */
export const seeded = (from: number) => {
  let state = from
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    const once = Math.imul(state ^ (state >>> 15), state | 1)
    const twice = once ^ (once + Math.imul(once ^ (once >>> 7), once | 61))
    return ((twice ^ (twice >>> 14)) >>> 0) % below
  }
}

/** The percentile of the values, rounded; `part` is from 0 to 1. */
export const percentile = (values: readonly number[], part: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0)
