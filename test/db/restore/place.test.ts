import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { checkFile } from '../../../db/check.ts'
import { DatabaseUnusable } from '../../../db/database.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { openSqlite } from '../../../db/sqlite.ts'
import { createQueries } from '../../../db/queries/index.ts'
import { restoreAt } from '../../cli/support/restore-at.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { emailsIn, newEmails, oldAndNew, oldEmails } from './support/old-and-new.ts'

const expectSound = (file: string) => expect(checkFile(file, migrations)).toEqual([])

/** Opens and closes the database as a server does. */
const serveOnce = async (file: string): Promise<void> => {
  const store = await openSqlite({ file, role: 'server', createQueries, migrations, migrate: true })
  await store.close()
}

test('the predecessor that a restore set aside can be restored in turn', async () => {
  const { file, backup } = await oldAndNew()
  const { keptAs } = await restoreAt(file, backup)
  expect(emailsIn(file)).toEqual(oldEmails)
  await restoreAt(file, keptAs ?? 'nothing')
  expect(emailsIn(file)).toEqual(newEmails)
})

test('a password that was changed since the backup is valid after the restore', async () => {
  const { file, backup } = await oldAndNew()
  const database = new Database(file)
  database.run("UPDATE users SET password_hash = 'changed' WHERE email = 'first@example.com'")
  database.close()
  expect((await restoreAt(file, backup)).carriedOver?.passwords).toBe(1)
  const after = new Database(file, { readonly: true })
  expect(after.query("SELECT password_hash FROM users WHERE email = 'first@example.com'").values()).toEqual([
    ['changed'],
  ])
  after.close()
})

test('if the predecessor cannot be read, the restore succeeds and says so', async () => {
  for (const destroy of [
    (file: string) => writeFileSync(file, 'this is no database'.repeat(500)),
    (file: string) => {
      const bytes = readFileSync(file)
      writeFileSync(file, bytes.fill(0x5a, 4096)) // the header is sound, every page after it is not
    },
    (file: string) => writeFileSync(file, ''),
  ]) {
    const { file, backup } = await oldAndNew()
    destroy(file)
    const wreck = readFileSync(file)
    const restored = await restoreAt(file, backup)
    expect(restored).toMatchObject({ predecessor: 'unreadable', carriedOver: null, kept: 0 })
    expect(readFileSync(restored.keptAs ?? 'nothing').subarray(4096)).toEqual(wreck.subarray(4096))
    expect(emailsIn(file)).toEqual(oldEmails)
    expectSound(file)
  }
})

test('if there is no predecessor, the restore creates it', async () => {
  const { backup } = await oldAndNew()
  const file = join(temporaryFolder(), 'data', 'app-platform.db')
  expect(await restoreAt(file, backup)).toMatchObject({ predecessor: 'missing', carriedOver: null, keptAs: null })
  expect(emailsIn(file)).toEqual(oldEmails)
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
})

test('a new database in place of a lost one cannot tell what had ended, and a restore says so', async () => {
  const { backup } = await oldAndNew()
  const file = join(temporaryFolder(), 'app-platform.db')
  await serveOnce(file)
  expect(await restoreAt(file, backup)).toMatchObject({ predecessor: 'stranger', kept: 0 })
  expect(await restoreAt(file, backup)).toMatchObject({ predecessor: 'read', unread: 1 })
})

test('a WAL that a lost database left behind is not applied to the restored one', async () => {
  const { file, backup } = await oldAndNew()
  const writer = new Database(file)
  writer.run('PRAGMA wal_autocheckpoint = 0')
  writer.run("UPDATE users SET name = 'from the WAL'")
  copyFileSync(`${file}-wal`, `${file}-wal.saved`)
  writer.close()
  for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true })
  copyFileSync(`${file}-wal.saved`, `${file}-wal`)
  await restoreAt(file, backup)
  const after = new Database(file, { readonly: true })
  expect(after.query('SELECT name FROM users').values()).toEqual([['Ada Example']])
  after.close()
  expectSound(file)
})

test('a restore refuses while another command uses the database', async () => {
  const { file, backup } = await oldAndNew()
  const other = new Database(file)
  other.run('BEGIN IMMEDIATE')
  await expect(restoreAt(file, backup)).rejects.toThrow(/^Another process is using [^\n]+$/)
  other.run('ROLLBACK')
  other.close()
  expect(emailsIn(file)).toEqual(newEmails)
  expectSound(file)
})

test('nobody can change the predecessor after it was read', async () => {
  const { file, backup } = await oldAndNew()
  const refusals: string[] = []
  await restoreAt(file, backup, (step) => {
    if (step !== 'set aside' && step !== 'replace') return
    const other = new Database(file)
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

test('a file that is not a sound backup of this program is refused before anything changes', async () => {
  const { folder, file, backup } = await oldAndNew()
  const at = (name: string) => join(folder, 'backup', name)
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
    await expect(restoreAt(file, at(name))).rejects.toBeInstanceOf(DatabaseUnusable)
  }
  await expect(restoreAt(file, file)).rejects.toThrow('is the database itself')
  expect(emailsIn(file)).toEqual(newEmails)
  expect(readdirSync(folder).filter((name) => name.includes('before') || name.includes('restoring'))).toEqual([])
})

const script = join(import.meta.dir, '../../cli/support/restore-until.ts')
const restoreUntil = (file: string, backup: string, step: string) =>
  Bun.spawn([process.execPath, script, file, backup, step], { stdout: 'ignore', stderr: 'ignore' })

const steps = ['check', 'copy', 'end', 'set aside', 'replace', 'done'] as const

test('killed at any step, a restore leaves the predecessor or the new database, and can be run again', async () => {
  for (const step of steps) {
    const { folder, file, backup } = await oldAndNew()
    const child = restoreUntil(file, backup, step)
    await child.exited
    expect(child.signalCode).toBe('SIGKILL')
    await serveOnce(file)
    expect(emailsIn(file)).toEqual(step === 'done' ? oldEmails : newEmails)
    expectSound(file)
    await restoreAt(file, backup)
    expect(emailsIn(file)).toEqual(oldEmails)
    expect(readdirSync(folder).filter((name) => name.includes('restoring'))).toEqual([])
  }
})

test('killed at any moment, a restore leaves the predecessor or the new database', async () => {
  const { file, backup } = await oldAndNew()
  for (let waitMs = 60; waitMs <= 320; waitMs += 20) {
    const child = restoreUntil(file, backup, 'never')
    await Bun.sleep(waitMs)
    child.kill('SIGKILL')
    await child.exited
    expect(existsSync(file)).toBe(true)
    expect([oldEmails, newEmails]).toContainEqual(emailsIn(file))
  }
  expectSound(file)
})

test('a restore drops server keys and known browsers, so that the next start makes a new key', async () => {
  const { file, backup } = await oldAndNew()
  for (const path of [file, backup]) {
    const database = new Database(path)
    database.run("INSERT INTO server_keys SELECT 'browsers', randomblob(32), 1")
    database.run("INSERT INTO devices SELECT 'dev_1', id, 0, 1, 9e15 FROM users LIMIT 1")
    database.close()
  }
  await restoreAt(file, backup)
  const after = new Database(file, { readonly: true })
  const rows = (table: string) => after.query(`SELECT count(*) FROM ${table}`).values()
  expect([rows('server_keys'), rows('devices')]).toEqual([[[0]], [[0]]])
  after.close()
})
