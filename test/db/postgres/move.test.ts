import { expect, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import { importedTables } from '../../../db/postgres/import.ts'
import { run } from '../../cli/support/run.ts'
import { uploadVersion } from '../../operations/support/owner.ts'
import { askBeside, askPostgres } from '../../support/beside.ts'
import { call } from '../../support/call.ts'
import { countRows, fillWithAppTokens } from '../../support/expired-rows.ts'
import { needs } from '../../support/needs.ts'
import { openAsOperator } from '../../support/operator.ts'
import { onPostgres, postgresDatabase } from '../../support/postgres.ts'
import { runProgram } from '../../support/run-program.ts'
import { programCommand } from '../../support/program.ts'
import { startServer } from '../../support/running-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  addApp,
  addUser,
  appToken,
  authorize,
  createWorld,
  endWorld,
  exchange,
  grantTokens,
  refresh,
  signIn,
} from '../../support/world.ts'
import { type Fate, startProxy } from './support.ts'

setDefaultTimeout(240_000)

const { test } = needs('postgres')

test('every table is moved', async () => {
  const rows = await askPostgres<{ name: string }>(
    await postgresDatabase('tables'),
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    [],
  )
  const ofServers = ['leases', 'locks', 'nodes', 'origin', 'schema_migrations', 'shared_limits', 'timelines']
  expect(rows.map(({ name }) => name).toSorted()).toEqual([...importedTables, ...ofServers].toSorted())
})

test.skipIf(onPostgres)(
  'a stopped SQLite database moves into PostgreSQL: tokens go on, the file is used no more',
  async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'app-platform.db')
    const url = await postgresDatabase(file)
    const before = await createWorld({ database: file, ownProcess: true })
    const { app, user } = before
    await uploadVersion(before.platform, app, '1.0.0', ['submit', 'approve', 'activate'])
    const token = await appToken(before.server.url, app.development)
    const tokens = await grantTokens(before)
    const code = await authorize(before.server.url, await signIn(before.server.url, user), app)
    const running = await runProgram(['move', '--to', url, '--database', file])
    expect(running).toMatchObject({ code: 1, stderr: expect.stringContaining('A server is running') })
    await endWorld(before)
    const counts = await countRows(file, ...importedTables)

    expect(await runProgram(['move', '--to', url, '--database', file])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('has moved into the PostgreSQL database'),
    })
    const events = counts['audit_events'] ?? 0
    const changed = { audit_events: events + 2, watermarks: expect.any(Number) } // moved, and moved here
    expect(await countRows(url, ...importedTables)).toEqual({ ...counts, ...changed })
    expect(await runProgram(['check', '--database', url])).toMatchObject({ code: 0 })
    for (const words of [
      ['user', 'list'],
      ['serve', '--port', '0'],
      ['move', '--to', join(folder, 'copy.db')],
    ]) {
      const refused = await runProgram([...words, '--database', file])
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('was moved into PostgreSQL at') })
    }
    // It has arrived, as after a kill that came too late.
    expect((await runProgram(['move', '--to', url, '--database', file])).code).toBe(0)
    expect(await countRows(url, ...importedTables)).toEqual({ ...counts, ...changed })

    const server = await startServer({ database: url, ownProcess: true })
    const statusOf = async (path: string, bearer: string) =>
      (await call(server.url, 'GET', path, { token: bearer })).status
    expect(await statusOf('/me', token)).toBe(200)
    expect(await statusOf('/oauth/me', tokens.accessToken)).toBe(200)
    expect((await exchange(server.url, app, code)).status).toBe(200)
    expect((await refresh(server.url, app, tokens.refreshToken)).status).toBe(200)
    expect((await runProgram(['recover', '--accept-loss', '--database', url])).stderr).toContain('A server is running')
    await server.stop()

    const recovered = await runProgram(['recover', '--accept-loss', '--database', url])
    expect(recovered.stderr).toBe('')
    expect(recovered.stdout).toContain('Recovered the PostgreSQL database.\nEnded: app tokens 2, grants 2')
    const after = await startServer({ database: url, ownProcess: true })
    expect((await call(after.url, 'GET', '/me', { token })).status).toBe(401)
    expect((await refresh(after.url, app, tokens.refreshToken)).status).toBe(401)
    await after.stop()
  },
)

test.skipIf(onPostgres)('a move that was interrupted may run again, and keeps nothing of the first one', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const url = await postgresDatabase(file)
  const platform = await openAsOperator(file)
  await addApp(platform, await addUser(platform))
  await platform.database.close()
  // Refuses the last table, so that the transaction is undone after the others were copied.
  await askPostgres(url, "ALTER TABLE watermarks ADD CONSTRAINT none CHECK (name = 'none')", [])
  expect((await runProgram(['move', '--to', url, '--database', file])).code).toBe(1)
  expect(await countRows(url, 'users', 'apps')).toEqual({ users: 0, apps: 0 })
  expect((await runProgram(['user', 'list', '--database', file])).code).toBe(0) // it has not moved
  await askPostgres(url, 'ALTER TABLE watermarks DROP CONSTRAINT none', [])
  expect((await runProgram(['move', '--to', url, '--database', file])).code).toBe(0)
  expect(await countRows(url, 'users', 'apps')).toEqual({ users: 1, apps: 1 })
})

test.skipIf(onPostgres)(
  'the URL of the new database may come from the environment, and a password in the arguments is warned of',
  async () => {
    const file = join(temporaryFolder(), 'app-platform.db')
    const url = await postgresDatabase(file)
    await (await openAsOperator(file)).database.close()
    const withPassword = url.replace('app@', 'app:canary@')
    const move = async (words: readonly string[], env: Readonly<Record<string, string>>) =>
      await run(['move', ...words, '--database', file], { env })
    const nowhere = await move([], {})
    expect(nowhere).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringContaining('DATABASE_URL') })
    const told = { exitCode: 0, stdout: expect.stringContaining('has moved into the PostgreSQL database') }
    expect(await move([], { DATABASE_URL: withPassword })).toEqual({ ...told, stderr: '' })
    const warning = expect.stringMatching(/^warning: [^\n]+ DATABASE_URL instead\.\n$/)
    expect(await move(['--to', withPassword], {})).toEqual({ ...told, stderr: warning })
    expect(await move([`--to=${url}`], {})).toEqual({ ...told, stderr: '' })
    const visible = await run(['check', `--database=${withPassword}`])
    expect(visible).toEqual({ exitCode: 0, stdout: expect.not.stringContaining('canary'), stderr: warning })
  },
)

const isInUse = async (file: string) => (await runProgram(['user', 'list', '--database', file])).code === 0

test.skipIf(onPostgres).each([
  ['before', 'request lost', 0],
  ['after', 'answer lost', 1],
] as const)(
  'a move that is cut off just %s its commit can only be finished, and arrives once',
  async (_, fate, arrived) => {
    const file = join(temporaryFolder(), 'app-platform.db')
    const url = await postgresDatabase(file)
    const platform = await openAsOperator(file)
    await addUser(platform)
    await platform.database.close()
    const fates: Fate[] = ['passed on', 'passed on', fate] // the first two are of the check of the schema
    const proxy = await startProxy(file, fates)
    expect((await runProgram(['move', '--to', proxy.url, '--database', file])).code).toBe(1)
    proxy.stop()
    expect(fates).toEqual([])
    expect(await countRows(url, 'users')).toEqual({ users: arrived })
    expect(await isInUse(file)).toBe(false)
    expect(await runProgram(['move', '--to', url, '--database', file])).toMatchObject({ code: 0, stderr: '' })
    expect(await countRows(url, 'users')).toEqual({ users: 1 })
  },
)

test.skipIf(onPostgres)(
  'a move that is killed at any moment has moved everything or nothing, and may run again',
  async () => {
    const file = join(temporaryFolder(), 'app-platform.db')
    const url = await postgresDatabase(file)
    const platform = await openAsOperator(file)
    const app = await addApp(platform, await addUser(platform))
    const [credential] = await askBeside<{ id: string }>(file, 'SELECT id FROM credentials LIMIT 1')
    const count = 50_000
    await fillWithAppTokens(file, { count, credentialId: credential?.id ?? app.id, createdAt: Date.now() })
    await platform.database.close()
    for (let waitMs = 300; ; waitMs *= 1.5) {
      const child = Bun.spawn([...programCommand, 'move', '--to', url, '--database', file], {
        stdout: 'ignore',
        stderr: 'ignore',
      })
      const killing = setTimeout(() => child.kill('SIGKILL'), waitMs)
      const code = await child.exited
      clearTimeout(killing)
      const there = (await countRows(url, 'app_tokens'))['app_tokens']
      expect([0, count]).toContain(there ?? -1)
      if (there === count) expect(await isInUse(file)).toBe(false)
      if (code === 0) return expect(there).toBe(count)
    }
  },
)
