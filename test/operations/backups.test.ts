import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startBackup, startBackupCheck, readBackups } from '../../src/operations/backups/backups.ts'
import { onSqlite } from '../support/engines.ts'
import { operator, trace } from '../support/operator.ts'
import { createWorld, endWorld } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'

const test = onSqlite('restore of a file')

const world = await worldOfFile()

const start = async (keep: number) =>
  await startBackup(world.platform, trace, operator, { server: world.platform, keep })
const folder = () => world.platform.database.backups?.folder ?? ''
const namesIn = () => readdirSync(folder()).toSorted()
const state = async () => await readBackups(world.platform)

test('a server keeps the newest backups in a private folder beside its database, checked and recorded', async () => {
  const made: string[] = []
  for (let count = 0; count < 3; count += 1) {
    const { name, finished } = await start(2)
    expect((await state())?.work).toMatchObject({ kind: 'backup', name })
    await finished
    made.push(name)
    expect(await state()).toMatchObject({ work: null, latest: { name, problems: [] } })
  }
  expect(namesIn()).toEqual(made.slice(1))
  expect(statSync(folder()).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder(), made[2] ?? '')).mode & 0o777).toBe(0o600)
  const actions = (await world.platform.database.queries.audit.list({ appId: null, since: 0, limit: 2 })).map(
    ({ action }) => action,
  )
  expect(actions).toEqual(['database.backup_started', 'database.backed_up'])
})

test('a second backup is refused while one is made', async () => {
  const { finished } = await start(5)
  await expect(start(5)).rejects.toThrow('Another backup or check is running.')
  await finished
  await (
    await start(5)
  ).finished
})

test('a damaged backup is found by its check, and no other file can be named', async () => {
  await (
    await start(5)
  ).finished
  const [newest] = (await state())?.files ?? []
  const damaged = newest?.name ?? ''
  writeFileSync(join(folder(), damaged), 'x'.repeat(5_000))
  const check = await startBackupCheck(world.platform, trace, operator, { server: world.platform, name: damaged })
  await check.finished
  const checked = (await state())?.files.find(({ name }) => name === damaged)?.checked
  expect(checked?.problems.join(' ')).toContain('cannot be read as an SQLite database')
  await expect(
    startBackupCheck(world.platform, trace, operator, { server: world.platform, name: '../app.db' }),
  ).rejects.toMatchObject({ code: 'route_not_found' })
})

test('a copy with faults is set aside, is not recorded, and removes no older one', async () => {
  const broken = await createWorld()
  const begin = async () => await startBackup(broken.platform, trace, operator, { server: broken.platform, keep: 1 })
  const { name: good, finished } = await begin()
  await finished
  const recordedAt = (await readBackups(broken.platform))?.lastBackupAt
  using beside = new Database(broken.server.database)
  beside.run('PRAGMA busy_timeout = 5000')
  beside.run('PRAGMA foreign_keys = OFF')
  beside.run('DELETE FROM users')
  await (
    await begin()
  ).finished
  const found = await readBackups(broken.platform)
  expect(found?.files.map(({ name }) => name)).toEqual([good])
  expect(found?.latest?.problems.join(' ')).toMatch(/refer to missing rows of users.*No older backup was removed/)
  expect(found?.lastBackupAt).toBe(recordedAt ?? 0)
  const [latest] = await broken.platform.database.queries.audit.list({ appId: null, since: 0, limit: 1 })
  expect(latest).toMatchObject({ action: 'database.backup_failed', actorKind: 'operator' })
  await endWorld(broken)
})

test.each([0, 1.5, 1_001, Number.NaN])('%p is no number of backups to keep', async (keep) => {
  await expect(start(keep)).rejects.toMatchObject({ code: 'invalid_request', facts: { param: 'keep' } })
})
