import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../../db/migrations/index.ts'
import { inspectSchema, migrate } from '../../../db/migrate.ts'
import { createPrivately } from '../../../db/sqlite/files.ts'
import { withOneMore } from './support/migrate-process.ts'
import { migrationOf, temporaryFolder } from './support/tiny-store.ts'

/** What this program finds in a file with its own migrations whose schema was made by `written` and then changed. */
const stateOf = async (written: string, change: (file: string) => void = () => {}): Promise<unknown> => {
  using folder = temporaryFolder()
  createPrivately(folder.file)
  await migrate(folder.file, [migrationOf(1, 'made', written)])
  const ours = migrationOf(1, 'made', made)
  run(folder.file, `UPDATE schema_migrations SET sha256 = '${ours.sha256}'`)
  change(folder.file)
  try {
    return inspectSchema(folder.file, [ours])
  } catch (error) {
    return error
  }
}

const run = (file: string, sql: string): void => {
  using other = new Database(file)
  other.run('PRAGMA foreign_keys = OFF')
  other.run(sql)
}

const replaced = (from: string, to: string): string => {
  expect(made).toContain(from)
  return made.replace(from, to)
}

const made = `
  CREATE TABLE homes (id INTEGER PRIMARY KEY NOT NULL, town TEXT NOT NULL COLLATE NOCASE DEFAULT 'Rome') STRICT;
  CREATE TABLE people (
    id TEXT PRIMARY KEY NOT NULL,
    home INTEGER NOT NULL REFERENCES homes (id) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('in', 'out')),
    left_at INTEGER,
    UNIQUE (home, state),
    CHECK (left_at IS NULL OR state = 'out')
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX people_away ON people (left_at DESC, home) WHERE left_at IS NOT NULL;`

const otherWords: Record<string, readonly [from: string, to: string]> = {
  'quotes around a name': ['CREATE TABLE people', 'CREATE TABLE "people"'],
  'other spaces, comments and case': ['CHECK (state IN (', 'check(/* one of */ "state"  in ('],
  'a quoted column of an index': ['(left_at DESC, home)', '("left_at" desc,[home] ASC)'],
}
test.each(Object.entries(otherWords))('a schema written with %s is the same schema', async (_, [from, to]) => {
  expect(await stateOf(replaced(from, to))).toBe('current')
})

const otherMeanings: Record<string, readonly [from: string, to: string]> = {
  'the type of a column': ['left_at INTEGER', 'left_at TEXT'],
  'the order of columns': ['left_at INTEGER,', 'left_at INTEGER, more TEXT,'],
  'NOT NULL': ['home INTEGER NOT NULL', 'home INTEGER'],
  'a default': ["DEFAULT 'Rome'", "DEFAULT 'rome'"],
  'a collation': [' COLLATE NOCASE', ''],
  'a CHECK of a column': ["IN ('in', 'out')", "IN ('in', 'out', 'up')"],
  'a CHECK of the table': ["OR state = 'out'", "OR state = 'in'"],
  'a foreign key': [' REFERENCES homes (id) ON DELETE CASCADE', ''],
  'what a foreign key does': ['ON DELETE CASCADE', 'ON DELETE RESTRICT'],
  'the columns of a unique constraint': ['UNIQUE (home, state)', 'UNIQUE (state, home)'],
  STRICT: ['STRICT, WITHOUT ROWID', 'WITHOUT ROWID'],
  'WITHOUT ROWID': ['STRICT, WITHOUT ROWID', 'STRICT'],
  'the order of an index': ['left_at DESC', 'left_at ASC'],
  'the columns of an index': [', home)', ')'],
  'the rows of an index': ['WHERE left_at IS NOT NULL', 'WHERE left_at IS NULL'],
  'the uniqueness of an index': ['CREATE INDEX', 'CREATE UNIQUE INDEX'],
}
test.each(Object.entries(otherMeanings))('a schema that differs in %s is refused', async (_, [from, to]) => {
  expect(await stateOf(replaced(from, to))).toMatchObject({ kind: 'damaged' })
})

test('a table or an index that is missing is refused', async () => {
  expect(await stateOf(made, (file) => run(file, 'DROP INDEX people_away'))).toMatchObject({ kind: 'damaged' })
  expect(await stateOf(made, (file) => run(file, 'DROP TABLE people'))).toMatchObject({ kind: 'damaged' })
})

const additions: Record<string, readonly [sql: string, remedy: string]> = {
  'a trigger': ['CREATE TRIGGER undo AFTER UPDATE ON homes BEGIN DELETE FROM homes; END', 'DROP TRIGGER undo'],
  'a view': ['CREATE VIEW seen AS SELECT * FROM homes', 'DROP VIEW seen'],
  'a table': ['CREATE TABLE theirs (a)', 'DROP TABLE theirs'],
  'an index': ['CREATE INDEX for_a_report ON homes (town)', 'DROP INDEX for_a_report'],
  'a virtual table': ['CREATE VIRTUAL TABLE words USING fts5(word)', 'DROP TABLE words'],
  'a view in place of the record of migrations': [
    'ALTER TABLE schema_migrations RENAME TO homes_too; CREATE VIEW schema_migrations AS SELECT * FROM homes_too',
    'DROP VIEW schema_migrations',
  ],
}
test.each(Object.entries(additions))(
  '%s that others have added is refused, and its name is reported',
  async (_, [sql, remedy]) => {
    const state = await stateOf(made, (file) => run(file, sql))
    expect(state).toMatchObject({ kind: 'altered', message: expect.stringContaining(remedy) })
  },
)

test('a trigger under a name that SQLite keeps for itself is refused as well', async () => {
  const state = await stateOf(made, (file) => {
    run(file, 'CREATE TRIGGER zqlite_stat1 AFTER UPDATE ON homes BEGIN DELETE FROM homes; END')
    writeFileSync(file, readFileSync(file, 'latin1').replaceAll('zqlite_stat1', 'sqlite_stat1'), 'latin1')
  })
  expect(state).toMatchObject({ kind: 'altered', message: expect.stringContaining('DROP TRIGGER sqlite_stat1') })
})

test('a name that a shell would run as a command is not part of the remedy', async () => {
  const refusal = await stateOf(made, (file) => run(file, `CREATE TABLE "'; reboot '" (a)`))
  expect(refusal).toMatchObject({ kind: 'altered', message: expect.stringContaining(': remove it, or restore') })
})

test('objects that SQLite itself adds are accepted', async () => {
  expect(await stateOf(made, (file) => run(file, 'ANALYZE'))).toBe('current')
})

/** Starts processes at the same time. Returns for each whether it started, or its error. */
const startTogether = async (file: string, count: number): Promise<readonly string[]> => {
  const script = join(import.meta.dir, 'support', 'migrate-process.ts')
  const processes = Array.from({ length: count }, () =>
    Bun.spawn([process.execPath, script, file, 'platform'], { stdio: ['ignore', 'ignore', 'pipe'] }),
  )
  return await Promise.all(
    processes.map(async (process) => {
      const [code, told] = await Promise.all([process.exited, new Response(process.stderr).text()])
      return code === 0 ? 'started' : told
    }),
  )
}

test('first starts at the same time all succeed', async () => {
  const found: string[] = []
  for (let round = 0; round < 3; round += 1) {
    using folder = temporaryFolder()
    found.push(...(await startTogether(folder.file, 8)))
  }
  expect(new Set(found)).toEqual(new Set(['started']))
}, 120_000)

test('a schema is read in one snapshot while another process migrates', async () => {
  using folder = temporaryFolder()
  createPrivately(folder.file)
  await migrate(folder.file, migrations)
  {
    using database = new Database(folder.file)
    database.run('PRAGMA journal_mode = WAL')
  }
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'support', 'migrate-process.ts'), folder.file, 'upgrade'],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const states = new Set<string>()
  while (child.exitCode === null) {
    states.add(inspectSchema(folder.file, withOneMore))
    await Bun.sleep(0)
  }
  states.add(inspectSchema(folder.file, withOneMore))
  expect(states).toEqual(new Set(['behind', 'current']))
})
