import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { chmodSync, openSync, statSync, writeSync } from 'node:fs'
import { checkFile, isFromEarlier } from '../../../db/check.ts'
import { faultsIn, migrationOf, openTiny, temporaryFolder, tinyMigrations } from './support/tiny-store.ts'

test('a healthy database has no faults', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  await store.transaction((notes) => notes.add('n'))

  expect(await faultsIn(folder.file)).toEqual([])
  await store.close()
})

test('files and folders that other users may change are reported with the command that corrects them', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  await store.transaction((notes) => notes.add('n'))
  chmodSync(`${folder.file}-wal`, 0o644)
  chmodSync(folder.path, 0o770)

  expect(await faultsIn(folder.file)).toEqual([
    `${folder.file}-wal is open to other users of this machine: run chmod 600 ${folder.file}-wal.`,
    `Other users of this machine may replace files in ${folder.path}: run chmod 700 ${folder.path}.`,
  ])
  await store.close()
})

test('rows with missing parents are reported', async () => {
  using folder = temporaryFolder()
  await (await openTiny(folder.file)).close()
  {
    using database = new Database(folder.file)
    database.run("PRAGMA foreign_keys = OFF; INSERT INTO notes (id, body, reply_to) VALUES ('a', 'a reply', 'nobody')")
  }
  const store = await openTiny(folder.file)

  expect(await faultsIn(folder.file)).toEqual(['1 row(s) of notes refer to missing rows of notes.'])
  await store.close()
})

test('a damaged page is reported', async () => {
  using folder = temporaryFolder()
  const first = await openTiny(folder.file)
  await Promise.all(
    Array.from({ length: 500 }, (_, index) => first.transaction((notes) => notes.add(`n${index}`, 'x'.repeat(500)))),
  )
  await first.close()
  const pages = statSync(folder.file).size / 4096
  writeSync(openSync(folder.file, 'r+'), Buffer.alloc(512, 0xff), 0, 512, (pages - 3) * 4096)

  const store = await openTiny(folder.file)
  const faults = await faultsIn(folder.file)
  await store.close()

  expect(faults[0]).toBe(`${folder.file} is damaged: restore a backup with app-platform restore FILE.`)
  for (const more of faults.slice(1)) expect(more).toStartWith('SQLite finds: ')
})

test('an outdated schema is refused if the caller did not ask to migrate', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const more = [...tinyMigrations, migrationOf(2, 'more', 'CREATE TABLE more (a TEXT) STRICT')]

  await expect(openTiny(folder.file, { role: 'operator', migrate: false, migrations: more })).rejects.toMatchObject({
    kind: 'outdated',
    message: expect.stringContaining('run migrate'),
  })
  await store.close()
})

test('a backup from before an upgrade is sound, and the database itself is behind until it is migrated', async () => {
  using folder = temporaryFolder()
  await (await openTiny(folder.file)).close()
  const later = [...tinyMigrations, migrationOf(2, 'more', 'CREATE TABLE more (id TEXT)')]

  expect(checkFile(folder.file, later, 'backup')).toEqual([])
  expect(isFromEarlier(folder.file, later)).toBe(true)
  expect(isFromEarlier(folder.file, tinyMigrations)).toBe(false)
  expect(checkFile(folder.file, later)).toEqual([`The schema of ${folder.file} is behind this program: run migrate.`])
  {
    using database = new Database(folder.file)
    database.run('DROP TABLE notes')
  }
  expect(checkFile(folder.file, later, 'backup')).not.toEqual([])
})
