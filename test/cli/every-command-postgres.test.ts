import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startProxy } from '../db/postgres/support.ts'
import { askPostgres, connectTo } from '../support/beside.ts'
import { programAt } from '../support/needs.ts'
import {
  addSmallDisk,
  type Cluster,
  databaseOf,
  emptyPostgres,
  fillDisk,
  freePort,
  mayMount,
  onPostgres,
  startCluster,
} from '../support/postgres.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { programCommand } from '../support/program.ts'
import { eventually } from '../support/crash.ts'
import { addApp, addUser, openDesk, run, runHere } from './support/run.ts'
import { every } from './support/every-command.ts'
import { besideThe, lists, ofWorld, othersThan, runTogether } from './support/together.ts'

setDefaultTimeout(900_000)

// Each fault of PostgreSQL is made for real, and all commands of the program run against it: each ends with the same sentence, with
// status 1 and nothing on stdout, or goes on because it needs nothing that is at fault.

const postgresTest = test.skipIf(!onPostgres)

/** Host, port and name of a database, as sentences have them. */
const placeOf = (url: string): string => {
  const { host, pathname, searchParams } = new URL(url)
  const socket = searchParams.get('host')
  return `${socket === null ? host : `${socket}:5432`}${pathname}`
}
const nameOf = (url: string): string => new URL(url).pathname.slice(1)
const beside = (url: string, name: string): string => url.replace(`/${nameOf(url)}`, `/${name}`)

/** Has the person and the app whose names the commands are given. */
const openWorld = async () => {
  const desk = await openDesk()
  await addUser(desk)
  await addApp(desk, 'on')
  return await databaseOf(desk.file)
}

/** A server that is told to serve from it is alive meanwhile, takes no calls, and says what it waits for. */
const expectAwaited = async (url: string, sentence: string) => {
  const port = freePort()
  const server = Bun.spawn([...programCommand, 'serve', '--json', '--port', String(port)], {
    env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: url },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const statusOf = async (path: string) =>
    await fetch(`http://127.0.0.1:${port}${path}`).then(
      ({ status }) => status,
      () => 0,
    )
  expect(
    await eventually(
      async () => await statusOf('/healthz'),
      (status) => status === 200,
    ),
  ).toBe(200)
  expect(await statusOf('/readyz')).toBe(503)
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  const lines = (await new Response(server.stderr).text())
    .split('\n')
    .filter((line) => line.includes('database.awaited'))
  expect(lines.map((line) => JSON.parse(line).reason)).toEqual([sentence])
}

/** A database on this machine does not move into it: it says why, and stays in use. */
const expectNoMove = async (url: string, sentence: string) => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const env = { DATABASE_URL: `file:${file}` }
  expect((await run(['migrate'], { env })).exitCode).toBe(0)
  expect(await run(['move', '--to', url], { env })).toEqual({ exitCode: 1, stdout: '', stderr: `error: ${sentence}\n` })
  expect((await run(['user', 'list'], { env })).exitCode).toBe(0)
  return env
}

test('every command tells a PostgreSQL that is down in the same words', async () => {
  const ended = await runTogether('postgres://app:canary@127.0.0.1:1/apps', { atOnce: 1 })
  const sentence =
    'None of the hosts in DATABASE_URL is reachable as a PostgreSQL primary (127.0.0.1:1/apps): start one, or promote its standby.'
  expect(othersThan(sentence, ended)).toEqual({})
  expect(ended.size).toBe(every.length)
})

postgresTest('every command tells what PostgreSQL refuses in the same words', async () => {
  const url = await openWorld()
  const foreign = await emptyPostgres('every-foreign')
  await askPostgres(foreign, 'CREATE TABLE theirs (a int)', [])
  const login =
    'refuses the user or the password of DATABASE_URL, or the password has expired: its log has the reason. Correct DATABASE_URL, or run ALTER ROLE with PASSWORD and VALID UNTIL.'
  const nowhere = beside(url, 'nowhere')
  for (const [given, sentence] of [
    [foreign, 'The PostgreSQL database has tables that are not of this program: use an empty one.'],
    [url.replace('app@', 'canary:canary@'), `PostgreSQL at ${placeOf(url)} ${login}`],
    [
      nowhere,
      `PostgreSQL at ${placeOf(nowhere)} has no database of the name in DATABASE_URL: make it with createdb --owner USER NAME.`,
    ],
  ] as const) {
    const { backup, ...others } = othersThan(sentence, await runTogether(given))
    expect(others).toEqual({})
    if (backup !== undefined) expect(backup).toContain('The copy was kept as') // it dumps any database
  }
})

postgresTest('every command tells a PostgreSQL that has stopped to answer in the same words', async () => {
  const cluster = startCluster({ port: freePort() })
  try {
    const url = cluster.url('postgres')
    expect((await runHere(['migrate'], { env: { DATABASE_URL: url } })).exitCode).toBe(0)
    cluster.signal('SIGSTOP')
    const ended = await runTogether(url, { atOnce: every.length, isSlow: true })
    const sentence = `PostgreSQL at ${placeOf(url)} does not answer in time: see whether its machine can be reached, whether it runs, and how busy its processors and disks are.`
    expect(othersThan(sentence, ended)).toEqual({})
    await expectAwaited(url, sentence)
    await expectNoMove(url, sentence)
  } finally {
    cluster.stop()
  }
})

postgresTest('a PostgreSQL that stops is told as that, and a server waits for it', async () => {
  const cluster = startCluster({ port: freePort() })
  try {
    const url = cluster.url('postgres')
    expect((await runHere(['migrate'], { env: { DATABASE_URL: url } })).exitCode).toBe(0)
    const holder = connectTo(url)
    const session = await holder.reserve() // it ends once this one has
    const [postmaster = ''] = readFileSync(join(cluster.folder, 'data', 'postmaster.pid'), 'utf8').split('\n')
    process.kill(Number(postmaster), 'SIGTERM')
    const sentence = `PostgreSQL at ${placeOf(url)} takes no connections now, because it starts or stops: wait until it runs, as its log says.`
    const ended = await eventually(
      async () => await runTogether(url, { commands: some, atOnce: 2 }),
      (runs) => Object.keys(othersThan(sentence, runs)).length === 0,
    )
    expect(othersThan(sentence, ended)).toEqual({})
    await expectAwaited(url, sentence)
    session.release()
    await holder.close()
  } finally {
    cluster.stop()
  }
})

/** One that reads, and one that changes something. */
const some = every.filter(([name]) => name === 'user list' || name === 'user invite')

const rights = (what: string) =>
  `does not let the user of DATABASE_URL use ${what}: make it the owner of all, with ALTER DATABASE … OWNER TO and REASSIGN OWNED.`

postgresTest('a role, a database or a table that may not be used is told with what mends it', async () => {
  const url = await openWorld()
  const name = nameOf(url)
  const role = `guest_${name}`
  const asGuest = url.replace('app@', `${role}@`)
  for (const [change, given, words] of [
    [`CREATE ROLE ${role} LOGIN`, asGuest, rights('table schema_migrations')],
    [
      `ALTER ROLE ${role} NOLOGIN`,
      asGuest,
      'refuses the user or the password of DATABASE_URL, or the password has expired: its log has the reason. Correct DATABASE_URL, or run ALTER ROLE with PASSWORD and VALID UNTIL.',
    ],
    [`ALTER ROLE ${role} LOGIN; REVOKE CONNECT ON DATABASE ${name} FROM PUBLIC`, asGuest, rights(`database ${name}`)],
    [
      `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
      url,
      'takes no connections to this database: run ALTER DATABASE with ALLOW_CONNECTIONS true.',
    ],
  ] as const) {
    await askPostgres(beside(url, 'postgres'), change, [])
    const ended = await runTogether(given, { commands: some })
    expect({ change, ...othersThan(`PostgreSQL at ${placeOf(url)} ${words}`, ended) }).toEqual({ change })
  }
})

/** A session that begins with other settings than it was told, as behind a pooler. */
const withoutSettings = (data: Buffer) =>
  Buffer.from(data.toString('latin1').replace('lock_timeout\x005s', 'lock_timeout\x006s'), 'latin1')

postgresTest('every command refuses a pooler in the same words', async () => {
  const proxy = await startProxy(await openWorld(), [], withoutSettings)
  const sentence = `A pooler such as PgBouncer stands before PostgreSQL at ${placeOf(proxy.url)}: connect to PostgreSQL itself, on its own port (5432 by default).`
  const { backup, ...others } = othersThan(sentence, await runTogether(proxy.url))
  proxy.stop()
  expect(others).toEqual({})
  if (backup !== undefined) expect(backup).toContain('The copy was kept as') // it dumps any database
})

postgresTest('a PostgreSQL that takes no changes is told in the same words by what changes something', async () => {
  const url = await openWorld()
  await askPostgres(url, `ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = on`, [])
  const sentence = `PostgreSQL at ${placeOf(url)} takes no changes, because default_transaction_read_only is on for it, its database or the user of DATABASE_URL: run ALTER SYSTEM, ALTER DATABASE or ALTER ROLE with RESET default_transaction_read_only.`
  const { told, done } = besideThe(sentence, await runTogether(url))
  expect(done.toSorted()).toEqual([...ofWorld, ...lists, 'check'].toSorted())
  expect(told).toBeGreaterThan(50)
  const empty = await emptyPostgres('every-read-only')
  await askPostgres(empty, `ALTER DATABASE ${nameOf(empty)} SET default_transaction_read_only = on`, [])
  await expectNoMove(empty, sentence.replace(placeOf(url), placeOf(empty)))
})

postgresTest('a lock that another session holds is told in the same words by what changes something', async () => {
  const url = await openWorld()
  const holder = connectTo(url)
  const session = await holder.reserve()
  await session.unsafe("BEGIN; SELECT 1 FROM locks WHERE name = 'serial' FOR UPDATE")
  const ended = await runTogether(url, { atOnce: 16 })
  await session.unsafe('ROLLBACK')
  session.release()
  await holder.close()
  const sentence = `PostgreSQL at ${placeOf(url)} has kept this waiting for a lock of another session for more than 5 seconds: find that with SELECT pid, application_name, query FROM pg_stat_activity, and let it finish, or end it with SELECT pg_terminate_backend(PID).`
  const { told, done } = besideThe(sentence, ended)
  expect(done.toSorted()).toEqual([...ofWorld, ...lists, 'check', 'recover'].toSorted()) // which locks the servers, and waits for no other change
  expect(told).toBeGreaterThan(50)
})

postgresTest('tables that were restored from a dump are refused in the same words, until recover', async () => {
  const url = await openWorld()
  const target = await emptyPostgres('every-restored')
  const bin = dirname(programAt('postgres'))
  const dump = Bun.spawnSync([join(bin, 'pg_dump'), '-Fc', url])
  expect(
    Bun.spawnSync([join(bin, 'pg_restore'), '--exit-on-error', '-d', target], { stdin: dump.stdout }).exitCode,
  ).toBe(0)
  const sentence =
    'The tables of the PostgreSQL database were restored from a dump, so access that was revoked since would work again: ' +
    'stop all servers and run app-platform recover --accept-loss, which ends everything issued.'
  const commands = every.filter(([name]) => name !== 'recover')
  const { backup, ...others } = othersThan(sentence, await runTogether(target, { commands }))
  expect(others).toEqual({})
  if (backup !== undefined) expect(backup).toContain('The copy was kept as') // it dumps any database
  const only = ['recover', 'user list']
  for (const name of only) {
    const ended = await runTogether(target, { commands: every.filter((one) => one[0] === name) })
    expect(ended.get(name)).toMatchObject({ exitCode: 0, stderr: '' })
  }
})

/** Its tables are empty, so every row needs a page that is not there. Its server is its own, because none can make a checkpoint meanwhile. */
test.skipIf(!onPostgres || !mayMount)(
  'a full disk is told in the same words by what changes something, and a move there leaves all as it was',
  async () => {
    const cluster = startCluster({ port: freePort() })
    const disk = await addSmallDisk(cluster, 'every_full')
    try {
      for (const name of ['ballast', 'full', 'moved'])
        await askPostgres(cluster.url('postgres'), `CREATE DATABASE "${name}" TABLESPACE every_full`, [])
      const [url, target] = [cluster.url('full'), cluster.url('moved')]
      for (const each of [url, target])
        expect((await runHere(['migrate'], { env: { DATABASE_URL: each } })).exitCode).toBe(0)
      await fillDisk(cluster.url('ballast'))
      const sentence = `PostgreSQL at ${placeOf(url)} has a full disk: make room on the disks of its data_directory and tablespaces, as df -h there shows.`
      const { told, done } = besideThe(sentence, await runTogether(url))
      expect(done.toSorted()).toEqual(lists.toSorted())
      expect(told).toBeGreaterThan(5)
      await expectAwaited(url, sentence)

      const moving = await expectNoMove(target, sentence.replace(placeOf(url), placeOf(target)))
      await askPostgres(cluster.url('ballast'), 'DROP TABLE ballast', [])
      expect(await run(['move', '--to', target], { env: moving })).toMatchObject({ exitCode: 0 })
    } finally {
      cluster.stop()
      disk.end()
    }
  },
)

/** Puts a line before all others of its `pg_hba.conf`. */
const admit = async ({ folder, url }: Cluster, line: string) => {
  const rules = join(folder, 'data/pg_hba.conf')
  writeFileSync(rules, `${line}\n${readFileSync(rules, 'utf8')}`)
  await askPostgres(url('postgres'), 'SELECT pg_reload_conf()', [])
}

test.skipIf(!onPostgres || !mayMount)('what a PostgreSQL lacks or has lost is told with what mends it', async () => {
  const cluster = startCluster({ port: freePort() })
  const disk = await addSmallDisk(cluster, 'every_lacking')
  const ask = async (text: string, name = 'postgres') =>
    await askPostgres<Record<string, unknown>>(cluster.url(name), text, [])
  try {
    const url = cluster.url('apps')
    await ask('CREATE DATABASE apps TABLESPACE every_lacking')
    expect((await runHere(['migrate'], { env: { DATABASE_URL: url } })).exitCode).toBe(0)
    await ask("CREATE ROLE late LOGIN SUPERUSER PASSWORD 'canary' VALID UNTIL '2020-01-01'")
    for (const role of ['shut', 'plain']) await ask(`CREATE ROLE ${role} LOGIN SUPERUSER`)
    await admit(cluster, 'host all late 127.0.0.1/32 scram-sha-256')
    await admit(cluster, 'host all shut 127.0.0.1/32 reject')
    await admit(cluster, 'hostssl all plain 127.0.0.1/32 trust\nhost all plain 127.0.0.1/32 reject')
    const expectTold = async (words: string, given = url) => {
      const ended = await runTogether(given, { commands: some })
      expect(othersThan(`PostgreSQL at ${placeOf(url)} ${words}`, ended)).toEqual({})
    }
    const isReloaded = await eventually(
      async () => (await runTogether(url.replace('app@', 'shut@'), { commands: some })).get('user list')?.exitCode,
      (exitCode) => exitCode === 1,
    )
    expect(isReloaded).toBe(1)
    const admits =
      'admits this user from this machine to no database of this name, or only with TLS: add a line to its pg_hba.conf and run SELECT pg_reload_conf(), or add sslmode=verify-full to DATABASE_URL.'
    await expectTold(admits, url.replace('app@', 'shut@'))
    await expectTold(admits, url.replace('app@', 'plain@'))
    await expectTold(
      'refuses the user or the password of DATABASE_URL, or the password has expired: its log has the reason. Correct DATABASE_URL, or run ALTER ROLE with PASSWORD and VALID UNTIL.',
      url.replace('app@', 'late:canary@'),
    )

    const [first = ''] = readFileSync(join(cluster.folder, 'data/postmaster.pid'), 'utf8').split('\n')
    const { uid, gid } = statSync(cluster.folder)
    const asOwner = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
    /** Of the limit that its new sessions have. */
    const mayUse = (bytes: string) =>
      expect(Bun.spawnSync([...asOwner, 'prlimit', `--as=${bytes}:`, `--pid=${first}`]).exitCode).toBe(0)
    const [, used = '0'] = /^VmSize:\s+(\d+)/m.exec(readFileSync(`/proc/${first}/status`, 'utf8')) ?? []
    mayUse(String(Number(used) * 1024 + 1_000_000))
    await expectTold(
      'has too little memory for this: free memory on its machine, or lower shared_buffers, work_mem or max_connections.',
    )
    mayUse('unlimited')

    Bun.spawnSync(['mount', '--bind', disk.folder, disk.folder])
    Bun.spawnSync(['mount', '-o', 'remount,bind,ro', disk.folder])
    await expectTold(
      'cannot read or write its files: its log and dmesg there tell more. Copy what can be read to another disk.',
    )
    Bun.spawnSync(['umount', '-l', disk.folder])

    await ask('CHECKPOINT')
    const [table] = await ask("SELECT pg_relation_filepath('schema_migrations') AS path", 'apps')
    await cluster.kill()
    damage(join(cluster.folder, 'data', String(table?.['path'])))
    await cluster.start()
    await expectTold(
      'finds that its own files are damaged: its log names them, and dmesg there may tell why. Restore a backup, as app-platform help postgresql shows.',
    )
  } finally {
    cluster.stop()
    disk.end()
  }
})

/** Changes a byte in the first page, as a disk might. */
const damage = (file: string) => {
  const page = readFileSync(file)
  page[8_000] = (page[8_000] ?? 0) ^ 1
  writeFileSync(file, page)
}
