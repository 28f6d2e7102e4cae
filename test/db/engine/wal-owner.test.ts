import { afterAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { backupFile } from '../../../db/backup.ts'
import { checkFile } from '../../../db/check.ts'
import { DatabaseUnusable } from '../../../db/database.ts'
import { Connection } from '../../../db/sqlite/connection.ts'
import { startTiny } from './support/start-tiny.ts'
import { backUpTiny, openTiny, temporaryFolder, tinyMigrations } from './support/tiny-store.ts'

/** The number of notes in the opened store, or the sentence of the refusal. */
const openingOf = async (file: string): Promise<number | string> => {
  try {
    const store = await openTiny(file)
    const count = await store.queries.count()
    await store.close()
    return count
  } catch (error) {
    if (error instanceof DatabaseUnusable) return error.message
    throw error
  }
}

test('a checkpoint that has begun to grow the file does not keep others from opening it', async () => {
  using folder = temporaryFolder()
  const { file } = folder
  const server = await startTiny(file)
  await server.ask({ kind: 'add', id: 'first' })
  for (let index = 0; index < 200; index += 1) await server.ask({ kind: 'add', id: `note-${index}` })
  await server.kill()
  for (const part of ['', '-wal']) copyFileSync(file + part, `${file}.copied${part}`)
  const checkpointed = new Connection(`${file}.copied`)
  checkpointed.value('PRAGMA wal_checkpoint(TRUNCATE)')
  checkpointed.close()

  // The first page is copied first, and tells how many pages the file will have.
  const before = readFileSync(file)
  readFileSync(`${file}.copied`).copy(before, 0, 0, 4_096)
  expect(before.readUInt32BE(28) * 4_096).toBeGreaterThan(before.length)
  writeFileSync(file, before, { mode: 0o600 })

  expect(await openingOf(file)).toBe(201)
})

describe('the WAL of a server that was killed', () => {
  const folder = temporaryFolder()
  const { file } = folder
  const copy = (name: string) => `${file}.${name}`
  afterAll(() => folder[Symbol.dispose]())

  /** Copies of the files from several times: before the WAL, during it, and after the kill. */
  const prepare = async (): Promise<void> => {
    if (existsSync(copy('killed'))) return
    const first = await openTiny(file)
    await first.transaction((notes) => notes.add('before the copy'))
    await first.close()
    copyFileSync(file, copy('older'))
    writeFileSync(copy('unlike'), readFileSync(file).fill(0, 4_096))
    const second = await openTiny(file)
    for (let index = 0; index < 3; index += 1) await second.transaction((notes) => notes.add(`later-${index}`))
    await second.close()
    copyFileSync(file, copy('last'))
    const server = await startTiny(file)
    for (let index = 0; index < 3; index += 1) await server.ask({ kind: 'add', id: `last-${index}` })
    const operator = await openTiny(file, { role: 'operator', migrate: false })
    backUpTiny(file, copy('backup'))
    await server.kill()
    for (const part of ['', '-wal', '.acknowledged']) copyFileSync(file + part, copy(`killed${part}`))
    await operator.close()
  }

  const putBack = async (database: string): Promise<void> => {
    await prepare()
    rmSync(`${file}-shm`, { force: true })
    for (const part of ['-wal', '.acknowledged']) copyFileSync(copy(`killed${part}`), file + part)
    writeFileSync(file, readFileSync(copy(database)), { mode: 0o600 })
  }

  test('is read with the file that it belongs to, also before the first checkpoint', async () => {
    await putBack('killed')
    expect(await openingOf(file)).toBe(7)
    await putBack('last')
    expect(await openingOf(file)).toBe(7)
  })

  test.each([
    ['an older file', 'older'],
    ['an older file that shares no page with it', 'unlike'],
    ['a backup that was made while it was written', 'backup'],
  ])(
    'is not read with %s in place of its file, by the server, a command or a check, and nothing changes',
    async (_, name) => {
      await putBack(name)
      const sentence = `${file} is not the file that ${file}-wal belongs to`
      const before = [file, `${file}-wal`].map((path) => readFileSync(path))
      expect(await openingOf(file)).toContain(sentence)
      await expect(openTiny(file, { role: 'operator', migrate: false })).rejects.toThrow(sentence)
      expect(checkFile(file, tinyMigrations)).toEqual([expect.stringContaining(sentence)])
      expect(() => backupFile({ file, to: copy('no'), replace: false, migrations: tinyMigrations })).toThrow(sentence)
      expect([file, `${file}-wal`].map((path) => readFileSync(path))).toEqual(before)
    },
  )
})
