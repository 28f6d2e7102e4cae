import type { AppToken, AuthorizationCode, Grant, Queries, Resource, TokenPair, User } from '../../db/database.ts'
import { recordId, recordIdOfKey } from '../../src/domain/identifier.ts'
import { challengeOf } from '../../src/domain/pkce.ts'
import { hashSecret, mintSecret, secretDigits, parseSecret, type TimeKeyedKind } from '../../src/domain/secret.ts'
import { type TimeKey, uuidHexOfTimeKey } from '../../src/domain/time-key.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { openAsOperator, trace } from '../support/operator.ts'
import { addApp, addUser, appScopes, type AppInWorld, userScopes, verifier } from '../support/world.ts'
import { get, post } from './requests.ts'

/** A filled file, and the requests that can be made of it. */
export type Filled = {
  readonly platform: Platform
  readonly users: readonly Member[]
  readonly requests: {
    readonly me: readonly string[]
    readonly token: readonly string[]
    readonly refresh: readonly string[]
    readonly resources: readonly string[]
  }
}

/** A user who has installed the app. */
type Member = { readonly id: string; readonly app: AppInWorld }

const manyApps = 10
const resourcesEach = 5
const perTransaction = 10_000
/** Requests are made with at most this many tokens, spread evenly over the file. */
const sampleSize = 100_000

/** App tokens and grants with a token pair, `live` of each, written as the server would have written them. */
export const fill = async (file: string, live: number, appCount = manyApps): Promise<Filled> => {
  const platform = await openAsOperator(file)
  const owner = await addUser(platform, 'Owner')
  const apps: AppInWorld[] = []
  for (let index = 0; index < appCount; index += 1) apps.push(await addApp(platform, owner, appScopes))
  // All grants are of one app: in a chain of refreshes the next request differs from the one before by its token alone.
  const users = await addMembers(platform, picked(apps, 0), Math.max(100, Math.min(10_000, live / 100)))
  const every = Math.max(1, Math.floor(live / sampleSize))
  const isSampled = (index: number) => index % every === 0

  const me: string[] = []
  await inTransactions(platform, live, (index) => {
    const app = picked(apps, index)
    const { token, row } = newAppToken(platform, app)
    if (isSampled(index)) me.push(get('/me', token))
    return async (q) => await q.appTokens.insert(row)
  })

  const refresh: string[] = []
  const resources: string[] = []
  await inTransactions(platform, live, (index) => {
    const { id, app } = picked(users, Math.floor((index * users.length) / live))
    const { accessToken, refreshToken, write } = newFamily(platform, id, app)
    if (!isSampled(index)) return write
    resources.push(get('/resources?kind=site', accessToken))
    refresh.push(post('/oauth/token', { grantType: 'refresh_token', ...app.development, refreshToken }))
    return write
  })
  const token = apps.map(({ development }) => post('/token', { ...development, scope: 'site:read store:read' }))
  const requests = { me: shuffled(me), token, refresh: shuffled(refresh), resources: shuffled(resources) }
  return { platform, users, requests }
}

/** Requests that exchange fresh codes, each of a grant of its own. */
export const addCodes = async ({ platform, users }: Filled, count: number): Promise<readonly string[]> => {
  const requests: string[] = []
  await inTransactions(platform, count, (index) => {
    const { id, app } = picked(users, index)
    const { code, row, grant } = newCode(platform, id, app)
    requests.push(
      post('/oauth/token', {
        grantType: 'authorization_code',
        ...app.development,
        code,
        redirectUri: app.redirectUri,
        codeVerifier: verifier,
      }),
    )
    return async (q) => {
      await q.grants.insert(grant)
      await q.grants.insertCode(row)
    }
  })
  return requests
}

type Write = (q: Queries) => Promise<void>

const inTransactions = async (platform: Platform, count: number, prepare: (index: number) => Write): Promise<void> => {
  for (let first = 0; first < count; first += perTransaction) {
    const length = Math.min(perTransaction, count - first)
    const writes = Array.from({ length }, (_, offset) => prepare(first + offset))
    await platform.database.transaction(async (q) => {
      for (const write of writes) await write(q)
    })
  }
}

const addMembers = async (platform: Platform, app: AppInWorld, count: number): Promise<readonly Member[]> => {
  const members: Member[] = []
  await inTransactions(platform, count, (index) => {
    const now = platform.clock.now()
    const newId = (prefix: 'usr_' | 'res_' | 'ins_') => recordId(prefix, platform.random.uuid(now))
    const user: User = {
      id: newId('usr_'),
      email: `member-${index}@example.com`,
      name: `Member ${index}`,
      pictureUrl: null,
      passwordHash: 'none',
      isOperator: false,
      status: 'active',
      suspendedAt: null,
      signInsEndedAt: null,
      erasedAt: null,
      factorDueAt: null,
      externalId: null,
      createdAt: now,
      updatedAt: now,
    }
    const sites = Array.from({ length: resourcesEach }, (_, site): Resource => ({
      id: newId('res_'),
      ownerId: user.id,
      kind: 'site',
      name: `Site ${site}`,
      slug: `site-${site}`,
      status: 'published',
      createdAt: now,
      updatedAt: now,
      publishedAt: now,
      externalId: null,
      deletedAt: null,
    }))
    const install = {
      id: newId('ins_'),
      appId: app.id,
      userId: user.id,
      resourceId: sites[0]?.id ?? '',
      approval: 'approved' as const,
      state: 'active' as const,
      createdAt: now,
      updatedAt: now,
      environment: 'development' as const, // that of the tokens, or no app would be told of it,
      scopes: '',
    }
    members.push({ id: user.id, app })
    return async (q) => {
      await q.users.insert(user)
      for (const site of sites) await q.resources.insert(site)
      await q.installs.insert(install)
    }
  })
  return members
}

const origin = { requestId: trace.requestId, address: '127.0.0.1' } as const
const hourMs = 3_600_000

const mint = (platform: Platform, kind: TimeKeyedKind, key: TimeKey): string =>
  mintSecret({ kind, key, digits: platform.random.digits(secretDigits) })

const newAppToken = (platform: Platform, app: AppInWorld) => {
  const now = platform.clock.now()
  const key = platform.random.timeKey(now)
  const token = mint(platform, 'appToken', key)
  const row: AppToken = {
    key,
    hash: hashSecret(token),
    credentialId: credentialIdOf(app),
    scopes: 'site:read store:read',
    createdAt: now,
    expiresAt: now + hourMs,
    revokedAt: null,
    ...origin,
  }
  return { token, row }
}

const credentialIdOf = ({ development }: AppInWorld): string =>
  recordIdOfKey('crd_', parseSecret('clientSecretDevelopment', development.clientSecret)?.key ?? '')

const newCode = (platform: Platform, userId: string, app: AppInWorld) => {
  const now = platform.clock.now()
  const key = platform.random.timeKey(now)
  const code = mint(platform, 'authorizationCode', key)
  const expiresAt = now + 300_000
  const grant: Grant = {
    key,
    id: `grt_${uuidHexOfTimeKey(key, platform.random.bytes(8))}`,
    userId,
    appId: app.id,
    clientId: app.development.clientId,
    scopes: userScopes,
    currentKey: key,
    createdAt: now,
    expiresAt,
    revokedAt: null,
    retryKey: null,
    retrySalt: null,
    retryFingerprint: null,
    retryUntil: null,
  }
  const { redirectUri } = app
  const row: AuthorizationCode = {
    key,
    hash: hashSecret(code),
    grantKey: key,
    redirectUri,
    codeChallenge: challengeOf(verifier),
    expiresAt,
  }
  return { code, row, grant }
}

/** A grant whose code was exchanged once. */
const newFamily = (platform: Platform, userId: string, app: AppInWorld) => {
  const code = newCode(platform, userId, app)
  const now = platform.clock.now()
  const key = platform.random.timeKey(now)
  const accessToken = mint(platform, 'userAccessToken', key)
  const refreshToken = mint(platform, 'refreshToken', key)
  const pair: TokenPair = {
    key,
    grantKey: code.grant.key,
    previousKey: code.row.key,
    accessHash: hashSecret(accessToken),
    refreshHash: hashSecret(refreshToken),
    scopes: userScopes,
    createdAt: now,
    accessExpiresAt: now + hourMs,
    refreshExpiresAt: now + 30 * 24 * hourMs,
    ...origin,
  }
  const grant: Grant = { ...code.grant, currentKey: key, expiresAt: pair.refreshExpiresAt }
  const write: Write = async (q) => {
    await q.grants.insert(grant)
    await q.grants.insertCode(code.row)
    await q.grants.insertPair(pair)
  }
  return { accessToken, refreshToken, write }
}

const picked = <T>(items: readonly T[], index: number): T => {
  const item = items[index % items.length]
  if (item === undefined) throw new RangeError('nothing to pick from')
  return item
}

/** A fixed order that is not the order of the file. */
const shuffled = <T>(items: readonly T[]): readonly T[] =>
  items
    .map((item, index) => ({ item, rank: Bun.hash.xxHash32(String(index)) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
