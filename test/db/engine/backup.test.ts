import { expect, test } from 'bun:test'
import { lstatSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeAcknowledged } from '../../../db/sqlite/acknowledged.ts'
import { backUpTiny, faultsIn, openTiny, temporaryFolder } from './support/tiny-store.ts'

test('a backup is one private file with everything that was committed, and opens as a database once it is restored', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  await Promise.all(Array.from({ length: 300 }, (_, index) => store.transaction((notes) => notes.add(`n${index}`))))
  const copy = join(folder.path, 'backups', 'tiny.db')

  backUpTiny(folder.file, copy)
  await store.transaction((notes) => notes.add('after the backup'))
  await store.close()

  expect(readdirSync(join(folder.path, 'backups'))).toEqual(['tiny.db'])
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  writeAcknowledged(copy, { count: 0 }) // as a restore does
  const restored = await openTiny(copy)
  expect(await restored.queries.count()).toBe(300)
  expect(await faultsIn(copy)).toEqual([])
  await restored.close()
})

test('a backup replaces an existing file only when told to', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const copy = join(folder.path, 'copy.db')
  writeFileSync(copy, 'precious', { mode: 0o644 })

  expect(() => backUpTiny(folder.file, copy)).toThrow(
    expect.objectContaining({ name: 'DatabaseUnusable', kind: 'exists' }),
  )
  expect(await Bun.file(copy).text()).toBe('precious')

  backUpTiny(folder.file, copy, true)
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  await store.close()
  await (await openTiny(copy)).close()
})

test('a backup never replaces a folder, a pipe or a device, even when told to', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const at = (name: string) => join(folder.path, name)
  mkdirSync(at('folder'))
  expect(Bun.spawnSync(['mkfifo', at('pipe')]).exitCode).toBe(0)
  symlinkSync('pipe', at('link'))

  for (const name of ['folder', 'pipe', 'link']) {
    const before = lstatSync(at(name)).ino
    const refusal = { name: 'DatabaseUnusable', message: expect.stringContaining('not a file') }
    expect(() => backUpTiny(folder.file, at(name), true)).toThrow(expect.objectContaining(refusal))
    expect(lstatSync(at(name)).ino).toBe(before)
  }
  expect(statSync(at('pipe')).isFIFO()).toBe(true)
  await store.close()
})

test('a backup that fails leaves nothing behind', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const target = join(folder.path, 'a-folder')

  backUpTiny(folder.file, join(target, 'x.db'))
  expect(() => backUpTiny(folder.file, target, true)).toThrow()

  expect(readdirSync(folder.path).filter((name) => name.includes('unfinished'))).toEqual([])
  await store.close()
})

test('a backup is made while a server goes on writing', async () => {
  using folder = temporaryFolder()
  const server = await openTiny(folder.file)
  await server.transaction((notes) => notes.add('before'))
  const copy = join(folder.path, 'copy.db')

  const writing = Promise.all(
    Array.from({ length: 500 }, (_, index) => server.transaction((notes) => notes.add(`n${index}`))),
  )
  backUpTiny(folder.file, copy)
  await writing
  await server.close()

  writeAcknowledged(copy, { count: 0 }) // as a restore does
  const restored = await openTiny(copy)
  expect(await restored.queries.find('before')).not.toBeNull()
  expect(await faultsIn(copy)).toEqual([])
  await restored.close()
})
