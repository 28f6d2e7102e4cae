import type { Grant } from '../../db/database.ts'
import { hashSecret, mintSecret, secretDigits } from '../../src/domain/secret.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { trace } from './operator.ts'
import type { AppInWorld, Login } from './world.ts'

let grants = 0

/** Inserts a grant that lives for a minute and whose last answer can be repeated for as long. */
export const addGrant = async (
  platform: Platform,
  app: AppInWorld,
  user: Pick<Login, 'id'>,
  facts: Partial<Grant> = {},
): Promise<Grant> => {
  const now = platform.clock.now()
  const key = () => platform.random.timeKey(now)
  const grant: Grant = {
    key: key(),
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
    ...facts,
  }
  await platform.database.transaction(async (q) => await q.grants.insert(grant))
  return grant
}

/** Inserts such a grant with its code and a chain of token pairs. Each is spent for the next; the last is current. */
export const addFamily = async (
  platform: Platform,
  app: AppInWorld,
  user: Pick<Login, 'id'>,
  pairs: number,
): Promise<Grant> => {
  const key = () => platform.random.timeKey(platform.clock.now())
  const hash = () =>
    hashSecret(mintSecret({ kind: 'appToken', key: key(), digits: platform.random.digits(secretDigits) }))
  const keys = Array.from({ length: pairs + 1 }, key)
  const grant = await addGrant(platform, app, user, { currentKey: keys.at(-1) ?? key() })
  const { key: grantKey, createdAt, expiresAt } = grant
  const ofPair = { grantKey, scopes: 'site:read', createdAt, accessExpiresAt: expiresAt, refreshExpiresAt: expiresAt }
  await platform.database.transaction(async (q) => {
    const [first = key(), ...later] = keys
    const code = { key: first, hash: hash(), grantKey, expiresAt, redirectUri: app.redirectUri }
    await q.grants.insertCode({ ...code, codeChallenge: 'c'.repeat(43) })
    for (const [index, each] of later.entries()) {
      const pair = { ...ofPair, ...trace, key: each, previousKey: keys[index] ?? first }
      await q.grants.insertPair({ ...pair, accessHash: hash(), refreshHash: hash() })
    }
  })
  return grant
}
