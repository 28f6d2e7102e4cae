import { expect } from 'bun:test'
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call } from '../support/call.ts'
import { onSqlite } from '../support/engines.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { appToken, createWorld, grantTokens, refresh, signIn } from '../support/world.ts'
import { type Desk, deskAt, isoTime, openDesk } from './support/run.ts'

const test = onSqlite('move of a file')

const anotherMachine = (): Desk => deskAt(join(temporaryFolder(), 'app-platform.db'))

const refusal = async (desk: Desk, words: readonly string[]): Promise<string> => {
  const { exitCode, stdout, stderr } = await desk.run(words)
  expect({ words, exitCode, stdout }).toEqual({ words, exitCode: 1, stdout: '' })
  expect(stderr).toMatch(/^error: [^\n]+\n$/)
  return stderr
}

test('a moved database keeps every token, session and grant, and works only in its new place', async () => {
  const world = await createWorld()
  const { server, app, user, platform } = world
  const here = deskAt(server.database)
  const token = await appToken(server.url, app.production)
  const grant = await grantTokens(world)
  const session = await signIn(server.url, user)
  await platform.database.close()
  const copy = join(temporaryFolder(), 'move.db')
  expect(await refusal(here, ['move', '--to', copy])).toContain('A server is running on')
  expect(await server.stop()).toBe(0)

  const moved = await here.json(['move', '--to', copy])
  expect(moved).toEqual({ movedAt: expect.stringMatching(isoTime), database: here.file, file: copy })
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(copy, '..'))).toEqual(['move.db'])
  for (const words of [
    ['serve', '--port', '0'],
    ['user', 'list'],
    ['migrate'],
    ['check'],
    ['backup', join(here.folder, 'backup.db')],
    ['recover', '--accept-loss'],
  ]) {
    expect(await refusal(here, words)).toContain(`was moved to another machine at ${moved.movedAt}`)
  }

  const there = anotherMachine()
  for (const words of [
    ['serve', '--port', '0'],
    ['user', 'list'],
  ])
    expect(await refusal(deskAt(copy), words)).toContain('app-platform restore --move')
  expect(await refusal(there, ['restore', copy])).toContain('app-platform restore --move')
  expect(existsSync(there.file)).toBe(false)
  await there.json(['restore', '--move', copy])
  const { url, stop } = await startServer({ database: there.file })
  expect((await call(url, 'GET', '/me', { token })).status).toBe(200)
  expect((await call(url, 'GET', '/oauth/me', { token: grant.accessToken })).status).toBe(200)
  expect((await refresh(url, app, grant.refreshToken)).status).toBe(200)
  expect((await call(url, 'GET', '~/api/session', { token: session })).status).toBe(200)
  expect(await stop()).toBe(0)
  expect((await there.run(['check'])).exitCode).toBe(0)
  const { data } = await there.json(['audit', 'list', '--limit', '1000'])
  const actions = data.map(({ action }: { action: string }) => action)
  expect(actions.indexOf('database.moved')).toBeGreaterThan(0)
  expect(actions.indexOf('database.moved_here')).toBeGreaterThan(actions.indexOf('database.moved'))
  // The count of acknowledged writes continues there: an older copy in its place is refused.
  rmSync(`${there.file}.acknowledged`)
  expect(await refusal(there, ['user', 'list'])).toContain('.acknowledged is gone')
})

test('a move that was interrupted, or whose copy was lost, can be repeated and writes the same copy', async () => {
  const here = await openDesk()
  const folder = temporaryFolder()
  const [one, other] = [join(folder, 'one.db'), join(folder, 'other.db')]
  const first = await here.json(['move', '--to', one])
  rmSync(one)
  const second = await here.json(['move', '--to', other])
  expect(second.movedAt).toBe(first.movedAt)
  await anotherMachine().json(['restore', '--move', other])
})

test('a move that cannot write its copy leaves the database in use', async () => {
  const here = await openDesk()
  const taken = join(temporaryFolder(), 'taken.db')
  writeFileSync(taken, 'precious')
  expect(await refusal(here, ['move', '--to', taken])).toContain('exists already')
  for (const part of ['-wal', '-shm', '.lock', '.acknowledged', '.reserve']) {
    expect(await refusal(here, ['move', '--to', here.file + part])).toContain('belongs to the database itself')
  }
  const nowhere = join(taken, '..', 'nowhere')
  expect(await refusal(here, ['move', '--to', join(nowhere, 'copy.db')])).toContain(`There is no folder ${nowhere}`)
  expect(existsSync(nowhere)).toBe(false)
  expect((await here.run(['user', 'list'])).exitCode).toBe(0)
  expect((await here.run(['move'])).exitCode).toBe(2)
})

test('a backup does not replace a moved database unless that file is moved away first', async () => {
  const here = await openDesk()
  const backup = join(temporaryFolder(), 'backup.db')
  await here.json(['backup', backup])
  await here.json(['move', '--to', join(temporaryFolder(), 'copy.db')])
  const found = readdirSync(here.folder).toSorted()
  expect(await refusal(here, ['restore', backup])).toContain(`move ${here.file} away`)
  expect(readdirSync(here.folder).toSorted()).toEqual(found)
  expect(await refusal(here, ['user', 'list'])).toContain('was moved to another machine')
  renameSync(here.file, join(here.folder, 'moved.db'))
  expect((await here.json(['restore', backup])).predecessor).toBe('missing')
  expect((await here.run(['user', 'list'])).exitCode).toBe(0)
})

test('restore --move accepts only a sealed copy, and only if there is no database yet', async () => {
  const here = await openDesk()
  const folder = temporaryFolder()
  const [backup, copy] = [join(folder, 'backup.db'), join(folder, 'copy.db')]
  await here.json(['backup', backup])
  expect(await refusal(anotherMachine(), ['restore', '--move', backup])).toContain('app-platform move --to PATH')
  await here.json(['move', '--to', copy])
  const occupied = await openDesk()
  expect(await refusal(occupied, ['restore', '--move', copy])).toContain('There is a database at')
  expect(await refusal(occupied, ['restore', '--move', join(folder, 'none.db')])).toContain('There is no file at')
  expect((await occupied.run(['user', 'list'])).exitCode).toBe(0)
})
