import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { applicationId } from '../../../db/migrate.ts'
import { startTiny } from './support/start-tiny.ts'
import { migrationOf, openTiny, temporaryFolder, tinyMigrations } from './support/tiny-store.ts'

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('only the owner may use the folder and the files, whatever the umask', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'new', 'data', 'tiny.db')
  const umask = process.umask(0)
  try {
    const store = await openTiny(file)
    await store.transaction((notes) => notes.add('n'))

    expect(modeOf(join(folder.path, 'new'))).toBe('700')
    expect(modeOf(join(folder.path, 'new', 'data'))).toBe('700')
    for (const name of [file, `${file}-wal`, `${file}-shm`, `${file}.lock`]) expect(modeOf(name)).toBe('600')
    await store.close()
  } finally {
    process.umask(umask)
  }
})

test('a database that other users may read is refused, with the command that corrects it', async () => {
  using folder = temporaryFolder()
  await (await openTiny(folder.file)).close()
  chmodSync(folder.file, 0o640)

  await expect(openTiny(folder.file)).rejects.toMatchObject({
    name: 'DatabaseUnusable',
    kind: 'not_private',
    message: expect.stringContaining(`chmod 600 ${folder.file}`),
  })
})

test('a second server on the same file is refused, whatever spelling of the path it uses', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const alias = join(folder.path, 'alias.db')
  symlinkSync(folder.file, alias)

  await expect(openTiny(folder.file)).rejects.toMatchObject({
    kind: 'in_use',
    message: expect.stringContaining('Another server'),
  })
  await expect(openTiny(alias)).rejects.toMatchObject({ kind: 'in_use' })
  await store.transaction((notes) => notes.add('still here'))

  await store.close()
  await (await openTiny(alias)).close()
})

test('a link to a missing file is refused, and no file is created', async () => {
  using folder = temporaryFolder()
  const [link, target] = [join(folder.path, 'link.db'), join(folder.path, 'target.db')]
  symlinkSync(target, link)
  const refusal = await openTiny(link).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ kind: 'missing', message: expect.stringContaining('leads to no file') })
  expect(existsSync(target)).toBe(false)
})

test('the lock of a killed server is free at once', async () => {
  using folder = temporaryFolder()
  const server = await startTiny(folder.file)
  await expect(openTiny(folder.file)).rejects.toMatchObject({ kind: 'in_use' })

  await server.kill()

  const store = await openTiny(folder.file)
  await store.close()
})

test('closing leaves the database, its lock and no WAL', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  await store.transaction((notes) => notes.add('n'))
  await store.close()

  expect(existsSync(`${folder.file}-wal`)).toBe(false)
  expect(existsSync(`${folder.file}-shm`)).toBe(false)
  using database = new Database(folder.file)
  expect(database.query('SELECT id FROM notes').values()).toEqual([['n']])
  expect(database.query('PRAGMA application_id').values()).toEqual([[applicationId]])
})

test('a missing database is only created when asked to', async () => {
  using folder = temporaryFolder()

  await expect(openTiny(folder.file, { role: 'operator', migrate: false })).rejects.toMatchObject({ kind: 'missing' })
  expect(existsSync(folder.file)).toBe(false)
})

test('the database of another program is refused and not changed', async () => {
  using folder = temporaryFolder()
  {
    using other = new Database(folder.file)
    other.run('CREATE TABLE theirs (a)')
  }
  chmodSync(folder.file, 0o600)
  const before = readFileSync(folder.file)

  await expect(openTiny(folder.file)).rejects.toMatchObject({ kind: 'foreign' })
  expect(readFileSync(folder.file).equals(before)).toBe(true)
})

test('a file that is not a database is refused and not changed', async () => {
  using folder = temporaryFolder()
  writeFileSync(folder.file, 'Dear diary, '.repeat(500), { mode: 0o600 })

  await expect(openTiny(folder.file)).rejects.toMatchObject({ kind: 'damaged' })
  expect(readFileSync(folder.file, 'utf8')).toStartWith('Dear diary')
})

test('a database of a newer program is refused and not changed', async () => {
  using folder = temporaryFolder()
  const newer = [...tinyMigrations, migrationOf(2, 'more', 'CREATE TABLE more (a TEXT) STRICT')]
  await (await openTiny(folder.file, { migrations: newer })).close()
  const before = readFileSync(folder.file)

  await expect(openTiny(folder.file)).rejects.toMatchObject({
    kind: 'newer',
    message: expect.stringContaining('newer version'),
  })
  expect(readFileSync(folder.file).equals(before)).toBe(true)
  expect(existsSync(`${folder.file}-wal`)).toBe(false)
})

test('a folder in place of the file is refused with a sentence', async () => {
  using folder = temporaryFolder()
  mkdirSync(folder.file, { mode: 0o700 })

  await expect(openTiny(folder.file)).rejects.toMatchObject({ name: 'DatabaseUnusable' })
})
