import { expect, test } from 'bun:test'
import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  nat,
  oneof,
  record,
} from 'fast-check'
import { challengeOf } from '../../src/domain/pkce.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { authenticateUserToken } from '../../src/operations/authenticate.ts'
import { createCredential, revokeCredential } from '../../src/operations/credentials/credentials.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import type { IssuedTokens } from '../../src/operations/oauth/continue-grant.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { purgeBatch } from '../../src/operations/purge/purge.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { auditEvents } from '../support/audit-events.ts'
import { together } from '../support/crash.ts'
import { operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { patience, rounds, seed } from '../support/proof.ts'
import { addApp, addUser, type Credentials, type Login, verifier } from '../support/world.ts'
import { refusalOf, sessionOf } from './support/owner.ts'

const real = await platformOfFile()
/** Its clock stands still until a test moves it. */
let now = real.clock.now()
const clock = { ...real.clock, now: () => now, purgeBefore: () => now }
const withRetry = (refreshRetry: number): Platform => ({
  ...real,
  clock,
  lifetimes: { ...real.lifetimes, refreshRetry },
})
const platform = withRetry(10)

const owner = await addUser(real)
const app = await addApp(real, owner)
const stranger = await addApp(real, owner)
const second: Credentials = await createCredential(real, trace, operator, {
  slug: app.slug,
  environment: 'development',
  label: null,
})

const scope = 'profile:read site:read'
const codeOf = async (user: Login, { clientId } = app.development, redirectUri = app.redirectUri): Promise<string> => {
  const asked = { clientId, redirectUri, scope, state: 'x' }
  const pkce = { codeChallenge: challengeOf(verifier), codeChallengeMethod: 'S256' }
  return (await authorize(platform, trace, await sessionOf(platform, user), { ...asked, ...pkce }, true)).code
}
const exchange = async (code: string, key: string | null = null, by = app.development) =>
  await exchangeCode(platform, trace, { ...by, code, redirectUri: app.redirectUri, codeVerifier: verifier }, key)
const granted = async () => await exchange(await codeOf(owner))

type Asked = {
  readonly on?: Platform
  readonly by?: Credentials
  readonly scope?: string | undefined
  readonly key?: string | undefined
}
const refresh = async (
  { refreshToken }: Pick<IssuedTokens, 'refreshToken'>,
  { on = platform, by = app.development, scope, key }: Asked = {},
) => await refreshTokens(on, trace, { ...by, refreshToken, scope: scope ?? null }, key ?? null)
const works = async ({ accessToken }: IssuedTokens) => (await authenticateUserToken(platform, accessToken)) !== null
const pairOf = ({ accessToken, refreshToken, grantId, scope }: IssuedTokens) => [
  accessToken,
  refreshToken,
  grantId,
  scope,
]
/** Walks over all grants once. */
const purge = async () => {
  const cursor = { afterGrantId: '' }
  while (!(await purgeBatch(platform, trace, 'grants', cursor)).finished);
}
const saltOf = async ({ grantId }: IssuedTokens) =>
  (await real.database.queries.grants.byId(grantId))?.retrySalt ?? null

test('a refresh without a key that is repeated within ten seconds gets the very same pair, with what is left of its lifetimes', async () => {
  const first = await granted()
  const renewed = await refresh(first)
  now += 9_000
  const again = await refresh(first)
  expect(pairOf(again)).toEqual(pairOf(renewed))
  expect(again.expiresInSeconds).toBe(renewed.expiresInSeconds - 9)
  expect(again.refreshTokenExpiresInSeconds).toBe(renewed.refreshTokenExpiresInSeconds - 9)
  expect([await works(first), await works(again)]).toEqual([false, true])
  const actions = (await auditEvents(real)).filter(({ target }) => target === first.grantId).map(({ action }) => action)
  expect(actions.filter((action) => action !== 'user_tokens.issued')).toEqual([
    'grant.created',
    'refresh_token.rotate.repeated',
  ])
  expect(await works(await refresh(again))).toBe(true)
})

test('two hundred refreshes of one token at once get one pair', async () => {
  const first = await granted()
  const answers = await together(200, async () => await refresh(first))
  expect(new Set(answers.map((each) => pairOf(each).join(' '))).size).toBe(1)
  for (const one of answers.slice(0, 1)) expect(await works(await refresh(one))).toBe(true)
})

test('it is reuse once the window has closed, and the salt of a window that has closed is erased', async () => {
  const first = await granted()
  const renewed = await refresh(first)
  expect(await saltOf(renewed)).not.toBeNull()
  now += 9_999
  await purge()
  expect(pairOf(await refresh(first))).toEqual(pairOf(renewed))
  now += 1
  await purge()
  expect([await saltOf(renewed), await works(renewed)]).toEqual([null, true])
  expect(await refusalOf(refresh(first))).toBe('invalid_grant')
  expect(await works(renewed)).toBe(false)
})

test('it is reuse once the new refresh token was presented, even if that was refused, and for a token of two refreshes ago', async () => {
  const continued = await granted()
  const next = await refresh(await refresh(continued))
  expect(await refusalOf(refresh(continued))).toBe('invalid_grant')
  expect(await works(next)).toBe(false)

  const first = await granted()
  const renewed = await refresh(first)
  expect(await refusalOf(refresh(renewed, { scope: 'store:read' }))).toBe('invalid_scope')
  expect(await saltOf(renewed)).toBeNull()
  expect(await refusalOf(refresh(first))).toBe('invalid_grant')
  expect(await works(renewed)).toBe(false)
})

test('it must ask for the same scopes, in any spelling; others, also malformed ones, are invalid_grant and end nothing', async () => {
  for (const [asked, same] of [
    [undefined, [scope, 'site:read profile:read']],
    ['site:read', ['site:read']],
    ['site:read profile:read', [undefined, scope]],
  ] as const) {
    const first = await granted()
    const renewed = await refresh(first, { scope: asked })
    for (const other of [undefined, 'site:read', 'profile:read', scope, 'store:read', 'nothing', '', ' ']) {
      const isSame = other === asked || same.some((each) => each === other)
      const repeated = refresh(first, { scope: other })
      if (isSame) expect(pairOf(await repeated)).toEqual(pairOf(renewed))
      else expect([other, await refusalOf(repeated)]).toEqual([other, 'invalid_grant'])
      expect(await works(renewed)).toBe(true)
    }
    expect(pairOf(await refresh(first, { scope: asked }))).toEqual(pairOf(renewed))
  }
})

test('the same client is the one with the same client ID, with any of its live secrets', async () => {
  const first = await granted()
  const renewed = await refresh(first)
  expect(pairOf(await refresh(first, { by: second }))).toEqual(pairOf(renewed))
  for (const by of [stranger.development, app.production]) {
    expect(await refusalOf(refresh(first, { by }))).toBe('invalid_grant')
  }
  const wrong = { ...second, clientSecret: stranger.development.clientSecret }
  expect(await refusalOf(refresh(first, { by: wrong }))).toBe('invalid_client')
  expect(pairOf(await refresh(first))).toEqual(pairOf(renewed))
})

test('a secret that was revoked since gets nothing, and ends nothing', async () => {
  const { slug } = app
  const extra = await createCredential(real, trace, operator, { slug, environment: 'production', label: null })
  const code = await codeOf(owner, extra, app.liveRedirectUri)
  const request = { ...extra, code, redirectUri: app.liveRedirectUri, codeVerifier: verifier }
  const first = await exchangeCode(platform, trace, request, null)
  const renewed = await refresh(first, { by: extra })
  await revokeCredential(real, trace, operator, extra.id)
  expect(await refusalOf(refresh(first, { by: extra }))).toBe('invalid_client')
  expect(pairOf(await refresh(first, { by: app.production }))).toEqual(pairOf(renewed))
})

test('a rotation made with a key is repeated only with that key, and one made without only without', async () => {
  for (const [made, repeated] of [
    ['one', undefined],
    [undefined, 'one'],
    ['one', 'two'],
  ] as const) {
    const first = await granted()
    const renewed = await refresh(first, { key: made })
    expect(pairOf(await refresh(first, { key: made }))).toEqual(pairOf(renewed))
    expect(await refusalOf(refresh(first, { key: repeated }))).toBe('invalid_grant')
    expect(await works(renewed)).toBe(false)
  }
})

test('with a setting of 0 a repeat without a key is always reuse, also of what was refreshed under another setting', async () => {
  for (const on of [withRetry(0), platform]) {
    const first = await granted()
    const renewed = await refresh(first, { on })
    expect((await saltOf(renewed)) === null).toBe(on !== platform)
    expect(await refusalOf(refresh(first, { on: withRetry(0) }))).toBe('invalid_grant')
    expect(await works(renewed)).toBe(false)
  }
  const keyed = await granted()
  const renewed = await refresh(keyed, { on: withRetry(0), key: 'one' })
  expect(pairOf(await refresh(keyed, { on: withRetry(0), key: 'one' }))).toEqual(pairOf(renewed))
})

test('a code without a key is strictly single use', async () => {
  const code = await codeOf(owner)
  const answers = await Promise.allSettled(Array.from({ length: 20 }, async () => await exchange(code)))
  const won = answers.filter((each) => each.status === 'fulfilled')
  expect(won).toHaveLength(1)
  for (const { value } of won) expect(await works(value)).toBe(false)
})

/*
 * Random lives of one grant, on the platform and in a model, which must agree after every step. Index 0 is the code; each other
 * one is the refresh token of the pair that was issued n-th.
 */

type Command =
  | {
      readonly kind: 'present'
      /** How long before the current one it was issued: 0 is the current one. */
      readonly age: number
      readonly by: 'first secret' | 'second secret' | 'another client'
      readonly key: string | null
      readonly scope: string | null
    }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'user' | 'app'; readonly isActive: boolean }
  | { readonly kind: 'purge' }
  | { readonly kind: 'setting'; readonly seconds: number }

const command: Arbitrary<Command> = oneof(
  {
    weight: 12,
    arbitrary: record({
      kind: constant('present'),
      age: constantFrom(0, 0, 1, 1, 1, 2, 3),
      by: constantFrom('first secret', 'first secret', 'second secret', 'another client'),
      key: constantFrom(null, null, null, 'a', 'b'),
      scope: constantFrom(null, null, 'site:read', scope, 'store:read'),
    }),
  },
  { weight: 4, arbitrary: record({ kind: constant('wait'), ms: nat(12_000) }) },
  { weight: 1, arbitrary: record({ kind: constantFrom('user', 'app'), isActive: boolean() }) },
  { weight: 1, arbitrary: constant({ kind: 'purge' }) },
  { weight: 1, arbitrary: record({ kind: constant('setting'), seconds: constantFrom(0, 10, 10, 60) }) },
)

type ModelGrant = {
  /** The scopes of each pair. */
  readonly pairs: readonly string[]
  readonly hasEnded: boolean
  /** How the last step may be repeated. */
  readonly retry: { readonly identity: string | null; readonly until: number } | null
}

/** What a presented code or refresh token gives: the number of a pair, or an error code. */
const turn = (
  grant: ModelGrant,
  asked: Extract<Command, { kind: 'present' }>,
  facts: { readonly at: number; readonly retrySeconds: number; readonly isUserActive: boolean },
): { readonly grant: ModelGrant; readonly told: string } => {
  const current = grant.pairs.length
  const index = Math.max(0, current - asked.age)
  const isCode = index === 0
  const identity = asked.key === null ? null : `${asked.key} ${isCode ? '' : asked.scope}`
  const wanted = isCode ? scope : (asked.scope ?? scope)
  const refusal = 'invalid_grant'
  if (asked.by === 'another client' || grant.hasEnded) return { grant, told: refusal }
  const closed = { ...grant, retry: null }
  if (index === current) {
    if (!facts.isUserActive) return { grant: closed, told: refusal }
    if (wanted === 'store:read') return { grant: closed, told: 'invalid_scope' }
    const seconds = identity !== null ? 60 : isCode ? 0 : facts.retrySeconds
    const retry = seconds === 0 ? null : { identity, until: facts.at + seconds * 1000 }
    return { grant: { ...grant, pairs: [...grant.pairs, wanted], retry }, told: `pair ${current + 1}` }
  }
  const { retry } = grant
  const isRepeat =
    retry !== null &&
    index === current - 1 &&
    facts.at < retry.until &&
    retry.identity === identity &&
    (identity !== null || (!isCode && facts.retrySeconds > 0))
  if (!isRepeat) return { grant: { ...closed, hasEnded: true }, told: refusal }
  if (!facts.isUserActive) return { grant: closed, told: refusal }
  if (wanted !== grant.pairs.at(-1)) return { grant, told: refusal }
  return { grant, told: `pair ${current}` }
}

const purged = (grant: ModelGrant): ModelGrant =>
  grant.retry !== null && grant.retry.until <= now ? { ...grant, retry: null } : grant

const runs = rounds(40)
test(
  `the platform and the model agree at every step of ${runs} random grants (seed ${seed})`,
  async () => {
    await assert(
      asyncProperty(array(command, { maxLength: 25, size: 'max' }), async (commands) => {
        const user = await addUser(real)
        const secrets: [string, ...string[]] = [await codeOf(user)]
        const pairs: IssuedTokens[] = []
        let grant: ModelGrant = { pairs: [], hasEnded: false, retry: null }
        let [isUserActive, isAppActive, retrySeconds] = [true, true, 10]
        try {
          for (const each of commands) {
            switch (each.kind) {
              case 'wait':
                now += each.ms
                break
              case 'user':
                isUserActive = each.isActive
                await setUserStatus(platform, trace, operator, {
                  email: user.email,
                  status: isUserActive ? 'active' : 'disabled',
                })
                break
              case 'app':
                isAppActive = each.isActive
                await setAppStatus(platform, trace, operator, {
                  slug: app.slug,
                  status: isAppActive ? 'active' : 'suspended',
                })
                break
              case 'setting':
                retrySeconds = each.seconds
                break
              case 'purge':
                await purge()
                grant = purged(grant)
                break
              case 'present': {
                const index = Math.max(0, grant.pairs.length - each.age)
                const on = withRetry(retrySeconds)
                const by = { 'first secret': app.development, 'second secret': second }
                const client = each.by === 'another client' ? stranger.development : by[each.by]
                const identity = each.key === null ? null : `${each.key} ${index === 0 ? '' : each.scope}`
                const secret = secrets[index] ?? ''
                const answer = await (
                  index === 0
                    ? exchange(secret, identity, client)
                    : refreshTokens(on, trace, { ...client, refreshToken: secret, scope: each.scope }, identity)
                ).catch((error: { code: string }) => error.code)
                const facts = { at: now, retrySeconds, isUserActive }
                const isRefused = !isAppActive && each.by !== 'another client'
                const expected = isRefused ? { grant, told: 'app_inactive' } : turn(grant, each, facts)
                grant = expected.grant
                if (typeof answer !== 'string' && answer.refreshToken !== secrets.at(-1)) {
                  secrets.push(answer.refreshToken)
                  pairs.push(answer)
                }
                const told = typeof answer === 'string' ? answer : `pair ${secrets.indexOf(answer.refreshToken)}`
                expect({ each, told }).toEqual({ each, told: expected.told })
                break
              }
              default:
                each satisfies never
            }
            for (const [index, pair] of pairs.entries()) {
              const isLive = !grant.hasEnded && isUserActive && isAppActive && index === pairs.length - 1
              expect({ each, works: await works(pair) }).toEqual({ each, works: isLive })
            }
            for (const pair of pairs.slice(-1)) expect((await saltOf(pair)) !== null).toBe(grant.retry !== null)
          }
        } finally {
          if (!isAppActive) await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'active' })
        }
      }),
      { numRuns: runs, seed, endOnFailure: false },
    )
  },
  patience,
)
