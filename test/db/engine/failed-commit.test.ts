import { expect, test } from 'bun:test'
import { readCount } from '../../../db/sqlite/connection.ts'
import { WritingConnection } from '../../../db/sqlite/reader-and-writer.ts'
import { openTiny, temporaryFolder } from './support/tiny-store.ts'

test('a commit that fails is neither counted nor acknowledged with the next transaction that changes nothing', async () => {
  using folder = temporaryFolder()
  await (await openTiny(folder.file)).close()
  const writer = new WritingConnection(folder.file, 'FULL', () => null)
  const { connection } = writer
  connection.run('CREATE TABLE parents (id TEXT PRIMARY KEY)')
  connection.run('CREATE TABLE children (id TEXT REFERENCES parents DEFERRABLE INITIALLY DEFERRED)')
  const write = (sql: string) => {
    writer.begin()
    connection.run(sql)
    writer.commit()
  }
  write(`INSERT INTO parents VALUES ('p')`)
  const made = readCount(connection)
  expect(writer.count).toBe(made)

  expect(() => write(`INSERT INTO children VALUES ('of nobody')`)).toThrow() // at the commit, as on a full disk
  writer.rollback()
  write('SELECT 1')

  expect(readCount(connection)).toBe(made)
  expect(writer.count).toBe(made)
  write(`INSERT INTO children VALUES ('p')`)
  expect(writer.count).toBe(readCount(connection))
  writer.close()
})
