import { DatabaseUnusable } from '../database.ts'
import { postgresFault, sqlState } from './fault.ts'
import type { Link } from './link.ts'

const oldestMajor = 15

/** Others speak the protocol of PostgreSQL, and were not tested. */
const others = /cockroach|yugabyte|-yb-|redshift|greenplum|citus|edb|aurora|materialize|cratedb|questdb/i

const text = `SELECT version(), current_setting('server_version_num')::int, current_setting('fsync'),
  current_setting('full_page_writes'), pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()`

/** @throws DatabaseUnusable if the server is too old, another product, or would lose acknowledged changes */
export const assertServer = async (link: Link): Promise<void> => {
  const [version = '', number, fsync, fullPages, encoding] = (await link.send(text, [])).rows[0] ?? []
  const name = String(version)
  if (!name.startsWith('PostgreSQL ') || others.test(name)) {
    throw refused('unsupported', `${name.split(' ')[0] || 'This server'} is not PostgreSQL, and was not tested.`)
  }
  if (Math.floor(Number(number) / 10_000) < oldestMajor) {
    throw refused('unsupported', `The server is older than PostgreSQL ${oldestMajor}: upgrade it.`)
  }
  for (const [setting, value] of [
    ['fsync', fsync],
    ['full_page_writes', fullPages],
  ] as const) {
    if (value === 'on') continue
    throw refused('unsupported', `PostgreSQL runs with ${setting}=off: a power cut would lose what was acknowledged.`)
  }
  if (encoding !== 'UTF8') throw refused('unsupported', 'The database must have the encoding UTF8.')
}

/** What a failed connection means, as a sentence for the operator that repeats neither password nor URL. */
export const sentenceFor = (error: unknown): DatabaseUnusable | null => {
  const state = sqlState(error)
  if (state === '28P01' || state === '28000') {
    return refused('unreachable', 'PostgreSQL refuses the user or the password of DATABASE_URL.')
  }
  if (state === '3D000') return refused('unreachable', 'PostgreSQL has no database of the name in DATABASE_URL.')
  if (state === '42501') {
    return refused('unreachable', 'The user of DATABASE_URL may not do this: make it the owner of the database.')
  }
  if (postgresFault(error) === 'statement') return null
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/TLS|SSL|CERT/.test(code)) {
    return refused('unreachable', 'PostgreSQL is not reached over verified TLS: check its certificate and sslrootcert.')
  }
  return refused('unreachable', 'None of the hosts in DATABASE_URL is reachable as a PostgreSQL primary.')
}

const refused = (kind: 'unsupported' | 'unreachable', sentence: string) => new DatabaseUnusable(kind, sentence)
