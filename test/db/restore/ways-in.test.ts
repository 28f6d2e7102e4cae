import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { ends } from '../../../db/restore/ends.ts'
import * as tables from '../../../db/tables/sqlite.ts'
import { signInWithIdentity } from '../../../src/operations/sessions/identity.ts'
import { linkUser } from '../../../src/operations/users/users.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { restoreAt } from '../../cli/support/restore-at.ts'
import { backUp } from '../../support/database-file.ts'
import { openAsOperator, operator, passwordOnly, trace } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addUser } from '../../support/world.ts'

const opened = async <T>(file: string, work: (platform: Platform) => Promise<T>): Promise<T> => {
  const platform = await openAsOperator(file)
  try {
    return await work(platform)
  } finally {
    await platform.database.close()
  }
}

test('an ID of the builder that was given to somebody else since the backup does not open the first account again', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const { ada, bob, eve } = await opened(file, async (platform) => {
    const [ada, bob, eve] = [await addUser(platform), await addUser(platform), await addUser(platform)]
    await linkUser(platform, trace, operator, { email: ada.email, externalId: '42' })
    await linkUser(platform, trace, operator, { email: eve.email, externalId: 'e' })
    backUp(file, `${file}.older`)
    await linkUser(platform, trace, operator, { email: ada.email, externalId: '41' })
    await linkUser(platform, trace, operator, { email: bob.email, externalId: '42' })
    return { ada, bob, eve }
  })
  const { carriedOver } = await restoreAt(file, `${file}.older`)
  expect(carriedOver?.links).toBeGreaterThan(0)
  await opened(file, async ({ database: { queries: q } }) => {
    const idsOf = async (id: string) => (await q.users.byId(id))?.externalId
    expect([await idsOf(ada.id), await idsOf(bob.id), await idsOf(eve.id)]).toEqual(['41', '42', 'e'])
  })
})

const claims = (subject: string) => ({
  issuer: 'https://id.example',
  subject,
  email: `${subject}@id.example`,
  isEmailVerified: true,
  name: null,
  acr: null,
  askedAt: null,
  issuedAt: 0,
  missed: null,
})

test('an account at an identity provider that was taken away since the backup does not open the account again', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const rules = { ...passwordOnly, createsUsers: true }
  await opened(file, async (platform) => {
    const enter = async (subject: string) =>
      await signInWithIdentity(platform, trace, claims(subject), rules, { agent: null, begunAt: platform.clock.now() })
    await enter('taken')
    await enter('kept')
    backUp(file, `${file}.older`)
    await enter('later')
    backUp(file, `${file}.newer`)
    for (const subject of ['taken', 'later']) {
      await platform.database.transaction(
        async (q) => await q.identities.end('https://id.example', subject, platform.clock.now()),
      )
    }
  })
  const linked = async () =>
    await opened(file, async ({ database: { queries: q } }) => {
      const subjects = ['taken', 'kept', 'later'].map(async (subject) =>
        (await q.identities.find('https://id.example', subject)) === null ? [] : [subject],
      )
      return (await Promise.all(subjects)).flat()
    })
  const remembered = async () =>
    await opened(file, async ({ database: { queries: q } }) => [
      await q.identities.hasEnded('https://id.example', 'taken'),
      await q.identities.hasEnded('https://id.example', 'later'),
    ])
  await restoreAt(file, `${file}.older`)
  expect(await linked()).toEqual(['kept'])
  expect(await remembered()).toEqual([true, false]) // the account of the other one is not in this backup
  await restoreAt(file, `${file}.newer`)
  expect(await linked()).toEqual(['kept'])
  expect(await remembered()).toEqual([true, true])
})

test('the time to set up a second factor is not given again by a restore', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const dueAt = await opened(file, async (platform) => {
    const { id } = await addUser(platform)
    backUp(file, `${file}.older`)
    await platform.database.transaction(async (q) => await q.users.askForFactor(id, 1_000))
    return async (of: Platform) => (await of.database.queries.users.byId(id))?.factorDueAt
  })
  await restoreAt(file, `${file}.older`)
  expect(await opened(file, dueAt)).toBe(1_000)
})

/** Everything in them ends with a restore, or goes: sessions and tokens, links, and what a key of the server has signed. */
const endWithAll = new Set([
  'sessions',
  'signInRequests',
  'passwordLinks',
  'mails',
  'serverKeys',
  'serverSettings',
  'devices',
  'appInvitations',
  'appTokens',
  'grants',
  'authorizationCodes',
  'tokenPairs',
  'installSessionCodes',
  'embeddedSessions',
])
/** They let nobody in. */
const ofOthers = new Set([
  'formTickets',
  'clients',
  'stagedResources',
  'artifacts',
  'artifactChunks',
  'reviewMessages',
  'mutedMails',
  'rollbacks',
  'liveChanges',
  'idempotencyKeys',
  'auditEvents',
  'auditPositions',
  'webhookEvents',
  'webhookDeliveries',
  'webhookAttempts',
  'hourlyCounts',
  'dailyUsers',
  'watermarks',
  'carriedEnds',
])
/** The columns of all other tables that no end writes, because they let nobody in, or why an older value does no harm. */
const harmless: Readonly<Record<string, readonly string[]>> = {
  users: ['id', 'name', 'picture_url', 'created_at', 'sign_ins_ended_at' /* keys of the server sign what has begun */],
  identities: ['issuer', 'subject', 'user_id', 'created_at' /* of an ended one they let nobody in */],
  totp_keys: ['id', 'user_id', 'created_at', 'last_used_at', 'last_step' /* a code is of its minute */],
  passkeys: [
    'id',
    'user_id',
    'credential_id',
    'public_key',
    'name',
    'created_at',
    'last_used_at',
    'counter',
    'challenge_at', // a key of the server signs challenges
  ],
  recovery_codes: ['id', 'user_id', 'hash', 'created_at'],
  apps: [
    'id',
    'name',
    'publisher',
    'description',
    'slug',
    'development_version_id',
    'created_at',
    'held_scopes',
    'last_version_number',
    'lost_scopes', // what they are subtracted from ends with a restore
  ],
  scopes: ['id', 'usable_by', 'words', 'is_restricted', 'created_at'],
  app_members: ['id', 'app_id', 'user_id', 'created_at'],
  credentials: ['id', 'client_id', 'secret_hash', 'label', 'created_at', 'last_used_at', 'hint', 'created_by'],
  service_keys: ['id', 'name', 'secret_hash', 'rights', 'networks', 'created_at', 'chosen_end_at', 'last_used_at'], // nobody changes rights
  redirect_uris: [],
  resources: ['id', 'owner_id' /* its installs have ended */, 'kind', 'created_at', 'published_at'],
  installs: ['id', 'app_id', 'user_id', 'resource_id', 'environment', 'created_at'],
  versions: [
    'id',
    'app_id',
    'number',
    'version',
    'revision',
    'icon_sha256',
    'icon_place',
    'description',
    'notes',
    'reviewed_by',
    'manifest',
    'scopes',
    'created_at',
    'artifact_sha256',
    'artifact_filename',
    'artifact_size_bytes',
  ],
  webhook_endpoints: ['id', 'app_id', 'environment', 'url', 'kinds', 'failing_since', 'created_at'],
  webhook_secrets: [],
}

/** The columns of a table that an end sets, or all of them if it deletes rows. */
const endedIn = (table: string, columns: readonly string[]): readonly string[] => {
  const statements = ends.flatMap(({ first = [], done, kind }) => (kind === 'user_erased' ? done : first.concat(done)))
  if (statements.some((sql) => new RegExp(`DELETE FROM main\\.${table}\\s`).test(sql))) return columns
  const sets = statements.flatMap(
    (sql) =>
      new RegExp(
        `UPDATE (?:OR IGNORE )?main\\.${table} AS m SET ([\\s\\S]*?) FROM\\s+main\\.(?:carried_ends|rollbacks)`,
      ).exec(sql)?.[1] ?? [],
  )
  return columns.filter((column) => sets.some((set) => new RegExp(`(?:^|[\\s,])${column} = `).test(set)))
}

test('every column either ends by a restore as it has ended in the predecessor, or lets nobody in', () => {
  const unclassified = Object.entries<SQLiteTable>(tables).flatMap(([variable, table]) => {
    if (endWithAll.has(variable) || ofOthers.has(variable)) return []
    const name = getTableName(table)
    const columns = Object.values(getTableColumns(table)).map((column) => column.name)
    const ended = endedIn(name, columns)
    const rest = columns.filter((column) => !ended.includes(column))
    const known = harmless[name]
    if (known === undefined) return [`${name} is new`]
    const unknown = rest.filter((column) => !known.includes(column)).map((column) => `${name}.${column} has no end`)
    return unknown.concat(known.filter((column) => !columns.includes(column)).map((column) => `no ${name}.${column}`))
  })
  expect(unclassified).toEqual([])
})
