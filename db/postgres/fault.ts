import { PlatformError } from '../../src/domain/errors.ts'

/** What an error of PostgreSQL means for the transaction in which it happened. */
type PostgresFault =
  /** The connection is gone or the server is ending it. Nothing is kept, unless COMMIT or a change that commits by itself was under way. */
  | 'lost'
  /** The transaction was undone because of another one. It can run again. */
  | 'rerun'
  /** The server refuses work for now: it starts, ends, has no room, or a lock took too long. */
  | 'refused'
  /** The statement alone is at fault. */
  | 'statement'

/** Serialization failure, deadlock, unique and foreign key violation: another transaction was first. */
const ofOthers = new Set(['40001', '40P01', '23505', '23503'])

/** Connection exceptions; insufficient resources; operator intervention; object not available now; system errors. */
const refusing = new Set(['08', '53', '57', '55', '58'])

/** Thrown for a connection that this process has closed or given up, or that could not be opened safely. */
export class ConnectionLost extends Error {
  constructor(options?: ErrorOptions) {
    super('The connection to PostgreSQL was lost.', options)
    this.name = 'ConnectionLost'
  }
}

/** Thrown for a new connection to a primary that has not confirmed a commit in time: its synchronous standby does not answer. */
export class Unconfirmed extends ConnectionLost {}

/** Thrown for a connection that this process has given up, because its server had not answered for too long. */
export class Unanswered extends ConnectionLost {}

/** Thrown where all servers that answer are standbys. */
export class NoPrimary extends ConnectionLost {}

/** The SQLSTATE, which Bun keeps in `errno`; null for an error that the server did not send. */
export const sqlState = (error: unknown): string | null =>
  error instanceof Bun.SQL.PostgresError ? (error.errno ?? null) : null

export const postgresFault = (error: unknown): PostgresFault => {
  if (error instanceof ConnectionLost) return 'lost'
  if (!(error instanceof Bun.SQL.PostgresError)) return 'statement'
  const { errno: state, severity } = error
  if (state === undefined || severity === 'FATAL' || severity === 'PANIC') return 'lost'
  if (ofOthers.has(state)) return 'rerun'
  // 25006: a server in recovery takes no writes. It was the primary when this process connected.
  if (state === '25006' || state === '25P03') return 'lost'
  return refusing.has(state.slice(0, 2)) ? 'refused' : 'statement'
}

const [minuteMs, tenMinutesMs] = [60_000, 600_000]

/**
 * What keeps a PostgreSQL that runs from writing until a person acts, and for how long it counts, in milliseconds, after it was met while
 * other writes succeed. Any write shows whether there is room and whether changes are taken; memory lacks for some, and some meet damage.
 */
const untilActed: Readonly<Record<string, number>> = {
  '25006': 0,
  '53100': 0,
  '53200': minuteMs,
  '58030': minuteMs,
  '58P01': tenMinutesMs,
  XX001: tenMinutesMs,
  XX002: tenMinutesMs,
}

/** Null for what passes by itself, such as a lock, or is a fault of the statement. */
export const lastsMs = (error: unknown): number | null =>
  isOfFiles(error) ? minuteMs : (untilActed[sqlState(error) ?? ''] ?? null)

/** Whether the system did not let PostgreSQL use a file: that has the SQLSTATE of a missing privilege, and another origin. */
export const isOfFiles = (error: unknown): boolean =>
  sqlState(error) === '42501' && error instanceof Bun.SQL.PostgresError && error.routine?.startsWith('md') === true

/** Whether the server, the database or the role has no room for another connection. */
export const hasNoRoom = (error: unknown): boolean => sqlState(error) === '53300'

/** Whether PostgreSQL refuses the user or the password. */
export const isOfLogin = (error: unknown): boolean => ['28P01', '28000'].includes(sqlState(error) ?? '')

/** Whether PostgreSQL has refused a statement for its values, or because another transaction was first. */
export const isOfValues = (error: unknown): boolean =>
  sqlState(error) !== null && (postgresFault(error) === 'statement' || postgresFault(error) === 'rerun')

/** `cause`: why PostgreSQL has not done it, which operators are told (`../faults/postgres.ts`). */
export const unavailable = (retryAfterSeconds: number, cause?: unknown) =>
  new PlatformError('unavailable', { retryAfterSeconds }, { cause })
