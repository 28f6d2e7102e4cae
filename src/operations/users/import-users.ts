import { PlatformError, refuse } from '../../domain/errors.ts'
import { recordId } from '../../domain/identifier.ts'
import { faultOfLine } from '../../domain/strict-json.ts'
import { decide, type Operation } from '../decide.ts'
import type { Platform } from '../platform.ts'
import { importLines, type LineFault, lineFault, mostFaults, wrongLines } from '../resources/merge-lines.ts'
import { type CheckedUser, checkedUser, type StatedUser, storeUsers } from './users.ts'

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
  const { wrong, ending, differing, giverOf } = await compare(platform, lines)
  if (wrong.length > 0) throw wrongLines(wrong)
  const result = { created: 0, updated: 0, unchanged: lines.length - ending.length - differing.length }
  const [endings, others] = [inBatches(ending), inTurn(differing, giverOf)]
  for (const batch of [...endings, ...others]) {
    const fresh = batch.map(({ user }) => ({ user, id: recordId('usr_', platform.random.uuid(platform.clock.now())) }))
    const endsAccess = endings.includes(batch)
    const created = await decide(platform, trace, { actor, endsAccess }, async (change) => {
      const stored = await storeUsers(change, fresh)
      if (stored instanceof PlatformError) return refuse('unavailable', { retryAfterSeconds: 1 })
      return stored.filter(({ created }) => created).length
    })
    result.created += created
    result.updated += batch.length - created
  }
  return result
}

/**
 * The lines in batches, each after the line whose user gives up the address that it takes. People among whom addresses go round are in
 * one batch, which may be longer.
 */
const inTurn = (lines: readonly Line[], giverOf: ReadonlyMap<Line, Line>): readonly (readonly Line[])[] => {
  const batches: Line[][] = []
  const add = (part: readonly Line[]) => {
    const last = batches.at(-1)
    if (last !== undefined && last.length + part.length <= usersAtOnce) last.push(...part)
    else batches.push([...part])
  }
  const seen = new Set<Line>()
  for (const line of lines) {
    const path: Line[] = []
    let next: Line | undefined = line
    for (; next !== undefined && !seen.has(next); next = giverOf.get(next)) {
      seen.add(next)
      path.push(next)
    }
    if (next === line && path.length > 0) add(path)
    else for (const each of path.toReversed()) add([each])
  }
  return batches
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

/** Compares the lines with the stored users. Their order means nothing: what counts is the state that all of them lead to. */
const compare = async ({ database }: Platform, lines: readonly Line[]) => {
  const wrong: LineFault[] = []
  /** Users who are disabled under the address that they have, whatever other lines do. */
  const ending: Line[] = []
  const differing: Line[] = []
  /** For a line that takes the address of a stored user: the line that gives this user another one. */
  const giverOf = new Map<Line, Line>()
  const lineOf = new Map(lines.map((line) => [line.user.externalId, line]))
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
      const isOthers = holder !== undefined && holder.id !== before?.id
      const giver = isOthers ? lineOf.get(holder.externalId ?? '') : undefined
      const isTaken = isOthers && (giver === undefined || giver.user.email === holder.email)
      if (giver !== undefined) giverOf.set(line, giver)
      if (before?.isOperator === true) wrong.push(lineFault(number, 'externalId: This user is an operator.'))
      else if (isTaken) wrong.push(lineFault(number, 'email: Another user has this address.'))
      else if (before === undefined) differing.push(line)
      else {
        const status = user.status ?? before.status
        const isEnding = before.status === 'active' && status === 'disabled' && before.email === user.email
        const isSame = Object.entries({ ...user, status }).every(
          ([name, value]) => before[name as keyof CheckedUser] === value,
        )
        if (!isSame) (isEnding ? ending : differing).push(line)
      }
    }
  }
  return { wrong, ending, differing, giverOf }
}
