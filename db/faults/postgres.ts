import { codeOf } from '../../src/domain/error-code.ts'
/*
 * What an error of PostgreSQL, or of the way to it, means for every command and the server: one sentence with the place, the cause and
 * what to do. PostgreSQL's own words are not repeated: they may be in any language, and quote values.
 */
import { PlatformError } from '../../src/domain/errors.ts'
import { DatabaseUnusable, type UnusableKind } from '../database.ts'
import { ConnectionLost, isOfFiles, postgresFault, sqlState, Unanswered, Unconfirmed } from '../postgres/fault.ts'

/** Where the server is that was asked, and where all of the URL are (`primary.ts`). */
export type Places = { readonly place: string; readonly places: string }

/** What follows `PostgreSQL at one:5432/apps`. A server waits for what is `down`. */
type Refusal = readonly [kind: UnusableKind, words: string]

const ofLogin: Refusal = [
  'unreachable',
  'refuses the user or the password of DATABASE_URL, or the password has expired: its log has the reason. Correct DATABASE_URL, or run ALTER ROLE with PASSWORD and VALID UNTIL.',
]

const ofTables: Refusal = ['altered', 'has not all tables as this program made them: restore a backup.']

const ofDamage: Refusal = [
  'damaged',
  'finds that its own files are damaged: its log names them, and dmesg there may tell why. Restore a backup, as app-platform help postgresql shows.',
]

const ofFiles: Refusal = [
  'damaged',
  'cannot read or write its files: its log and dmesg there tell more. Copy what can be read to another disk.',
]

/** What a server answers that refuses a connection or a statement, by SQLSTATE (appendix A of its manual). */
const refusals: Readonly<Record<string, Refusal>> = {
  '25006': [
    'unreachable',
    'takes no changes, because default_transaction_read_only is on for it, its database or the user of DATABASE_URL: run ALTER SYSTEM, ALTER DATABASE or ALTER ROLE with RESET default_transaction_read_only.',
  ],
  '25P03': ['busy', 'has ended a transaction in which this program paused for too long: run the command again.'],
  '25P04': [
    'unreachable',
    'ends what takes longer than its transaction_timeout: run ALTER ROLE or ALTER DATABASE with RESET transaction_timeout.',
  ],
  '28000': ofLogin,
  '28P01': ofLogin,
  '3D000': ['unreachable', 'has no database of the name in DATABASE_URL: make it with createdb --owner USER NAME.'],
  '3F000': [
    'unreachable',
    'has no schema that the user of DATABASE_URL may use: run GRANT USAGE, CREATE ON SCHEMA public TO that user, or ALTER ROLE with RESET search_path if it has one that names no schema.',
  ],
  '42P01': ofTables,
  '42703': ofTables,
  '53100': [
    'down',
    'has a full disk: make room on the disks of its data_directory and tablespaces, as df -h there shows.',
  ],
  '53200': [
    'down',
    'has too little memory for this: free memory on its machine, or lower shared_buffers, work_mem or max_connections.',
  ],
  '53300': [
    'down',
    'has no free connection: allow 22 for each server in max_connections, and in a CONNECTION LIMIT of the role or database.',
  ],
  '53400': [
    'unreachable',
    'has reached a limit that is set for it, such as temp_file_limit: raise the one that its log names.',
  ],
  '55P03': [
    'busy',
    'has kept this waiting for a lock of another session for more than 5 seconds: find that with SELECT pid, application_name, query FROM pg_stat_activity, and let it finish, or end it with SELECT pg_terminate_backend(PID).',
  ],
  '57014': ['busy', 'was told to cancel this, such as by pg_cancel_backend: run the command again.'],
  '57P01': ['down', 'has ended this session, because it stops or an administrator said so: wait until it runs.'],
  '57P02': ['down', 'has ended this session after a crash: its log tells why. Wait until it runs.'],
  '57P03': ['down', 'takes no connections now, because it starts or stops: wait until it runs, as its log says.'],
  '58030': ofFiles,
  '58P01': ofDamage,
  XX001: ofDamage,
  XX002: ofDamage,
}

/** The same for those that stand for several things, by the function of PostgreSQL that says it, which has the same name in every language. */
const byRoutine: Readonly<Record<string, Refusal>> = {
  '28000 ClientAuthentication': [
    'unreachable',
    'admits this user from this machine to no database of this name, or only with TLS: add a line to its pg_hba.conf and run SELECT pg_reload_conf(), or add sslmode=verify-full to DATABASE_URL.',
  ],
  '55000 CheckMyDatabase': [
    'unreachable',
    'takes no connections to this database: run ALTER DATABASE with ALLOW_CONNECTIONS true.',
  ],
}

/** Of a role that may not connect, or not use a table. Only the message names what it is. */
const ofRights = (error: unknown): Refusal => {
  const [, kind = '', name = 'this'] =
    /\b((?:table|schema|function|database) )"?([\w-]+)"?$/.exec(messageOf(error)) ?? []
  return [
    'unreachable',
    `does not let the user of DATABASE_URL use ${kind}${name}: make it the owner of all, with ALTER DATABASE … OWNER TO and REASSIGN OWNED.`,
  ]
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '')

/** What keeps a connection from being made or encrypted, or its server from being trusted. */
const ofTheWay = (error: unknown): Refusal | null => {
  if (!(error instanceof Bun.SQL.PostgresError || error instanceof ConnectionLost)) return null
  const cause = error instanceof ConnectionLost && error.cause !== undefined ? error.cause : error
  const code = String(codeOf(cause))
  if (code === 'ERR_POSTGRES_TLS_NOT_AVAILABLE') return noTls
  if (code === 'ERR_POSTGRES_UNSUPPORTED_AUTHENTICATION_METHOD') return otherProof
  if (/^(ENOENT|EACCES|EISDIR)$/.test(code)) return noAuthority
  return cause !== error || /TLS|SSL|CERT/.test(code) ? untrusted : null
}

const noTls: Refusal = [
  'unreachable',
  'offers no TLS, which sslmode=verify-full needs: give it a certificate and set ssl = on, as app-platform help high-availability shows.',
]
const otherProof: Refusal = [
  'unreachable',
  'wants another proof than a password of the user of DATABASE_URL: allow scram-sha-256 for it in pg_hba.conf.',
]
const noAuthority: Refusal = [
  'unreachable',
  'cannot be checked, because sslrootcert in DATABASE_URL names a file that this user cannot read: correct it.',
]
const untrusted: Refusal = [
  'unreachable',
  'is not reached over verified TLS: check its certificate, the host name in it, and sslrootcert.',
]

const unanswered: Refusal = [
  'down',
  'does not answer in time: see whether its machine can be reached, whether it runs, and how busy its processors and disks are.',
]
const unconfirmed: Refusal = [
  'down',
  'confirms no commit, because its synchronous standby does not answer: start the standby, or run ALTER SYSTEM RESET synchronous_standby_names and SELECT pg_reload_conf() on the primary.',
]

/** Why PostgreSQL itself refuses; null for an outage or a failover. */
const refusalFor = (error: unknown): Refusal | null => {
  const state = sqlState(error)
  if (error instanceof Unconfirmed) return unconfirmed
  if (error instanceof Unanswered) return unanswered
  if (state === null) return ofTheWay(error)
  if (isOfFiles(error)) return ofFiles
  if (state === '42501') return ofRights(error)
  const routine = error instanceof Bun.SQL.PostgresError ? error.routine : undefined
  return byRoutine[`${state} ${routine}`] ?? refusals[state] ?? null
}

const inWords = ([kind, words]: Refusal, { place }: Places) =>
  new DatabaseUnusable(kind, `PostgreSQL at ${place} ${words}`)

/** Why PostgreSQL itself refuses, as a sentence for the operator; null for an outage or a failover. */
export const refusalIn = (error: unknown, at: Places): string | null => {
  const refusal = refusalFor(error)
  return refusal === null ? null : inWords(refusal, at).message
}

/**
 * What an error of a connection or of work on the database means, as a sentence for the operator that repeats neither user nor password.
 * Null for one that is not of PostgreSQL, or that is our own mistake.
 */
export const postgresFaultAt = (error: unknown, at: Places): DatabaseUnusable | null => {
  if (error instanceof DatabaseUnusable) return error
  if (error instanceof PlatformError) {
    if (error.code !== 'unavailable') return null
    return error.cause === undefined ? inWords(unanswered, at) : postgresFaultAt(error.cause, at)
  }
  const state = sqlState(error)
  if (state === '08P01' && messageOf(error).includes('startup parameter')) return pooled(at)
  // Of several servers, one that does not answer is no reason: another one could be the primary.
  const refusal = error instanceof Unanswered && at.place !== at.places ? null : refusalFor(error)
  if (refusal !== null) return inWords(refusal, at)
  const fault = postgresFault(error)
  if (fault === 'statement') return null
  return state === null ? noPrimary(at) : inWords(unknownState(state), at)
}

const unknownState = (state: string): Refusal => [
  'unreachable',
  `refuses this (SQLSTATE ${state}): see its log, and run the command again.`,
]

/** A pooler drops the settings of a session, or gives every transaction another session. */
export const pooled = ({ place }: Places) =>
  new DatabaseUnusable(
    'unsupported',
    `A pooler such as PgBouncer stands before PostgreSQL at ${place}: connect to PostgreSQL itself, on its own port (5432 by default).`,
  )

const noPrimary = ({ places }: Places) =>
  new DatabaseUnusable(
    'down',
    `None of the hosts in DATABASE_URL is reachable as a PostgreSQL primary (${places}): start one, or promote its standby.`,
  )
