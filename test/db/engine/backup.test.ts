import { expect, test } from 'bun:test'
import { lstatSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeAcknowledged } from '../../../db/sqlite/acknowledged.ts'
import { openTiny, temporaryFolder } from './support/tiny-store.ts'

test('a backup is one private file with everything that was committed, and once restored opens as a database', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  await Promise.all(Array.from({ length: 300 }, (_, index) => store.transaction((notes) => notes.add(`n${index}`))))
  const copy = join(folder.path, 'backups', 'tiny.db')

  await store.backup(copy)
  await store.transaction((notes) => notes.add('after the backup'))
  await store.close()

  expect(readdirSync(join(folder.path, 'backups'))).toEqual(['tiny.db'])
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  writeAcknowledged(copy, { count: 0 }) // as a restore does
  const restored = await openTiny(copy)
  expect(await restored.queries.count()).toBe(300)
  expect(await restored.check()).toEqual([])
  await restored.close()
})

test('a backup replaces an existing file only when told to', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const copy = join(folder.path, 'copy.db')
  writeFileSync(copy, 'precious', { mode: 0o644 })

  await expect(store.backup(copy)).rejects.toMatchObject({ name: 'DatabaseUnusable', kind: 'exists' })
  await store.backup(copy).catch(() => {})
  expect(await Bun.file(copy).text()).toBe('precious')

  await store.backup(copy, { replace: true })
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  await store.close()
  await (await openTiny(copy)).close()
})

test('a backup takes the place of no folder, pipe or device, even when told to', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const at = (name: string) => join(folder.path, name)
  mkdirSync(at('folder'))
  expect(Bun.spawnSync(['mkfifo', at('pipe')]).exitCode).toBe(0)
  symlinkSync('pipe', at('link'))

  for (const name of ['folder', 'pipe', 'link']) {
    const before = lstatSync(at(name)).ino
    const refusal = await store.backup(at(name), { replace: true }).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ name: 'DatabaseUnusable', message: expect.stringContaining('not a file') })
    expect(lstatSync(at(name)).ino).toBe(before)
  }
  expect(statSync(at('pipe')).isFIFO()).toBe(true)
  await store.close()
})

test('a backup that fails leaves nothing behind', async () => {
  using folder = temporaryFolder()
  const store = await openTiny(folder.file)
  const target = join(folder.path, 'a-folder')

  await store.backup(join(target, 'x.db'))
  await expect(store.backup(target, { replace: true })).rejects.toThrow()
  await store.backup(target, { replace: true }).catch(() => {})

  expect(readdirSync(folder.path).filter((name) => name.includes('unfinished'))).toEqual([])
  await store.close()
})

test('an operator backs up beside a server that goes on writing', async () => {
  using folder = temporaryFolder()
  const server = await openTiny(folder.file)
  await server.transaction((notes) => notes.add('before'))
  const operator = await openTiny(folder.file, { role: 'operator', migrate: false })
  const copy = join(folder.path, 'copy.db')

  const writing = Promise.all(
    Array.from({ length: 500 }, (_, index) => server.transaction((notes) => notes.add(`n${index}`))),
  )
  await operator.backup(copy)
  await writing
  await operator.close()
  await server.close()

  writeAcknowledged(copy, { count: 0 }) // as a restore does
  const restored = await openTiny(copy)
  expect(await restored.queries.find('before')).not.toBeNull()
  expect(await restored.check()).toEqual([])
  await restored.close()
})
