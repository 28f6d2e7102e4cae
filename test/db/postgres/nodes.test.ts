import { expect, setDefaultTimeout } from 'bun:test'
import { hostname } from 'node:os'
import { createOperatorWorld } from '../../pages/support/operator-world.ts'
import { signedInBrowser } from '../../pages/support/plain-browser.ts'
import { askPostgres } from '../../support/beside.ts'
import { call } from '../../support/call.ts'
import { eventually } from '../../support/crash.ts'
import { needs } from '../../support/needs.ts'
import { patience } from '../../support/proof.ts'
import { createNodes, endNodes, startLine, startNode, until } from '../../support/nodes.ts'
import { freePort, postgresDatabase, startCluster, startPair } from '../../support/postgres.ts'
import { runProgram } from '../../support/run-program.ts'
import { type RunningServer, startServer } from '../../support/running-server.ts'
import { SetClock } from '../../support/set-clock.ts'
import { appToken, createWorld, endWorld, grantTokens, refreshBody, type World } from '../../support/world.ts'

setDefaultTimeout(patience)

const { test } = needs('postgres')
const { test: clockTest } = needs('postgres', 'faketime')

const metric = async ({ url }: RunningServer, name: string): Promise<string | undefined> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return text
    .split('\n')
    .find((line) => line.startsWith(`${name} `))
    ?.slice(name.length + 1)
}
const holds = async (server: RunningServer, condition: string): Promise<boolean> =>
  (await metric(server, `app_platform_condition{name="${condition}"}`)) === '1'
const readiness = async ({ url }: RunningServer) => {
  const { status, body } = await call(url, 'GET', '~/readyz')
  return [status, body.error?.details?.conditions ?? []]
}
/** Soon: on a busy machine a heartbeat may come late, which is a condition of its own until the next one. */
const expectReadiness = async (server: RunningServer, hoped: readonly unknown[]) =>
  expect(
    await eventually(
      async () => await readiness(server),
      (found) => Bun.deepEquals(found, hoped),
    ),
  ).toEqual([...hoped])
const toldOf = ({ log }: RunningServer, kind: string) =>
  log()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter((line) => line.kind === kind)
    .map(({ event, reason }) => [event, reason])

/** Waits until the log tells of a condition. What begins and ends between two looks of the server is not told. */
const waitForBegin = async (server: RunningServer, condition: string): Promise<void> =>
  void (await until(async () => (toldOf(server, condition).length > 0 ? true : null)))

/** Waits until a warning has ended, in the metrics and in the log. */
const waitForEnd = async (server: RunningServer, condition: string): Promise<void> => {
  await until(async () => ((await holds(server, condition)) ? null : true))
  await until(async () => (toldOf(server, condition).length === 2 ? true : null))
}

/** A server in the text of the health page, whose clock is right and whose settings agree. */
const row = (number: number, leads: string) =>
  new RegExp(String.raw`${hostname()} \(${number}\) \d+\.\d+\.\d+ \d+ \w+ \d seconds? ago Right ${leads} None`)
const both = (text: string) => row(0, 'Yes').test(text) && row(1, 'No').test(text)

test('servers whose settings differ name them on the health page, in the metrics and once in the log, and stay ready', async () => {
  const database = await postgresDatabase('differing-settings')
  const world = await createOperatorWorld({
    database,
    ownProcess: true,
    env: { LIFETIME_CODE: '200', QUOTA_APPS: '50' },
  })
  const { server } = world
  const same = await startServer({ database, ownProcess: true, env: { LIFETIME_CODE: '200', QUOTA_APPS: '50' } })
  const desk = await signedInBrowser(server.url, world.operator)
  const page = async () => (await desk.get('/desk/health')).text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
  expect(both(await eventually(page, both))).toBe(true)
  expect(await holds(server, 'settings_differ')).toBe(false)

  const other = await startServer({ database, ownProcess: true, env: { LIFETIME_CODE: '100' } })
  for (const each of [server, same, other]) {
    expect(await eventually(async () => await holds(each, 'settings_differ'), Boolean)).toBe(true)
    await expectReadiness(each, [200, []])
    expect(await metric(each, 'app_platform_nodes')).toBe('3')
  }
  expect(await page()).toMatch(/\(2\) .* LIFETIME_CODE, QUOTA_APPS/)
  const sentence = `${hostname()} (server 2) differ in LIFETIME_CODE, QUOTA_APPS: set the same values`
  const reason = expect.stringContaining(sentence)
  expect(await page()).toContain(sentence)
  expect(
    await eventually(
      async () => toldOf(server, 'settings_differ').length,
      (lines) => lines === 1,
    ),
  ).toBe(1)
  expect(toldOf(server, 'settings_differ')).toEqual([['condition.began', reason]])
  expect(server.log() + (await page())).not.toContain('digest')

  await other.stop()
  await waitForEnd(server, 'settings_differ')
  expect(toldOf(server, 'settings_differ')).toEqual([
    ['condition.began', reason],
    ['condition.ended', undefined],
  ])
  await same.stop()
  await endWorld(world)
})

test('a PostgreSQL without a synchronous standby is warned of, and the server is ready', async () => {
  const pair = await startPair()
  try {
    const server = await startServer({ database: pair.url, ownProcess: true })
    expect(await holds(server, 'no_synchronous_standby')).toBe(false)
    const set = async (value: string) => {
      await askPostgres(pair.primary.url('apps'), `ALTER SYSTEM SET synchronous_standby_names = '${value}'`, [])
      await askPostgres(pair.primary.url('apps'), 'SELECT pg_reload_conf()', [])
    }
    await set('')
    expect(await eventually(async () => await holds(server, 'no_synchronous_standby'), Boolean)).toBe(true)
    await waitForBegin(server, 'no_synchronous_standby')
    await expectReadiness(server, [200, []])
    const accepting = await startServer({ database: pair.url, ownProcess: true, env: { EXPECT_STANDBY: 'off' } })
    expect(await holds(accepting, 'no_synchronous_standby')).toBe(false)
    await accepting.stop()
    const alone = { database: pair.primary.url('apps'), ownProcess: true }
    const [single, demanding] = [
      await startServer(alone),
      await startServer({ ...alone, env: { EXPECT_STANDBY: 'on' } }),
    ]
    expect(await holds(single, 'no_synchronous_standby')).toBe(false)
    expect(await eventually(async () => await holds(demanding, 'no_synchronous_standby'), Boolean)).toBe(true)
    await single.stop()
    await demanding.stop()
    await set('*')
    await waitForEnd(server, 'no_synchronous_standby')
    expect(toldOf(server, 'no_synchronous_standby')).toEqual([
      ['condition.began', expect.stringContaining('app-platform help high-availability')],
      ['condition.ended', undefined],
    ])
    await server.stop()
  } finally {
    pair.primary.stop()
    pair.standby.stop()
  }
})

test('more standbys than commits wait for are warned of, because an old primary could go on with one of them', async () => {
  const pair = await startPair()
  const second = startCluster({ port: freePort(), follows: Number(new URL(pair.primary.url('apps')).port) })
  const ask = async (text: string) => await askPostgres(pair.primary.url('apps'), text, [])
  try {
    await ask('CREATE ROLE plain LOGIN')
    await ask('ALTER DATABASE apps OWNER TO plain') // which may not see the details of the standbys
    const server = await startServer({ database: pair.url.replaceAll('app@', 'plain@'), ownProcess: true })
    expect(await eventually(async () => await holds(server, 'several_standbys'), Boolean)).toBe(true)
    await waitForBegin(server, 'several_standbys')
    await expectReadiness(server, [200, []])
    for (const [names, isWarned] of [
      ['FIRST 2 (*)', false],
      ['ANY 1 (*)', true],
      ['FIRST 2 (walreceiver, other)', false],
      ['walreceiver', true],
    ] as const) {
      await ask(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
      await ask('SELECT pg_reload_conf()')
      const isRight = async () => (await holds(server, 'several_standbys')) === isWarned
      await until(async () => ((await isRight()) ? true : null))
    }
    expect(toldOf(server, 'several_standbys')[0]).toEqual([
      'condition.began',
      expect.stringContaining('stop the old primary before each promotion'),
    ])
    await server.stop()
  } finally {
    for (const cluster of [pair.primary, pair.standby, second]) cluster.stop()
  }
})

test('a server that gets no more connections goes on with those that it has, is not ready without any, and names the remedy', async () => {
  const admin = await postgresDatabase('crowded')
  const limit = async (count: number) => await askPostgres(admin, `ALTER ROLE crowded CONNECTION LIMIT ${count}`, [])
  const ofRole = "FROM pg_stat_activity WHERE usename = 'crowded'"
  await askPostgres(admin, 'CREATE ROLE crowded LOGIN IN ROLE app', [])
  const { server, app, platform } = await createWorld({ database: admin.replace('app@', 'crowded@'), ownProcess: true })
  await platform.database.close()
  await appToken(server.url, app.development)
  const [open] = await askPostgres<{ count: number }>(admin, `SELECT count(*)::int AS count ${ofRole}`, [])

  await limit(open?.count ?? 0)
  const tokens = await Promise.all(Array.from({ length: 30 }, async () => await appToken(server.url, app.development)))
  expect(new Set(tokens).size).toBe(30)
  const revoke = async (token: string) =>
    await call(server.url, 'POST', '/oauth/revoke', { body: { ...app.development, token } })
  const revoked = await Promise.all(tokens.map(revoke)) // each takes a connection for itself
  expect(new Set(revoked.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await eventually(async () => await holds(server, 'too_few_connections'), Boolean)).toBe(true)
  await expectReadiness(server, [200, []])

  await limit(1) // the heartbeat has that
  await askPostgres(admin, `SELECT pg_terminate_backend(pid) ${ofRole} AND query NOT LIKE 'UPDATE nodes%'`, [])
  const isNamed = async () => Bun.deepEquals(await readiness(server), [503, ['too_few_connections']])
  await until(async () => ((await isNamed()) ? true : null))
  expect(await holds(server, 'too_few_connections')).toBe(true)
  await waitForBegin(server, 'too_few_connections')
  await limit(-1)
  await until(async () => ((await readiness(server))[0] === 200 ? true : null))
  await until(async () => (toldOf(server, 'too_few_connections').at(-1)?.[0] === 'condition.ended' ? true : null))
  expect(await appToken(server.url, app.development)).toStartWith('apat_')
  const place = `${new URL(admin).searchParams.get('host')}:5432${new URL(admin).pathname}`
  const sentence = `PostgreSQL at ${place} has no free connection: allow 22 for each server in max_connections`
  expect(toldOf(server, 'too_few_connections')[0]).toEqual(['condition.began', expect.stringContaining(sentence)])
  await server.stop()
})

test('what fails while PostgreSQL is out of reach names it in the log, and never the password', async () => {
  const line = await startLine(await postgresDatabase('out-of-reach'))
  const server = await startServer({ database: line.url.replace('app@', 'app:canary@'), ownProcess: true })
  line.cut()
  const place = line.url.replace('postgres://app@', '')
  // On a slow machine the condition can have begun and ended once before, while the server started.
  const last = () => toldOf(server, 'database_unreachable').at(-1)
  await until(async () => (last()?.[0] === 'condition.began' ? true : null))
  expect(last()?.[1]).toContain(`PostgreSQL at ${place} has not confirmed a commit`)
  // The search for due webhooks fails, unless the server has noticed before that it need not search now.
  const failed = server
    .log()
    .split('\n')
    .filter((text) => text.includes('"event":"webhook.failed"'))
  for (const text of failed) expect(JSON.parse(text).reason).toContain(`PostgreSQL at ${place} `)
  expect(server.log()).not.toContain('canary')
  line.heal()
  await until(async () => ((await readiness(server))[0] === 200 ? true : null))
  await server.stop()
  line.stop()
})

clockTest(
  'a server whose clock is wrong is not ready, issues nothing, purges for nobody, and still ends access',
  async () => {
    const database = await postgresDatabase('wrong-clock')
    const clock = new SetClock()
    const [wrong, right] = await createNodes(database, 1, { env: clock.env }).then(async ([first]) => {
      if (first === undefined) throw new Error('no server')
      return [first, await startNode(first)] as const
    })
    const leads = async () => [
      await metric(wrong.server, 'app_platform_node_leads'),
      await metric(right.server, 'app_platform_node_leads'),
    ]
    expect(await leads()).toEqual(['1', '0'])
    const { refreshToken, accessToken } = await grantTokens(wrong)
    const token = await appToken(wrong.server.url, wrong.app.development)

    clock.set('+5s')
    expect(await eventually(async () => await holds(wrong.server, 'clock_differs'), Boolean)).toBe(true)
    await expectReadiness(wrong.server, [200, []])
    expect(await holds(right.server, 'clock_differs')).toBe(false)

    for (const [jump, offset] of [
      ['+60s', 60],
      ['-60s', -60],
    ] as const) {
      clock.set(jump)
      const measured = async () => Number(await metric(wrong.server, 'app_platform_database_clock_offset_seconds'))
      expect(Math.round(await eventually(measured, (seconds) => Math.round(seconds) === offset))).toBe(offset)
      await expectReadiness(wrong.server, [503, ['clock_wrong']])
      await expectReadiness(right.server, [200, []])
      expect(await until(async () => ((await leads()).join() === '0,1' ? true : null))).toBe(true)
      const body = { ...wrong.app.development, scope: 'site:read' }
      const issued = await call(wrong.server.url, 'POST', '/token', { body })
      expect([issued.status, issued.body.error.code]).toEqual([503, 'unavailable'])
      expect((await call(right.server.url, 'GET', '/me', { token })).status).toBe(200)
    }
    const body = { ...wrong.app.development, token: refreshToken }
    expect((await call(wrong.server.url, 'POST', '/oauth/revoke', { body })).status).toBe(200)
    expect((await call(right.server.url, 'GET', '/oauth/me', { token: accessToken })).status).toBe(401)
    expect(toldOf(wrong.server, 'clock_wrong').map(([event]) => event)).toContain('condition.began')

    clock.set('+0')
    expect(
      await eventually(
        async () => await readiness(wrong.server),
        ([status]) => status === 200,
      ),
    ).toEqual([200, []])
    expect(await appToken(wrong.server.url, wrong.app.development)).toStartWith('apat_')
    await endNodes([right, wrong])
  },
)

clockTest('a request may be repeated for a minute at every server, also at one whose clock is 20 s ahead', async () => {
  const database = await postgresDatabase('retry-window')
  const [right] = await createNodes(database, 1)
  if (right === undefined) throw new Error('no server')
  const clock = new SetClock()
  clock.set('+20s')
  const ahead = await startNode(right, { env: clock.env })
  const measured = async () => Number(await metric(ahead.server, 'app_platform_database_clock_offset_seconds'))
  expect(Math.round(await eventually(measured, (seconds) => Math.round(seconds) === 20))).toBe(20)
  const refreshAt = async ({ server }: World, refreshToken: string) =>
    await call(server.url, 'POST', '/oauth/token', {
      body: refreshBody(right.app, refreshToken),
      headers: { 'Idempotency-Key': refreshToken },
    })
  const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
  const { refreshToken } = await grantTokens(right)
  const first = await refreshAt(right, refreshToken)
  await askPostgres(database, `UPDATE grants SET retry_until = retry_until - 45000 WHERE retry_until > ${now}`, [])
  const again = await refreshAt(ahead, refreshToken)
  expect([first.status, again.status]).toEqual([200, 200])
  expect(again.body.refreshToken).toBe(first.body.refreshToken)

  expect((await refreshAt(ahead, first.body.refreshToken)).status).toBe(200)
  const [open] = await askPostgres<{ left: number }>(
    database,
    `SELECT max(retry_until) - ${now} AS left FROM grants`,
    [],
  )
  expect(open?.left).toBeLessThan(70_000)
  await endNodes([right, ahead])
})

clockTest(
  'a purge and a restart at a wrong time delete nothing alive, and move the trusted time of no other server',
  async () => {
    const database = await postgresDatabase('purge-at-a-wrong-time')
    const [world] = await createNodes(database, 1, { env: { LIFETIME_APP_TOKEN: '600' } })
    if (world === undefined) throw new Error('no server')
    const token = await appToken(world.server.url, world.app.development)
    const clock = new SetClock()
    clock.set('+1d')
    const env = Object.entries(clock.env).map(([name, value]) => `${name}=${value}`)
    await askPostgres(database, 'DELETE FROM watermarks', []) // the next heartbeat puts it back
    expect(await runProgram(['purge', '--database', database], ['env', ...env])).toMatchObject({ code: 0 })
    const wrong = await startNode(world, { env: { ...clock.env, LIFETIME_APP_TOKEN: '600' } })
    await expectReadiness(wrong.server, [503, ['clock_wrong']])
    await call(wrong.server.url, 'GET', '/me', { token })
    await Bun.sleep(1_500) // a heartbeat
    await wrong.server.stop()
    const [kept] = await askPostgres<{ at: number }>(database, "SELECT at FROM watermarks WHERE name = 'clock'", [])
    expect(kept?.at).toBeLessThan(Date.now() + 1_000)
    expect((await call(world.server.url, 'GET', '/me', { token })).status).toBe(200)
    await endNodes([world])
  },
)

test('a server that was frozen while recover ran stops, because it knows keys that were deleted', async () => {
  const database = await postgresDatabase('frozen-while-recovering')
  const { server, platform } = await createWorld({ database, ownProcess: true })
  process.kill(server.pid, 'SIGSTOP')
  await until(async () => {
    const ran = await runProgram(['recover', '--accept-loss', '--database', database])
    return ran.code === 0 ? ran : null
  })
  process.kill(server.pid, 'SIGCONT')
  expect(await server.ended).toBe(1)
  expect(server.log()).toContain('has taken the place of this one')
  await platform.database.close()
})

const hasTold = (server: RunningServer) => server.log().includes('server.recovers')

test('a server tells that the last one of this machine was killed, also a moment ago, and nothing after a proper end', async () => {
  const database = await postgresDatabase('killed')
  const start = async () => await startServer({ database, ownProcess: true })
  const killed = await start()
  await killed.kill()
  const next = await start()
  expect(await eventually(async () => hasTold(next), Boolean)).toBe(true)
  expect(await metric(next, 'app_platform_unclean_start')).toBe('1')
  await next.stop()

  const calm = await start()
  await until(async () => (Number(await metric(calm, 'app_platform_process_uptime_seconds')) > 9 ? true : null))
  expect([hasTold(calm), await metric(calm, 'app_platform_unclean_start')]).toEqual([false, '0'])
  await calm.kill()
  await askPostgres(database, 'UPDATE nodes SET beat_at = beat_at - 3600000', [])
  const late = await start()
  expect(hasTold(late)).toBe(true)
  await late.stop()
  expect(await askPostgres(database, 'SELECT 1 FROM nodes', [])).toEqual([])
})
