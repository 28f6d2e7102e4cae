import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { backupFile } from '../../db/backup.ts'
import { checkFile } from '../../db/check.ts'
import { migrateFile } from '../../db/migrate.ts'
import { migrations } from '../../db/migrations/index.ts'
import { createQueries } from '../../db/queries/index.ts'
import { openSqlite } from '../../db/sqlite.ts'
import { rowKey } from '../../src/domain/identifier.ts'
import type { TimeKeyedKind } from '../../src/domain/secret.ts'
import { timeKeyOfUuid } from '../../src/domain/time-key.ts'
import { restoreAt } from '../cli/support/restore-at.ts'
import { deskAt } from '../cli/support/run.ts'
import { call } from '../support/call.ts'
import { type RunningServer, startServer } from '../support/running-server.ts'
import { patience, rounds } from '../support/proof.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  appToken,
  authorize,
  createWorld,
  endWorld,
  exchange,
  grantTokens,
  refresh,
  signIn,
  type World,
} from '../support/world.ts'
import {
  addedMigrations,
  addTwin,
  asIssuedBefore,
  asPreviousRelease,
  previousMigrations,
} from './support/previous-release.ts'

setDefaultTimeout(patience)

/** Everything that users and apps may hold while the program is replaced. */
const holdingsOf = async (world: World) => {
  const { server, user, app } = world
  const session = await signIn(server.url, user)
  return {
    session,
    appToken: await appToken(server.url, app.development),
    code: await authorize(server.url, session, app),
    tokens: await grantTokens(world),
  }
}

let world: World
let holdings: Awaited<ReturnType<typeof holdingsOf>>
/** An app token whose UUID begins like that of another one. */
let twin = ''
/** A database of the previous release in which all of that is live. */
let previous = ''

beforeAll(async () => {
  world = await createWorld()
  const today = await holdingsOf(world)
  await endWorld(world)
  previous = await asPreviousRelease(world.server.database)
  const before = (kind: TimeKeyedKind, secret: string) => asIssuedBefore(previous, kind, secret)
  holdings = {
    session: today.session,
    appToken: before('appToken', today.appToken),
    code: before('authorizationCode', today.code),
    tokens: {
      grantId: today.tokens.grantId,
      accessToken: before('userAccessToken', today.tokens.accessToken),
      refreshToken: before('refreshToken', today.tokens.refreshToken),
    },
  }
  twin = addTwin(previous, holdings.appToken)
})

const copies: RunningServer[] = []
afterAll(async () => {
  for (const server of copies) await server.stop()
})

/** A copy of the database that may be changed. */
const copyOf = (file: string): string => {
  const copy = join(temporaryFolder(), 'app-platform.db')
  mkdirSync(dirname(copy), { recursive: true, mode: 0o700 })
  for (const suffix of ['', '-wal']) if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix)
  return copy
}

const appliedTo = (file: string): readonly unknown[] => {
  using database = new Database(file)
  return database
    .query<{ id: number }, []>('SELECT id FROM schema_migrations ORDER BY id')
    .all()
    .map(({ id }) => id)
}

/** The SQL of every table and index. */
const schemaOf = (file: string): readonly unknown[] => {
  using database = new Database(file)
  return database.query('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all()
}

const idsOf = (steps: readonly { readonly id: number }[]) => steps.map(({ id }) => id)

const expectAllAlive = async (url: string): Promise<void> => {
  const { session, tokens, code } = holdings
  expect((await call(url, 'GET', '~/api/session', { token: session })).status).toBe(200)
  expect((await call(url, 'GET', '/me', { token: holdings.appToken })).status).toBe(200)
  expect((await call(url, 'GET', '/me', { token: twin })).status).toBe(200)
  expect((await call(url, 'GET', '/oauth/me', { token: tokens.accessToken })).body.grantId).toBe(tokens.grantId)
  expect((await call(url, 'GET', '/resources', { token: tokens.accessToken, query: { kind: 'site' } })).status).toBe(
    200,
  )
  const renewed = await refresh(url, world.app, tokens.refreshToken)
  expect(renewed.status).toBe(200)
  expect((await call(url, 'GET', '/oauth/me', { token: renewed.body.accessToken })).status).toBe(200)
  expect((await exchange(url, world.app, code)).status).toBe(200)
  expect((await call(url, 'POST', '~/api/session', { body: { ...world.user, id: undefined } })).status).toBe(200)
}

test('a database of the previous release is migrated once, when it is opened, and everything live in it stays live', async () => {
  const database = copyOf(previous)
  expect(appliedTo(database)).toEqual(idsOf(previousMigrations))
  const server = await startServer({ database })
  copies.push(server)
  await expectAllAlive(server.url)
  expect(await server.stop()).toBe(0)
  expect(appliedTo(database)).toEqual(idsOf(migrations))

  const desk = deskAt(database)
  expect((await desk.json(['migrate'])).applied).toEqual([])
  expect((await desk.run(['check'])).exitCode).toBe(0)
  const fresh = deskAt(join(temporaryFolder(), 'app-platform.db'))
  await fresh.json(['migrate'])
  expect(schemaOf(database)).toEqual(schemaOf(fresh.file))
})

test('a command reports that the schema is outdated, and the database may be backed up before it is migrated', async () => {
  const desk = deskAt(copyOf(previous))
  const { exitCode, stderr } = await desk.run(['user', 'list'])
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^error: The schema of [^\n]+ is behind this program: run migrate\.\n$/)
  await desk.json(['backup', join(desk.folder, 'before.db')])
  expect(appliedTo(join(desk.folder, 'before.db'))).toEqual(idsOf(previousMigrations))
  expect((await desk.json(['migrate'])).applied).toEqual(addedMigrations.map(({ name }) => name))
  expect((await desk.json(['user', 'list'])).data).toHaveLength(1)
})

test('every command of the previous release refuses a database of this one and leaves every byte unchanged', async () => {
  for (const left of ['closed', 'killed'] as const) {
    const server = await startServer({ database: copyOf(previous) })
    await grantTokens({ ...world, server })
    await (left === 'closed' ? server.stop() : server.kill())
    const file = server.database
    const bytes = () =>
      ['', '-wal'].map((suffix) =>
        existsSync(file + suffix)
          ? new Bun.CryptoHasher('sha256').update(readFileSync(file + suffix)).digest('hex')
          : null,
      )
    const before = bytes()
    const names = new Set(readdirSync(dirname(file)))
    expect(before[1] === null).toBe(left === 'closed')

    const newer = { kind: 'newer', message: expect.stringContaining('newer version of this program') }
    const copy = join(temporaryFolder(), 'copy.db')
    for (const released of [previousMigrations, migrations.slice(0, -1)]) {
      const older = { file, migrations: released, createQueries }
      const doors: readonly (() => Promise<unknown>)[] = [
        async () => await openSqlite({ ...older, role: 'server', migrate: true }),
        async () => await openSqlite({ ...older, role: 'operator', migrate: true }),
        async () => await openSqlite({ ...older, role: 'operator', migrate: false }),
        async () => await migrateFile(file, released),
        async () => backupFile({ file, to: copy, replace: false, migrations: released }),
      ]
      for (const door of doors) await expect(door()).rejects.toMatchObject(newer)
    }
    expect(bytes()).toEqual(before)
    expect(existsSync(copy)).toBe(false)
    const added = readdirSync(dirname(file)).filter((name) => !names.has(name))
    expect(added.filter((name) => !/\.(lock|db-shm)$/.test(name))).toEqual([])
    // A reading connection may leave an empty WAL.
    expect(checkFile(file, previousMigrations).join()).toContain('newer version of this program')
    expect(bytes()[0]).toBe(before[0] ?? '')

    const again = await startServer({ database: file })
    expect(await again.stop()).toBe(0)
  }
})

test('a backup of the previous release can be restored by this one', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const before = readFileSync(previous)
  await restoreAt(file, previous, () => undefined)
  expect(appliedTo(file)).toEqual(idsOf(migrations))
  expect(readFileSync(previous).equals(before)).toBe(true)
})

test('every row of a large table is copied, under the key that its UUID begins with', async () => {
  const file = copyOf(previous)
  const uuids = Array.from({ length: 1_234 }, (_, index) => Bun.randomUUIDv7('buffer', Date.now() - 3_600_000 - index))
  const columns = 'credential_id, scopes, created_at, expires_at, revoked_at, request_id, address'
  const before = new Database(file)
  const { rows = 0 } = before.query<{ rows: number }, []>('SELECT count(*) AS rows FROM app_tokens').get() ?? {}
  const insert = before.query(
    `INSERT INTO app_tokens (key, hash, ${columns}) SELECT ?, ?, ${columns} FROM app_tokens LIMIT 1`,
  )
  before.transaction(() => {
    for (const uuid of uuids) insert.run(rowKey(uuid), new Bun.CryptoHasher('sha256').update(uuid).digest())
  })()
  before.close(true)
  await migrateFile(file, migrations)
  using after = new Database(file)
  const find = after.query<{ hash: Uint8Array }, [number]>('SELECT hash FROM app_tokens WHERE key = ?')
  const isCopied = (uuid: Uint8Array) =>
    find.get(timeKeyOfUuid(uuid))?.hash.toHex() === new Bun.CryptoHasher('sha256').update(uuid).digest('hex')
  expect(uuids.filter((uuid) => !isCopied(uuid))).toEqual([])
  expect(after.query('SELECT count(*) AS rows FROM app_tokens').get()).toEqual({ rows: rows + uuids.length })
})

const upgrading = (file: string, killedBefore: number) =>
  Bun.spawn([process.execPath, join(import.meta.dir, 'support/killed-upgrade.ts'), file, String(killedBefore)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })

/** At most `most` of the numbers from 1 to `length`, evenly spread. */
const spread = (length: number, most: number): readonly number[] => {
  const apart = Math.max(1, length / most)
  return Array.from({ length: Math.min(length, most) }, (_, index) => 1 + Math.floor(index * apart))
}

test('an upgrade that is killed before any of its statements leaves the old schema or the new one of each step', async () => {
  const whole = new Map<string, string>()
  for (let upTo = previousMigrations.length; upTo <= migrations.length; upTo += 1) {
    const file = copyOf(previous)
    await migrateFile(file, migrations.slice(0, upTo))
    whole.set(JSON.stringify(appliedTo(file)), JSON.stringify(schemaOf(file)))
  }
  const upgraded = copyOf(previous)
  const statements = Number(await new Response(upgrading(upgraded, 0).stdout).text())
  expect(statements).toBeGreaterThan(migrations.length - previousMigrations.length)
  const left = new Set([JSON.stringify(appliedTo(upgraded))])
  for (const statement of spread(statements, rounds(12))) {
    const file = copyOf(previous)
    const child = upgrading(file, statement)
    await child.exited
    expect(child.signalCode).toBe('SIGKILL')
    const applied = JSON.stringify(appliedTo(file))
    expect(JSON.stringify(schemaOf(file))).toBe(whole.get(applied) ?? 'no schema between two steps')
    expect((await migrateFile(file, migrations)).length).toBe(migrations.length - JSON.parse(applied).length)
    expect(checkFile(file, migrations)).toEqual([])
    left.add(applied)
  }
  if (rounds(12) >= statements) expect(left.size).toBe(whole.size)
  const server = await startServer({ database: upgraded })
  copies.push(server)
  await expectAllAlive(server.url)
}, 600_000)
