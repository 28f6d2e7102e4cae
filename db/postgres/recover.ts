import { DatabaseUnusable, type WriteEvent } from '../database.ts'
import { createQueries } from '../queries/index.ts'
import { type Exclusive, momentOf, recoverRows, resetTimes } from '../stopped-changes.ts'
import { databaseNow, drizzleOver, type Selection } from './dialect.ts'
import type { Link } from './link.ts'
import { heardWithin, silenceMs } from './nodes.ts'
import { plannedText, settledText } from './origin.ts'

type Moment = { readonly now: number; readonly event: WriteEvent }

/** One transaction on a database that no server uses, with its queries. @throws DatabaseUnusable ('in_use') */
export const changeAlone = async <T>(link: Link, change: (exclusive: Exclusive) => Promise<T>): Promise<T> => {
  const send = link.send.bind(link)
  await send('BEGIN', [])
  try {
    // Keeps servers from starting until the end: they take a number first.
    await send('LOCK TABLE nodes IN EXCLUSIVE MODE', [])
    const alive = await send(`SELECT 1 FROM nodes WHERE ${heardWithin(silenceMs)}`, [])
    if (alive.rows.length > 0) {
      throw new DatabaseUnusable('in_use', 'A server is running on the PostgreSQL database: stop all of them first.')
    }
    const push = (text: string, values: unknown[]) => void send(text, values).catch(() => undefined) // then COMMIT fails
    const read = async ({ text }: Selection, values: unknown[]) => await send(text, values)
    const wire = { send, read, push, insert: notOfCommands, change: notOfCommands }
    const rows = async (text: string) => (await send(text, [])).rows
    const result = await change({ queries: createQueries(drizzleOver(wire)), rows })
    const { command } = await send('COMMIT', [])
    if (command !== 'COMMIT') {
      throw new Error('The transaction was rolled back instead of committed.', { cause: link.failure?.error })
    }
    return result
  } catch (error) {
    const first = link.failure?.error ?? error // those of later statements follow from it
    if (link.isOpen) await send('ROLLBACK', [])
    throw first
  }
}

const notOfCommands = (): never => {
  throw new Error('A command issues nothing.')
}

/** As `recoverRows` says. */
export const recoverTables = async (link: Link, { now, event }: Moment) =>
  await changeAlone(link, async (exclusive) => {
    await exclusive.rows('UPDATE timelines SET lost_at = NULL')
    await exclusive.rows(settledText)
    await exclusive.rows('DELETE FROM nodes') // one that was frozen meanwhile has keys that were deleted: its next heartbeat stops it
    const at = Math.max(now, (await exclusive.queries.watermarks.find('clock')) ?? 0)
    return await recoverRows(exclusive, { at, event })
  })

/** The next start on the tables accepts them wherever they are then. Returns when this was planned. */
export const planMove = async (link: Link, { now, event }: Moment) =>
  await changeAlone(link, async (exclusive) => {
    const { queries } = exclusive
    const at = Math.max(now, (await queries.watermarks.find('clock')) ?? 0)
    await exclusive.rows(plannedText)
    await queries.audit.insert(event(await momentOf(queries, at), { action: 'database.move_planned' }))
    return { at }
  })

/** As `resetTimes` says, back to the clock of PostgreSQL. */
export const resetTables = async (link: Link, { event }: Moment) =>
  await changeAlone(link, async (exclusive) => {
    const at = Number((await exclusive.rows(`SELECT ${databaseNow}`))[0]?.[0])
    const trusted = (await exclusive.queries.watermarks.find('clock')) ?? 0
    const whose = 'The time that the PostgreSQL database trusts is not ahead of the clock of PostgreSQL'
    const reset = await resetTimes(exclusive, { at, trusted, whose, event })
    for (const table of ['nodes', 'leases', 'shared_limits']) await exclusive.rows(`DELETE FROM ${table}`)
    return reset
  })
