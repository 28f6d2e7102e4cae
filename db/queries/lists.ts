import { asc, lt, and, eq, getTableColumns, is, isNull, ne, SQL, sql } from 'drizzle-orm'
import { type SQLiteColumn, SQLiteSyncDialect, type SQLiteTable, union } from 'drizzle-orm/sqlite-core'
import { dayMs } from '../../src/domain/count.ts'
import { deviceLifetimeSeconds } from '../../src/domain/device.ts'
import { keyOfUuidTime, recordIdOfTime, type RecordPrefix } from '../../src/domain/identifier.ts'
import { maximumLifetimes } from '../../src/domain/lifetimes.ts'
import { mailHistoryMs } from '../../src/domain/mail.ts'
import { invitationSeconds } from '../../src/domain/member.ts'
import { noPassword, passwordLinkSeconds } from '../../src/domain/password.ts'
import { signInRequestSeconds } from '../../src/domain/sign-in-rules.ts'
import { timeKeyAt } from '../../src/domain/time-key.ts'
import { webhookHistoryMs } from '../../src/domain/webhook-delivery.ts'
import * as tables from '../tables/sqlite.ts'
import { removeSome, keyOf } from './rows.ts'
import { type DrizzleConnection, only } from './connection.ts'
import { pick } from '../../src/domain/pick.ts'

/** Rows that go by age: once `by` is below what `at` makes of the time that is `keptMs` ago. */
type Expiring = {
  readonly by: SQLiteColumn
  readonly at: (ms: number) => string | number
  readonly keptMs: number
  /** Whether all of them go as soon as nobody knows what has ended: they could have been used since. */
  readonly goesInDoubt?: true
}

const asTime = (ms: number): number => ms
const asId = (prefix: RecordPrefix) => (ms: number) => recordIdOfTime(prefix, ms)
const sessionMs = maximumLifetimes.session * 1000
const goesInDoubt = true

/**
 * Every table whose rows go by age. The keys begin with the time at which the row was made, so the oldest rows are the first
 * ones. What has an expiry in a column and is not here: client secrets and service keys, which stay as a record.
 */
export const expiring = {
  app_tokens: { by: tables.appTokens.key, at: timeKeyAt, keptMs: maximumLifetimes.appToken * 1000 },
  sessions: { by: tables.sessions.key, at: keyOfUuidTime, keptMs: sessionMs },
  devices: { by: tables.devices.id, at: keyOfUuidTime, keptMs: deviceLifetimeSeconds * 1000, goesInDoubt },
  // A ticket is bound to a session and ends with it, and with the server's keys.
  form_tickets: { by: tables.formTickets.key, at: keyOfUuidTime, keptMs: sessionMs, goesInDoubt },
  sign_in_requests: {
    by: tables.signInRequests.key,
    at: keyOfUuidTime,
    keptMs: signInRequestSeconds * 1000,
    goesInDoubt,
  },
  password_links: { by: tables.passwordLinks.id, at: asId('lnk_'), keptMs: passwordLinkSeconds * 1000, goesInDoubt },
  mails: { by: tables.mails.id, at: asId('eml_'), keptMs: mailHistoryMs, goesInDoubt },
  app_invitations: { by: tables.appInvitations.id, at: asId('inv_'), keptMs: invitationSeconds * 1000, goesInDoubt },
  staged_resources: { by: tables.stagedResources.importKey, at: keyOfUuidTime, keptMs: dayMs },
  // Both stay as long as their session could be open, so that a page that comes late gets a precise error.
  install_session_codes: { by: tables.installSessionCodes.key, at: keyOfUuidTime, keptMs: sessionMs },
  embedded_sessions: { by: tables.embeddedSessions.key, at: keyOfUuidTime, keptMs: sessionMs },
  // With their codes and token pairs.
  grants: { by: tables.grants.expiresAt, at: asTime, keptMs: 0 },
  idempotency_keys: { by: tables.idempotencyKeys.expiresAt, at: asTime, keptMs: 0 },
  webhook_attempts: { by: tables.webhookAttempts.id, at: asId('att_'), keptMs: webhookHistoryMs },
  // With their deliveries.
  webhook_events: { by: tables.webhookEvents.id, at: asId('evt_'), keptMs: webhookHistoryMs },
  webhook_secrets: { by: tables.webhookSecrets.expiresAt, at: asTime, keptMs: 0 },
} as const satisfies Readonly<Record<string, Expiring>>

export type ExpiringKind = keyof typeof expiring
/** What takes nothing else along and leaves no trace. */
export type PlainKind = Exclude<ExpiringKind, 'app_tokens' | 'grants' | 'webhook_events'>

/** Tables of which nothing is kept by a restore, a recovery and a reset of the clock. */
export const goneInDoubt = Object.entries<Expiring>(expiring).flatMap(([table, each]) =>
  each.goesInDoubt ? [table] : [],
)

/** Tables whose keys are those of UUIDs. A key of the future would keep its row for as long as the clock was ahead. */
export const keyedByUuid = Object.entries<Expiring>(expiring).flatMap(([table, { by, at }]) =>
  at === keyOfUuidTime ? [{ table, column: by.name }] : [],
)

export const expiringQueries = (db: DrizzleConnection) => ({
  /** Removes up to `limit` rows of this table that may go at this time, the oldest first, and returns how many. */
  remove: async (kind: PlainKind, before: number, limit: number): Promise<number> => {
    const { by, at, keptMs }: Expiring = expiring[kind]
    return await removeSome(db, by.table, lt(by, at(before - keptMs)), limit, asc(by))
  },
})

type Row<T extends SQLiteTable> = T['$inferSelect']
type Values = Readonly<Record<string, unknown>>

/** Rows of a person. */
type RowsOf<T extends SQLiteTable, Told extends string> = {
  readonly table: T
  /** The column that has the person's ID, or their address. */
  readonly by: SQLiteColumn
  readonly isByAddress?: true
  /** What an erasure does with the rows. Values are written into them. What is kept has an ID without a person. */
  readonly erased: 'removed' | 'kept' | Values
  /** The columns that an export tells. A new one is not told before somebody has decided so. */
  readonly told: readonly Told[]
  /** Other rows are not the person's any more, or must stay. */
  readonly only?: SQL
}

const rowsOf = <T extends SQLiteTable, Told extends keyof Row<T> & string = never>(
  table: T,
  by: keyof Row<T>,
  erased: RowsOf<T, Told>['erased'],
  told: readonly Told[] = [],
  more: Pick<RowsOf<T, Told>, 'only' | 'isByAddress'> = {},
): RowsOf<T, Told> => {
  const columns: Readonly<Record<PropertyKey, SQLiteColumn>> = getTableColumns<SQLiteTable>(table)
  return { table, by: columns[by] as SQLiteColumn, erased, told, ...more } // by its name
}

const times = ['createdAt', 'expiresAt'] as const

/** Rows that an export tells, by their names in it. */
const told = {
  identities: rowsOf(tables.identities, 'userId', 'removed', ['issuer', 'subject', 'createdAt', 'endedAt']),
  sessions: rowsOf(tables.sessions, 'userId', { address: '', agent: null }, [
    ...times,
    'endedAt',
    'lastUsedAt',
    'askedAt',
    'address',
    'agent',
  ]),
  knownBrowsers: rowsOf(tables.devices, 'userId', 'removed', times),
  authenticatorApps: rowsOf(tables.totpKeys, 'userId', 'removed', ['createdAt', 'lastUsedAt', 'endedAt']),
  passkeys: rowsOf(tables.passkeys, 'userId', 'removed', ['name', 'createdAt', 'lastUsedAt', 'endedAt']),
  passwordLinks: rowsOf(tables.passwordLinks, 'userId', 'removed', ['email', ...times, 'endedAt']),
  mails: rowsOf(tables.mails, 'userId', 'removed', ['kind', 'state', 'createdAt']),
  mutedMails: rowsOf(tables.mutedMails, 'userId', 'removed', ['topic']),
  recoveryCodes: rowsOf(tables.recoveryCodes, 'userId', 'removed', ['createdAt', 'endedAt']),
  grants: rowsOf(tables.grants, 'userId', 'kept', ['id', 'appId', 'clientId', 'scopes', ...times, 'revokedAt']),
  resources: rowsOf(
    tables.resources,
    'ownerId',
    'kept', // those that have a name are removed before
    ['id', 'kind', 'externalId', 'name', 'slug', 'status', 'createdAt', 'updatedAt', 'publishedAt'],
    { only: isNull(tables.resources.deletedAt) },
  ),
  installs: rowsOf(tables.installs, 'userId', 'kept', [
    'id',
    'appId',
    'resourceId',
    'environment',
    'scopes',
    'approval',
    'state',
    'createdAt',
    'updatedAt',
  ]),
  apps: rowsOf(tables.apps, 'ownerId', 'kept', ['id', 'name', 'slug', 'status', 'createdAt'], {
    only: isNull(tables.apps.deletedAt),
  }),
  reviewMessages: rowsOf(tables.reviewMessages, 'authorId', 'removed', ['versionId', 'text', 'createdAt']),
  memberships: rowsOf(tables.appMembers, 'userId', 'removed', ['appId', 'role', 'createdAt', 'updatedAt', 'endedAt']),
  invitations: rowsOf(tables.appInvitations, 'email', 'removed', ['appId', 'role', ...times, 'endedAt'], {
    isByAddress: true,
  }),
} as const

/** The other rows that have the ID or the address of a person. */
const untold = [
  rowsOf(tables.identities, 'addressHolderId', { addressHolderId: null }),
  rowsOf(tables.signInRequests, 'userId', 'removed'),
  rowsOf(tables.mails, 'address', 'removed', [], { isByAddress: true }),
  rowsOf(tables.appInvitations, 'invitedBy', 'removed'),
  rowsOf(tables.dailyUsers, 'userId', 'kept'),
  rowsOf(tables.versions, 'reviewedBy', 'kept'),
  rowsOf(tables.stagedResources, 'ownerId', 'kept'),
  // An earlier address, and the hash of a password. That the person was erased in another database stays known.
  rowsOf(tables.carriedEnds, 'target', 'removed', [], { only: ne(tables.carriedEnds.kind, 'user_erased') }),
]

/**
 * Every column that has a person's ID or address, and what becomes of its rows: an erasure and a restore walk over them, an export
 * over those that it tells. A test compares them with the schema.
 */
export const personalRows: readonly RowsOf<SQLiteTable, string>[] = [...Object.values(told), ...untold]

/** What is left of an erased person in their own row. The ID takes the place of the address: it is no address, so nobody can have it. */
const erasedUser = {
  email: sql`id`,
  name: 'Erased user',
  pictureUrl: null,
  passwordHash: noPassword,
  suspendedAt: null,
  isOperator: false,
  status: 'disabled',
  externalId: null,
} as const

type Told = typeof told
type Name = keyof Told
type Data = {
  readonly [N in Name]: Pick<Row<Told[N]['table']>, Told[N]['told'][number] & keyof Row<Told[N]['table']>>[]
}
/** A person, as their rows name them. */
type Person = { readonly id: string; readonly email: string }

/** SQL that writes these values into a row. */
const written = (table: SQLiteTable, values: Values): SQL => {
  const columns = getTableColumns(table)
  const parts = Object.entries(values).map(([name, value]) => {
    const column = columns[name]
    return sql`${sql.identifier(column?.name ?? name)} = ${is(value, SQL) ? value : sql.param(value, column)}`
  })
  return sql.join(parts, sql`, `)
}

/** What an erasure does with rows besides that of the user. `isOf` says whose they are; null: they are left to others. */
const erasures = (isOf: (rows: RowsOf<SQLiteTable, string>) => SQL | null): readonly SQL[] =>
  personalRows.flatMap((rows) => {
    const { table, erased, only } = rows
    const isTheirs = isOf(rows)
    if (erased === 'kept' || isTheirs === null) return []
    const begin = erased === 'removed' ? sql`delete from ${table}` : sql`update ${table} set ${written(table, erased)}`
    return [sql`${begin} where ${and(isTheirs, only)}`]
  })

const isOfPerson = ({ by, isByAddress }: RowsOf<SQLiteTable, string>, { id, email }: Person): SQL =>
  eq(by, isByAddress === true ? email : id)

export const personalQueries = (db: DrizzleConnection) => {
  const rows = async (name: Name, person: Person): Promise<readonly Values[]> => {
    const { table, only } = told[name] as RowsOf<SQLiteTable, string> // whichever it is
    const theirs = db
      .select()
      .from(table)
      .where(and(isOfPerson(told[name], person), only))
    return await theirs.orderBy(...keyOf(table).map((column) => asc(column)))
  }
  return {
    /** Every row of a person that an export has under this name, also ended ones, the oldest first. Some are found by the address. */
    rows: async <N extends Name>(name: N, id: string, email = '') =>
      (await rows(name, { id, email })) as Row<Told[N]['table']>[], // by its table
    /** What an export tells of a person. */
    data: async (person: Person): Promise<Data> => {
      const data: Record<string, readonly Values[]> = {}
      for (const [name, { told: columns }] of Object.entries<RowsOf<SQLiteTable, string>>(told)) {
        const found = await rows(name as Name, person) // of this very object
        data[name] = found.map((row) => pick(row, ...columns))
      }
      return data as Data // as above
    },
    /** The apps that were ever allowed to act for a person or installed for them, in each environment; not deleted ones. */
    appsOf: async (userId: string) => {
      const { apps, clients, grants, installs } = tables
      const granted = db
        .select({ appId: clients.appId, environment: clients.environment })
        .from(grants)
        .innerJoin(clients, eq(clients.id, grants.clientId))
        .where(eq(grants.userId, userId))
      const installed = db
        .select({ appId: installs.appId, environment: installs.environment })
        .from(installs)
        .where(eq(installs.userId, userId))
      const known = union(granted, installed).as('known')
      return await db
        .select({ appId: known.appId, environment: known.environment })
        .from(known)
        .innerJoin(apps, eq(apps.id, known.appId))
        .where(isNull(apps.deletedAt))
        .orderBy(asc(known.appId), asc(known.environment))
    },
    /**
     * Removes everything personal. What was issued must have ended. True for exactly one of any number of racing calls. The address is
     * that of this moment, and it is read here: one that was read before may be somebody else's by now.
     */
    erase: async (id: string, now: number): Promise<boolean> => {
      const theirs = and(eq(tables.users.id, id), isNull(tables.users.erasedAt))
      const { email } = tables.users
      const person = only(
        await db.update(tables.users).set({ erasedAt: now }).where(theirs).returning({ id: tables.users.id, email }),
      )
      if (person === null) return false
      await db
        .update(tables.users)
        .set({ ...erasedUser, updatedAt: now })
        .where(eq(tables.users.id, id))
      for (const erasure of erasures((of) => isOfPerson(of, person))) await db.run(erasure)
      return true
    },
  }
}

const dialect = new SQLiteSyncDialect()
const textOf = (part: SQL): string => dialect.sqlToQuery(part.inlineParams()).sql

/** The same for a restore, as texts: what is written into the row of an erased person, and what is done with their other rows. */
export const erasedUserText = (): string => textOf(written(tables.users, erasedUser))
export const erasureTexts = (ids: string): readonly string[] =>
  erasures(({ by, isByAddress }) => (isByAddress === true ? null : sql`${by} in ${sql.raw(ids)}`)).map(textOf)
