import { DatabaseUnusable, type WriteEvent } from '../database.ts'
import { createQueries } from '../queries/index.ts'
import { type Exclusive, momentOf, recoverRows, resetTimes } from '../stopped-changes.ts'
import { databaseNow, drizzleOver, type Selection } from './dialect.ts'
import type { Link } from './link.ts'
import { heardWithin, silenceMs } from './nodes.ts'

type Moment = { readonly now: number; readonly event: WriteEvent }

/** One transaction on a database that no server uses, with its queries. @throws DatabaseUnusable ('in_use') */
export const changeAlone = async <T>(link: Link, change: (exclusive: Exclusive) => Promise<T>): Promise<T> => {
  const send = link.send.bind(link)
  await send('BEGIN', [])
  try {
    // Keeps servers from starting until the end: they take a number first.
    await send('LOCK TABLE nodes IN EXCLUSIVE MODE', [])
    // Where the tables are not those of `origin`, they came with a dump, and so did the nodes: no server starts there.
    const alive = await send(`SELECT 1 FROM nodes, origin WHERE ${heardWithin(silenceMs)} AND place = ${placeText}`, [])
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

/*
 * Where the tables are. A dump that was restored elsewhere brings back what was revoked since it was made, and nothing in the rows says
 * so. So the tables name the cluster, the database and one of themselves, as they were when they were made, and servers do not start
 * on others. A base backup, and a dump of the rows alone that is put into the same tables, are not noticed.
 */

/** The cluster, the database and a table, as the server knows them. */
const placeText = `(SELECT system_identifier FROM pg_control_system()) || ' ' ||
  (SELECT oid FROM pg_database WHERE datname = current_database()) || ' ' || 'origin'::regclass::oid`

const restoredSentence =
  'The tables of the PostgreSQL database were restored from a dump, so access that was revoked since would work again: ' +
  'stop all servers and run app-platform recover --accept-loss, which ends everything issued.'

/**
 * A planned move is accepted once, and ends nothing. A server that starts where the tables were made withdraws the plan: from then on a
 * dump may lack changes. @throws DatabaseUnusable ('rolled_back') for tables that were restored from a dump otherwise
 */
export const assertOrigin = async (link: Link, role: 'server' | 'operator'): Promise<void> => {
  const text = `SELECT place = ${placeText}, planned_at IS NOT NULL FROM origin`
  const [[isSame, isPlanned] = []] = (await link.send(text, [])).rows
  if (isSame === true && (role === 'operator' || isPlanned !== true)) return
  if (isSame !== true && isPlanned !== true) throw new DatabaseUnusable('rolled_back', restoredSentence)
  await link.send(settledText, [])
}

/** The tables belong where they are now. */
const settledText = `UPDATE origin SET place = ${placeText}, planned_at = NULL`

const plannedText = `UPDATE origin SET planned_at = ${databaseNow}`
