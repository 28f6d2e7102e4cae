import { expect } from 'bun:test'
import { askPostgres } from '../../support/beside.ts'
import { call } from '../../support/call.ts'
import { eventually } from '../../support/crash.ts'
import { totpCode } from '../../support/factors.ts'
import { needs } from '../../support/needs.ts'
import { createNodes, startNode, until } from '../../support/nodes.ts'
import { postgresDatabase } from '../../support/postgres.ts'
import { runProgram } from '../../support/run-program.ts'
import { appToken, grantTokens } from '../../support/world.ts'

const { test } = needs('postgres')

const day = 86_400_000

test('clock reset takes the time back to the clock of PostgreSQL, ends everything issued, and leaves no time in the future', async () => {
  const database = await postgresDatabase('clock-reset')
  const reset = async () => await runProgram(['clock', 'reset', '--json', '--database', database])
  const [world] = await createNodes(database, 1)
  if (world === undefined) throw new Error('no server')
  await world.platform.database.close()
  await world.server.stop()
  expect((await reset()).stderr).toContain('there is nothing to reset')

  // The state after all clocks were a day ahead, and a server was killed then.
  const later = Date.now() + day
  await askPostgres(
    database,
    "INSERT INTO watermarks VALUES ('clock', ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at",
    [later],
  )
  await askPostgres(
    database,
    "INSERT INTO nodes (number, holder, beat_at, name, version, started_at, settings) VALUES (5, 'x', ?, 'x', 'x', ?, '{}')",
    [later, later],
  )
  await askPostgres(database, "INSERT INTO leases VALUES ('jobs', 'x', ?) ON CONFLICT (name) DO NOTHING", [later])
  const ahead = await startNode(world)
  const conditions = async (): Promise<readonly string[]> =>
    (await call(ahead.server.url, 'GET', '~/readyz')).body.error.details.conditions
  // On a busy machine its first look at PostgreSQL comes late.
  expect(await eventually(conditions, ([first]) => first === 'clock_ahead')).toEqual(['clock_ahead'])
  expect(await (await fetch(`${ahead.server.url}/metrics`)).text()).toContain('\napp_platform_node_leads 1\n')
  const token = await appToken(ahead.server.url, world.app.production)
  await grantTokens(ahead)
  expect(await reset()).toMatchObject({ code: 1, stderr: expect.stringContaining('A server is running') })
  await ahead.server.kill()
  const counted = "INSERT INTO hourly_counts VALUES (?, 'production', 'tokens', ?, 3)"
  for (const hour of [later - 2 * day, later]) await askPostgres(database, counted, [world.app.id, hour])

  const key = new Uint8Array(20)
  const factor = "INSERT INTO totp_keys SELECT 'totp', id, ?, ?, 0, NULL, NULL FROM users WHERE email = ?"
  await askPostgres(database, factor, [key, Math.floor(later / 30_000), world.user.email])

  const { stdout } = await until(async () => {
    const ran = await reset()
    return ran.code === 0 ? ran : null
  })
  expect(JSON.parse(stdout)).toEqual({
    resetAt: expect.any(String),
    database: 'the PostgreSQL database',
    aheadSeconds: expect.any(Number),
    ended: { appTokens: 1, grants: 1, sessions: 1, embeddedSessions: 0 },
    clamped: expect.any(Number),
  })
  expect(await askPostgres<object>(database, 'SELECT hour FROM hourly_counts', [])).toEqual([{ hour: later - 2 * day }])
  const columns = await askPostgres<{ table: string; column: string }>(
    database,
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
     WHERE table_schema = 'public' AND data_type = 'bigint' AND column_name ~ '^at$|_(at|until|since)$'`,
    [],
  )
  expect(columns.length).toBeGreaterThan(50)
  const soon = Date.now() + 1_000
  const future = columns.map(
    ({ table, column }) => `SELECT '${table}.${column}' FROM ${table} WHERE ${column} > ${soon}`,
  )
  expect(await askPostgres(database, future.join(' UNION ALL '), [])).toEqual([])
  const newest = await askPostgres(database, 'SELECT action FROM audit_events ORDER BY id DESC LIMIT 1', [])
  expect(newest).toEqual([{ action: 'clock.reset' }])
  const again = await startNode(world)
  expect((await call(again.server.url, 'GET', '~/readyz')).status).toBe(200)
  expect((await call(again.server.url, 'GET', '/me', { token })).status).toBe(401)
  expect(await appToken(again.server.url, world.app.production)).toStartWith('apat_')
  const { email, password } = world.user
  const body = { email, password, code: totpCode(key, Date.now()) }
  expect((await call(again.server.url, 'POST', '~/api/session', { body })).status).toBe(200)
  expect(await runProgram(['check', '--database', database])).toMatchObject({ code: 0 })
  await again.server.stop()
}, 180_000)
