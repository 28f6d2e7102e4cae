import type { StoreProblem } from '../../../db/database.ts'
import { clockFault } from '../clock.ts'
import type { Observed } from '../platform.ts'

/** Every problem of the server that a person has to solve. These names are labels of metrics and fields of the log. */
export const conditionNames = [
  'storage_failed',
  'disk_full',
  'database_locked',
  'database_unreachable',
  'clock_ahead',
] as const
export type ConditionName = (typeof conditionNames)[number]

export type Condition = {
  readonly name: ConditionName
  /** What is wrong and what to do about it. */
  readonly sentence: string
  /** Whether `/readyz` fails. */
  readonly endsReadiness: boolean
}

/**
 * The conditions that hold now. Readiness, metrics, log and health page all use this function, so that they agree. It must
 * be cheap and must not fail, even when the store has failed.
 */
export const readConditions = async (platform: Observed): Promise<readonly Condition[]> =>
  [storeCondition(platform), clockCondition(platform)].filter((condition) => condition !== null)

const ofStore = {
  failed: 'storage_failed',
  full: 'disk_full',
  locked: 'database_locked',
  unreachable: 'database_unreachable',
} as const satisfies Record<StoreProblem, ConditionName>

const storeCondition = ({ database }: Observed): Condition | null => {
  const { problem, reason } = database.health()
  return problem === null ? null : { name: ofStore[problem], sentence: reason, endsReadiness: true }
}

const clockCondition = ({ clock }: Observed): Condition | null => {
  const sentence = clockFault(clock)
  return sentence === null ? null : { name: 'clock_ahead', sentence, endsReadiness: true }
}
