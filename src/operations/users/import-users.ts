import { PlatformError, refuse } from '../../domain/errors.ts'
import { recordId } from '../../domain/identifier.ts'
import { faultOfLine } from '../../domain/strict-json.ts'
import { decide, type Operation } from '../decide.ts'
import type { Platform } from '../platform.ts'
import { importLines, type LineFault, lineFault, mostFaults, wrongLines } from '../resources/merge-lines.ts'
import { type CheckedUser, checkedUser, type StatedUser, storeUser } from './users.ts'

type ImportOrder = {
  /** The file: one JSON object per line, UTF-8. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** The user that a line states. @throws PlatformError for a line of another form */
  readonly read: (text: string) => StatedUser
}
export type ImportedUsers = { readonly created: number; readonly updated: number; readonly unchanged: number }

/** What is kept in memory meanwhile. */
const mostUsers = 50_000
/** Users that are compared, and then stored, in one transaction. */
const usersAtOnce = 500

type Line = { readonly number: number; readonly user: CheckedUser }

/**
 * Creates and changes the users of a file, each as `putBuilderUser` does. All lines are read and compared first: if some are wrong,
 * nothing changes. Then those that differ are stored, some hundred in a transaction, so that other calls have their turn; the same
 * file again stores what is missing. Those who are disabled come first, on their own, because that is stored on a full disk too.
 * @throws invalid_request with the numbers of wrong lines; unavailable if another call has taken an address since they were compared,
 *   and then earlier lines are stored
 */
export const importUsers: Operation<ImportOrder, ImportedUsers> = async (platform, trace, actor, order) => {
  const lines = await readLines(order)
  const { wrong, ending, differing } = await compare(platform, lines)
  if (wrong.length > 0) throw wrongLines(wrong)
  const result = { created: 0, updated: 0, unchanged: lines.length - ending.length - differing.length }
  const [endings, others] = [inBatches(ending), inBatches(differing)]
  for (const batch of [...endings, ...others]) {
    const fresh = batch.map(({ user }) => ({ user, id: recordId('usr_', platform.random.uuid(platform.clock.now())) }))
    const endsAccess = endings.includes(batch)
    const created = await decide(platform, trace, { actor, endsAccess }, async (change) => {
      let created = 0
      for (const { user, id } of fresh) {
        const stored = await storeUser(change, user, id)
        if (stored instanceof PlatformError) return refuse('unavailable', { retryAfterSeconds: 1 })
        if (stored.created) created += 1
      }
      return created
    })
    result.created += created
    result.updated += batch.length - created
  }
  return result
}

const inBatches = <T>(items: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / usersAtOnce) }, (_, index) =>
    items.slice(index * usersAtOnce, (index + 1) * usersAtOnce),
  )

/** The lines, each right by itself. @throws invalid_request */
const readLines = async ({ chunks, read }: ImportOrder): Promise<readonly Line[]> => {
  const lines: Line[] = []
  const faults: LineFault[] = []
  const ids = new Set<string>()
  const addresses = new Set<string>()
  for await (const line of importLines(chunks)) {
    const { number } = line
    const user = line.kind === 'line' ? userIn(line.text, read) : line.message
    if (typeof user === 'string') faults.push(lineFault(number, user))
    else if (ids.has(user.externalId)) faults.push(lineFault(number, 'externalId: An earlier line has it.'))
    else if (addresses.has(user.email)) faults.push(lineFault(number, 'email: An earlier line has it.'))
    else if (lines.length === mostUsers) faults.push(lineFault(number, `A file has at most ${mostUsers} lines.`))
    else {
      lines.push({ number, user })
      ids.add(user.externalId)
      addresses.add(user.email)
    }
    if (faults.length >= mostFaults) break
  }
  if (faults.length > 0) throw wrongLines(faults)
  return lines
}

/** The user, or what is wrong. */
const userIn = (text: string, read: ImportOrder['read']): CheckedUser | string => {
  try {
    return checkedUser(read(text))
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    const { param } = error.facts
    return param === undefined ? faultOfLine(error) : `${param}: ${error.message}`
  }
}

/** Compares the lines with the stored users, in the order in which they are going to be stored. */
const compare = async ({ database }: Platform, lines: readonly Line[]) => {
  const wrong: LineFault[] = []
  /** Users who are disabled under the address that they have, whatever other lines do. */
  const ending: Line[] = []
  const differing: Line[] = []
  /** Users of earlier lines, whose address is free now. */
  const moved = new Set<string>()
  const { users } = database.queries
  for (const batch of inBatches(lines)) {
    const known = new Map(
      (await users.byExternalIds(batch.map(({ user: { externalId } }) => ({ externalId })))).map((user) => [
        user.externalId,
        user,
      ]),
    )
    const holders = new Map(
      (await users.byEmails(batch.map(({ user: { email } }) => ({ email })))).map((user) => [user.email, user]),
    )
    for (const line of batch) {
      const { number, user } = line
      const before = known.get(user.externalId)
      const holder = holders.get(user.email)
      const isTaken = holder !== undefined && holder.id !== before?.id && !moved.has(holder.id)
      if (before?.isOperator === true) wrong.push(lineFault(number, 'externalId: This user is an operator.'))
      else if (isTaken) wrong.push(lineFault(number, 'email: Another user has this address.'))
      else if (before === undefined) differing.push(line)
      else {
        if (before.email !== user.email) moved.add(before.id)
        const status = user.status ?? before.status
        const isEnding = before.status === 'active' && status === 'disabled' && before.email === user.email
        const isSame = Object.entries({ ...user, status }).every(
          ([name, value]) => before[name as keyof CheckedUser] === value,
        )
        if (!isSame) (isEnding ? ending : differing).push(line)
      }
    }
  }
  return { wrong, ending, differing }
}
