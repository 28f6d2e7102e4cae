import type { Connection } from '../sqlite/connection.ts'
import { type CarriedOver, nothingCarriedOver, type Told } from './end.ts'
import { ends, unread } from './ends.ts'

/** What the predecessor knew. */
export type Knowledge = {
  readonly carriedOver: CarriedOver
  /** Ends of things that the backup does not have, kept for the restore of one that does. */
  readonly kept: number
  /** Restores since the backup that could not read what they replaced, so that nobody knows what had ended there. */
  readonly unread: number
}

/**
 * Ends in the copy (`main`) what has ended in the predecessor (`present`) since the backup was made, so that a backup does not
 * revive what was revoked. It only ends things, except that a rollback also makes the earlier version live. Whatever began since
 * the backup is lost. Ends of things that the copy does not have stay in `carried_ends` until a backup that has them is
 * restored, however late, because IDs do not expire.
 */
export const carryOver = (connection: Connection, now: number): Knowledge => {
  const change = (sql: string) => connection.run(sql, sql.includes('?1') ? [now] : []).changes
  const count = (which: string) =>
    Number(connection.value(`SELECT count(*) FROM main.carried_ends WHERE kind ${which}`))
  const has = ({ table, column }: NonNullable<Told['needs']>) =>
    connection.value(
      column === undefined
        ? `SELECT count(*) FROM present.sqlite_schema WHERE name = '${table}'`
        : `SELECT count(*) FROM pragma_table_info('${table}', 'present') WHERE name = '${column}'`,
    ) === 1
  const known = [...ends, unread].filter(({ needs }) => needs === undefined || has(needs))
  const unreadBefore = count(`= '${unread.kind}'`)
  if (has({ table: 'carried_ends' })) change(`${remember} SELECT kind, target, at, value FROM present.carried_ends`)
  for (const { kind, told } of known) change(`${remember} SELECT '${kind}', * FROM (${told})`)
  const carriedOver = { ...nothingCarriedOver }
  for (const { first = [], counts, done } of ends) {
    for (const sql of first) change(sql)
    for (const sql of done) carriedOver[counts] += change(sql)
  }
  for (const { kind, of } of [...ends, unread]) change(forget(kind, of))
  return {
    carriedOver,
    kept: count(`<> '${unread.kind}'`),
    unread: count(`= '${unread.kind}'`) - unreadBefore,
  }
}

const remember = 'INSERT OR REPLACE INTO main.carried_ends (kind, target, at, value)'

const forget = (kind: string, table: string) =>
  `DELETE FROM main.carried_ends WHERE kind = '${kind}' AND target IN (SELECT id FROM main.${table})`
