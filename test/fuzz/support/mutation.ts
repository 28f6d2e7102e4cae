import type { Chance } from './operation.ts'
import { damagedSecret, type Draft, type Pairs } from './draft.ts'
import { hostile } from './hostile-by-place.ts'

/** One way of making a request hostile. It gives the request back as it was where it does not apply. */
export type Mutation = { readonly name: string; apply(draft: Draft, chance: Chance): Draft }

export const choose = <T>(chance: Chance, from: readonly T[]): T | undefined => from[chance(from.length)]

export const onPairs = (pairs: Pairs, chance: Chance, change: (pair: readonly [string, string]) => Pairs): Pairs => {
  const at = chance(Math.max(1, pairs.length))
  return pairs.flatMap((pair, index) => (index === at ? change(pair) : [pair]))
}

export const damaged = (chance: Chance): string =>
  damagedSecret(choose(chance, hostile.secrets) ?? 'session', chance(80), choose(chance, [...'0aZ_9']) ?? '0')
