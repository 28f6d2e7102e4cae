import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { linkSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeAcknowledged } from '../../db/sqlite/acknowledged.ts'
import { emailsIn, newEmails, oldAndNew, oldEmails } from '../db/restore/support/old-and-new.ts'
import { call, codeOf } from '../support/call.ts'
import { onSqlite } from '../support/engines.ts'
import { onPostgres } from '../support/postgres.ts'
import { addEmbeddedInstall, embedOrigin, exchangeInstallCode, openInstall } from '../support/embedding.ts'
import { needs, programAt } from '../support/needs.ts'
import { openAsOperator } from '../support/operator.ts'
import { startServer } from '../support/running-server.ts'
import {
  addApp,
  addUser,
  appToken,
  authorize,
  createWorld,
  exchange,
  grantTokens,
  refresh,
  signIn,
  type World,
} from '../support/world.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { restoreAt } from './support/restore-at.ts'
import { deskAt, failureIn, isoTime } from './support/run.ts'
import { backUp } from '../support/database-file.ts'

const test = onSqlite('restore of a file')

const nothingCarriedOver = {
  links: 0,
  credentials: 0,
  serviceKeys: 0,
  apps: 0,
  owners: 0,
  members: 0,
  users: 0,
  emails: 0,
  passwords: 0,
  factors: 0,
  operators: 0,
  installs: 0,
  resources: 0,
  scopes: 0,
  versions: 0,
  redirectUris: 0,
  webhooks: 0,
}

test('a restore puts the backup in place, keeps the predecessor private under a dated name, and leaves no other file', async () => {
  const { folder, file, backup } = await oldAndNew()
  const desk = deskAt(file)
  const restored = await desk.json(['restore', backup])
  expect(restored).toEqual({
    restoredAt: expect.stringMatching(isoTime),
    predecessor: 'read',
    ended: { appTokens: 0, grants: 0, sessions: 0, embeddedSessions: 0 },
    carriedOver: nothingCarriedOver,
    kept: 4, // of the second user: address, password and the missing operator rights
    unread: 0,
    database: file,
    keptAs: expect.stringMatching(/\.before-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/),
    advice: [],
  })
  expect(emailsIn(file)).toEqual(oldEmails)
  expect(emailsIn(restored.keptAs)).toEqual(newEmails)
  for (const path of [file, restored.keptAs]) expect(statSync(path).mode & 0o777).toBe(0o600)
  const names = readdirSync(folder).filter((name) => !/-(wal|shm)$/.test(name))
  expect(names.toSorted()).toEqual(
    [
      'app-platform.db',
      restored.keptAs.split('/').at(-1),
      'app-platform.db.lock',
      'app-platform.db.acknowledged',
      'backup',
    ].toSorted(),
  )
  expect((await desk.run(['check'])).exitCode).toBe(0)
  expect(readdirSync(join(backup, '..'))).toEqual(['copy.db'])

  const { data } = await desk.json(['audit', 'list'])
  expect(data.at(-1)).toMatchObject({
    at: restored.restoredAt,
    actor: { kind: 'operator' },
    action: 'database.restored',
    detail: { predecessor: 'read', ended: { appTokens: 0, grants: 0, sessions: 0, embeddedSessions: 0 } },
  })
  const platform = await openAsOperator(file)
  expect(await platform.database.queries.watermarks.find('restored')).toBe(Date.parse(restored.restoredAt))
  await platform.database.close()
})

test('a restore explains in plain words what it did', async () => {
  const { file, backup } = await oldAndNew()
  const { exitCode, stdout, stderr } = await deskAt(file).run(['restore', backup])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toContain('The predecessor is set aside as ')
  expect(stdout).toContain('Every token, code, grant and session issued before has ended')
  expect(stdout).toContain('Nothing that is in this backup has ended since it was made.')
  expect(stdout.split('\n').filter((line) => line.length > 240)).toEqual([])
  expect(stdout).toContain('should a newer one be restored: 4.')
})

test('a restore that could not read its predecessor says what to rotate, and so does the restore after it', async () => {
  const { file, backup } = await oldAndNew()
  const newer = `${backup}.newer`
  backUp(file, newer)
  writeFileSync(file, 'this is no database'.repeat(500))
  const desk = deskAt(file)
  for (const [from, why] of [
    [backup, 'The predecessor could not be read'],
    [newer, 'An earlier restore since this backup was made could not read its predecessor'],
  ] as const) {
    const { advice } = await desk.json(['restore', from])
    expect(advice).toEqual([expect.stringContaining('rotate every client secret')])
    expect(advice[0]).toStartWith(why)
  }
})

const stopWorld = async (world: World): Promise<void> => {
  await world.platform.database.close()
  expect(await world.server.stop()).toBe(0)
}

test('a restore ends every token, code, grant and session issued before it, also in frames', async () => {
  const world = await createWorld()
  const { server, user, app, platform } = world
  const token = await appToken(server.url, app.development)
  const session = await signIn(server.url, user)
  const tokens = await grantTokens(world)
  const code = await authorize(server.url, session, app)
  const install = await addEmbeddedInstall(platform, app, user)
  const frame = { clientId: app.production.clientId, origin: embedOrigin(app) }
  const spent = { ...frame, code: await openInstall(platform, session, install) }
  const inFrame = (await exchangeInstallCode(server.url, spent)).body.sessionToken
  const frameCode = await openInstall(platform, session, install)
  const backup = join(server.database, '..', 'copy.db')
  backUp(server.database, backup)
  const later = await appToken(server.url, app.development)
  await stopWorld(world)
  // The version was uploaded with a token of its own.
  expect((await restoreAt(server.database, backup)).ended).toEqual({
    appTokens: 2,
    grants: 2,
    sessions: 2,
    embeddedSessions: 1,
  })

  const after = await startServer({ database: server.database })
  expect(codeOf(await call(after.url, 'GET', '/me', { token }))).toBe('invalid_token')
  expect(codeOf(await call(after.url, 'GET', '/me', { token: later }))).toBe('invalid_token')
  expect(codeOf(await call(after.url, 'GET', '/oauth/me', { token: tokens.accessToken }))).toBe('invalid_token')
  expect(codeOf(await refresh(after.url, app, tokens.refreshToken))).toBe('invalid_grant')
  expect(codeOf(await exchange(after.url, app, code))).toBe('invalid_grant')
  expect((await call(after.url, 'GET', '~/api/session', { token: session })).status).toBe(401)
  const headers = { Origin: frame.origin }
  expect(codeOf(await call(after.url, 'GET', '/oauth/me', { token: inFrame, headers }))).toBe('invalid_token')
  expect(codeOf(await exchangeInstallCode(after.url, { ...frame, code: frameCode }))).toBe('invalid_grant')
  const copy = new Database(server.database, { readonly: true })
  expect(copy.query('SELECT count(*) FROM install_session_codes WHERE spent_at IS NULL').values()).toEqual([[0]])
  expect(copy.query('SELECT count(*) FROM embedded_sessions WHERE ended_at IS NULL').values()).toEqual([[0]])
  copy.close()

  expect((await call(after.url, 'GET', '/me', { token: await appToken(after.url, app.development) })).status).toBe(200)
  const fresh = await authorize(after.url, await signIn(after.url, user), app)
  expect((await exchange(after.url, app, fresh)).status).toBe(200)
  expect(await after.stop()).toBe(0)
})

test('what ended since the backup stays ended after a restore', async () => {
  const world = await createWorld()
  const { platform, app, user, server } = world
  const other = await addApp(platform, user)
  const gone = await addUser(platform, 'Gone')
  const desk = deskAt(server.database)
  const backup = join(desk.folder, 'copy.db')
  await desk.json(['backup', backup])
  const { data: before } = await desk.json(['credential', 'list', app.slug])
  const { data: events } = await desk.json(['audit', 'list', '--app', app.slug, '--limit', '1000'])
  await desk.json(['credential', 'revoke', before[0].id])
  await desk.json(['credential', 'rotate', app.production.clientId, '--grace-hours', '1'])
  await desk.json(['app', 'suspend', other.slug])
  await desk.json(['user', 'disable', gone.email])
  await desk.json(['redirect', 'remove', app.slug, '--environment', 'development', app.redirectUri])
  const install = events.find((event: { action: string }) => event.action === 'install.created').target
  await desk.json(['install', 'deactivate', install])
  await stopWorld(world)

  const { carriedOver } = await desk.json(['restore', backup])
  expect(carriedOver).toEqual({
    ...nothingCarriedOver,
    credentials: 2,
    apps: 1,
    users: 1,
    installs: 1,
    resources: 0,
    redirectUris: 1,
  })
  const { data: credentials } = await desk.json(['credential', 'list', app.slug])
  expect(credentials).toHaveLength(2)
  expect(credentials[0]).toMatchObject({ environment: 'development', status: 'ended' })
  expect(credentials[1]).toMatchObject({
    environment: 'production',
    status: 'live',
    expiresAt: expect.stringMatching(isoTime),
  })
  const { data: apps } = await desk.json(['app', 'list'])
  expect(apps.find(({ slug }: { slug: string }) => slug === other.slug).status).toBe('suspended')
  expect((await desk.run(['install', 'deactivate', install])).exitCode).toBe(1)
  const after = await startServer({ database: desk.file })
  expect((await call(after.url, 'POST', '~/api/session', { body: gone })).status).toBe(401)
  const asked = { body: { ...app.development, scope: 'site:read' } }
  expect(codeOf(await call(after.url, 'POST', '/token', asked))).toBe('invalid_client')
  expect(await after.stop()).toBe(0)
})

test('a restore is refused while a server uses the database, and changes nothing', async () => {
  const { file, backup } = await oldAndNew()
  const server = await startServer({ database: file })
  const desk = deskAt(file)
  const { exitCode, stdout, stderr } = await desk.run(['restore', backup, '--json'])
  expect({ exitCode, code: failureIn({ stdout, stderr }) }).toEqual({ exitCode: 1, code: 'database_unusable' })
  expect(stderr).toMatch(/^error: A server is running on [^\n]+: stop it first\.\n$/)
  expect(emailsIn(file)).toEqual(newEmails)

  // Changes that are only in the WAL of a killed server are kept and carried over.
  await desk.json(['user', 'disable', 'first@example.com'])
  await server.kill()
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(0)
  const { carriedOver, keptAs } = await desk.json(['restore', backup])
  expect(carriedOver.users).toBe(1)
  const kept = new Database(keptAs, { readonly: true })
  expect(kept.query("SELECT status FROM users WHERE email = 'first@example.com'").values()).toEqual([['disabled']])
  kept.close()
})

test('purge --predecessors removes what restores have set aside, and nothing else, beside a server', async () => {
  const { folder, file, backup } = await oldAndNew()
  const desk = deskAt(file)
  expect(await desk.json(['purge', '--predecessors'])).toEqual({ removed: [] })
  const first = await desk.json(['restore', backup])
  const { stdout } = await desk.run(['restore', backup])
  expect(stdout).toContain('app-platform purge --predecessors')
  const others = ['before-lunch', 'before-2026-01-02', 'before-2026-01-02T03-04-05.678Z.gz'].map(
    (end) => `${file}.${end}`,
  )
  for (const path of others) writeFileSync(path, 'mine')
  writeFileSync(`${first.keptAs}-wal`, '')
  // As during a restore: the predecessor still has the name of the database as well.
  linkSync(file, `${file}.before-2026-01-02T03-04-05.678Z`)
  const { removed } = await desk.json(['purge', '--predecessors'])
  const paths = removed.map(({ path }: { readonly path: string }) => path)
  expect(paths).toHaveLength(3)
  expect(paths).toContain(first.keptAs)
  expect(paths).toContain(`${first.keptAs}-wal`)
  const left = readdirSync(folder).filter((name) => name.includes('.before-'))
  expect(left).toHaveLength(4)
  expect(emailsIn(file)).toEqual(oldEmails)
})

test('a damaged backup is refused in one line', async () => {
  const { file, backup } = await oldAndNew()
  writeFileSync(backup, readFileSync(backup).fill(0x5a, 20_000, 60_000))
  const { exitCode, stdout, stderr } = await deskAt(file).run(['restore', backup, '--json'])
  expect({ exitCode, code: failureIn({ stdout, stderr }) }).toEqual({ exitCode: 1, code: 'database_unusable' })
  expect(stderr).toMatch(/^error: [^\n]+\.\n$/)
  expect(stderr).toContain('use another backup')
  for (const [start, content] of [
    [0, 'no file of SQLite'],
    [20, '\xff'.repeat(40)],
    [4_096, 'broken'.repeat(100)],
  ] as const) {
    const broken = Buffer.from(readFileSync(file))
    broken.write(content, start, 'latin1')
    writeFileSync(backup, broken)
    for (const words of [
      ['restore', backup],
      ['restore', '--move', backup],
    ]) {
      const refused = await deskAt(file).run(words)
      expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
      expect(refused.stderr).not.toContain('app-platform restore FILE')
    }
  }
  expect(emailsIn(file)).toEqual(newEmails)
})

const additions: Record<string, readonly [sql: string, named: string]> = {
  'a trigger that undoes the ending of sessions': [
    'CREATE TRIGGER revive BEFORE DELETE ON sessions BEGIN SELECT RAISE(IGNORE); END',
    'The trigger revive',
  ],
  'a trigger that makes an operator': [
    "CREATE TRIGGER promote AFTER INSERT ON audit_events BEGIN UPDATE users SET is_operator = 1 WHERE email = 'first@example.com'; END",
    'The trigger promote',
  ],
  'a view': ['CREATE VIEW everybody AS SELECT * FROM users', 'The view everybody'],
  'a table': ['CREATE TABLE notes (text)', 'The table notes'],
}
test.each(Object.entries(additions))(
  'a backup with %s added by others is refused by name, by every command and by the server',
  async (_, [sql, named]) => {
    const { file, backup } = await oldAndNew()
    const altered = new Database(backup)
    altered.run(sql)
    altered.close()
    writeAcknowledged(backup, { count: 0 }) // without this file no command would check any further
    const at = (words: readonly string[]) => deskAt(file).run([...words, '--json'])
    const refused = await Promise.all([
      at(['restore', backup]),
      ...[
        ['check'],
        ['serve', '--port', '0'],
        ['migrate'],
        ['user', 'disable', 'first@example.com'],
        ['backup', `${backup}.2`],
      ].map((words) => at([...words, '--database', backup])),
    ])
    for (const { exitCode, stdout, stderr } of refused) {
      expect({ exitCode, code: failureIn({ stdout, stderr }) }).toEqual({
        exitCode: 1,
        code: expect.stringMatching(/^(database_unusable|command_failed)$/), // `check` says what it found
      })
      expect(stderr).toMatch(/^error: [^\n]+\n$/)
      expect(stderr).toContain(`${named} in ${backup} was not made by this program`)
    }
    expect(emailsIn(file)).toEqual(newEmails)
  },
)

test('a backup with faults that check finds is not restored, and nothing changes', async () => {
  const { folder, file } = await oldAndNew()
  const desk = deskAt(file)
  await desk.json(
    'app create --owner first@example.com --name Newsletter --slug newsletter --scopes site:read'.split(' '),
  )
  const backup = join(temporaryFolder(), 'copy.db')
  await desk.json(['backup', backup])
  const before = readdirSync(folder).toSorted()
  const orphaned = new Database(backup)
  orphaned.run('PRAGMA foreign_keys = OFF')
  orphaned.run('DELETE FROM users')
  orphaned.close()
  for (const words of [
    ['check', backup],
    ['restore', backup],
  ]) {
    const { exitCode, stdout, stderr } = await desk.run(words)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toContain('1 row(s) of apps refer to missing rows of users')
  }
  expect(readdirSync(folder).toSorted()).toEqual(before)
  expect(emailsIn(file)).toEqual(newEmails)
  // recover and move check the database in the same way.
  const broken = new Database(file)
  broken.run('PRAGMA foreign_keys = OFF')
  broken.run("DELETE FROM users WHERE email = 'first@example.com'")
  broken.close()
  for (const words of [
    ['recover', '--accept-loss'],
    ['move', '--to', join(folder, 'moved.db')],
  ]) {
    const { exitCode, stderr } = await desk.run(words)
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('refer to missing rows of users'),
    })
  }
  expect((await desk.run(['user', 'list'])).exitCode).toBe(0) // neither suspended nor moved
})

test('a restore drops the statistics of the backup, which could slow down every query', async () => {
  const { file, backup } = await oldAndNew()
  const analyzed = new Database(backup)
  analyzed.run('ANALYZE')
  analyzed.run("UPDATE sqlite_stat1 SET stat = '1000000000 1000000000'")
  analyzed.close()
  await deskAt(file).json(['restore', backup])
  const restored = new Database(file)
  expect(restored.query("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'").values()).toEqual([[0]])
  restored.close()
})

needs('mkfifo').test.skipIf(onPostgres)('restore and check refuse at once what is not a regular file', async () => {
  const { folder, file } = await oldAndNew()
  const pipe = join(temporaryFolder(), 'pipe')
  expect(Bun.spawnSync([programAt('mkfifo'), pipe]).exitCode).toBe(0)
  for (const words of [['restore'], ['restore', '--move'], ['check']]) {
    for (const path of [pipe, folder]) {
      const { exitCode, stderr } = await deskAt(file).run([...words, path])
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: `error: ${path} is a folder, a pipe or a device, not the file of a backup.\n`,
      })
    }
  }
})
