import type { Grant, TokenPair } from '../../db/database.ts'
import { hashSecret, mintSecret, secretDigits } from '../../src/domain/secret.ts'
import type { TimeKey } from '../../src/domain/time-key.ts'
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

/** A token pair of the grant, issued for the code or refresh token with the second key. */
export const pairOf = (
  { random }: Platform,
  { key: grantKey, createdAt, expiresAt }: Grant,
  key: TimeKey,
  previousKey: TimeKey,
): TokenPair => {
  const hash = () => hashSecret(mintSecret({ kind: 'appToken', key, digits: random.digits(secretDigits) }))
  const lives = { createdAt, accessExpiresAt: expiresAt, refreshExpiresAt: expiresAt }
  const hashes = { accessHash: hash(), refreshHash: hash() }
  return { key, grantKey, previousKey, ...hashes, scopes: 'site:read', ...lives, ...trace }
}

/** Inserts such a grant with its code and a chain of token pairs. Each is spent for the next; the last is current. */
export const addFamily = async (
  platform: Platform,
  app: AppInWorld,
  user: Pick<Login, 'id'>,
  pairs: number,
  facts: Partial<Grant> = {},
): Promise<Grant> => {
  const key = () => platform.random.timeKey(platform.clock.now())
  const hash = () =>
    hashSecret(mintSecret({ kind: 'appToken', key: key(), digits: platform.random.digits(secretDigits) }))
  const keys = Array.from({ length: pairs + 1 }, key)
  const grant = await addGrant(platform, app, user, { currentKey: keys.at(-1) ?? key(), ...facts })
  const { key: grantKey, expiresAt } = grant
  await platform.database.transaction(async (q) => {
    const [first = key(), ...later] = keys
    const code = { key: first, hash: hash(), grantKey, expiresAt, redirectUri: app.redirectUri }
    await q.grants.insertCode({ ...code, codeChallenge: 'c'.repeat(43) })
    for (const [index, each] of later.entries()) {
      await q.grants.insertPair(pairOf(platform, grant, each, keys[index] ?? first))
    }
  })
  return grant
}
