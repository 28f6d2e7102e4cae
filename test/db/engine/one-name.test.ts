import { expect, test } from 'bun:test'
import { linkSync, rmSync } from 'node:fs'
import { backupFile } from '../../../db/backup.ts'
import { checkFile } from '../../../db/check.ts'
import { migrateFile } from '../../../db/migrate.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { restoreSqlite } from '../../../db/restore.ts'
import { predecessorPath } from '../../../db/sqlite/place.ts'
import { emptyDatabase } from '../../support/operator.ts'
import { openTiny, temporaryFolder, tinyMigrations } from './support/tiny-store.ts'

const linked = { kind: 'linked', message: expect.stringContaining('another name') }

test('a database with two names is opened by neither, for a server or a command', async () => {
  using folder = temporaryFolder()
  const other = `${folder.file}.other`
  const server = await openTiny(folder.file)
  linkSync(folder.file, other)
  await server.transaction((notes) => notes.add('goes on'))

  for (const role of ['server', 'operator'] as const)
    await expect(openTiny(other, { role })).rejects.toMatchObject(linked)
  await server.close()
  for (const file of [folder.file, other]) {
    await expect(openTiny(file)).rejects.toMatchObject(linked)
    await expect(migrateFile(file, tinyMigrations)).rejects.toMatchObject(linked)
  }
  expect(checkFile(folder.file, tinyMigrations)).toEqual([expect.stringContaining('another name')])

  rmSync(other)
  await (await openTiny(folder.file)).close()
})

test('a database with a second name is not replaced by a backup', async () => {
  using folder = temporaryFolder()
  const [other, backup] = [`${folder.file}.other`, `${folder.file}.backup`]
  await emptyDatabase(folder.file)
  backupFile({ file: folder.file, to: backup, replace: false, migrations })
  linkSync(folder.file, other)

  const restored = restoreSqlite({
    file: folder.file,
    backup,
    migrations,
    now: 0,
    event: () => {
      throw new Error('nothing happened')
    },
    progress: () => undefined,
  })
  await expect(restored).rejects.toMatchObject(linked)
})

test('a database with two names is not backed up under the one that lacks the last writes', async () => {
  using folder = temporaryFolder()
  const other = `${folder.file}.other`
  const server = await openTiny(folder.file)
  linkSync(folder.file, other)
  await server.transaction((notes) => notes.add('in the WAL of the first name'))

  const backUp = () =>
    backupFile({ file: other, to: `${folder.file}.backup`, replace: false, migrations: tinyMigrations })
  expect(backUp).toThrow('another name')
  await server.close()
})

test('the name that a killed restore left behind is refused, and the database itself is opened', async () => {
  using folder = temporaryFolder()
  await (await openTiny(folder.file)).close()
  const [kept, other] = [predecessorPath(folder.file, Date.UTC(2026, 7)), `${folder.file}.other`]
  linkSync(folder.file, kept)

  await (await openTiny(folder.file)).close()
  await expect(openTiny(kept)).rejects.toMatchObject(linked)

  linkSync(folder.file, other)
  await expect(openTiny(folder.file)).rejects.toMatchObject(linked)
})
