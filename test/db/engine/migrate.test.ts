import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrate } from '../../../db/migrate.ts'
import { createPrivately } from '../../../db/sqlite/files.ts'
import { migrationOf, temporaryFolder, tinyMigrations } from './support/tiny-store.ts'

const parents = migrationOf(
  1,
  'parents',
  `CREATE TABLE parents (id INTEGER PRIMARY KEY NOT NULL) STRICT;
   CREATE TABLE children (
     id INTEGER PRIMARY KEY NOT NULL,
     parent INTEGER NOT NULL REFERENCES parents (id) ON DELETE CASCADE
   ) STRICT;
   INSERT INTO parents VALUES (1), (2); INSERT INTO children VALUES (10, 1), (20, 2);`,
)
const rebuild = migrationOf(
  2,
  'rebuild parents',
  `CREATE TABLE parents_new (id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL) STRICT;
   INSERT INTO parents_new SELECT id, 'parent ' || id FROM parents;
   DROP TABLE parents; ALTER TABLE parents_new RENAME TO parents;`,
)

const fresh = () => {
  const folder = temporaryFolder()
  createPrivately(folder.file)
  return folder
}

const rowsOf = (file: string, sql: string) => {
  using database = new Database(file, { readwrite: true, create: false })
  return database.query(sql).values()
}

test('each migration is applied once, in order, and recorded with its checksum', async () => {
  using folder = fresh()

  expect(await migrate(folder.file, [parents])).toEqual(['parents'])
  expect(await migrate(folder.file, [parents, rebuild])).toEqual(['rebuild parents'])
  expect(await migrate(folder.file, [parents, rebuild])).toEqual([])

  expect(rowsOf(folder.file, 'SELECT id, name, sha256 FROM schema_migrations')).toEqual([
    [1, 'parents', parents.sha256],
    [2, 'rebuild parents', rebuild.sha256],
  ])
})

test('rebuilding a table keeps the children that cascade from it', async () => {
  using folder = fresh()
  await migrate(folder.file, [parents, rebuild])

  expect(rowsOf(folder.file, 'SELECT id, parent FROM children')).toEqual([
    [10, 1],
    [20, 2],
  ])
})

test('a schema that differs by one letter is refused, also before it is migrated, and the differing object is named', async () => {
  using folder = fresh()
  await migrate(folder.file, [parents, rebuild])
  const content = readFileSync(folder.file)
  content.write('qarent', content.indexOf('parent INTEGER NOT NULL'))
  writeFileSync(folder.file, content)
  const next = migrationOf(3, 'next', 'CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT')
  for (const steps of [
    [parents, rebuild],
    [parents, rebuild, next],
  ]) {
    await expect(migrate(folder.file, steps)).rejects.toMatchObject({
      kind: 'damaged',
      message: expect.stringMatching(
        /^children in .* is not as this program made it: .*restore a backup with app-platform restore FILE\.$/,
      ),
    })
  }
})

test('a migration that fails halfway leaves the old schema', async () => {
  using folder = fresh()
  const broken = migrationOf(2, 'broken', 'CREATE TABLE half (a TEXT) STRICT; INSERT INTO nowhere VALUES (1);')
  await migrate(folder.file, [parents])

  await expect(migrate(folder.file, [parents, broken])).rejects.toMatchObject({
    kind: 'migration_failed',
    message: expect.stringContaining('Migration 2 (broken) failed and was undone'),
  })
  await migrate(folder.file, [parents, broken]).catch(() => {})

  expect(rowsOf(folder.file, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'")).toEqual([[0]])
  expect(await migrate(folder.file, [parents, rebuild])).toEqual(['rebuild parents'])
})

test('a migration that leaves rows without their parents is undone', async () => {
  using folder = fresh()
  const orphaning = migrationOf(2, 'orphaning', 'DELETE FROM parents WHERE id = 2')
  await migrate(folder.file, [parents])

  await expect(migrate(folder.file, [parents, orphaning])).rejects.toMatchObject({
    kind: 'migration_failed',
    message: expect.stringContaining('1 row(s) of children refer to missing rows of parents'),
  })
  await migrate(folder.file, [parents, orphaning]).catch(() => {})

  expect(rowsOf(folder.file, 'SELECT count(*) FROM parents')).toEqual([[2]])
})

test('a migration that ends its own transaction is refused', async () => {
  using folder = fresh()

  await expect(
    migrate(folder.file, [migrationOf(1, 'commits', 'CREATE TABLE a (b TEXT) STRICT; COMMIT;')]),
  ).rejects.toMatchObject({
    kind: 'migration_failed',
  })
})

test('a migration that was changed after it was applied is refused', async () => {
  using folder = fresh()
  await migrate(folder.file, [parents])
  const changed = migrationOf(1, 'parents', `${parents.sql} -- improved`)

  await expect(migrate(folder.file, [changed])).rejects.toMatchObject({ kind: 'migration_changed' })
})

test('a migration that differs from its own checksum is a mistake of the program', async () => {
  using folder = fresh()

  await expect(migrate(folder.file, [{ ...parents, sha256: rebuild.sha256 }])).rejects.toThrow('checksum')
  await expect(migrate(folder.file, [rebuild])).rejects.toThrow('place 1')
})

/** A process that migrates slowly enough to be killed halfway. */
const migratingProcess = (file: string) =>
  Bun.spawn([process.execPath, join(import.meta.dir, 'support', 'migrate-process.ts'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })

test('if three processes migrate at once, each migration is applied by one of them', async () => {
  using folder = fresh()
  const processes = [1, 2, 3].map(() => migratingProcess(folder.file))

  const applied = await Promise.all(
    processes.map(async (process) => JSON.parse(await new Response(process.stdout).text())),
  )

  expect(applied.flat().sort()).toEqual(['more numbers', 'numbers', 'yet more numbers'])
  expect(rowsOf(folder.file, 'SELECT count(*) FROM numbers')).toEqual([[60_000]])
})

test('while another process holds the lock of the file, a migration waits', async () => {
  using folder = fresh()
  using other = new Database(folder.file)
  other.run('BEGIN EXCLUSIVE')
  setTimeout(() => other.run('COMMIT'), 20)
  expect(await migrate(folder.file, tinyMigrations)).toEqual(['notes'])
})

test('a kill at any moment leaves the old schema or the new one, and the next start finishes it', async () => {
  for (let afterMs = 0; afterMs < 120; afterMs += 8) {
    using folder = fresh()
    const process = migratingProcess(folder.file)
    await Bun.sleep(afterMs)
    process.kill('SIGKILL')
    await process.exited

    const tables = rowsOf(folder.file, "SELECT count(*) FROM sqlite_schema WHERE name = 'numbers'")[0]?.[0]
    const rows = tables === 1 ? Number(rowsOf(folder.file, 'SELECT count(*) FROM numbers')[0]?.[0]) : 0
    const applied = tables === 1 ? Number(rowsOf(folder.file, 'SELECT max(id) FROM schema_migrations')[0]?.[0]) : 0
    expect(rows).toBe(applied * 20_000)
    expect(rowsOf(folder.file, 'PRAGMA integrity_check')).toEqual([['ok']])

    await new Response(migratingProcess(folder.file).stdout).text()
    expect(rowsOf(folder.file, 'SELECT count(*) FROM numbers')).toEqual([[60_000]])
  }
})
