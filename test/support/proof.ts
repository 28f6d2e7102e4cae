import { writeFileSync } from 'node:fs'

/*
 * What the proofs have in common. Inside the tests each is done in its quick form; `bun run prove NAME` does it at length, with a
 * seed that it prints, and says so by the environment.
 */

const asked = Bun.env['PROOF_ROUNDS']

/** True for `bun run prove`. */
export const isLong = asked !== undefined

/** How often the proof does what it does: `quick` inside the tests. */
export const rounds = (quick: number): number => (asked === undefined ? quick : Number(asked))

/** For a proof that had not what it needs to come to a verdict: `bun run prove` then says that it cannot tell, and exits 1. */
export const cannotTell = (reason: string): void => {
  console.log(`  cannot tell: ${reason}`)
  if (Bun.env['PROOF_DOUBT'] !== undefined) writeFileSync(Bun.env['PROOF_DOUBT'], reason)
}

/** Where everything random in a proof comes from: the same seed, the same run, as far as the scheduler has no part in it. */
export const seed = Number(Bun.env['PROOF_SEED'] ?? 1)

/** How long one test of a proof may take, in milliseconds. */
export const patience = asked === undefined ? 300_000 : 24 * 60 * 60 * 1_000

/** Mulberry32: gives whole numbers from 0 up to `below`, the same ones for the same seed. */
export const seeded = (from: number) => {
  let state = from
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    const once = Math.imul(state ^ (state >>> 15), state | 1)
    const twice = once ^ (once + Math.imul(once ^ (once >>> 7), once | 61))
    return ((twice ^ (twice >>> 14)) >>> 0) % below
  }
}

/** The value that so much of them is not above, in whole numbers. */
export const percentile = (values: readonly number[], part: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0)
