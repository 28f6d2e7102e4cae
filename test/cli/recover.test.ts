import { expect } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, codeOf } from '../support/call.ts'
import { onSqlite } from '../support/engines.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { startServer } from '../support/running-server.ts'
import { appToken, createWorld, grantTokens, refresh, signIn, type World } from '../support/world.ts'
import { createUser } from '../../src/operations/users/users.ts'
import { type Desk, deskAt, failureIn, isoTime, password } from './support/run.ts'

const test = onSqlite('restore of a file')

const chief = { email: 'chief@example.com', password }

const worldWithOperator = async (): Promise<World> => {
  const world = await createWorld()
  await createUser(world.platform, trace, operator, { ...chief, name: 'Chief', isOperator: true })
  return world
}

const stop = async ({ platform, server }: World): Promise<void> => {
  await platform.database.close()
  expect(await server.stop()).toBe(0)
}

/** Copies the files of a database, and returns a function that puts them back, as a snapshot of a machine does. */
const snapshot = (file: string): (() => void) => {
  const kept = [file, `${file}.acknowledged`].map((path) => [path, readFileSync(path)] as const)
  return () => {
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
    for (const [path, content] of kept) writeFileSync(path, content)
  }
}

const signInStatus = async (url: string): Promise<string | number> => {
  const answer = await call(url, 'POST', '~/api/session', { body: chief })
  return answer.status === 200 ? 200 : codeOf(answer)
}

const tokenStatus = async (url: string, client: { clientId: string; clientSecret: string }) => {
  const answer = await call(url, 'POST', '/token', { body: { ...client, scope: 'site:read' } })
  return answer.status === 200 ? 200 : codeOf(answer)
}

const recovered = async (desk: Desk) => await desk.json(['recover', '--accept-loss'])

test('after a loss the refusal names recover, which revives no token and suspends production secrets and operators', async () => {
  const world = await worldWithOperator()
  const { server, app, user, platform } = world
  const desk = deskAt(server.database)
  const token = await appToken(server.url, app.production)
  const grant = await grantTokens(world)
  const session = await signIn(server.url, user)
  await platform.database.close()
  await server.stop()
  const older = join(desk.folder, 'older.db')
  copyFileSync(desk.file, older)
  const again = await startServer({ database: desk.file })
  await call(again.url, 'POST', '/oauth/revoke', { body: { ...app.production, token } })
  await again.stop()
  copyFileSync(older, desk.file) // loses what was acknowledged since

  for (const words of [['serve', '--port', '0'], ['user', 'list'], ['migrate'], ['check']]) {
    const refusal = await desk.run(words)
    expect(refusal.exitCode).toBe(1)
    expect(refusal.stderr).toContain('app-platform recover --accept-loss')
  }
  expect(await desk.run(['recover'])).toMatchObject({ exitCode: 2, stdout: '' })
  const answer = await recovered(desk)
  expect(answer).toEqual({
    recoveredAt: expect.stringMatching(isoTime),
    database: desk.file,
    ended: { appTokens: expect.any(Number), grants: 1, sessions: 2, embeddedSessions: 0 },
    suspended: { credentials: 1, operators: 1, serviceKeys: 0 },
  })

  const { url, stop: stopAgain } = await startServer({ database: desk.file })
  for (const dead of [token, grant.accessToken]) {
    expect(codeOf(await call(url, 'GET', dead === token ? '/me' : '/oauth/me', { token: dead }))).toBe('invalid_token')
  }
  expect(codeOf(await refresh(url, app, grant.refreshToken))).toBe('invalid_grant')
  expect((await call(url, 'GET', '~/api/session', { token: session })).status).toBe(401)
  expect(await tokenStatus(url, app.production)).toBe('invalid_client')
  expect(await tokenStatus(url, app.development)).toBe(200)
  expect(await signInStatus(url)).toBe('invalid_login')
  await signIn(url, user) // not an operator, so the password works

  const { data: credentials } = await desk.json(['credential', 'list', app.slug])
  const suspended = credentials.find(({ environment }: { environment: string }) => environment === 'production')
  expect(suspended.status).toBe('suspended')
  const { data: users } = await desk.json(['user', 'list'])
  const listed = users.find(({ email }: { email: string }) => email === chief.email)
  expect(listed.suspendedAt).toBe(answer.recoveredAt)
  expect((await desk.run(['user', 'list'])).stdout).toContain('SUSPENDED')

  expect((await desk.json(['credential', 'confirm', suspended.id])).status).toBe('live')
  expect((await desk.json(['user', 'confirm', chief.email])).suspendedAt).toBeNull()
  expect(await tokenStatus(url, app.production)).toBe(200)
  expect(await signInStatus(url)).toBe(200)
  expect((await desk.run(['credential', 'confirm', `crd_${'0'.repeat(32)}`])).exitCode).toBe(1)
  expect((await desk.run(['user', 'confirm', 'nobody@example.com'])).exitCode).toBe(1)

  const { data: events } = await desk.json(['audit', 'list', '--limit', '1000'])
  const actions = events.map(({ action }: { action: string }) => action)
  for (const action of ['database.recovered', 'credential.suspended', 'user.suspended']) {
    expect(actions.filter((found: string) => found === action)).toEqual([action])
  }
  expect(actions.includes('credential.confirmed') && actions.includes('user.confirmed')).toBe(true)
  expect(events.find(({ action }: { action: string }) => action === 'database.recovered').detail).toEqual({
    ended: answer.ended,
    suspended: answer.suspended,
  })
  expect(await stopAgain()).toBe(0)
  expect((await desk.run(['check'])).exitCode).toBe(0)
})

test('recover also works after a snapshot of the whole machine, where no loss can be detected', async () => {
  const world = await worldWithOperator()
  const { server, app } = world
  const desk = deskAt(server.database)
  const token = await appToken(server.url, app.development)
  await stop(world)
  const setBack = snapshot(desk.file)
  const again = await startServer({ database: desk.file })
  await call(again.url, 'POST', '/oauth/revoke', { body: { ...app.development, token } })
  await again.stop()
  setBack()
  expect((await recovered(desk)).suspended).toEqual({ credentials: 1, operators: 1, serviceKeys: 0 })
  const { url, stop: end } = await startServer({ database: desk.file })
  expect(codeOf(await call(url, 'GET', '/me', { token }))).toBe('invalid_token')
  expect(await end()).toBe(0)
  const platform = await openAsOperator(desk.file)
  expect(await platform.database.queries.watermarks.find('recovered')).toBeNumber()
  await platform.database.close()
})

test('a database whose counter was deleted is refused, and recover creates the counter again', async () => {
  const world = await createWorld()
  await stop(world)
  const desk = deskAt(world.server.database)
  rmSync(`${desk.file}.acknowledged`)
  expect((await desk.run(['user', 'list'])).stderr).toContain('.acknowledged is gone')
  await recovered(desk)
  expect(existsSync(`${desk.file}.acknowledged`)).toBe(true)
  expect((await desk.run(['user', 'list'])).exitCode).toBe(0)
})

test('with an unreadable counter the server refuses to start, and a restore revives nothing that was revoked', async () => {
  const world = await createWorld()
  const { server, app } = world
  const desk = deskAt(server.database)
  const token = await appToken(server.url, app.development)
  const backup = join(desk.folder, 'backup.db')
  await desk.json(['backup', backup])
  await world.platform.database.close()
  await server.stop()
  const again = await startServer({ database: desk.file, ownProcess: true })
  await desk.json(['app', 'end-access', app.slug])
  await again.kill()
  for (const content of ['junk\n', '']) {
    copyFileSync(backup, desk.file)
    for (const suffix of ['-wal', '-shm']) rmSync(desk.file + suffix, { force: true })
    writeFileSync(`${desk.file}.acknowledged`, content)
    const commands = [['serve', '--port', '0'], ['migrate'], ['user', 'list'], ['check']]
    for (const refusal of await Promise.all(commands.map(async (words) => await desk.run(words)))) {
      expect(refusal).toMatchObject({ exitCode: 1, stdout: '' })
      expect(refusal.stderr).toContain('.acknowledged cannot be read')
      expect(refusal.stderr).toContain('app-platform recover --accept-loss')
    }
    await desk.json(['restore', backup])
    const { url, stop: end } = await startServer({ database: desk.file })
    expect(codeOf(await call(url, 'GET', '/me', { token }))).toBe('invalid_token')
    expect(await end()).toBe(0)
  }
})

test('a restore after a recovery keeps the suspensions and warns that some revocations may be lost', async () => {
  const world = await worldWithOperator()
  const desk = deskAt(world.server.database)
  const backup = join(desk.folder, 'backup.db')
  await desk.json(['backup', backup])
  await stop(world)
  await recovered(desk)
  const { advice, carriedOver } = await desk.json(['restore', backup])
  expect(carriedOver).toMatchObject({ credentials: 1, passwords: 1 })
  expect(advice[0]).toContain('a recovery accepted a loss')
  const { url, stop: end } = await startServer({ database: desk.file })
  expect(await tokenStatus(url, world.app.production)).toBe('invalid_client')
  expect(await signInStatus(url)).toBe('invalid_login')
  expect(await end()).toBe(0)
})

test('recover refuses a running server, a missing database and a damaged one', async () => {
  const world = await createWorld()
  const desk = deskAt(world.server.database)
  const beside = await desk.run(['recover', '--accept-loss', '--json'])
  expect([beside.exitCode, failureIn(beside)]).toEqual([1, 'database_unusable'])
  expect(beside.stderr).toMatch(/^error: A server is running on [^\n]+: stop it first\.\n$/)
  await stop(world)
  const nowhere = await deskAt(`${desk.file}.other`).run(['recover', '--accept-loss'])
  expect(nowhere.stderr).toContain('There is no database at')
  writeFileSync(desk.file, readFileSync(desk.file).fill(0x5a, 20_000, 60_000))
  const damaged = await desk.run(['recover', '--accept-loss'])
  expect(damaged).toMatchObject({ exitCode: 1, stdout: '' })
  expect(damaged.stderr).toMatch(/damaged|cannot be read|not as this program made it/)
})
