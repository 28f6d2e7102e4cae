import { seeded } from '../../support/proof.ts'
import type { Chance, Operation } from './operation.ts'
import type { Draft } from './draft.ts'
import { bodyMutations } from './body-mutations.ts'
import { addressMutations, headerMutations } from './head-mutations.ts'
import type { Mutation } from './mutation.ts'

const mutations = [...bodyMutations, ...headerMutations, ...addressMutations]

/** One request of a run: a valid one, and the mutations applied to it, each with its probability. */
export type Recipe = {
  readonly index: number
  readonly operation: Operation
  readonly chanceFrom: number
  readonly steps: readonly { readonly mutation: Mutation; readonly chanceFrom: number }[]
}

/** A fifth of all requests is left as it is; the others are changed up to four times. */
const stepCounts = [0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 0, 1]

/** The request of this place in the run: the same one for the same seed, whatever the others are. */
export const recipeOf = (seed: number, index: number, operations: readonly Operation[]): Recipe => {
  const chance = seeded(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35))
  const operation = weighted(chance, operations)
  const steps = Array.from({ length: stepCounts[chance(stepCounts.length)] ?? 0 }, () => ({
    mutation: mutations[chance(mutations.length)] ?? firstMutation(),
    chanceFrom: chance(2 ** 31),
  }))
  return { index, operation, chanceFrom: chance(2 ** 31), steps }
}

const firstMutation = (): Mutation => {
  const [first] = mutations
  if (first === undefined) throw new Error('There is no mutation.')
  return first
}

const weighted = (chance: Chance, operations: readonly Operation[]): Operation => {
  let left = chance(operations.reduce((sum, { weight }) => sum + weight, 0))
  for (const operation of operations) {
    left -= operation.weight
    if (left < 0) return operation
  }
  throw new Error('There is no operation.')
}

export const follow = ({ index, operation, chanceFrom, steps }: Recipe): Draft =>
  steps.reduce(
    (draft, { mutation, chanceFrom: from }) => mutation.apply(draft, seeded(from)),
    operation.draft(seeded(chanceFrom), index),
  )
