import { afterAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { openDatabase } from '../../db/engine.ts'
import { readConfig } from '../../src/config.ts'
import { recordBackup, readConditions } from '../../src/operations/health/health.ts'
import { backUpDaily, createDailyBackups, lastDue } from '../../src/operations/backups/daily-backups.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { auditEvents } from '../support/audit-events.ts'
import { eventually } from '../support/crash.ts'
import { operator, trace } from '../support/operator.ts'
import { databaseOf, onPostgres } from '../support/postgres.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { worldOfFile, worldsOfTests } from '../support/world-of-file.ts'

// The backups that a server makes by itself, on both engines.

const newWorld = worldsOfTests()
const world = await worldOfFile()
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const at = (text: string) => Date.parse(text)
/** In the past, because a real clock writes to the same store. */
const today = at('2026-08-10T03:00:00.000Z')
const opened: Platform[] = []
afterAll(async () => {
  for (const { database } of opened) await database.close()
})

/** The store of the world with backups in a folder, and the job at times that the test chooses. */
const jobAt = async (folder: string, { keep = 2, leads = true }: { keep?: number | null; leads?: boolean } = {}) => {
  const place = readConfig({ database: await databaseOf(world.server.database) }, {}).database
  const database = await openDatabase(place, { role: 'operator', migrate: false, backupFolder: folder })
  const dailyBackups = createDailyBackups({ keep })
  const platform: Platform = { ...world.platform, database, dailyBackups }
  Object.assign(database, { leads: () => leads })
  opened.push(platform)
  return async (now: number, startedAt = now) => {
    const said: string[] = []
    const then = { ...platform, dailyBackups, clock: { ...platform.clock, now: () => now } }
    await backUpDaily(then, { startedAt, failed: (problems) => void said.push(...problems) })
    return { said: said.join(' '), conditions: (await readConditions(then)).map(({ name }) => name) }
  }
}
const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder).toSorted() : [])
const good = { said: '', conditions: [] }

test('a backup is due at three in the morning, UTC', () => {
  expect(lastDue(at('2026-08-02T02:59:59.999Z'))).toBe(at('2026-08-01T03:00:00.000Z'))
  expect(lastDue(at('2026-08-02T03:00:00.000Z'))).toBe(at('2026-08-02T03:00:00.000Z'))
  expect(lastDue(at('2026-08-02T23:00:00.000Z'))).toBe(at('2026-08-02T03:00:00.000Z'))
})

test('an empty folder gets a backup at once, and then one a day; the newest are kept, private and recorded', async () => {
  const folder = join(temporaryFolder(), 'backups')
  const look = await jobAt(folder)
  for (const [now, made] of [
    [today - 5 * hourMs, 1],
    [today - 1, 1],
    [today + 1, 2],
    [today + 20 * hourMs, 2],
    [today + dayMs + 30 * hourMs, 2], // no server ran at the hour: it is made up for, and the oldest is removed
  ] as const) {
    expect(await look(now)).toEqual(good)
    expect(namesIn(folder).length).toBe(made)
  }
  const [oldest = ''] = namesIn(folder)
  expect(oldest).toContain('2026-08-10T03-00-00.001Z')
  expect(basename(oldest).endsWith(onPostgres ? '.dump' : '.db')).toBe(true)
  expect([statSync(folder).mode & 0o777, statSync(join(folder, oldest)).mode & 0o777]).toEqual([0o700, 0o600])
  const events = (await auditEvents(world.platform)).filter(({ action }) => action.startsWith('database.backup'))
  expect(events.map(({ action, actorKind }) => `${action} ${actorKind}`)).toEqual(
    Array(3).fill('database.backup_started system'),
  )
})

test('a folder that cannot be used is a condition with the reason, tried again after an hour', async () => {
  const file = join(temporaryFolder(), 'file')
  writeFileSync(file, '')
  const look = await jobAt(file)
  const failed = await look(today)
  expect(failed).toEqual({ said: expect.stringContaining('is not a folder'), conditions: ['backup_failed'] })
  rmSync(file)
  expect(await look(today + hourMs / 2)).toEqual({ said: '', conditions: ['backup_failed'] })
  expect(existsSync(file)).toBe(false)
  expect(await look(today + hourMs)).toEqual(good)
  expect(namesIn(file).length).toBe(1)
  const refusals = (await auditEvents(world.platform)).filter(({ action }) => action === 'database.backup_failed')
  expect(refusals.map(({ actorKind }) => actorKind)).toEqual(['system'])
})

test('of several servers only the one that leads backs up; the others notice a backup that is missing', async () => {
  const folder = join(temporaryFolder(), 'backups')
  const others = await jobAt(folder, { leads: false })
  const lateMs = today + 40 * dayMs
  expect(await others(lateMs)).toEqual(good) // it may just have started
  expect(await others(lateMs, lateMs - 2 * hourMs)).toEqual({ said: '', conditions: ['backup_missing'] })
  expect(namesIn(folder)).toEqual([])
  await recordBackup({ ...world.platform, clock: { ...world.platform.clock, now: () => lateMs } }, trace, operator, 1)
  expect(await others(lateMs, lateMs - 2 * hourMs)).toEqual(good)
})

test('a server that makes none says so two days after its start, until somebody makes one', async () => {
  const empty = await newWorld()
  const dailyBackups = createDailyBackups({ keep: null })
  const look = async (afterMs: number) => {
    const platform = { ...empty.platform, dailyBackups, clock: { ...empty.platform.clock, now: () => today + afterMs } }
    await backUpDaily(platform, { startedAt: today, failed: () => {} })
    return (await readConditions(platform)).filter(({ name }) => name.startsWith('backup'))
  }
  expect(await look(47 * hourMs)).toEqual([])
  expect(await look(49 * hourMs)).toMatchObject([
    { name: 'backup_missing', sentence: expect.stringContaining('BACKUP_DIRECTORY=none'), endsReadiness: false },
  ])
  await recordBackup(empty.platform, trace, operator, 1)
  expect(await look(50 * hourMs)).toEqual([])
})

test('a server makes them by itself and shows them to operators', async () => {
  const folder = join(temporaryFolder(), 'backups')
  const { platform } = await newWorld({ env: { BACKUP_DIRECTORY: folder, BACKUP_KEEP: '3' } })
  const events = await eventually(
    async () => await auditEvents(platform),
    (found) => found.some(({ action }) => action === 'database.backed_up'),
  )
  expect(events.find(({ action }) => action === 'database.backed_up')?.actorKind).toBe('system')
  expect(namesIn(folder).length).toBe(1)
})
