import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TimeKey } from '../../../src/domain/time-key.ts'
import type { Grant } from '../../../db/database.ts'
import { countRows } from '../../support/expired-rows.ts'
import { addFamily as writeFamily, addGrant as writeGrant, pairOf } from '../../support/grant-family.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addApp, addUser, type Login } from '../../support/world.ts'
import { platformOfFile } from '../../support/platform-of-file.ts'

const file = join(temporaryFolder(), 'grants.db')
const platform = await platformOfFile(file)
const user = await addUser(platform)
const app = await addApp(platform, user)

const key = () => platform.random.timeKey(platform.clock.now())
const addFor = async (owner: Login) => await writeGrant(platform, app, owner)
const addGrant = async () => await addFor(user)
const addFamily = async (pairs: number) => await writeFamily(platform, app, user, pairs)
const now = () => platform.clock.now()
const read = async ({ id }: Grant) => await platform.database.queries.grants.byId(id)
const advance = async (grant: Grant, presentedKey: TimeKey, step: Grant) => {
  const pair = pairOf(platform, grant, step.currentKey, presentedKey)
  return await platform.database.transaction(async (q) => await q.grants.advance(pair, step))
}
const pairWith = async (pairKey: TimeKey) => (await platform.database.queries.grants.findPair(pairKey))?.pair
const revoke = async ({ id }: Grant, at: number) =>
  await platform.database.transaction(async (q) => await q.grants.revoke(id, at))

const noRetry = { retryKey: null, retrySalt: null, retryFingerprint: null, retryUntil: null }

test('a grant advances once, only by its own current key, and not if it is revoked', async () => {
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
  expect(await pairWith(step.currentKey)).toBeUndefined()
  expect(await advance(grant, grant.currentKey, step)).toBe(true)
  expect(await read(grant)).toEqual(step)
  expect(await pairWith(step.currentKey)).toMatchObject({ previousKey: grant.currentKey, grantKey: grant.key })
  expect(await advance(grant, grant.currentKey, step)).toBe(false)
  expect(await revoke(grant, now())).toBe(true)
  expect(await advance(grant, step.currentKey, { ...step, currentKey: key() })).toBe(false)
  expect(await read(grant)).toMatchObject({ currentKey: step.currentKey })
  expect(await read(other)).toEqual(other)
})

test('a grant is revoked once and keeps that time, other grants are not changed, and its last answer cannot be repeated', async () => {
  const [grant, other] = [await addGrant(), await addGrant()]
  expect(await revoke(grant, 1)).toBe(true)
  expect(await revoke(grant, 2)).toBe(false)
  expect(await read(grant)).toEqual({ ...grant, revokedAt: 1, ...noRetry })
  expect(await read(other)).toEqual(other)
})

test('grants of a user are ended after a given one, oldest first, a limited number at a time', async () => {
  const somebody = await addUser(platform)
  const grants = [await addFor(somebody), await addFor(somebody), await addFor(somebody)]
  const ids = grants.map(({ id }) => id)
  const end = async (after: string, limit: number) =>
    (
      await platform.database.transaction(
        async (q) => await q.grants.revokeOfUser(somebody.id, null, now(), { after, limit }),
      )
    ).map(({ id }) => id)
  expect(await end(ids[0] ?? '', 1)).toEqual([ids[1] ?? ''])
  expect(await end(ids[1] ?? '', 10)).toEqual([ids[2] ?? ''])
  expect(await end('', 10)).toEqual([ids[0] ?? ''])
})

test('a retry is closed for one grant only', async () => {
  const [grant, other] = [await addGrant(), await addGrant()]
  await platform.database.transaction(async (q) => await q.grants.closeRetry(grant.id))
  expect(await read(grant)).toMatchObject({ retryKey: null, retrySalt: null })
  expect(await read(other)).toEqual(other)
})

const tables = ['grants', 'authorization_codes', 'token_pairs']
const purge = async ({ id }: Grant, before: number, limit = 250) =>
  await platform.database.transaction(async (q) => await q.grants.purgeFamily(id, before, limit))

test('an expired family is removed as a whole, not earlier, and nothing of another family is', async () => {
  const [family, other] = [await addFamily(3), await addFamily(2)]
  const before = await countRows(file, ...tables)
  expect(await purge(family, family.expiresAt - 1)).toEqual({ kind: 'kept' })
  expect(await purge({ ...family, id: 'grt_none' }, family.expiresAt)).toEqual({ kind: 'kept' })
  expect(await countRows(file, ...tables)).toEqual(before)
  const { clientId } = family
  expect(await purge(family, family.expiresAt)).toEqual({ kind: 'removed', rows: 5, pairs: 3, clientId })
  expect(await countRows(file, ...tables)).toEqual({
    grants: (before['grants'] ?? 0) - 1,
    authorization_codes: (before['authorization_codes'] ?? 0) - 1,
    token_pairs: (before['token_pairs'] ?? 0) - 3,
  })
  expect(await read(family)).toBeNull()
  expect(await read(other)).toEqual(other)
  expect(await purge(await addFamily(0), now() + 60_000)).toMatchObject({ kind: 'removed', rows: 2, pairs: 0 })
})

test('a family that is too large for one call is shortened and revoked, and the next call removes the rest', async () => {
  const [family, other] = [await addFamily(5), await addFamily(1)]
  expect(await purge(family, family.expiresAt, 5)).toMatchObject({ kind: 'shortened', rows: 3, pairs: 3 })
  expect(await read(family)).toMatchObject({ revokedAt: family.expiresAt, ...noRetry })
  expect(await purge(family, family.expiresAt, 5)).toMatchObject({ kind: 'removed', rows: 4, pairs: 2 })
  expect(await read(other)).toEqual(other)
  const revoked = await addFamily(3)
  await revoke(revoked, 7)
  await purge(revoked, revoked.expiresAt, 5)
  expect(await read(revoked)).toMatchObject({ revokedAt: 7 })
})

test('a walk over all grants reads each once, in order', async () => {
  const last = await addGrant()
  const seen: string[] = []
  for (let more = true; more;) {
    const window = await platform.database.queries.grants.window(seen.at(-1) ?? '', 2)
    seen.push(...window.map(({ id }) => id))
    more = window.length > 0
  }
  expect(seen).toEqual([...new Set(seen)].toSorted())
  expect(seen).toHaveLength((await countRows(file, 'grants'))['grants'] ?? 0)
  expect(seen.at(-1)).toBe(last.id)
})
