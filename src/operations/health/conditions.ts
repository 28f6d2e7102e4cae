import type { Sharing, StoreProblem } from '../../../db/database.ts'
import { clockFault } from '../clock.ts'
import type { Observed } from '../platform.ts'

/** Every problem of the server that a person has to solve. These names are labels of metrics and fields of the log. */
export const conditionNames = [
  'storage_failed',
  'disk_full',
  'database_locked',
  'database_unreachable',
  'too_few_connections',
  'clock_ahead',
  'clock_wrong',
  'clock_differs',
  'settings_differ',
  'no_synchronous_standby',
  'several_standbys',
  'mail_fails',
] as const
export type ConditionName = (typeof conditionNames)[number]

type Condition = {
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
export const readConditions = async (platform: Observed): Promise<readonly Condition[]> => {
  const ofStore = storeCondition(platform)
  // A clock that differs from that of PostgreSQL is one problem, whatever it is ahead of.
  const ofClock = ofStore?.name === 'clock_wrong' ? null : clockCondition(platform)
  return [ofStore, ofClock, ...sharingConditions(platform.database.sharing()), mailCondition(platform)].filter(
    (condition) => condition !== null,
  )
}

const nameOf = {
  failed: 'storage_failed',
  full: 'disk_full',
  locked: 'database_locked',
  unreachable: 'database_unreachable',
  connections: 'too_few_connections',
  clock: 'clock_wrong',
} as const satisfies Record<StoreProblem, ConditionName>

const storeCondition = ({ database }: Observed): Condition | null => {
  const { problem, reason } = database.health()
  return problem === null ? null : { name: nameOf[problem], sentence: reason, endsReadiness: true }
}

const clockCondition = ({ clock }: Observed): Condition | null => {
  const sentence = clockFault(clock)
  return sentence === null ? null : { name: 'clock_ahead', sentence, endsReadiness: true }
}

const mailCondition = ({ mailer }: Observed): Condition | null => {
  const sentence = mailer?.trouble() ?? null
  return sentence === null ? null : warning('mail_fails', sentence)
}

/** How far clocks may differ without a warning. Beyond 30 s, the store takes no writes, and says so (`clock_wrong`). */
const toleratedMs = 2_000
const longestWarnedMs = 30_000

/** What does not keep this server from answering, and yet is probably a mistake. */
const sharingConditions = (sharing: Sharing | null): readonly (Condition | null)[] =>
  sharing === null
    ? []
    : [
        shortageCondition(sharing),
        standbyCondition(sharing),
        spareCondition(sharing),
        settingsCondition(sharing),
        offsetCondition(sharing),
      ]

/** The server goes on with the connections that it has. Without any, the store takes no writes. */
const shortageCondition = ({ shortage }: Sharing): Condition | null =>
  shortage === null ? null : warning('too_few_connections', shortage)

const standbyCondition = ({ hasSynchronousStandby }: Sharing): Condition | null =>
  hasSynchronousStandby ? null : warning('no_synchronous_standby', noStandbySentence)

const noStandbySentence =
  'PostgreSQL has no synchronous standby, so a failover, or the loss of its disk, loses the latest changes, revocations among them: ' +
  'add a standby as app-platform help high-availability shows, or run app-platform recover --accept-loss after each such loss.'

const spareCondition = ({ hasSpareStandby }: Sharing): Condition | null =>
  hasSpareStandby ? warning('several_standbys', severalSentence) : null

const severalSentence =
  'PostgreSQL has more standbys than its commits wait for, so after a promotion an old primary that still runs could go on with another one: ' +
  "stop the old primary before each promotion, or let commits wait for all standbys, as by synchronous_standby_names = 'FIRST 2 (one, two)'."

const settingsCondition = ({ nodes }: Sharing): Condition | null => {
  const differing = nodes.filter(({ differs }) => differs.length > 0)
  if (differing.length === 0) return null
  const settings = [...new Set(differing.flatMap(({ differs }) => differs))].join(', ')
  const where = differing.map(({ name, number }) => `${name} (server ${number})`).join(', ')
  return warning(
    'settings_differ',
    `The settings of this server and of ${where} differ in ${settings}: set the same values and run systemctl restart app-platform on each.`,
  )
}

const offsetCondition = ({ clockOffsetMs }: Sharing): Condition | null => {
  const differenceMs = Math.abs(clockOffsetMs)
  if (differenceMs <= toleratedMs || differenceMs > longestWarnedMs) return null
  const seconds = (differenceMs / 1000).toFixed(1)
  return warning(
    'clock_differs',
    `The clock of this machine is ${seconds} s ${clockOffsetMs > 0 ? 'ahead of' : 'behind'} that of PostgreSQL: set both right, such as by timedatectl set-ntp true.`,
  )
}

const warning = (name: ConditionName, sentence: string): Condition => ({ name, sentence, endsReadiness: false })
