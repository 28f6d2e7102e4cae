import { DatabaseUnusable } from '../database.ts'
import { PlatformError } from '../../src/domain/errors.ts'
import { ConnectionLost, postgresFault, sqlState, Unconfirmed } from './fault.ts'
import { type Link, sessionSettings } from './link.ts'

const oldestMajor = 15

/** Others speak the protocol of PostgreSQL, and were not tested. */
const others = /cockroach|yugabyte|-yb-|redshift|greenplum|citus|edb|aurora|materialize|cratedb|questdb/i

const text = `SELECT version(), current_setting('server_version_num')::int, current_setting('fsync'),
  current_setting('full_page_writes'), pg_encoding_to_char(encoding), current_setting('lock_timeout') FROM pg_database WHERE datname = current_database()`

/** @throws DatabaseUnusable if the server is too old, another product, or would lose acknowledged changes */
export const assertServer = async (link: Link): Promise<void> => {
  const [version = '', number, fsync, fullPages, encoding, lockTimeout] = (await link.send(text, [])).rows[0] ?? []
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
    throw refused(
      'unsupported',
      `PostgreSQL runs with ${setting}=off, so a power cut would lose what was acknowledged: run ALTER SYSTEM SET ${setting} = on.`,
    )
  }
  // A pooler drops the settings of a session, or gives every transaction another session.
  if (lockTimeout !== sessionSettings.lock_timeout) throw refused('unsupported', pooled)
  if (encoding !== 'UTF8') throw refused('unsupported', 'The database must have the encoding UTF8.')
}

const pooled =
  'A pooler such as PgBouncer stands before PostgreSQL: connect to PostgreSQL itself, on its own port (5432 by default).'

const unconfirmed =
  'PostgreSQL confirms no commit, because its synchronous standby does not answer: start the standby, or run ALTER SYSTEM RESET synchronous_standby_names and SELECT pg_reload_conf() on the primary.'

const ofLogin = 'PostgreSQL refuses the user or the password of DATABASE_URL: see its log, and pg_hba.conf.'

/** What a server answers that refuses a connection or a statement, by SQLSTATE. */
const refusals: Readonly<Record<string, string>> = {
  '28P01': ofLogin,
  '28000': ofLogin,
  '3D000': 'PostgreSQL has no database of the name in DATABASE_URL: make it with createdb --owner USER NAME.',
  '42501': 'The user of DATABASE_URL may not do this: make it the owner of the database.',
  '25006':
    'The user of DATABASE_URL may only read: run ALTER ROLE or ALTER DATABASE with RESET default_transaction_read_only.',
  '3F000':
    'The search_path of the user of DATABASE_URL names no schema that exists: run ALTER ROLE with RESET search_path.',
  '53300':
    'PostgreSQL has no free connection: allow 22 for each server in max_connections, and in a CONNECTION LIMIT of the role or database.',
}

/** Why PostgreSQL itself refuses, as a sentence for the operator; null for an outage or a failover. */
export const refusalIn = (error: unknown): string | null => refusals[sqlState(error) ?? ''] ?? null

/** What a failed connection means, as a sentence for the operator that repeats neither password nor URL. */
export const sentenceFor = (error: unknown): DatabaseUnusable | null => {
  const refusal = refusalIn(error)
  if (refusal !== null) return refused('unreachable', refusal)
  const state = sqlState(error)
  if (state === '55P03') {
    return new DatabaseUnusable('busy', 'Another command changes the PostgreSQL database: try again when it is done.')
  }
  if (state === '08P01' && error instanceof Error && error.message.includes('startup parameter')) {
    return refused('unsupported', pooled)
  }
  if (error instanceof Unconfirmed) return refused('unreachable', unconfirmed)
  if (error instanceof PlatformError && error.code === 'unavailable') return noPrimary() // all that answer are standbys
  if (postgresFault(error) === 'statement') return null
  const cause = error instanceof ConnectionLost && error.cause !== undefined ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (/^(ENOENT|EACCES|EISDIR)$/.test(code)) {
    return refused('unreachable', 'sslrootcert in DATABASE_URL names a file that this user cannot read: correct it.')
  }
  if (cause !== error || /TLS|SSL|CERT/.test(code)) {
    return refused('unreachable', 'PostgreSQL is not reached over verified TLS: check its certificate and sslrootcert.')
  }
  return noPrimary()
}

const noPrimary = () =>
  refused(
    'unreachable',
    'None of the hosts in DATABASE_URL is reachable as a PostgreSQL primary: start one, or promote its standby.',
  )

const refused = (kind: 'unsupported' | 'unreachable', sentence: string) => new DatabaseUnusable(kind, sentence)
