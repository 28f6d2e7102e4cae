import { DatabaseUnusable } from '../database.ts'
import { type Places, pooled } from '../faults/postgres.ts'
import { type Link, sessionSettings } from './link.ts'

const oldestMajor = 15

/** Others speak the protocol of PostgreSQL, and were not tested. */
const others = /cockroach|yugabyte|-yb-|redshift|greenplum|citus|edb|aurora|materialize|cratedb|questdb/i

const text = `SELECT version(), current_setting('server_version_num')::int, current_setting('fsync'),
  current_setting('full_page_writes'), pg_encoding_to_char(encoding), current_setting('lock_timeout') FROM pg_database WHERE datname = current_database()`

/** @throws DatabaseUnusable if the server is too old, another product, or would lose acknowledged changes */
export const assertServer = async (link: Link, at: Places): Promise<void> => {
  const { place } = at
  const [version = '', number, fsync, fullPages, encoding, lockTimeout] = (await link.send(text, [])).rows[0] ?? []
  const name = String(version)
  if (!name.startsWith('PostgreSQL ') || others.test(name)) {
    throw refused(`${name.split(' ')[0] || 'The server'} at ${place} is not PostgreSQL, and was not tested.`)
  }
  if (Math.floor(Number(number) / 10_000) < oldestMajor) {
    throw refused(`The server at ${place} is older than PostgreSQL ${oldestMajor}: upgrade it.`)
  }
  for (const [setting, value] of [
    ['fsync', fsync],
    ['full_page_writes', fullPages],
  ] as const) {
    if (value === 'on') continue
    throw refused(
      `PostgreSQL at ${place} runs with ${setting}=off, so a power cut would lose what was acknowledged: run ALTER SYSTEM SET ${setting} = on.`,
    )
  }
  if (lockTimeout !== sessionSettings.lock_timeout) throw pooled(at)
  if (encoding !== 'UTF8') {
    throw refused(
      `The database at ${place} does not have the encoding UTF8: make it with createdb --encoding UTF8 --template template0 NAME.`,
    )
  }
}

const refused = (sentence: string) => new DatabaseUnusable('unsupported', sentence)
