import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { rowKey } from '../../../src/domain/identifier.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { differences, rowsIn } from '../support/two-sides.ts'
import { platformOfFile } from '../../support/platform-of-file.ts'

const file = join(temporaryFolder(), 'once.db')
const moment = Date.UTC(2027, 0)
const platform = await platformOfFile(file)

test('an outcome replaces only the earlier one of the same caller, method, path and key', async () => {
  const name = { principal: 'crd_1', method: 'POST', path: '/versions', key: 'k' }
  const kept = { bodyHash: new Uint8Array(32), outcome: '{}', expiresAt: moment }
  const others = [{ principal: 'crd_2' }, { method: 'PUT' }, { path: '/other' }, { key: 'l' }]
  await platform.database.transaction(async (q) => {
    for (const other of [{}, ...others]) await q.idempotency.keep({ ...name, ...other, ...kept })
  })
  const before = await rowsIn(file)
  await platform.database.transaction(async (q) => await q.idempotency.keep({ ...name, ...kept, outcome: '[]' }))
  expect(differences(before, await rowsIn(file))).toEqual(['idempotency_keys crd_1 POST /versions k: outcome'])
})

const find = async (name: 'clock' | 'restored') => await platform.database.queries.watermarks.find(name)
const set = async (name: 'clock' | 'restored', at: number) =>
  await platform.database.transaction(async (q) => await q.watermarks.set(name, at))

test('each watermark keeps the last time that was set', async () => {
  await set('clock', 1)
  expect([await find('clock'), await find('restored')]).toEqual([1, null])
  await set('restored', 2)
  await set('clock', 3)
  expect([await find('clock'), await find('restored')]).toEqual([3, 2])
})

test('a ticket is spent once, and other tickets are not', async () => {
  const keys = [rowKey(platform.random.uuid(moment)), rowKey(platform.random.uuid(moment))]
  const spend = async (key = '') =>
    await platform.database.transaction(async (q) => await q.formTickets.spend(key, moment))
  expect([await spend(keys[0]), await spend(keys[0]), await spend(keys[1])]).toEqual([true, false, true])
})
