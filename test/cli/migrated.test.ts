import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrateFile, type Migration } from '../../db/migrate.ts'
import { migrations, notesOfStep, postgresMigrations } from '../../db/migrations/index.ts'
import { migratePostgres } from '../../db/postgres/commands.ts'
import { askPostgres } from '../support/beside.ts'
import { onSqlite } from '../support/engines.ts'
import { databaseOf, onPostgres } from '../support/postgres.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Desk, openDesk } from './support/run.ts'

/** Runs SQL that both engines read beside the platform, and gives its rows. */
const ask = async ({ file }: Desk, sql: string): Promise<readonly unknown[]> => {
  if (onPostgres) return await askPostgres(await databaseOf(file), sql, [])
  using database = new Database(file, { readwrite: true, create: false })
  return database.query(sql).all()
}

/** From and to which step. */
const steps =
  "SELECT one.at || '-' || two.at AS steps FROM watermarks AS one, watermarks AS two WHERE one.name = 'migrated_from' AND two.name = 'migrated_to'"

/** How many steps the program has. */
const known = migrations.length

const sqlOf = (index: number) => `CREATE TABLE more_${index} (number INTEGER NOT NULL)`

/** The program's own steps and so many more. */
const withMore = <Step extends Migration>(own: readonly Step[], count: number): readonly Migration[] => {
  return [
    ...own,
    ...Array.from({ length: count }, (_, index) => ({
      id: own.length + index + 1,
      name: `more ${index}`,
      sql: sqlOf(index),
      sha256: createHash('sha256').update(sqlOf(index)).digest('hex'),
    })),
  ]
}

const migrateFurther = async ({ file }: Desk, count: number) =>
  onPostgres
    ? await migratePostgres(await databaseOf(file), withMore(postgresMigrations, count))
    : await migrateFile(file, withMore(migrations, count))

const eventsOf = async (desk: Desk) => (await desk.json(['audit', 'list', '--action', 'database.migrated'])).data

test('the transaction of a step notes from and to which step, over several steps and migrations; new tables leave no note', async () => {
  const desk = await openDesk()
  expect(await ask(desk, steps)).toEqual([])
  await migrateFurther(desk, 1)
  expect(await ask(desk, steps)).toEqual([{ steps: `${known}-${known + 1}` }])
  await migrateFurther(desk, 3)
  expect(await ask(desk, steps)).toEqual([{ steps: `${known}-${known + 3}` }])
})

const noted = [known, known + 2] as const
const [from, to] = noted
/** As a process leaves it that was killed between the migration and its audit event. */
const leaveNotes = async (desk: Desk) => {
  for (const note of notesOfStep(...noted)) await ask(desk, note)
}

test('the next command that opens a migrated database leaves exactly one audit event of it, by the operator', async () => {
  const desk = await openDesk()
  await leaveNotes(desk)
  await desk.json(['user', 'list'])
  await desk.json(['user', 'list'])
  expect(await eventsOf(desk)).toMatchObject([{ actor: { kind: 'operator' }, detail: { from, to } }])
  expect(await ask(desk, steps)).toEqual([])
})

test('a server that opens it leaves the event as the system', async () => {
  const desk = await openDesk()
  await leaveNotes(desk)
  for (let starts = 0; starts < 2; starts += 1)
    expect(await (await startServer({ database: desk.file })).stop()).toBe(0)
  expect(await eventsOf(desk)).toMatchObject([{ actor: { kind: 'system' }, detail: { from, to } }])
})

onSqlite('restore of a file')('a database that was restored before its event was written leaves it, once', async () => {
  const desk = await openDesk()
  await leaveNotes(desk)
  const backup = join(desk.folder, 'copy.db')
  await desk.json(['backup', backup])
  await desk.json(['user', 'list'])
  await desk.json(['restore', backup])
  expect(await eventsOf(desk)).toHaveLength(1)
  await desk.json(['user', 'list'])
  expect(await eventsOf(desk)).toHaveLength(1)
})

const mountDisk = (folder: string) =>
  Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', folder], { stderr: 'ignore' }).exitCode ===
  0

onSqlite('place of the file')(
  'a migration is refused on a full disk before it begins, and one that fills the disk is undone',
  async () => {
    const folder = temporaryFolder()
    if (!mountDisk(folder))
      return console.warn('A migration on a full disk was not tested: it needs the right to mount.')
    try {
      const file = join(folder, 'app-platform.db')
      await migrateFile(file, migrations)
      const before = readFileSync(file)
      const fill =
        'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO filler SELECT randomblob(100000) FROM n'
      const sql = `CREATE TABLE filler (bytes BLOB) STRICT; ${fill};`
      const greedy: Migration = {
        id: migrations.length + 1,
        name: 'greedy',
        sql,
        sha256: createHash('sha256').update(sql).digest('hex'),
      }
      const full = expect.stringMatching(/^The disk of \S+ is full, as df -h \S+ shows: make room\./)
      await expect(migrateFile(file, [...migrations, greedy])).rejects.toMatchObject({ kind: 'full', message: full })
      expect(readFileSync(file).equals(before)).toBe(true)
      const ballast = join(folder, 'ballast')
      writeFileSync(ballast, Buffer.alloc(5_500_000))
      const small = withMore(migrations, 1)
      await expect(migrateFile(file, small)).rejects.toMatchObject({ kind: 'full', message: full })
      expect(readFileSync(file).equals(before)).toBe(true)
      rmSync(ballast)
      expect(await migrateFile(file, small)).toEqual(['more 0'])
    } finally {
      Bun.spawnSync(['umount', '-l', folder])
    }
  },
)
