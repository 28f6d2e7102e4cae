import { expect } from 'bun:test'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, codeOf } from '../support/call.ts'
import { onSqlite } from '../support/engines.ts'
import { startServer } from '../support/running-server.ts'
import { appToken, createWorld } from '../support/world.ts'
import { type Desk, deskAt } from './support/run.ts'

const test = onSqlite('place of the file')

const commands = [
  ['serve', '--port', '0'],
  ['migrate'],
  ['check'],
  ['user', 'list'],
  ['backup', '-'],
  ['move', '--to', '/tmp/moved.db'],
  ['recover', '--accept-loss'],
  ['clock', 'reset'],
]

const expectRefused = async (desk: Desk, how: string): Promise<void> => {
  const found = readdirSync(desk.folder).toSorted()
  for (const refusal of await Promise.all(commands.map(async (words) => await desk.run(words)))) {
    expect(refusal).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refusal.stderr).toMatch(/^error: [^\n]+\n$/)
    expect(refusal.stderr).toContain(`${desk.file} is ${how}, but ${desk.file}-wal and ${desk.file}.acknowledged`)
    expect(refusal.stderr).toContain('app-platform restore FILE')
  }
  expect(readdirSync(desk.folder).toSorted()).toEqual(found)
}

/** A killed server whose WAL has an acknowledged end of access that neither the backup nor the file itself has. */
const killedWithEnd = async () => {
  const world = await createWorld()
  const desk = deskAt(world.server.database)
  const token = await appToken(world.server.url, world.app.production)
  const backup = join(desk.folder, 'backup.db')
  await desk.json(['backup', backup])
  await world.platform.database.close()
  await world.server.stop()
  const again = await startServer({ database: desk.file, ownProcess: true })
  const revoked = await call(again.url, 'POST', '/oauth/revoke', { body: { ...world.app.production, token } })
  expect(revoked.status).toBe(200)
  await again.kill()
  expect(existsSync(`${desk.file}-wal`)).toBe(true)
  return { desk, token, backup }
}

const tokenAnswer = async (desk: Desk, token: string): Promise<string> => {
  const { url, stop } = await startServer({ database: desk.file })
  const answer = codeOf(await call(url, 'GET', '/me', { token }))
  expect(await stop()).toBe(0)
  return answer
}

test('while the database file is missing nothing is created, opened or deleted, and with the file every acknowledged write is back', async () => {
  const { desk, token } = await killedWithEnd()
  const wal = readFileSync(`${desk.file}-wal`)
  const away = join(desk.folder, 'gone.db')
  renameSync(desk.file, away)
  await expectRefused(desk, 'missing')
  writeFileSync(desk.file, '', { mode: 0o600 }) // as an earlier release left it
  await expectRefused(desk, 'empty')
  expect(readFileSync(`${desk.file}-wal`)).toEqual(wal)
  renameSync(away, desk.file)
  expect(await tokenAnswer(desk, token)).toBe('invalid_token')
})

test.each([
  ['missing', 'The predecessor was missing. Its write-ahead log is set aside as '],
  ['empty', 'The predecessor is set aside as '],
])('a restore in the place of a database that is %s keeps its WAL, says so, and revives nothing', async (how, text) => {
  const { desk, token, backup } = await killedWithEnd()
  const wal = readFileSync(`${desk.file}-wal`)
  rmSync(desk.file)
  if (how === 'empty') writeFileSync(desk.file, '', { mode: 0o600 })
  const { exitCode, stdout, stderr } = await desk.run(['restore', backup])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toContain(text)
  expect(stdout).toContain('rotate every client secret')
  const kept = readdirSync(desk.folder).find((name) => /\.before-.*-wal$/.test(name)) ?? ''
  expect(readFileSync(join(desk.folder, kept))).toEqual(wal)
  expect(await tokenAnswer(desk, token)).toBe('invalid_token')
})
