import { describe, expect, test } from 'bun:test'
import { type TimeKey, timeKeyAt } from '../../../src/domain/time-key.ts'
import type { Answer } from '../../support/call.ts'
import { tally, together } from '../../support/crash.ts'
import { pairOf } from '../../support/grant-family.ts'
import { isLong } from '../../support/proof.ts'
import { refresh, refreshBody, type Tokens } from '../../support/world.ts'
import { openArena, race, secretsIn, tokensOf } from './support.ts'

const arena = openArena()
const { post, freshTokens, pairsOf, grantOf, expectDead, userStatus } = arena

test('the store advances a grant only from its current key, and never a revoked one', async () => {
  const tokens = await freshTokens()
  const { database } = arena.world.platform
  const grant = await grantOf(tokens.grantId)
  if (grant === null) throw new Error('the grant is gone')
  const step = { expiresAt: 0, retryKey: null, retrySalt: null, retryFingerprint: null, retryUntil: null }
  const next = timeKeyAt(Date.now())
  const pair = (key: TimeKey, previousKey: TimeKey) => pairOf(arena.world.platform, grant, key, previousKey)
  const moves = await database.transaction(async (q) => [
    await q.grants.advance(pair(next, timeKeyAt(1)), step),
    await q.grants.advance(pair(next, grant.currentKey), step),
    await q.grants.advance(pair(timeKeyAt(2), grant.currentKey), step),
    await q.grants.revoke(tokens.grantId, 1),
    await q.grants.advance(pair(timeKeyAt(2), next), step),
    await q.grants.revoke(tokens.grantId, 2),
  ])

  expect(moves).toEqual([false, true, false, true, false, false])
  expect((await grantOf(tokens.grantId))?.revokedAt).toBe(1)
})

describe('a refresh token', () => {
  for (const [how, keyOf] of [
    ['without an idempotency key', () => undefined],
    ['with one idempotency key', (round: number) => `refresh-once-${round}`],
  ] as const) {
    race(`presented 200 times at once ${how} gives the very same tokens, also after a crash`, async (round) => {
      const tokens = await freshTokens()
      const body = refreshBody(arena.world.app, tokens.refreshToken)
      const present = async () => await post('/oauth/token', body, keyOf(round))
      const answers = await together(200, present)
      await arena.crash(round)

      expect(tally(answers)).toEqual({ '200': 200 })
      const again = await present()
      expect(tally([again])).toEqual({ '200': 1 }) // else the window of a repeat has passed, which says nothing of the tokens
      expect(new Set([...answers, again].map(secretsIn)).size).toBe(1)
      expect(await pairsOf(tokens.grantId)).toBe(2)
      expect(await userStatus(tokens.accessToken)).toBe(401)
      expect(await userStatus(tokensOf(again).accessToken)).toBe(200)
    })

    race(`repeated ${how} after its successor was presented is reuse: the whole family ends`, async (round) => {
      const tokens = await freshTokens()
      const body = refreshBody(arena.world.app, tokens.refreshToken)
      const first = tokensOf(await post('/oauth/token', body, keyOf(round)))
      const second = tokensOf(await refresh(arena.world.server.url, arena.world.app, first.refreshToken))

      const answers = await together(200, async () => await post('/oauth/token', body, keyOf(round)))
      await arena.crash(round)
      expect(tally(answers)).toEqual({ invalid_grant: 200 })
      await expectDead(second)
    })
  }

  race(
    'presented during a revocation of its grant leaves nothing live once the revocation has answered',
    async (round) => {
      const raced = await together(isLong ? 200 : 15, async (index) => await raceWithRevocation(index))
      await arena.crash(round)
      for (const last of raced) if (last !== null) await expectDead(last)
    },
    3,
  )
})

const revokeByClient = async ({ refreshToken }: Tokens): Promise<Answer> =>
  await post('/oauth/revoke', { ...arena.world.app.development, token: refreshToken })
const revokeByBearer = async ({ accessToken }: Tokens): Promise<Answer> =>
  await post('/oauth/revoke', {}, undefined, accessToken)
const revokeByUser = async ({ grantId }: Tokens): Promise<Answer> =>
  await post('/oauth/revoke', { grantId }, undefined, arena.session)
const revocations = [revokeByClient, revokeByBearer, revokeByUser]

/** A client that refreshes and refreshes while the grant is revoked; gives the last tokens, or null where nothing was revoked. */
const raceWithRevocation = async (index: number): Promise<Tokens | null> => {
  const tokens = await freshTokens()
  const revoke = revocations[index % revocations.length] ?? revokeByClient
  const known: Tokens[] = [tokens]
  const chain = (async () => {
    for (let steps = 0; steps < 4; steps += 1) {
      const last = known.at(-1) ?? tokens
      const answer = await refresh(arena.world.server.url, arena.world.app, last.refreshToken)
      if (answer.status !== 200) return
      known.push(tokensOf(answer))
    }
  })()
  if (index % 4 > 0) await Bun.sleep(index % 5)
  const revoked = await revoke(tokens)
  const atOnce = await Promise.all(known.map(async ({ accessToken }) => await userStatus(accessToken)))
  await chain
  // A bearer token that a refresh has replaced in the meantime can no longer revoke, and is refused.
  if (revoked.status !== 200) {
    expect(revoke).toBe(revokeByBearer)
    expect(revoked.status).toBe(401)
    return null
  }
  expect(atOnce).not.toContain(200)
  for (const each of known) expect(await userStatus(each.accessToken)).toBe(401)
  return known.at(-1) ?? tokens
}
