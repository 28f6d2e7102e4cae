/*
 * Where the tables are. A dump that was restored elsewhere brings back what was revoked since it was made, and nothing in the rows says
 * so. So the tables name the cluster, the database and one of themselves, as they were when they were made, and servers do not start
 * on others. A base backup, and a dump of the rows alone that is put into the same tables, are not noticed.
 */
import { DatabaseUnusable } from '../database.ts'
import { databaseNow } from './dialect.ts'
import type { Link } from './link.ts'

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
export const settledText = `UPDATE origin SET place = ${placeText}, planned_at = NULL`

export const plannedText = `UPDATE origin SET planned_at = ${databaseNow}`
