import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  addEmbeddedVersion,
  embedOrigin,
  exchangeInstallCode,
  installEmbedded,
  openInstall,
} from '../support/embedding.ts'
import { openAsOperator } from '../support/operator.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
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
import { call, codeOf } from '../support/call.ts'
import { type Desk, addUser as addUserAtDesk, deskAt, isoTime, openDesk } from './support/run.ts'
import { restoreAt } from './support/restore-at.ts'

setDefaultTimeout(60_000)

const stopWorld = async (world: World): Promise<Desk> => {
  await world.platform.database.close()
  expect(await world.server.stop()).toBe(0)
  return deskAt(world.server.database)
}

/** Opens it as a server would: what a killed process left half done is rolled back first. */
const emailsIn = (file: string): string[] => {
  const database = new Database(file, { readwrite: true, create: false })
  const rows = database.query('SELECT email FROM users ORDER BY email').values()
  database.close()
  return rows.map(([email]) => String(email))
}

/** A database with one user, and a backup of it from before that user was there. */
const oldAndNew = async (): Promise<{ readonly desk: Desk; readonly backup: string }> => {
  const desk = await openDesk()
  await addUserAtDesk(desk, 'first@example.com')
  const backup = join(desk.folder, 'backup', 'copy.db')
  await desk.json(['backup', backup])
  await addUserAtDesk(desk, 'second@example.com')
  return { desk, backup }
}

test('a restore puts the backup in place, keeps what was there under a dated name, private, and leaves nothing else', async () => {
  const { desk, backup } = await oldAndNew()
  const restored = await desk.json(['restore', backup])
  expect(restored).toEqual({
    restoredAt: expect.stringMatching(isoTime),
    predecessor: 'read',
    ended: { appTokens: 0, grants: 0, sessions: 0, embeddedSessions: 0 },
    carriedOver: { credentials: 0, apps: 0, users: 0, passwords: 0, installs: 0, redirectUris: 0, webhooks: 0 },
    database: desk.file,
    keptAs: expect.stringMatching(/\.before-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/),
    advice: [],
  })
  expect(emailsIn(desk.file)).toEqual(['first@example.com'])
  expect(emailsIn(restored.keptAs)).toEqual(['first@example.com', 'second@example.com'])
  for (const path of [desk.file, restored.keptAs]) expect(statSync(path).mode & 0o777).toBe(0o600)
  const names = readdirSync(desk.folder).filter((name) => !/-(wal|shm)$/.test(name))
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
})

test('what was kept can be restored in turn', async () => {
  const { desk, backup } = await oldAndNew()
  const { keptAs } = await desk.json(['restore', backup])
  await desk.json(['restore', keptAs])
  expect(emailsIn(desk.file)).toEqual(['first@example.com', 'second@example.com'])
})

test('a restore leaves an audit event and the moment in the database', async () => {
  const { desk, backup } = await oldAndNew()
  const { restoredAt } = await desk.json(['restore', backup])
  const { data } = await desk.json(['audit', 'list'])
  expect(data.at(-1)).toMatchObject({
    at: restoredAt,
    actor: { kind: 'operator' },
    action: 'database.restored',
    detail: { predecessor: 'read', ended: { appTokens: 0, grants: 0, sessions: 0, embeddedSessions: 0 } },
  })
  const platform = await openAsOperator(desk.file)
  expect(await platform.database.queries.watermarks.find('restored')).toBe(Date.parse(restoredAt))
  await platform.database.close()
})

test('it says in plain words what it did', async () => {
  const { desk, backup } = await oldAndNew()
  const { exitCode, stdout, stderr } = await desk.run(['restore', backup])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toContain('What was there is kept as ')
  expect(stdout).toContain('Every token, code, grant and session issued before has ended')
  expect(stdout).toContain('Carried over from what was there')
})

test('every token, code, grant and session issued before the restore has ended', async () => {
  const world = await createWorld()
  const { server, user, app } = world
  const token = await appToken(server.url, app.development)
  const session = await signIn(server.url, user)
  const tokens = await grantTokens(world)
  const code = await authorize(server.url, session, app)
  const desk = deskAt(server.database)
  const backup = join(desk.folder, 'copy.db')
  await desk.json(['backup', backup])
  await stopWorld(world)
  expect((await desk.json(['restore', backup])).ended).toEqual({
    appTokens: 1,
    grants: 2,
    sessions: 2,
    embeddedSessions: 0,
  })

  const after = await startServer({ database: desk.file })
  expect(codeOf(await call(after.url, 'GET', '/me', { token }))).toBe('invalid_token')
  expect(codeOf(await call(after.url, 'GET', '/oauth/me', { token: tokens.accessToken }))).toBe('invalid_token')
  expect(codeOf(await refresh(after.url, app, tokens.refreshToken))).toBe('invalid_grant')
  expect(codeOf(await exchange(after.url, app, code))).toBe('invalid_grant')
  expect((await call(after.url, 'GET', '~/api/session', { token: session })).status).toBe(401)
  expect((await call(after.url, 'GET', '/me', { token: await appToken(after.url, app.development) })).status).toBe(200)
  const fresh = await authorize(after.url, await signIn(after.url, user), app)
  expect((await exchange(after.url, app, fresh)).status).toBe(200)
  expect(await after.stop()).toBe(0)
})

test('codes and sessions of apps in a frame have ended as well', async () => {
  const world = await createWorld()
  const { server, user, app, platform } = world
  await addEmbeddedVersion(platform, app)
  const install = await installEmbedded(platform, app, user)
  const session = await signIn(server.url, user)
  const of = { clientId: app.production.clientId, origin: embedOrigin(app) }
  const spent = { ...of, code: await openInstall(platform, session, install) }
  const token = (await exchangeInstallCode(server.url, spent)).body.sessionToken
  const code = await openInstall(platform, session, install)
  const desk = deskAt(server.database)
  const backup = join(desk.folder, 'copy.db')
  await desk.json(['backup', backup])
  await stopWorld(world)
  expect((await desk.json(['restore', backup])).ended).toMatchObject({ embeddedSessions: 1 })
  const after = await startServer({ database: desk.file })
  const headers = { Origin: of.origin }
  expect(codeOf(await call(after.url, 'GET', '/oauth/me', { token, headers }))).toBe('invalid_token')
  expect(codeOf(await exchangeInstallCode(after.url, { ...of, code }))).toBe('invalid_grant')
  const copy = new Database(desk.file, { readonly: true })
  expect(copy.query('SELECT count(*) FROM install_session_codes WHERE spent_at IS NULL').values()).toEqual([[0]])
  expect(copy.query('SELECT count(*) FROM embedded_sessions WHERE ended_at IS NULL').values()).toEqual([[0]])
  copy.close()
  expect(await after.stop()).toBe(0)
})

test('a token issued after the backup does not come back either', async () => {
  const world = await createWorld()
  const desk = deskAt(world.server.database)
  const backup = join(desk.folder, 'copy.db')
  await desk.json(['backup', backup])
  const token = await appToken(world.server.url, world.app.development)
  await stopWorld(world)
  await desk.json(['restore', backup])
  const after = await startServer({ database: desk.file })
  expect(codeOf(await call(after.url, 'GET', '/me', { token }))).toBe('invalid_token')
  expect(await after.stop()).toBe(0)
})

/** A backup of a world, then everything in it ended; gives what to look at afterwards. */
const endedAfterBackup = async () => {
  const world = await createWorld()
  const { platform, app, user } = world
  const other = await addApp(platform, user)
  const gone = await addUser(platform, 'Gone')
  const desk = deskAt(world.server.database)
  const backup = join(desk.folder, 'copy.db')
  await desk.json(['backup', backup])
  const { data: credentials } = await desk.json(['credential', 'list', app.slug])
  const { data: installs } = await desk.json(['audit', 'list', '--app', app.slug, '--limit', '1000'])
  await desk.json(['credential', 'revoke', credentials[0].id])
  await desk.json(['credential', 'rotate', app.production.clientId, '--grace-hours', '1'])
  await desk.json(['app', 'suspend', other.slug])
  await desk.json(['user', 'disable', gone.email])
  await desk.json(['redirect', 'remove', app.slug, '--environment', 'development', app.redirectUri])
  const install = installs.find((event: { action: string }) => event.action === 'install.created').target
  await desk.json(['install', 'deactivate', install])
  await stopWorld(world)
  return { desk, backup, app, other, gone, install }
}

test('what had ended since the backup stays ended', async () => {
  const { desk, backup, app, other, gone, install } = await endedAfterBackup()
  const restored = await desk.json(['restore', backup])
  expect(restored.carriedOver).toEqual({
    credentials: 2,
    apps: 1,
    users: 1,
    passwords: 0,
    installs: 1,
    redirectUris: 1,
    webhooks: 0,
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

test('a password that was changed since the backup is the one that counts', async () => {
  const { desk, backup } = await oldAndNew()
  const database = new Database(desk.file)
  database.run("UPDATE users SET password_hash = 'changed' WHERE email = 'first@example.com'")
  database.close()
  expect((await desk.json(['restore', backup])).carriedOver.passwords).toBe(1)
  const after = new Database(desk.file, { readonly: true })
  expect(after.query("SELECT password_hash FROM users WHERE email = 'first@example.com'").values()).toEqual([
    ['changed'],
  ])
  after.close()
})

test('when the database that was there cannot be read, the restore works and says what to rotate', async () => {
  for (const destroy of [
    (file: string) => writeFileSync(file, 'this is no database'.repeat(500)),
    (file: string) => {
      const bytes = readFileSync(file)
      writeFileSync(file, bytes.fill(0x5a, 4096)) // the header is sound, every page after it is not
    },
    (file: string) => writeFileSync(file, ''),
  ]) {
    const { desk, backup } = await oldAndNew()
    destroy(desk.file)
    const wreck = readFileSync(desk.file)
    const restored = await desk.json(['restore', backup])
    expect(restored).toMatchObject({ predecessor: 'unreadable', carriedOver: null })
    expect(restored.advice.join(' ')).toContain('rotate every client secret')
    expect(readFileSync(restored.keptAs).subarray(4096)).toEqual(wreck.subarray(4096))
    expect(emailsIn(desk.file)).toEqual(['first@example.com'])
    expect((await desk.run(['check'])).exitCode).toBe(0)
  }
})

test('when there is no database, the backup becomes one, and the advice is the same', async () => {
  const { backup } = await oldAndNew()
  const desk = deskAt(join(temporaryFolder(), 'data', 'app-platform.db'))
  const restored = await desk.json(['restore', backup])
  expect(restored).toMatchObject({ predecessor: 'missing', carriedOver: null, keptAs: null })
  expect(restored.advice).toHaveLength(1)
  expect(emailsIn(desk.file)).toEqual(['first@example.com'])
  expect(statSync(desk.folder).mode & 0o777).toBe(0o700)
})

test('a WAL that a lost database left behind is not applied to the restored one', async () => {
  const { desk, backup } = await oldAndNew()
  const writer = new Database(desk.file)
  writer.run('PRAGMA wal_autocheckpoint = 0')
  writer.run("UPDATE users SET name = 'from the WAL'")
  copyFileSync(`${desk.file}-wal`, `${desk.file}-wal.saved`)
  writer.close()
  for (const name of [desk.file, `${desk.file}-wal`, `${desk.file}-shm`]) rmSync(name, { force: true })
  copyFileSync(`${desk.file}-wal.saved`, `${desk.file}-wal`)
  await desk.json(['restore', backup])
  const after = new Database(desk.file, { readonly: true })
  expect(after.query('SELECT name FROM users').values()).toEqual([['Ada Example']])
  after.close()
  expect((await desk.run(['check'])).exitCode).toBe(0)
})

test('what stands only in the WAL of the predecessor is kept, and counts', async () => {
  const { desk, backup } = await oldAndNew()
  const server = await startServer({ database: desk.file })
  await desk.json(['user', 'disable', 'first@example.com'])
  await server.kill()
  expect(statSync(`${desk.file}-wal`).size).toBeGreaterThan(0)
  const { carriedOver, keptAs } = await desk.json(['restore', backup])
  expect(carriedOver.users).toBe(1)
  const kept = new Database(keptAs, { readonly: true })
  expect(kept.query("SELECT status FROM users WHERE email = 'first@example.com'").values()).toEqual([['disabled']])
  kept.close()
})

test('a restore refuses while a server holds the database, and changes nothing', async () => {
  const { desk, backup } = await oldAndNew()
  const server = await startServer({ database: desk.file })
  const { exitCode, stdout, stderr } = await desk.run(['restore', backup, '--json'])
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toMatch(/^error: A server is running on [^\n]+: stop it first\.\n$/)
  expect(emailsIn(desk.file)).toHaveLength(2)
  expect(await server.stop()).toBe(0)
})

test('a restore refuses while another command uses the database', async () => {
  const { desk, backup } = await oldAndNew()
  const other = new Database(desk.file)
  other.run('BEGIN IMMEDIATE')
  const { exitCode, stderr } = await desk.run(['restore', backup])
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^error: Another process is using [^\n]+\n$/)
  other.run('ROLLBACK')
  other.close()
  expect(emailsIn(desk.file)).toHaveLength(2)
  expect((await desk.run(['check'])).exitCode).toBe(0)
})

test('nobody can change the predecessor once it was read', async () => {
  const { desk, backup } = await oldAndNew()
  const refusals: string[] = []
  await restoreAt(desk.file, backup, (step) => {
    if (step !== 'keep' && step !== 'replace') return
    const other = new Database(desk.file)
    try {
      other.run("UPDATE users SET status = 'disabled'")
    } catch (error) {
      refusals.push(error instanceof Error && 'code' in error ? String(error.code) : String(error))
    } finally {
      other.close()
    }
  })
  expect(refusals).toEqual(['SQLITE_BUSY', 'SQLITE_BUSY'])
})

test('what is no sound backup of this program is refused before anything changes', async () => {
  const { desk, backup } = await oldAndNew()
  const at = (name: string) => join(desk.folder, 'backup', name)
  writeFileSync(at('text'), 'not a database at all'.repeat(100))
  writeFileSync(at('empty'), '')
  writeFileSync(at('cut'), readFileSync(backup).subarray(0, 40_000))
  writeFileSync(at('damaged'), readFileSync(backup).fill(0x5a, 20_000, 60_000))
  const foreign = new Database(at('foreign'))
  foreign.run('CREATE TABLE notes (text)')
  foreign.close()
  copyFileSync(backup, at('newer'))
  const newer = new Database(at('newer'))
  newer.run("INSERT INTO schema_migrations VALUES (99, 'from_the_future', 'ff')")
  newer.close()
  for (const name of ['none', '', 'text', 'empty', 'cut', 'damaged', 'foreign', 'newer']) {
    const { exitCode, stdout, stderr } = await desk.run(['restore', at(name), '--json'])
    expect({ name, exitCode, stdout }).toEqual({ name, exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/^error: [^\n]+\.\n$/)
  }
  expect((await desk.run(['restore', desk.file])).stderr).toContain('is the database itself')
  expect(emailsIn(desk.file)).toHaveLength(2)
  expect(readdirSync(desk.folder).filter((name) => name.includes('before') || name.includes('restoring'))).toEqual([])
})

const steps = ['check', 'copy', 'end', 'keep', 'replace', 'done'] as const

for (const step of steps) {
  test(`killed at the step ${step}, a restore leaves the old database or the new one, and can be run again`, async () => {
    const { desk, backup } = await oldAndNew()
    const script = join(import.meta.dir, 'support/restore-until.ts')
    const child = Bun.spawn([process.execPath, script, desk.file, backup, step], { stdout: 'ignore', stderr: 'pipe' })
    await child.exited
    expect(child.signalCode).toBe('SIGKILL')
    const isNew = step === 'done'
    const server = await startServer({ database: desk.file })
    expect(await server.stop()).toBe(0)
    expect(emailsIn(desk.file)).toEqual(isNew ? ['first@example.com'] : ['first@example.com', 'second@example.com'])
    expect((await desk.run(['check'])).exitCode).toBe(0)
    await desk.json(['restore', backup])
    expect(emailsIn(desk.file)).toEqual(['first@example.com'])
    expect(readdirSync(desk.folder).filter((name) => name.includes('restoring'))).toEqual([])
  })
}

test('killed at any moment, a restore leaves the old database or the new one', async () => {
  const { desk, backup } = await oldAndNew()
  const sound: readonly string[][] = [['first@example.com'], ['first@example.com', 'second@example.com']]
  for (let waitMs = 60; waitMs <= 320; waitMs += 20) {
    const script = join(import.meta.dir, 'support/restore-until.ts')
    const child = Bun.spawn([process.execPath, script, desk.file, backup, 'never'], {
      stdout: 'ignore',
      stderr: 'ignore',
    })
    await Bun.sleep(waitMs)
    child.kill('SIGKILL')
    await child.exited
    expect(existsSync(desk.file)).toBe(true)
    expect(sound).toContainEqual(emailsIn(desk.file))
  }
  expect((await desk.run(['check'])).exitCode).toBe(0)
})
