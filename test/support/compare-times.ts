import type { Either, Which } from './forged.ts'
import { seed, seeded } from './proof.ts'

const chance = seeded(seed)
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const resampled = (values: readonly number[]): number[] => values.map(() => values[chance(values.length)] ?? 0)

/** The median of the differences and its 95 % bootstrap interval. */
const middle = (differences: readonly number[]) => {
  const medians = Array.from({ length: 1_000 }, () => median(resampled(differences))).toSorted((a, b) => a - b)
  return { is: median(differences), from: medians[25] ?? 0, to: medians[974] ?? 0 }
}

/** A smaller difference cannot be measured through a network. */
const visibleMs = 0.001

const us = (milliseconds: number): string => `${(milliseconds * 1_000).toFixed(1)} µs`
const signed = (milliseconds: number): string => `${milliseconds < 0 ? '−' : '+'}${us(Math.abs(milliseconds))}`

/** Runs both alternately, in random order within each pair, compares the pairs and reports. */
export const compareTimes = async (
  name: string,
  pairs: number,
  once: (which: Which) => Promise<void>,
): Promise<void> => {
  const taken: Either<number[]> = { known: [], unknown: [] }
  const timed = async (which: Which): Promise<number> => {
    const began = performance.now()
    await once(which)
    const milliseconds = performance.now() - began
    taken[which].push(milliseconds)
    return milliseconds
  }
  const differences: number[] = []
  for (let count = 0; count < pairs; count += 1) {
    const first = chance(2) === 0 ? 'known' : 'unknown'
    const other = first === 'known' ? 'unknown' : 'known'
    const difference = (await timed(first)) - (await timed(other))
    differences.push(first === 'known' ? difference : -difference)
  }
  const { is, from, to } = middle(differences)
  const isSeen = Math.abs(is) >= visibleMs && Math.sign(from) === Math.sign(to)
  console.log(
    `  ${name}: ${us(median(taken.known))} known, ${us(median(taken.unknown))} unknown, difference ${signed(is)} ` +
      `(95 %: ${signed(from)} to ${signed(to)}) in ${pairs} pairs: ${isSeen ? 'A DIFFERENCE' : 'none found'}`,
  )
}
