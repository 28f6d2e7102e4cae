import { SQL } from 'bun'
import { DatabaseUnusable } from '../database.ts'
import { PlatformError } from '../../src/domain/errors.ts'
import { ConnectionLost, postgresFault, sqlState, Unconfirmed } from './fault.ts'
import { type Link, sessionSettings } from './link.ts'

const oldestMajor = 15

/** Where the server is that was asked, and where all of the URL are (`primary.ts`). */
type Places = { readonly place: string; readonly places: string }

/** Others speak the protocol of PostgreSQL, and were not tested. */
const others = /cockroach|yugabyte|-yb-|redshift|greenplum|citus|edb|aurora|materialize|cratedb|questdb/i

const text = `SELECT version(), current_setting('server_version_num')::int, current_setting('fsync'),
  current_setting('full_page_writes'), pg_encoding_to_char(encoding), current_setting('lock_timeout') FROM pg_database WHERE datname = current_database()`

/** @throws DatabaseUnusable if the server is too old, another product, or would lose acknowledged changes */
export const assertServer = async (link: Link, { place }: Places): Promise<void> => {
  const [version = '', number, fsync, fullPages, encoding, lockTimeout] = (await link.send(text, [])).rows[0] ?? []
  const name = String(version)
  if (!name.startsWith('PostgreSQL ') || others.test(name)) {
    throw refused(
      'unsupported',
      `${name.split(' ')[0] || 'The server'} at ${place} is not PostgreSQL, and was not tested.`,
    )
  }
  if (Math.floor(Number(number) / 10_000) < oldestMajor) {
    throw refused('unsupported', `The server at ${place} is older than PostgreSQL ${oldestMajor}: upgrade it.`)
  }
  for (const [setting, value] of [
    ['fsync', fsync],
    ['full_page_writes', fullPages],
  ] as const) {
    if (value === 'on') continue
    throw refused(
      'unsupported',
      `PostgreSQL at ${place} runs with ${setting}=off, so a power cut would lose what was acknowledged: run ALTER SYSTEM SET ${setting} = on.`,
    )
  }
  // A pooler drops the settings of a session, or gives every transaction another session.
  if (lockTimeout !== sessionSettings.lock_timeout) throw refused('unsupported', pooled(place))
  if (encoding !== 'UTF8') {
    throw refused(
      'unsupported',
      `The database at ${place} does not have the encoding UTF8: make it with createdb --encoding UTF8 --template template0 NAME.`,
    )
  }
}

const pooled = (place: string) =>
  `A pooler such as PgBouncer stands before PostgreSQL at ${place}: connect to PostgreSQL itself, on its own port (5432 by default).`

const unconfirmed =
  'confirms no commit, because its synchronous standby does not answer: start the standby, or run ALTER SYSTEM RESET synchronous_standby_names and SELECT pg_reload_conf() on the primary.'

const ofLogin = 'refuses the user or the password of DATABASE_URL: see its log, and pg_hba.conf.'

const noFreeConnection = '53300'

/** What a server answers that refuses a connection or a statement, by SQLSTATE. */
const refusals: Readonly<Record<string, string>> = {
  '28P01': ofLogin,
  '28000': ofLogin,
  '3D000': 'has no database of the name in DATABASE_URL: make it with createdb --owner USER NAME.',
  '42501': 'does not let the user of DATABASE_URL do this: make it the owner of the database.',
  '25006':
    'says that the user of DATABASE_URL may only read: run ALTER ROLE or ALTER DATABASE with RESET default_transaction_read_only.',
  '3F000':
    'has no schema that the search_path of the user of DATABASE_URL names: run ALTER ROLE with RESET search_path.',
  [noFreeConnection]:
    'has no free connection: allow 22 for each server in max_connections, and in a CONNECTION LIMIT of the role or database.',
}

/** What keeps a connection from being encrypted, or its server from being trusted; null for everything else. */
const faultOfTls = (error: unknown): string | null => {
  if (!(error instanceof SQL.PostgresError || error instanceof ConnectionLost)) return null
  const cause = error instanceof ConnectionLost && error.cause !== undefined ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code === 'ERR_POSTGRES_TLS_NOT_AVAILABLE') {
    return 'offers no TLS, which sslmode=verify-full needs: give it a certificate and set ssl = on, as app-platform help high-availability shows.'
  }
  if (/^(ENOENT|EACCES|EISDIR)$/.test(code)) return noAuthority
  if (cause !== error || /TLS|SSL|CERT/.test(code)) {
    return 'is not reached over verified TLS: check its certificate, the host name in it, and sslrootcert.'
  }
  return null
}

const noAuthority =
  'cannot be checked, because sslrootcert in DATABASE_URL names a file that this user cannot read: correct it.'

/** Why PostgreSQL itself refuses, as a sentence for the operator; null for an outage or a failover. */
export const refusalIn = (error: unknown, { place }: Places): string | null => {
  const refusal = refusals[sqlState(error) ?? ''] ?? faultOfTls(error)
  return refusal === null ? null : `PostgreSQL at ${place} ${refusal}`
}

/** What a failed connection means, as a sentence for the operator that repeats neither user nor password. */
export const sentenceFor = (error: unknown, at: Places): DatabaseUnusable | null => {
  const refusal = refusalIn(error, at)
  const state = sqlState(error)
  if (refusal !== null) return refused(state === noFreeConnection ? 'down' : 'unreachable', refusal)
  if (state === '55P03') {
    return new DatabaseUnusable(
      'busy',
      `Another command changes the PostgreSQL database at ${at.place}: try again when it is done.`,
    )
  }
  if (state === '08P01' && error instanceof Error && error.message.includes('startup parameter')) {
    return refused('unsupported', pooled(at.place))
  }
  if (error instanceof Unconfirmed) return refused('down', `PostgreSQL at ${at.place} ${unconfirmed}`)
  // All that answer are standbys.
  const isPrimaryMissing = error instanceof PlatformError && error.code === 'unavailable'
  return isPrimaryMissing || postgresFault(error) !== 'statement' ? noPrimary(at) : null
}

const noPrimary = ({ places }: Places) =>
  refused(
    'down',
    `None of the hosts in DATABASE_URL is reachable as a PostgreSQL primary (${places}): start one, or promote its standby.`,
  )

const refused = (kind: 'unsupported' | 'unreachable' | 'down', sentence: string) => new DatabaseUnusable(kind, sentence)
