import { expect } from 'bun:test'
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { postgresMigrations } from '../../../db/migrations/index.ts'
import { migratePostgres } from '../../../db/postgres/commands.ts'
import type { PostgresMigration } from '../../../db/postgres/schema.ts'
import { openPostgres } from '../../../db/postgres.ts'
import { createQueries } from '../../../db/queries/index.ts'
import { run, runHere } from '../../cli/support/run.ts'
import { askPostgres } from '../../support/beside.ts'
import { eventually } from '../../support/crash.ts'
import { needs, programAt } from '../../support/needs.ts'
import { until } from '../../support/nodes.ts'
import { freePort, postgresDatabase, startCluster, startPair } from '../../support/postgres.ts'
import { programCommand } from '../../support/program.ts'
import { runProgram } from '../../support/run-program.ts'
import { startServer } from '../../support/running-server.ts'
import { openStore, startProxy } from './support.ts'

const { test } = needs('postgres')

const applied = `Applied ${postgresMigrations.map(({ name }) => name).join(', ')}.\n`

const migrate = async (url: string, runner = runHere) => {
  const { exitCode, stdout, stderr } = await runner(['migrate'], { env: { DATABASE_URL: url } })
  return { code: exitCode, text: stdout + stderr }
}
/** A database that no migration has seen. */
const freshDatabase = async (name: string): Promise<string> => {
  const url = await postgresDatabase('start')
  await askPostgres(url, `CREATE DATABASE ${name}`, [])
  return url.replace(/\/t_\w+\?/, `/${name}?`)
}

test('an empty database gets its tables once', async () => {
  const url = await freshDatabase('empty')
  expect(await migrate(url)).toEqual({ code: 0, text: applied })
  expect(await migrate(url)).toEqual({ code: 0, text: 'The schema is up to date.\n' })
  expect(await runProgram(['check', '--database', url])).toMatchObject({ code: 0 })
})

test('of several processes at once one makes the tables', async () => {
  const url = await freshDatabase('raced')
  const all = await Promise.all(Array.from({ length: 3 }, async () => await migrate(url, run)))
  expect(all.map(({ text }) => text).toSorted()).toEqual([
    applied,
    'The schema is up to date.\n',
    'The schema is up to date.\n',
  ])
})

/** An empty database with this setting, which its owner made for it. */
const withSetting = async (name: string, setting: string): Promise<string> => {
  const url = await freshDatabase(name)
  await askPostgres(url, `ALTER DATABASE ${name} SET ${setting}`, [])
  return url
}

test('a limit that is set for the time of statements does not stop the program', async () => {
  expect(await migrate(await withSetting('hurried', "statement_timeout = '1ms'"))).toEqual({ code: 0, text: applied })
})

test('other tables, a newer schema, an unknown user or database, and a server that is not there end with one sentence', async () => {
  const foreign = await freshDatabase('foreign_tables')
  await askPostgres(foreign, 'CREATE TABLE theirs (a int)', [])
  const newer = await freshDatabase('newer')
  await migrate(newer)
  await askPostgres(newer, "INSERT INTO schema_migrations VALUES (99, 'later', 'x')", [])
  const refusals: readonly (readonly [string, string])[] = [
    [foreign, 'has tables that are not of this program'],
    [newer, 'was migrated by a newer version of this program (later)'],
    [newer.replace('app@', 'canary:canary@'), ':5432/newer refuses the user or the password'],
    [newer.replace('/newer?', '/nowhere?'), ':5432/nowhere has no database of the name'],
    [
      'postgres://canary:canary@127.0.0.1:1,[::1]:2/apps',
      'None of the hosts in DATABASE_URL is reachable as a PostgreSQL primary (127.0.0.1:1,[::1]:2/apps)',
    ],
    [await withSetting('read_only', 'default_transaction_read_only = on'), 'takes no changes'],
    [await withSetting('lost', 'search_path = nowhere'), 'search_path'],
  ]
  for (const [url, part] of refusals) {
    const { code, text } = await migrate(url)
    expect(text).toContain(part)
    expect(text).toMatch(/^error: [^\n]+\n$/)
    expect(text).not.toContain('canary')
    expect(code).toBe(1)
  }
  // A setting that cannot be right ends like every other one.
  for (const [url, part] of [
    ['postgres://canary:canary@db.example/canary', 'sslmode=verify-full'],
    ['postgres://canary:canary@127.0.0.1/canary?sslmode=require', 'has an sslmode other than'],
    ['postgres://canary:canary@127.0.0.1:65536/canary', 'ports are from 1 to 65535'],
    ['postgres://canary:canary@127.0.0.1:0/canary', 'ports are from 1 to 65535'],
    ['postgres://canary:canary%00@127.0.0.1/canary', 'has %00'],
  ] as const) {
    const { code, text } = await migrate(url)
    expect([text, code]).toEqual([expect.stringContaining(part), 2])
    expect(text).not.toContain('canary')
  }
})

test('a standby alone, and a role that may open no more connections, are named with a remedy, also while a server runs', async () => {
  const { primary, standby } = await startPair()
  const place = standby.url('apps').split('@')[1]
  const sentence = `None of the hosts in DATABASE_URL is reachable as a PostgreSQL primary (${place}): start one, or promote its standby.`
  const admin = primary.url('postgres')
  const limit = async (count: number) => await askPostgres(admin, `ALTER ROLE narrow CONNECTION LIMIT ${count}`, [])
  try {
    expect(await migrate(standby.url('apps'))).toEqual({ code: 1, text: `error: ${sentence}\n` })

    await askPostgres(admin, 'CREATE ROLE narrow LOGIN', [])
    await askPostgres(admin, 'CREATE DATABASE narrow OWNER narrow', [])
    const url = primary.url('narrow').replace('app@', 'narrow@')
    await migratePostgres(url, postgresMigrations)
    const store = await openStore(url, 'server')
    await limit(0)
    await askPostgres(admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'narrow'", [])
    const told = expect.stringMatching(
      /^(error: )?[^\n]* no free connection: [^\n]* CONNECTION LIMIT of the role[^\n]*\n?$/,
    )
    // The reason is known once a new connection was refused.
    await until(async () => (store.health().reason?.includes('CONNECTION LIMIT') === true ? true : null))
    expect(store.health()).toMatchObject({ problem: 'connections', reason: told })
    expect(await migrate(url)).toEqual({ code: 1, text: told })
    await limit(-1)
    await until(async () => (store.health().problem === null ? true : null))
    await store.close()
  } finally {
    primary.stop()
    standby.stop()
  }
})

test('a server waits for a PostgreSQL that is out of reach: it is alive, takes no calls, says so once, and serves once it is there', async () => {
  const [port, ofDatabase] = [await freePort(), await freePort()]
  const first = await startProxy('awaited', [], undefined, undefined, undefined, ofDatabase)
  await first.stop()
  const url = `http://127.0.0.1:${port}`
  const serve = () =>
    Bun.spawn([...programCommand, 'serve', '--port', String(port)], {
      env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: first.url },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  const get = async (path: string, init?: RequestInit) => await fetch(url + path, init).catch(() => null)
  const isAlive = async () => ((await get('/healthz'))?.status === 200 ? true : null)
  const early = serve()
  await until(isAlive)
  early.kill('SIGTERM')
  expect(await early.exited).toBe(0)

  const server = serve()
  const log = new Response(server.stderr).text()
  await until(isAlive)
  const ready = await get('/readyz')
  expect(ready?.status).toBe(503)
  expect(ready?.headers.get('retry-after')).toBe('5')
  expect(await ready?.json()).toMatchObject({
    error: { code: 'unavailable', details: { conditions: ['database_unreachable'] } },
  })
  const me = await get('/api/app-platform/me')
  expect([me?.status, me?.headers.get('x-service-api-version')]).toEqual([503, '2026-08'])
  const token = await get('/oauth/token', {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'refresh_token' }),
  })
  expect(token?.status).toBe(503)
  expect(await token?.json()).toMatchObject({ error: 'temporarily_unavailable' })
  await Bun.sleep(2_500)
  const proxy = await startProxy('awaited', [], undefined, undefined, undefined, ofDatabase)
  await until(async () => ((await get('/readyz'))?.status === 200 ? true : null))
  expect((await get('/api/app-platform/me'))?.status).toBe(400)
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  proxy.stop()
  const waited = (await log).split('\n').filter((line) => line.includes('database.awaited'))
  expect(waited).toEqual([expect.stringContaining('start one, or promote its standby')])
})

test('a start that fails ends the process, whatever it has opened by then, and is no unclean end', async () => {
  const [port, taken, ofDatabase] = [await freePort(), await freePort(), await freePort()]
  const other = Bun.serve({ port: taken, hostname: '127.0.0.1', fetch: () => new Response('another program') })
  const serve = (databaseUrl: string, env: Readonly<Record<string, string>> = {}) =>
    Bun.spawn([...programCommand, 'serve', '--port', String(port)], {
      env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: databaseUrl, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  const get = async (path: string) => await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null)
  const alive = async () => await until(async () => ((await get('/healthz'))?.status === 200 ? true : null))
  const ended = async (server: ReturnType<typeof serve>) => [
    await server.exited,
    await new Response(server.stderr).text(),
  ]
  const metricsTaken = { METRICS_LISTEN: `127.0.0.1:${taken}` }

  // While it waits for its database, what comes afterwards is not known yet.
  const gone = await startProxy('late', [], undefined, undefined, undefined, ofDatabase)
  await gone.stop()
  const late = serve(gone.url, metricsTaken)
  await alive()
  const back = await startProxy('late', [], undefined, undefined, undefined, ofDatabase)
  expect(await ended(late)).toEqual([1, expect.stringContaining('METRICS_LISTEN')])

  // Another session holds what the last steps of a start need. Meanwhile every answer has the form of all answers.
  const locking = new Bun.SQL(back.url, { max: 1 })
  const held = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holding = locking.begin(async (sql) => {
    await sql`LOCK TABLE server_settings IN ACCESS EXCLUSIVE MODE`
    locked.resolve()
    await held.promise
  })
  await locked.promise
  const blocked = serve(back.url)
  await alive()
  const ready = await get('/readyz')
  expect([ready?.status, ready?.headers.get('x-request-id')]).toEqual([503, expect.stringMatching(/^req_\w{32}$/)])
  expect(await ready?.json()).toMatchObject({ error: { code: 'unavailable' } })
  expect(await ended(blocked)).toEqual([1, expect.stringMatching(/^error: [^\n]+\n$/m)])
  held.resolve()
  await holding
  await locking.close()

  expect(await ended(serve(back.url, metricsTaken))).toEqual([1, expect.stringContaining('METRICS_LISTEN')])
  const good = serve(back.url)
  await until(async () => ((await get('/readyz'))?.status === 200 ? true : null))
  good.kill('SIGTERM')
  const [code, log] = await ended(good)
  expect(code).toBe(0)
  expect(log).not.toContain('server.recovers')
  await other.stop(true)
  await back.stop()
})

const inDatabase = (url: string) => ({ env: { DATABASE_URL: url } })

/** Dumps a database, and restores it into a new one of this name. */
const dumpInto = async (url: string, name: string): Promise<string> => {
  const target = await freshDatabase(name)
  const folder = dirname(programAt('postgres'))
  const dump = Bun.spawnSync([join(folder, 'pg_dump'), '-Fc', url])
  expect(dump.stderr.toString()).toBe('')
  const restored = Bun.spawnSync([join(folder, 'pg_restore'), '--exit-on-error', '-d', target], { stdin: dump.stdout })
  expect(restored.stderr.toString()).toBe('')
  return target
}

test('tables that were restored from a dump are refused by servers and commands until everything issued was ended, unless the move was planned', async () => {
  const url = await freshDatabase('dumped')
  await migrate(url)
  const refused =
    /^error: The tables [^\n]+ were restored from a dump[^\n]+ run app-platform recover --accept-loss[^\n]+\n$/
  const serving = await openStore(url, 'server') // its signs of life are in the dump
  const elsewhere = await dumpInto(url, 'dumped_elsewhere')
  await serving.close()
  for (const words of [
    ['migrate'],
    ['check'],
    ['user', 'list'],
    ['purge'],
    ['clock', 'reset'],
    ['serve', '--port', '0'],
  ]) {
    const { exitCode, stderr } = await runHere(words, inDatabase(elsewhere))
    expect({ words, exitCode, stderr }).toEqual({ words, exitCode: 1, stderr: expect.stringMatching(refused) })
  }
  expect((await runHere(['recover', '--accept-loss'], inDatabase(elsewhere))).exitCode).toBe(0)
  for (const words of [['check'], ['user', 'list']])
    expect((await runHere(words, inDatabase(elsewhere))).exitCode).toBe(0)
  await (await openStore(elsewhere, 'server')).close()

  const planned = await runHere(['move', '--prepare'], inDatabase(url))
  expect({ exitCode: planned.exitCode, stderr: planned.stderr }).toEqual({ exitCode: 0, stderr: '' })
  const third = await dumpInto(url, 'dumped_again')
  await (await openStore(third, 'server')).close()
  await (await openStore(third, 'server')).close()
  const { stdout } = await runHere(['audit', 'list'], inDatabase(third))
  expect(stdout).toContain('database.move_planned')

  await (await openStore(url, 'server')).close() // which withdraws the plan
  await expect(openStore(await dumpInto(url, 'dumped_late'), 'server')).rejects.toThrow('restored from a dump')
  await (await openStore(url, 'server')).close()
})

test('a PostgreSQL that runs with fsync=off or full_page_writes=off is refused', async () => {
  const cluster = startCluster({ port: freePort() })
  const url = cluster.url('postgres')
  try {
    for (const setting of ['fsync', 'full_page_writes']) {
      await askPostgres(url, `ALTER SYSTEM SET ${setting} = off`, [])
      await askPostgres(url, 'SELECT pg_reload_conf()', [])
      await until(async () => {
        const [row] = await askPostgres<Record<string, unknown>>(url, `SHOW ${setting}`, [])
        return row?.[setting] === 'off' ? true : null
      })
      expect(await migrate(url)).toEqual({
        code: 1,
        text: expect.stringMatching(new RegExp(`^error: [^\\n]*${setting}=off[^\\n]*\\n$`)),
      })
      await expect(startServer({ database: url, ownProcess: true })).rejects.toThrow(`${setting}=off`)
      await askPostgres(url, `ALTER SYSTEM RESET ${setting}`, [])
    }
  } finally {
    cluster.stop()
  }
})

/** The steps of a later release. */
const later = (name: string): readonly PostgresMigration[] => {
  const sql = `CREATE TABLE ${name} (key text)`
  const id = postgresMigrations.length + 1
  return [...postgresMigrations, { id, name, sql, sha256: createHash('sha256').update(sql).digest('hex') }]
}
const startLater = async (url: string) =>
  await openPostgres({ url, role: 'server', createQueries, migrations: later('added'), migrate: true })

test('a start migrates only while no other server runs, and a command always', async () => {
  const url = await postgresDatabase('outdated')
  const older = await openStore(url, 'server')
  await expect(startLater(url)).rejects.toThrow('other servers use it: stop them, or run app-platform migrate.')
  expect(await askPostgres(url, "SELECT 1 FROM pg_tables WHERE tablename = 'added'", [])).toEqual([])
  expect(await older.transaction(async (q) => await q.formTickets.spend('0'.repeat(22), 1))).toBe(true)

  await older.close()
  const [one, two] = await Promise.all([startLater(url), startLater(url)])
  await expect(openStore(url, 'server')).rejects.toThrow('migrated by a newer version of this program (added)')
  await one.close()
  await two.close()

  const other = await postgresDatabase('migrated-by-command')
  const running = await openStore(other, 'server')
  expect(await migratePostgres(other, later('added'))).toEqual(['added'])
  const [newer] = [await startLater(other)]
  expect(running.sharing()).not.toBeNull()
  await newer.close()
  await running.close()
})

/** A session that begins with other settings than it was told. */
const withoutSettings = (data: Buffer) =>
  Buffer.from(data.toString('latin1').replace('lock_timeout\x005s', 'lock_timeout\x006s'), 'latin1')

test('a pooler, which does not pass on the settings of a session, is refused', async () => {
  const proxy = await startProxy('pooled', [], withoutSettings)
  const { code, text } = await migrate(proxy.url)
  proxy.stop()
  expect(text).toMatch(/^error: A pooler such as PgBouncer [^\n]+\n$/)
  expect(code).toBe(1)
})

test.each(['restore x.db', 'restore --move x.db', 'move --to x.db'])(
  '%s is for SQLite files, and says in one sentence what PostgreSQL has instead',
  async (command) => {
    const { code, stdout, stderr } = await runProgram([...command.split(' '), '--database', 'postgres://a@localhost/b'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^error: This command is for SQLite files; [^\n]*pg_restore[^\n]*\.\n$/)
  },
)

const bytes = (value: number) => Buffer.from(Uint32Array.of(value).buffer).swap32().toString('latin1')

/** Replaces a number in an answer, which is sent as text or in four bytes. */
const replacing = (from: number, to: number) => (data: Buffer) => {
  const text = data.toString('latin1').replaceAll(String(from), String(to)).replaceAll(bytes(from), bytes(to))
  return Buffer.from(text, 'latin1')
}

test('a server older than PostgreSQL 15 is refused, and makes no tables', async () => {
  const url = await freshDatabase('older')
  const [row] = await askPostgres<{ version: number }>(
    url,
    "SELECT current_setting('server_version_num')::int AS version",
    [],
  )
  const claiming = async (version: number) => {
    const proxy = await startProxy(url, [], undefined, replacing(row?.version ?? 0, version))
    const { code, text } = await migrate(proxy.url)
    proxy.stop()
    return {
      code,
      text,
      tables: (await askPostgres(url, 'SELECT 1 FROM pg_tables WHERE schemaname = current_schema()', [])).length,
    }
  }
  const sentence = expect.stringMatching(
    /^error: The server at 127.0.0.1:\d+\/older is older than PostgreSQL 15: upgrade it.\n$/,
  )
  expect(await claiming(140_099)).toEqual({ code: 1, text: sentence, tables: 0 })
  expect(await claiming(150_000)).toMatchObject({ code: 0, text: applied })
})

test('a server that accepts connections and answers no statement is given up', async () => {
  const proxy = await startProxy('mute', [], (data) => (data.includes('pg_is_in_recovery') ? Buffer.alloc(0) : data))
  await expect(openStore(proxy.url)).rejects.toThrow('does not answer in time')
  proxy.stop()
})

test('a connection that is lent while the store closes is closed after its work', async () => {
  const store = await openStore('lent')
  const url = await postgresDatabase('lent')
  const merging = store.cluster?.mergeLimits([])
  await store.close()
  await merging
  const count = async () =>
    (
      await askPostgres(
        url,
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'app-platform'",
        [],
      )
    ).length
  expect(await eventually(count, (open) => open === 0)).toBe(0)
  await expect(store.cluster?.mergeLimits([])).rejects.toMatchObject({ code: 'unavailable' })
})
