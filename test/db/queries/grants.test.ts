import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Grant } from '../../../db/database.ts'
import { rowKey } from '../../../src/domain/identifier.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { openAsOperator } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../../support/world.ts'

let platform: Platform
let user: Login
let app: AppInWorld
beforeAll(async () => {
  platform = await openAsOperator(join(temporaryFolder(), 'grants.db'))
  user = await addUser(platform)
  app = await addApp(platform, user)
})
afterAll(async () => await platform.database.close())

const key = () => rowKey(platform.random.uuid(platform.clock.now()))
let grants = 0
const addGrant = async (): Promise<Grant> => {
  const now = platform.clock.now()
  const grant = {
    id: `grt_${String((grants += 1)).padStart(32, '0')}`,
    userId: user.id,
    appId: app.id,
    clientId: app.development.clientId,
    scopes: 'site:read',
    currentKey: key(),
    createdAt: now,
    expiresAt: now + 60_000,
    revokedAt: null,
    retryKey: key(),
    retrySalt: new Uint8Array(32),
    retryFingerprint: new Uint8Array(32),
    retryUntil: now + 60_000,
  }
  await platform.database.transaction(async (q) => await q.grants.insert(grant))
  return grant
}
const now = () => platform.clock.now()
const read = async ({ id }: Grant) => await platform.database.queries.grants.byId(id)
const advance = async ({ id }: Grant, presentedKey: string, step: Grant) =>
  await platform.database.transaction(async (q) => await q.grants.advance(id, presentedKey, step))
const revoke = async ({ id }: Grant, at: number) =>
  await platform.database.transaction(async (q) => await q.grants.revoke(id, at))

test('a grant is moved on by its own current key, once, and not when it is revoked', async () => {
  const [grant, other] = [await addGrant(), await addGrant()]
  const step = {
    ...grant,
    currentKey: key(),
    expiresAt: grant.expiresAt + 1,
    retryKey: grant.currentKey,
    retrySalt: new Uint8Array(32).fill(1),
    retryFingerprint: new Uint8Array(32).fill(2),
    retryUntil: grant.retryUntil === null ? null : grant.retryUntil + 1,
  }
  expect(await advance(grant, key(), step)).toBe(false)
  expect(await advance(grant, other.currentKey, step)).toBe(false)
  expect(await advance(grant, grant.currentKey, step)).toBe(true)
  expect(await read(grant)).toEqual(step)
  expect(await advance(grant, grant.currentKey, step)).toBe(false)
  expect(await revoke(grant, now())).toBe(true)
  expect(await advance(grant, step.currentKey, { ...step, currentKey: key() })).toBe(false)
  expect(await read(grant)).toMatchObject({ currentKey: step.currentKey })
  expect(await read(other)).toEqual(other)
})

test('a grant is revoked once, alone, and keeps the moment; nothing of its last answer can be repeated', async () => {
  const [grant, other] = [await addGrant(), await addGrant()]
  expect(await revoke(grant, 1)).toBe(true)
  expect(await revoke(grant, 2)).toBe(false)
  const gone = { retryKey: null, retrySalt: null, retryFingerprint: null, retryUntil: null }
  expect(await read(grant)).toEqual({ ...grant, revokedAt: 1, ...gone })
  expect(await read(other)).toEqual(other)
})

test('a retry is closed for one grant alone', async () => {
  const [grant, other] = [await addGrant(), await addGrant()]
  await platform.database.transaction(async (q) => await q.grants.closeRetry(grant.id))
  expect(await read(grant)).toMatchObject({ retryKey: null, retrySalt: null })
  expect(await read(other)).toEqual(other)
})
