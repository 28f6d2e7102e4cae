import { expect } from 'bun:test'
import { join } from 'node:path'
import { readAcknowledged, writeAcknowledged } from '../../db/sqlite/acknowledged.ts'
import { timeColumns } from '../../db/stopped-changes.ts'
import { totpCode } from '../support/factors.ts'
import { Connection } from '../../db/sqlite/connection.ts'
import { askBeside } from '../support/beside.ts'
import { call, codeOf } from '../support/call.ts'
import { onSqlite } from '../support/engines.ts'
import { startServer } from '../support/running-server.ts'
import { appToken, createWorld, grantTokens, refresh, signIn } from '../support/world.ts'
import { deskAt, failureIn, isoTime, openDesk } from './support/run.ts'

const test = onSqlite('time beside the file')

const day = 86_400_000

test('clock reset takes the time back, ends everything issued, leaves no time in the future and keeps the audit log in order', async () => {
  const world = await createWorld()
  const { server, app, user } = world
  const desk = deskAt(server.database)
  await world.platform.database.close()
  expect(await server.stop()).toBe(0)
  expect((await desk.run(['clock', 'reset'])).stderr).toContain('there is nothing to reset')

  // The state after the machine's clock was a day ahead for a while.
  writeAcknowledged(desk.file, { count: readAcknowledged(desk.file) ?? 0, time: Date.now() + day })
  const ahead = await startServer({ database: desk.file })
  expect((await call(ahead.url, 'GET', '~/readyz')).body.error.details).toEqual({ conditions: ['clock_ahead'] })
  const token = await appToken(ahead.url, app.production)
  const session = await signIn(ahead.url, user)
  const grant = await grantTokens({ ...world, server: ahead })
  await desk.json(['app', 'suspend', app.slug])
  await desk.json(['app', 'activate', app.slug])
  const backup = join(desk.folder, 'ahead.db')
  await desk.json(['backup', backup])
  await desk.json(['app', 'suspend', app.slug])
  const beside = await desk.run(['clock', 'reset', '--json'])
  expect([beside.exitCode, failureIn(beside)]).toEqual([1, 'database_unusable'])
  expect(beside.stderr).toContain('A server is running on')
  expect(await ahead.stop()).toBe(0)
  const counted = "INSERT INTO hourly_counts VALUES (?, 'production', 'tokens', ?, 3)"
  const hours = [Date.now() - day, Date.now() + day / 2]
  for (const hour of hours) await askBeside(desk.file, counted, app.id, hour)

  const step = Math.floor(Date.now() / 30_000)
  const key = new Uint8Array(20)
  const factor = "INSERT INTO totp_keys SELECT 'totp', id, ?, ?, 0, NULL, NULL FROM users WHERE email = ?"
  await askBeside(desk.file, factor, key, step + 2_880, user.email)

  const answer = await desk.json(['clock', 'reset'])
  expect(answer).toEqual({
    resetAt: expect.stringMatching(isoTime),
    database: desk.file,
    aheadSeconds: expect.any(Number),
    ended: { appTokens: expect.any(Number), grants: 1, sessions: expect.any(Number), embeddedSessions: 0 },
    clamped: expect.any(Number),
  })
  expect(answer.aheadSeconds).toBeGreaterThan(86_000)
  using look = new Connection(desk.file, { readonly: true })
  expect(Number(look.value('SELECT last_step FROM totp_keys'))).toBeLessThanOrEqual(step + 10)
  for (const { table, column } of timeColumns) {
    const latest = look.value(`SELECT max(${column}) FROM ${table}`)
    expect([table, column, Number(latest ?? 0) <= Date.now()]).toEqual([table, column, true])
  }
  expect(look.rows('SELECT hour FROM hourly_counts')).toEqual([{ hour: hours[0] }])
  look.close()
  await desk.json(['app', 'activate', app.slug])

  const again = await startServer({ database: desk.file })
  const { url } = again
  expect((await call(url, 'GET', '~/readyz')).status).toBe(200)
  expect(codeOf(await call(url, 'GET', '/me', { token }))).toBe('invalid_token')
  expect((await call(url, 'GET', '~/api/session', { token: session })).status).toBe(401)
  expect(codeOf(await call(url, 'GET', '/oauth/me', { token: grant.accessToken }))).toBe('invalid_token')
  expect(codeOf(await refresh(url, app, grant.refreshToken))).toBe('invalid_grant')
  const fresh = await call(url, 'GET', '/me', { token: await appToken(url, app.production) })
  expect(Date.parse(fresh.body.expiresAt)).toBeLessThan(Date.now() + day / 2)
  const { email, password } = user
  const body = { email, password, code: totpCode(key, Date.now()) }
  expect((await call(url, 'POST', '~/api/session', { body })).status).toBe(200)
  expect(await again.stop()).toBe(0)

  // Pages are listed by ID, and in that order times never go back.
  const reader = new Connection(desk.file, { readonly: true })
  using statement = reader.prepare<{ at: number; action: string }, []>(
    'SELECT at, action FROM audit_events ORDER BY id',
  )
  const events = statement.all()
  expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).toSorted((a, b) => a - b))
  const actions = events.map(({ action }) => action)
  expect(actions.lastIndexOf('session.created')).toBeGreaterThan(actions.indexOf('clock.reset'))
  statement[Symbol.dispose]()
  reader.close()
  expect((await desk.run(['check'])).exitCode).toBe(0)

  // A backup from before the reset revives nothing that ended after it.
  await desk.json(['app', 'suspend', app.slug])
  const { carriedOver } = await desk.json(['restore', backup])
  expect(carriedOver.apps).toBe(1)
})

/** Columns of counts and measures, which are no times. */
const noTimes = new Set([
  'app_tokens.key',
  'authorization_codes.grant_key',
  'authorization_codes.key',
  'grants.current_key',
  'grants.key',
  'grants.retry_key',
  'token_pairs.grant_key',
  'token_pairs.key',
  'token_pairs.previous_key',
  'live_changes.position',
  'apps.last_version_number',
  'schema_migrations.id',
  'apps.secrets_roll_back',
  'apps.is_listed',
  'scopes.is_restricted',
  'users.is_operator',
  'devices.failures',
  'artifacts.size_bytes',
  'artifact_chunks.position',
  'versions.number',
  'versions.revision',
  'versions.artifact_size_bytes',
  'webhook_events.position',
  'webhook_deliveries.position',
  'webhook_deliveries.attempts',
  'webhook_attempts.duration_ms',
  'webhook_attempts.status',
  'audit_positions.position',
  'hourly_counts.count',
  'staged_resources.line',
  // A reset removes the counts of the future.
  'hourly_counts.hour',
  'daily_users.day',
  'daily_users.hour',
  // Half minutes, which a reset takes back as well.
  'totp_keys.last_step',
  'passkeys.counter',
  'mails.attempts',
])

test('every number column of the schema is either a time that a reset takes back or listed as no time', async () => {
  const { file } = await openDesk()
  const connection = new Connection(file, { readonly: true })
  const times = timeColumns.map(({ table, column }) => `${table}.${column}`)
  using statement = connection.prepare<{ name: string }, []>(
    `SELECT s.name || '.' || c.name AS name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c
    WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite_%' AND c.type = 'INTEGER'`,
  )
  const numbers = statement.all().map(({ name }) => name)
  statement[Symbol.dispose]()
  connection.close()
  expect(numbers.filter((name) => !times.includes(name) && !noTimes.has(name))).toEqual([])
  expect(times.filter((name) => noTimes.has(name))).toEqual([])
  expect(times.length).toBeGreaterThan(40)
})
