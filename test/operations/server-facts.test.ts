import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openCluster } from '../../db/postgres/cluster.ts'
import { refuse } from '../../src/domain/errors.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { openServerKey } from '../../src/operations/server-facts.ts'
import { askBeside } from '../support/beside.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { platformOfFile } from '../support/platform-of-file.ts'

const file = join(temporaryFolder(), 'server-key.db')
const platform = await platformOfFile(file)

const keptKeys = async () => await askBeside<{ key: Uint8Array }>(file, 'SELECT key FROM server_keys')

const explain = () => new Error('the sentence for the operator')

const failing = (fault: Error, cluster: Platform['database']['cluster'] = null): Platform => {
  const { queries } = platform.database
  const health = () => platform.database.health()
  const transaction = async () => await Promise.reject(fault)
  return {
    ...platform,
    database: Object.assign(Object.create(platform.database), { queries, transaction, cluster, health, explain }),
  }
}

test('while the store takes no writes the server starts with a temporary key; any other fault stops it', async () => {
  const full = failing(refuse('unavailable'))
  const [one, two] = [await openServerKey(full), await openServerKey(full)]
  expect([one.length, Buffer.compare(one, two) === 0]).toEqual([32, false])
  expect(await keptKeys()).toEqual([])
  await expect(openServerKey(failing(new Error('broken')))).rejects.toThrow('broken')
})

test('a server that shares a database does not start with a key of its own', async () => {
  const cluster = openCluster(async () => await Promise.reject(new Error('not asked')))
  const start = openServerKey(failing(refuse('unavailable'), cluster))
  await expect(start).rejects.toThrow('the sentence for the operator')
  expect(await keptKeys()).toEqual([])
})

test('the server creates its key once, and starts that race get the same key', async () => {
  const keys = await Promise.all(Array.from({ length: 5 }, async () => await openServerKey(platform)))
  const [kept] = await keptKeys()
  for (const key of keys) expect(Buffer.from(key)).toEqual(Buffer.from(kept?.key ?? []))
  expect(keys[0]).toHaveLength(32)
})
