import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { parseToken } from '../../src/domain/secret.ts'
import { call } from '../support/call.ts'
import { eventually, together } from '../support/crash.ts'
import { runProgram } from '../support/run-program.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { appToken, authorize, createWorld, endWorld, exchange, grantTokens, refresh, signIn } from '../support/world.ts'
import { expectUnavailable, issue, me, ready } from './server-calls.ts'

describe('a database file that is lost under the running server', () => {
  const losses: Record<string, (file: string) => void> = {
    deleted: (file) => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
    },
    'moved away': (file) => renameSync(file, `${file}.moved`),
    'replaced by a copy': (file) => {
      copyFileSync(file, `${file}.copy`)
      renameSync(`${file}.copy`, file)
    },
    'left without its -wal': (file) => rmSync(`${file}-wal`),
    'left without its -shm, which holds the locks': (file) => rmSync(`${file}-shm`),
    'left without the lock that keeps other servers out': (file) => rmSync(`${file}.lock`),
  }

  test.concurrent.each(Object.keys(losses))(
    'because it was %s stops all writes and readiness, lets no token through wrongly, and ends the server for a restart',
    async (loss) => {
      const world = await createWorld()
      const token = await appToken(world.server.url, world.app.development)
      const tokens = await grantTokens(world)
      const ended = await appToken(world.server.url, world.app.development)
      await call(world.server.url, 'POST', '/oauth/revoke', { token: ended, body: {} })
      expect((await ready(world)).status).toBe(200)
      const acknowledged = new Set<string>()
      losses[loss]?.(world.server.database)

      // Whatever still answers as done must be in a file that has its name; see the last lines.
      const race = together(20, async () => await issue(world))
      for (const answer of await race) {
        if (answer.status === 200) acknowledged.add(answer.body.accessToken)
        else expectUnavailable(answer)
      }
      const unready = await eventually(
        async () => await ready(world),
        ({ status }) => status === 503,
      )
      expectUnavailable(unready)
      expect(unready.body.error.details).toEqual({ conditions: ['storage_failed'] })
      // At once, because the server soon ends.
      const { url } = world.server
      const body = { ...world.app.development, token: tokens.refreshToken }
      const changes = [
        issue(world),
        refresh(url, world.app, tokens.refreshToken),
        call(url, 'POST', '/oauth/revoke', { body }),
      ]
      const states = [ended, `${token.slice(0, -1)}${token.endsWith('x') ? 'y' : 'x'}`, token].map((one) =>
        me(world, one),
      )
      const [health, metrics, refused, shown] = await Promise.all([
        call(url, 'GET', '~/healthz'),
        call(url, 'GET', '~/metrics'),
        Promise.all(changes),
        Promise.all(states),
      ])
      expect(health.status).toBe(200)
      expect(metrics.text).toContain('app_platform_database_writable 0')
      refused.forEach(expectUnavailable)
      expect(shown.slice(0, 2)).toEqual([401, 401])
      expect([200, 503]).toContain(shown[2] ?? 0)
      expect(acknowledged.size).toBe(0)

      await world.platform.database.close().catch(() => {})
      expect(await world.server.ended).toBe(1)
      expect(world.server.log()).toContain('"event":"database.stopped"')
    },
  )
})

const serve = async (file: string, under: readonly string[] = []) =>
  await runProgram(['serve', '--port', '0', '--database', file], under)

const madeOnce = async (): Promise<string> => {
  const file = join(temporaryFolder(), 'app-platform.db')
  expect((await runProgram(['migrate', '--database', file])).code).toBe(0)
  return file
}

const expectPlainRefusal = (
  { code, stdout, stderr }: Awaited<ReturnType<typeof serve>>,
  ...words: readonly string[]
) => {
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr.trim().split('\n')).toHaveLength(1)
  for (const word of words) expect(stderr).toContain(word)
  expect(stderr).not.toMatch(/^\s+at |SQLITE_|node_modules|Error:/m)
}

describe('a server does not start', () => {
  test('on a file that others may read, and says how to fix it', async () => {
    const file = await madeOnce()
    chmodSync(file, 0o640)
    expectPlainRefusal(await serve(file), 'chmod 600', file)
    chmodSync(file, 0o600)
  })

  test('on a file that another server has open, which continues undisturbed', async () => {
    const world = await createWorld()
    expectPlainRefusal(await serve(world.server.database), 'Another server', world.server.database)
    expect((await issue(world)).status).toBe(200)
    await endWorld(world)
  })

  test("on another program's database, which stays unchanged", async () => {
    const file = join(temporaryFolder(), 'other.db')
    const other = new Database(file)
    other.run('CREATE TABLE recipes (id INTEGER PRIMARY KEY)')
    other.run('INSERT INTO recipes VALUES (1)')
    other.close()
    chmodSync(file, 0o600)
    const before = readFileSync(file)
    expectPlainRefusal(await serve(file), 'not a database of this program')
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test('on a database of a newer version of itself, which stays unchanged', async () => {
    const file = await madeOnce()
    const newer = new Database(file)
    newer.run("INSERT INTO schema_migrations VALUES (999, 'from_the_future', 'f')")
    newer.run('PRAGMA journal_mode = DELETE')
    newer.close()
    const before = readFileSync(file)
    expectPlainRefusal(await serve(file), 'newer version')
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  test('on a file that is not a database, or a damaged one', async () => {
    const text = join(temporaryFolder(), 'notes.db')
    writeFileSync(text, 'shopping list\n'.repeat(500), { mode: 0o600 })
    const before = readFileSync(text)
    expectPlainRefusal(await serve(text))
    expect(readFileSync(text).equals(before)).toBe(true)
  })

  const asNobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
  const mayDropRoot = process.getuid?.() === 0 && Bun.which('setpriv') !== null
  test.skipIf(!mayDropRoot)('in a folder where it may not write (needs root, to change the user)', async () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o755)
    expectPlainRefusal(await serve(join(folder, 'app-platform.db'), asNobody))
    expect(existsSync(join(folder, 'app-platform.db'))).toBe(false)
  })
})

describe('files and folders', () => {
  test('are private to their owner, whatever the umask: folder 0700; database, WAL, lock and backups 0600', async () => {
    const folder = join(temporaryFolder(), 'data')
    const file = join(folder, 'app-platform.db')
    const server = await startServer({ database: file })
    const backup = join(folder, 'backup.db')
    expect((await runProgram(['backup', backup, '--database', file])).code).toBe(0)
    const modes = ['', '-wal', '-shm', '.lock'].map((suffix) => statSync(file + suffix).mode & 0o777)
    expect(modes).toEqual([0o600, 0o600, 0o600, 0o600])
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(backup).mode & 0o777).toBe(0o600)
    await server.stop()
  })
})

describe('a lock that another process holds', () => {
  test('makes writes wait but not reads; the writes are done when it is released', async () => {
    const world = await createWorld()
    const token = await appToken(world.server.url, world.app.development)
    const grant = await grantTokens(world)
    const holder = new Database(world.server.database, { readwrite: true, create: false })
    holder.run('PRAGMA busy_timeout = 5000')
    holder.run('BEGIN IMMEDIATE')
    let answered = 0
    const writes = together(30, async () => {
      const answer = await issue(world)
      answered += 1
      return answer
    })
    for (let index = 0; index < 50; index += 1) {
      expect(await me(world, token)).toBe(200)
      expect((await call(world.server.url, 'GET', '/oauth/me', { token: grant.accessToken })).status).toBe(200)
      expect((await call(world.server.url, 'GET', '~/healthz')).status).toBe(200)
    }
    expect(answered).toBe(0)
    await Bun.sleep(1_500)
    expect(await me(world, token)).toBe(200)
    expect(answered).toBe(0)
    holder.run('ROLLBACK')
    holder.close()
    const issued = await writes

    expect(issued.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 200))
    for (const { body } of issued) expect(await me(world, body.accessToken)).toBe(200)
    await endWorld(world)
  })

  test('for too long makes writes answer 503 with Retry-After, and no refused write happens later', async () => {
    const world = await createWorld()
    const session = await signIn(world.server.url, world.user)
    const code = await authorize(world.server.url, session, world.app)
    const holder = new Database(world.server.database, { readwrite: true, create: false })
    holder.run('PRAGMA busy_timeout = 5000')
    holder.run('BEGIN IMMEDIATE')
    const refused = await exchange(world.server.url, world.app, code)
    holder.run('ROLLBACK')
    holder.close()

    expectUnavailable(refused)
    expect((await exchange(world.server.url, world.app, code)).status).toBe(200)
    await endWorld(world)
  }, 30_000)

  test('makes the server unready, which is logged once, and ready again when it is released, even if nothing is written', async () => {
    const world = await createWorld()
    const holder = new Database(world.server.database, { readwrite: true, create: false })
    holder.run('PRAGMA busy_timeout = 5000')
    holder.run('BEGIN IMMEDIATE')
    const unready = await eventually(
      async () => await ready(world),
      ({ status }) => status === 503,
    )
    expectUnavailable(unready)
    expect(unready.body.error.details).toEqual({ conditions: ['database_locked'] })
    expect((await call(world.server.url, 'GET', '~/metrics')).text).toContain('app_platform_database_writable 0')
    await Bun.sleep(1_500)
    holder.run('ROLLBACK')
    holder.close()
    const again = await eventually(
      async () => await ready(world),
      ({ status }) => status === 200,
    )
    expect(again.status).toBe(200)
    expect((await call(world.server.url, 'GET', '~/metrics')).text).toContain('app_platform_database_writable 1')
    await eventually(
      async () => world.server.log(),
      (log) => log.includes('"condition.ended"'),
    )
    await endWorld(world)
    const told = [...world.server.log().matchAll(/"event":"(condition\.\w+)","kind":"(\w+)"/g)]
    expect(told.map(([, event, kind]) => `${event} ${kind}`)).toEqual([
      'condition.began database_locked',
      'condition.ended database_locked',
    ])
  }, 30_000)

  test('for reading, such as a long backup, stops no request', async () => {
    const world = await createWorld()
    const reader = new Database(world.server.database, { readonly: true })
    reader.run('BEGIN')
    reader.query('SELECT count(*) FROM app_tokens').get()
    const issued = await together(100, async () => await issue(world))
    expect(new Set(issued.map(({ status }) => status))).toEqual(new Set([200]))
    reader.run('COMMIT')
    reader.close()
    await endWorld(world)
  })
})

test('a backup of a loaded server is one private, valid file with everything that was acknowledged before it began', async () => {
  const world = await createWorld()
  const before = await Promise.all(
    Array.from({ length: 20 }, async () => await appToken(world.server.url, world.app.development)),
  )
  const folder = join(temporaryFolder(), 'backups')
  mkdirSync(folder, { mode: 0o700 })
  const file = join(folder, 'copy.db')
  const load = together(200, async () => await issue(world))
  const { code } = await runProgram(['backup', file, '--database', world.server.database])
  expect(code).toBe(0)
  expect(new Set((await load).map(({ status }) => status))).toEqual(new Set([200]))
  const copy = new Database(file, { readonly: true })
  const kept = new Set(
    copy
      .query<{ key: number }, []>('SELECT key FROM app_tokens')
      .all()
      .map(({ key }) => key),
  )
  copy.close()

  const keys = before.map((token) => parseToken('appToken', token)?.key ?? 0)
  expect(keys.filter((key) => !kept.has(key))).toEqual([])
  expect((await runProgram(['check', file])).code).toBe(0)
  expect(existsSync(`${file}-wal`)).toBe(false)
  await endWorld(world)
})
