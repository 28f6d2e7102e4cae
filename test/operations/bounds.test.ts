import { expect, test } from 'bun:test'
import { getTableName, is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { join } from 'node:path'
import * as tables from '../../db/tables/sqlite.ts'
import { readConfig } from '../../src/config.ts'
import { sharedSettings } from '../../src/config/shared.ts'
import { defaultQuotas } from '../../src/domain/limits.ts'
import { createApp, deleteApp, undeleteApp } from '../../src/operations/apps/apps.ts'
import { purgeAll } from '../../src/operations/purge/purge.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { uploadVersion } from '../support/version.ts'
import { addApp, addUser } from '../support/world.ts'
import { refusalOf } from './support/owner.ts'

// What bounds how much callers can store. Everybody but an operator of the machine is a caller.

/** What the purge removes after a lifetime; or how long its rows stay. */
type Stays = `purge ${string}` | 'kept' | 'with its app'
/**
 * `made by` and what limits it: a setting, or a constant of the program. Rows that are kept for ever are small, and RATE_LIMIT_DAILY
 * bounds how fast they grow.
 */
const bounds: Readonly<Record<string, readonly [by: string, bound: string, stays: Stays]>> = {
  users: ['the builder, an identity provider, operators', 'one per person there; RATE_LIMIT_MANAGEMENT', 'kept'],
  identities: ['an identity provider', 'one per account there', 'kept'],
  sessions: ['signing in', 'RATE_LIMIT_ADDRESS, LIFETIME_SESSION', 'purge sessions'],
  sign_in_requests: [
    'anybody, signing in through the builder',
    'RATE_LIMIT_ADDRESS, signInRequestSeconds',
    'purge sign_in_requests',
  ],
  devices: ['signing in', 'mostDevices per user', 'purge devices'],
  totp_keys: ['users', 'one that works; RATE_LIMIT_DAILY', 'kept'],
  passkeys: ['users', 'mostPasskeys that work; RATE_LIMIT_DAILY', 'kept'],
  recovery_codes: ['users', 'recoveryCodeCount that work; RATE_LIMIT_DAILY', 'kept'],
  password_links: [
    'anybody, for an address',
    'RATE_LIMIT_SIGN_IN, mostAskedLinks, passwordLinkSeconds',
    'purge password_links',
  ],
  mails: [
    'anybody, for an address; members who invite',
    'mostAskedLinks, mostMailedInvitations, RATE_LIMIT_WRITE',
    'purge mails',
  ],
  muted_mails: ['users', 'one per topic', 'kept'],
  form_tickets: ['users', 'RATE_LIMIT_WRITE', 'purge form_tickets'],
  apps: ['developers', 'QUOTA_APPS, and as many deleted ones', 'purge deleted_apps'],
  clients: ['developers', 'two per app', 'with its app'],
  app_members: ['members', 'maximumMembers at a time; RATE_LIMIT_DAILY', 'with its app'],
  app_invitations: ['members', 'maximumInvitations open per app; RATE_LIMIT_DAILY', 'purge app_invitations'],
  credentials: ['members', 'maximumLiveSecrets that work; RATE_LIMIT_DAILY', 'with its app'],
  redirect_uris: ['members', 'maximumRedirectUris per environment', 'with its app'],
  versions: ['members, apps', 'QUOTA_VERSIONS, of manifestLimitBytes and versionLimits.notes', 'with its app'],
  artifacts: ['members, apps', 'QUOTA_ARTIFACT_BYTES', 'purge artifacts'],
  artifact_chunks: ['members, apps', 'QUOTA_ARTIFACT_BYTES', 'purge artifacts'],
  review_messages: ['operators, members', 'reviewMessageLimits per version', 'with its app'],
  rollbacks: ['members, apps', 'RATE_LIMIT_DAILY', 'with its app'],
  live_changes: ['members, apps', 'RATE_LIMIT_DAILY', 'with its app'],
  webhook_endpoints: ['members', 'maximumEndpoints per environment', 'with its app'],
  webhook_secrets: ['members', 'two per endpoint', 'purge webhook_secrets'],
  webhook_events: [
    'everything that is announced',
    'RATE_LIMIT_WRITE, maximumEndpoints, webhookHistoryMs',
    'purge webhook_events',
  ],
  webhook_deliveries: [
    'everything that is announced',
    'RATE_LIMIT_WRITE, maximumEndpoints, webhookHistoryMs',
    'purge webhook_events',
  ],
  webhook_attempts: [
    'everything that is announced',
    'maximumAttempts per delivery, webhookHistoryMs',
    'purge webhook_attempts',
  ],
  app_tokens: ['apps', 'RATE_LIMIT_TOKEN, LIFETIME_APP_TOKEN', 'purge app_tokens'],
  grants: ['users', 'RATE_LIMIT_AUTHORIZE, LIFETIME_REFRESH_TOKEN', 'purge grants'],
  authorization_codes: ['users', 'RATE_LIMIT_AUTHORIZE, LIFETIME_CODE', 'purge grants'],
  token_pairs: ['apps', 'RATE_LIMIT_TOKEN, LIFETIME_GRANT', 'purge grants'],
  installs: ['users', 'one open per app and place; RATE_LIMIT_DAILY', 'with its app'],
  install_session_codes: [
    'users',
    'RATE_LIMIT_AUTHORIZE, RATE_LIMIT_DAILY, LIFETIME_SESSION',
    'purge install_session_codes',
  ],
  embedded_sessions: ['pages in frames', 'one per install_session_codes, LIFETIME_SESSION', 'purge embedded_sessions'],
  idempotency_keys: ['apps', 'RATE_LIMIT_WRITE, a day', 'purge idempotency_keys'],
  audit_events: [
    'everybody',
    'RATE_LIMIT_DAILY, RATE_LIMIT_TOKEN, refusals a minute, AUDIT_RETENTION_DAYS',
    'purge audit_events',
  ],
  audit_positions: ['the builder, reading the audit', 'one per audit_events', 'purge audit_positions'],
  hourly_counts: ['the purge', 'one per app, environment and hour', 'purge hourly_counts'],
  daily_users: ['the purge', 'one per app, environment, user and day', 'purge daily_users'],
  resources: ['the builder', 'RATE_LIMIT_MANAGEMENT', 'kept'],
  staged_resources: ['the builder', 'RATE_LIMIT_MANAGEMENT, a day', 'purge staged_resources'],
  scopes: ['operators, the builder', 'RATE_LIMIT_MANAGEMENT; 200 that are not retired', 'kept'],
  service_keys: ['operators', 'RATE_LIMIT_DAILY', 'kept'],
  server_keys: ['the server', 'one per name', 'kept'],
  server_settings: ['the server', 'one per setting', 'kept'],
  watermarks: ['the server', 'one per name', 'kept'],
  carried_ends: ['operators of the machine', 'restores', 'kept'],
}

const platform = await openAsOperator(join(temporaryFolder(), 'bounds.db'))

test('every table has a bound', () => {
  const names = Object.values(tables).flatMap((table) => (is(table, SQLiteTable) ? [getTableName(table)] : []))
  expect(Object.keys(bounds).toSorted()).toEqual(names.toSorted())
})

test('the settings in the table exist, and the purge removes what it says', async () => {
  const settings = Object.keys(sharedSettings(readConfig({}, {})))
  const named = Object.values(bounds).flatMap(([, bound]) => bound.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [])
  expect(named.filter((name) => !settings.includes(name))).toEqual([])
  const purged = Object.keys(
    await purgeAll(
      platform,
      trace,
      async () => undefined,
      () => false,
    ),
  )
  const said = Object.values(bounds).flatMap(([, , stays]) => (stays.startsWith('purge ') ? [stays.slice(6)] : []))
  expect(said.filter((kind) => !purged.includes(kind))).toEqual([])
})

test('an app has as many versions as the quota allows, also when they are uploaded at once; drafts can still be replaced', async () => {
  const app = await addApp(platform, await addUser(platform))
  const narrow = { ...platform, quotas: { ...defaultQuotas, versions: 3 } }
  const upload = async (version: string) => await refusalOf(uploadVersion(narrow, app, { version }))
  const outcomes = await Promise.all(Array.from({ length: 8 }, async (_, index) => await upload(`1.0.${index}`)))
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(3)
  expect(new Set(outcomes)).toEqual(new Set(['done', 'quota_exceeded']))
  const first = `1.0.${outcomes.indexOf('done')}`
  expect([await upload(first), await upload('2.0.0')]).toEqual(['done', 'quota_exceeded'])
})

test('making and deleting apps stores at most twice the quota, and a deleted app can be brought back', async () => {
  const owner = await addUser(platform)
  const narrow = { ...platform, quotas: { ...defaultQuotas, apps: 2 } }
  const make = async (slug: string) => {
    const app = { ownerEmail: owner.email, name: 'Again', slug, scopes: 'site:read' }
    return await refusalOf(createApp(narrow, trace, operator, app))
  }
  const seen: Awaited<ReturnType<typeof make>>[] = []
  for (let index = 0; index < 6; index += 1) {
    seen.push(await make(`again-${index}`))
    if (seen.at(-1) === 'done') await deleteApp(narrow, trace, operator, `again-${index}`)
  }
  expect(seen).toEqual(['done', 'done', 'done', 'done', 'quota_exceeded', 'quota_exceeded'])
  expect(await refusalOf(undeleteApp(narrow, trace, operator, 'again-0'))).toBe('done')
})
