import { expect, test } from 'bun:test'
import { actingAs } from '../../src/operations/acting-as.ts'
import { authenticateClient, presentClient } from '../../src/operations/authenticate-client.ts'
import {
  createCredential,
  revokeCredential,
  rotateCredential,
  listCredentials,
  listEndedCredentials,
  listLiveCredentials,
  ownsCredential,
} from '../../src/operations/credentials/credentials.ts'
import { ownedApp } from '../../src/operations/apps/app-record.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { exchangeCode, refreshTokens } from '../../src/operations/oauth/continue-grant.ts'
import { introspect } from '../../src/operations/oauth/introspect.ts'
import { issueAppToken } from '../../src/operations/oauth/issue-app-token.ts'
import { revokeByClient } from '../../src/operations/oauth/revoke.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, type AppInWorld, authorizeBody, exchangeBody } from '../support/world.ts'
import { refusalOf, sessionOf, unspentTicket } from './support/owner.ts'
import { isSecretUseUnrecorded } from '../../src/domain/credential.ts'

const platform = await platformOfFile()
const owner = await addUser(platform)
const stranger = await addUser(platform)

const at = (offsetMs: number): Platform => ({
  ...platform,
  clock: { ...platform.clock, now: () => platform.clock.now() + offsetMs },
})
const liveOf = async (when: Platform, app: AppInWorld) =>
  await listLiveCredentials(when, (await ownedApp(platform, owner.id, app.slug)).clientIds)
const endedOf = async (when: Platform, app: AppInWorld, limit = 50, cursor: string | null = null) =>
  await listEndedCredentials(when, (await ownedApp(platform, owner.id, app.slug)).clientIds, 'development', {
    limit,
    cursor,
  })

const used = async ({ development }: AppInWorld) => {
  const client = await authenticateClient(platform.database.queries, presentClient(development), platform.clock.now())
  if (client === null) throw new Error('the secret does not work')
  return client
}

test('a secret is live until its grace period ends, and listed as ended from then on', async () => {
  const app = await addApp(platform, owner)
  const { clientId } = app.development
  const rotated = await rotateCredential(platform, trace, operator, { clientId, graceHours: 2 })
  const [old] = (await liveOf(platform, app)).development
  expect((await liveOf(platform, app)).development.map(({ id }) => id)).toEqual([old?.id ?? '', rotated.id])
  expect((await endedOf(platform, app)).data).toEqual([])
  const later = at(2 * 3_600_000 + 1)
  expect((await liveOf(later, app)).development.map(({ id }) => id)).toEqual([rotated.id])
  expect((await endedOf(later, app)).data).toMatchObject([{ id: old?.id, status: 'ended', environment: 'development' }])
  const told = async (when: Platform) => (await listCredentials(when, app.slug)).map(({ status }) => status)
  expect([await told(platform), await told(later)]).toEqual([
    ['live', 'live', 'live'],
    ['ended', 'live', 'live'],
  ])
})

test('with two live secrets a rotation with a grace period is refused, and one without it ends both', async () => {
  const app = await addApp(platform, owner)
  const { clientId, clientSecret } = app.development
  const second = await rotateCredential(platform, trace, operator, { clientId, graceHours: 1 })
  const again = rotateCredential(platform, trace, operator, { clientId, graceHours: 1 })
  expect(await refusalOf(again)).toBe('too_many_secrets')
  const last = await rotateCredential(platform, trace, operator, { clientId, graceHours: 0 })
  expect((await liveOf(platform, app)).development.map(({ id }) => id)).toEqual([last.id])
  const works = async (secret: string) =>
    await refusalOf(issueAppToken(platform, trace, { clientId, clientSecret: secret, scope: 'site:read' }))
  expect(await works(clientSecret)).toBe('invalid_client')
  expect(await works(second.clientSecret)).toBe('invalid_client')
  expect(await works(last.clientSecret)).toBe('done')
})

test('the ended secrets of this app are listed by environment, newest first, in pages, without hashes', async () => {
  const app = await addApp(platform, owner)
  const other = await addApp(platform, owner)
  const ids: string[] = []
  for (let round = 0; round < 5; round += 1) {
    for (const { slug } of [app, other]) {
      const environment = round % 2 === 0 ? 'development' : 'production'
      const { id } = await createCredential(platform, trace, operator, { slug, environment, label: `No. ${round}` })
      await revokeCredential(platform, trace, operator, id)
      if (slug === app.slug && environment === 'development') ids.unshift(id)
    }
  }
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page = await endedOf(platform, app, 2, cursor)
    seen.push(...page.data.map(({ id }) => id))
    cursor = page.nextCursor
    expect(JSON.stringify(page)).not.toContain('ash')
  } while (cursor !== null)
  expect(seen).toEqual(ids)
})

test('a secret is found only under its own app, and only by the owner of that app', async () => {
  const [mine, myOther, theirs] = [
    await addApp(platform, owner),
    await addApp(platform, owner),
    await addApp(platform, stranger),
  ]
  const q = platform.database.queries
  const idOf = async (app: AppInWorld) => (await q.credentials.listByClient(app.development.clientId))[0]?.id ?? ''
  expect(await ownsCredential(mine.slug, await idOf(mine))(q, owner.id)).toBeNull()
  for (const [userId, slug, id] of [
    [owner.id, mine.slug, await idOf(theirs)],
    [owner.id, mine.slug, await idOf(myOther)],
    [stranger.id, mine.slug, await idOf(mine)],
    [owner.id, theirs.slug, await idOf(theirs)],
    [owner.id, mine.slug, 'crd_none'],
    [owner.id, 'no-such-app', 'crd_none'],
  ] as const) {
    expect(await ownsCredential(slug, id)(q, userId)).toMatchObject({ code: 'route_not_found' })
  }
})

test('an unknown secret, an invalid grace period and an empty label are refused by name', async () => {
  const app = await addApp(platform, owner)
  const { clientId } = app.development
  const rotate = async (asked: object) =>
    await rotateCredential(platform, trace, operator, { clientId, graceHours: 1, ...asked })
  for (const graceHours of [-1, 0.5, 169, Number.NaN]) {
    await expect(rotate({ graceHours })).rejects.toMatchObject({ facts: { param: 'graceHours' } })
  }
  for (const nobody of ['', 'nonsense', `apc_dev_${'0'.repeat(22)}`]) {
    await expect(rotate({ clientId: nobody })).rejects.toMatchObject({ facts: { param: 'clientId' } })
  }
  await expect(revokeCredential(platform, trace, operator, 'crd_none')).rejects.toMatchObject({
    facts: { param: 'credential' },
  })
  const unnamed = { slug: app.slug, environment: 'development', label: '' } as const
  await expect(createCredential(platform, trace, operator, unnamed)).rejects.toMatchObject({
    facts: { param: 'label' },
  })
  expect((await liveOf(platform, app)).development).toHaveLength(1)
  await rotate({ graceHours: 168 })
  expect((await liveOf(platform, app)).development).toHaveLength(2)
})

test('every call with a secret counts as its use', async () => {
  const session = await sessionOf(platform, owner)
  const exchange = async (app: AppInWorld) => {
    const { code } = await authorize(platform, trace, session, authorizeBody(app), true)
    return await exchangeCode(platform, trace, exchangeBody(app, code), null)
  }
  const neverUsed = async (app: AppInWorld) => {
    const secret = { slug: app.slug, environment: 'development', label: null } as const
    return { ...app, development: await createCredential(platform, trace, operator, secret) }
  }
  for (const use of [
    async (app: AppInWorld) => await issueAppToken(platform, trace, { ...app.development, scope: 'site:read' }),
    exchange,
    async (app: AppInWorld) => await revokeByClient(platform, trace, app.development, 'none'),
    async (app: AppInWorld) => await introspect(platform, trace, app.development, 'none'),
  ]) {
    const app = await neverUsed(await addApp(platform, owner))
    await use(app)
    expect((await used(app)).lastUsedAt).not.toBeNull()
  }
  const app = await addApp(platform, owner)
  const { refreshToken } = await exchange(app)
  const later = await neverUsed(app)
  expect((await used(later)).lastUsedAt).toBeNull()
  await refreshTokens(platform, trace, { ...later.development, refreshToken, scope: null }, null)
  expect((await used(later)).lastUsedAt).not.toBeNull()
})

test('the last use of a secret is recorded to the minute', async () => {
  const [client, now] = [await used(await addApp(platform, owner)), platform.clock.now()]
  for (const [lastUsedAt, isUnrecorded] of [
    [null, true],
    [now - 59_999, false],
    [now - 60_000, true],
  ] as const) {
    expect(isSecretUseUnrecorded({ ...client, lastUsedAt }, now)).toBe(isUnrecorded)
  }
})

test('a form that is sent twice, even at the same moment, creates one secret', async () => {
  const app = await addApp(platform, owner)
  const [session, ticket] = [await sessionOf(platform, owner), unspentTicket(platform)]
  const input = { slug: app.slug, environment: 'production', label: null } as const
  const create = async () =>
    await refusalOf(createCredential(actingAs(platform, trace, session, { ticket }), trace, operator, input))
  expect((await Promise.all([create(), create(), create()])).toSorted()).toEqual([
    'done',
    'idempotency_key_reused',
    'idempotency_key_reused',
  ])
  expect((await liveOf(platform, app)).production).toHaveLength(2)
})
