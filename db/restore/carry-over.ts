import type { Connection } from '../sqlite/connection.ts'
import type { CarriedOver, Told } from './end.ts'
import { ends, unread } from './ends.ts'

/** What the predecessor knew. */
export type Knowledge = {
  readonly carriedOver: CarriedOver
  /** Ends of what the backup does not know, kept for the restore of one that does. */
  readonly kept: number
  /** Restores since the backup that could not read what they replaced, so that nobody knows what had ended there. */
  readonly unread: number
}

/**
 * Tells the copy (`main`) what has ended in the predecessor (`present`) since the backup was made: a backup must not revive
 * what was revoked. Only ends things, a rollback with what it went back to; whatever began since then is lost, as a
 * restore means. What has ended and the copy does not know stays in `carried_ends`: a newer backup may know it. It stays
 * until such a one is restored, for nothing that has an ID ever gets too old to come back.
 */
export const carryOver = (connection: Connection, now: number): Knowledge => {
  const change = (sql: string): number => connection.run(sql, sql.includes('?1') ? [now] : []).changes
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
  const carriedOver = { ...nothing }
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

const nothing: CarriedOver = {
  credentials: 0,
  apps: 0,
  owners: 0,
  users: 0,
  emails: 0,
  passwords: 0,
  operators: 0,
  installs: 0,
  scopes: 0,
  versions: 0,
  redirectUris: 0,
  webhooks: 0,
}

const remember = 'INSERT OR REPLACE INTO main.carried_ends (kind, target, at, value)'

const forget = (kind: string, table: string) =>
  `DELETE FROM main.carried_ends WHERE kind = '${kind}' AND target IN (SELECT id FROM main.${table})`
