import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Queries } from '../../../db/database.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { sessionOf } from '../../operations/support/owner.ts'
import { addFamily } from '../../support/grant-family.ts'
import { openAsOperator } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addApp, addUser, type Login } from '../../support/world.ts'
import { addSide, differences, rowsIn, type Side } from '../support/two-sides.ts'

// There are two of everything. A change of one must not change the other.

const file = join(temporaryFolder(), 'changes.db')
let platform: Platform
let one: Side
beforeAll(async () => {
  platform = await openAsOperator(file)
  one = await addSide(platform)
  await addSide(platform)
  await noteDevices()
})
afterAll(async () => await platform.database.close())

/** The rows that the change changed, and their columns. */
const changedBy = async (change: (q: Queries) => Promise<unknown>): Promise<readonly string[]> => {
  const before = await rowsIn(file)
  await platform.database.transaction(change)
  return differences(before, await rowsIn(file))
}

let moment = Date.UTC(2027, 0)
/** A time that is later at each call. */
const next = () => (moment += 1)
const content = {
  iconSha256: null,
  iconPlace: null,
  description: 'x',
  notes: 'x',
  manifest: '{"new":1}',
  scopes: 'store:read',
  artifactSha256: null,
  artifactFilename: null,
  artifactSizeBytes: null,
}
const [active, inactive] = [
  { approval: 'approved', state: 'active' },
  { approval: 'approved', state: 'inactive' },
] as const
/** What `spend` returns when it is called twice. */
const twice = async (spend: () => Promise<unknown>) => [await spend(), await spend()]

type Step = readonly [name: string, change: (q: Queries) => Promise<unknown>, changed: () => readonly string[]]
const app = (columns: string) => () => [`apps ${one.app.id}: ${columns} updated_at`]
const user = (columns: string) => () => [`users ${one.user.id}: ${columns} updated_at`]
const secret = (columns: string) => () => [`credentials ${one.credential}: ${columns}`]
const grant = (index: 0 | 1, columns: string) => () => [`grants ${one.grants[index].key}: ${columns}`]
const retry = 'retry_key retry_salt retry_fingerprint retry_until'

/** The devices of each user before any change, in the form in which their removal is reported. */
const devicesOf = new Map<string, readonly string[]>()
const gone = ({ id }: Login) => devicesOf.get(id) ?? []
const noteDevices = async () => {
  for (const [key, row] of await rowsIn(file)) {
    if (!key.startsWith('devices ')) continue
    const owner = String(row['user_id'])
    devicesOf.set(owner, [...(devicesOf.get(owner) ?? []), `${key}: gone`])
  }
}

const steps: readonly Step[] = [
  ['renaming an app', async (q) => await q.apps.change(one.app.id, { name: 'Renamed' }, next()), app('name')],
  ['setting the scopes of an app', async (q) => await q.apps.change(one.app.id, { scopes: '' }, next()), app('scopes')],
  ['suspending an app', async (q) => await q.apps.change(one.app.id, { status: 'suspended' }, next()), app('status')],
  [
    'moving the development head',
    async (q) => {
      const live = (await q.versions.active(one.app.id))?.id ?? ''
      await q.apps.change(one.app.id, { developmentVersionId: live }, next())
    },
    app('development_version_id'),
  ],
  [
    'granting operator rights',
    async (q) => await q.users.change(one.user.id, { isOperator: true }, next()),
    user('is_operator'),
  ],
  ['disabling a user', async (q) => await q.users.change(one.user.id, { status: 'disabled' }, next()), user('status')],
  [
    'replacing the password that was checked',
    async (q) => {
      const hash = (await q.users.byId(one.user.id))?.passwordHash ?? ''
      expect(await twice(async () => await q.users.replacePassword(one.user.id, 'another', 'new', next()))).toEqual([
        false,
        false,
      ])
      expect(await twice(async () => await q.users.replacePassword(one.user.id, hash, 'new', next()))).toEqual([
        true,
        false,
      ])
    },
    user('password_hash'),
  ],
  [
    'recording the use of a secret',
    async (q) => await q.credentials.touch(one.credential, next()),
    secret('last_used_at'),
  ],
  [
    'setting the grace period of a secret',
    async (q) => await q.credentials.endAt([{ id: one.credential }], next()),
    secret('expires_at'),
  ],
  [
    'revoking a secret once',
    async (q) =>
      expect(await twice(async () => await q.credentials.revoke(one.credential, next()))).toEqual([true, false]),
    secret('revoked_at'),
  ],
  [
    'revoking an app token once',
    async (q) =>
      expect(await twice(async () => await q.appTokens.revoke(one.token, next()))).toEqual([
        expect.stringMatching(/^aud_[0-9a-f]{32}$/),
        null,
      ]),
    () => [`app_tokens ${one.token}: revoked_at`],
  ],
  [
    'removing a redirect URI of its own client',
    async (q) => {
      expect(await q.redirectUris.remove(one.app.development.clientId, one.app.liveRedirectUri)).toBe(false)
      expect(await q.redirectUris.remove(one.app.development.clientId, one.app.redirectUri)).toBe(true)
    },
    () => [`redirect_uris ${one.app.development.clientId} ${one.app.redirectUri}: gone`],
  ],
  [
    'replacing a draft',
    async (q) => await q.versions.replaceDraft(one.draft, 2, content, next()),
    () => [`versions ${one.draft}: revision description notes manifest scopes updated_at`],
  ],
  [
    'submitting a draft',
    async (q) => await q.versions.move(one.draft, ['draft'], 'submitted', { submittedAt: next() }, next()),
    () => [`versions ${one.draft}: status updated_at submitted_at`],
  ],
  [
    'writing to a version that is not a draft any more',
    async (q) => {
      expect(await q.versions.replaceDraft(one.draft, 3, content, next())).toBe(false)
      expect(await q.versions.move(one.draft, ['draft', 'approved'], 'active', {}, next())).toBe(false)
    },
    () => [],
  ],
  [
    'setting the scopes of an install',
    async (q) => await q.installs.setScopes(one.install, '', next()),
    () => [`installs ${one.install}: scopes updated_at`],
  ],
  [
    'moving an install from its present state',
    async (q) => {
      expect(await q.installs.move(one.install, inactive, active, next())).toBe(false)
      expect(await q.installs.move(one.install, { ...active, approval: 'pending' }, active, next())).toBe(false)
      expect(await q.installs.move(one.install, active, inactive, next())).toBe(true)
    },
    () => [`installs ${one.install}: state updated_at`],
  ],
  [
    'spending a code for a frame once',
    async (q) => {
      const spend = async () =>
        await q.embedding.spendCode(one.code, { spentAt: next(), gaveKey: null, spentFrom: null })
      expect(await twice(spend)).toEqual([true, false])
    },
    () => [`install_session_codes ${one.code}: spent_at`],
  ],
  ['closing a retry', async (q) => await q.grants.closeRetry(one.grants[0].id), grant(0, retry)],
  [
    'revoking a grant once',
    async (q) =>
      expect(await twice(async () => await q.grants.revoke(one.grants[0].id, next()))).toEqual([true, false]),
    grant(0, 'revoked_at'),
  ],
  [
    'revoking the grants of a user for one client',
    async (q) => {
      const part = { after: '', limit: 10 }
      const revoke = async (clientId: string) => await q.grants.revokeOfUser(one.user.id, clientId, next(), part)
      expect(await revoke(one.app.production.clientId)).toEqual([])
      expect((await revoke(one.app.development.clientId)).map(({ id }) => id)).toEqual([one.grants[1].id])
    },
    grant(1, `revoked_at ${retry}`),
  ],
  [
    'recording since when an endpoint fails',
    async (q) => await q.webhookEndpoints.setFailingSince(one.endpoint, next()),
    () => [`webhook_endpoints ${one.endpoint}: failing_since`],
  ],
  [
    'disabling an endpoint once',
    async (q) => {
      const disable = { status: 'disabled', reason: 'by_hand' } as const
      const set = async () => await q.webhookEndpoints.setStatus(one.endpoint, disable, next())
      expect(await twice(set)).toEqual([true, false])
    },
    () => [`webhook_endpoints ${one.endpoint}: status reason failing_since updated_at`],
  ],
  [
    'moving a delivery from its present state',
    async (q) => {
      const place = { position: one.position, endpointId: one.endpoint }
      const after = { ...place, state: 'failed', attempts: 1, nextAttemptAt: null } as const
      await q.webhookEvents.moveDelivery({ ...place, state: 'delivered', attempts: 0 }, after)
      await q.webhookEvents.moveDelivery({ ...place, state: 'pending', attempts: 7 }, after)
      expect((await q.webhookEvents.findDelivery(one.position, one.endpoint))?.state).toBe('pending')
      await q.webhookEvents.moveDelivery({ ...place, state: 'pending', attempts: 0 }, after)
    },
    () => [`webhook_deliveries ${one.position} ${one.endpoint}: state attempts next_attempt_at`],
  ],
  [
    'restarting a delivery',
    async (q) => await q.webhookEvents.restart(one.endpoint, [one.position], next()),
    () => [`webhook_deliveries ${one.position} ${one.endpoint}: state attempts next_attempt_at`],
  ],
  [
    'setting the end of a signing secret',
    async (q) => await q.webhookEndpoints.endSecretsAt([{ id: one.secret }], next()),
    () => [`webhook_secrets ${one.secret}: expires_at`],
  ],
  [
    'removing an endpoint with its secrets',
    async (q) => await q.webhookEndpoints.remove(one.endpoint),
    () => [`webhook_endpoints ${one.endpoint}: gone`, `webhook_secrets ${one.secret}: gone`],
  ],
  [
    'ending a session once, by its own user',
    async (q) => {
      const [key] = one.sessions
      expect(await q.sessions.endOfUser('usr_other', key, next())).toBe(false)
      expect(await twice(async () => await q.sessions.endOfUser(one.user.id, key, next()))).toEqual([true, false])
      expect(await q.sessions.end(key, next())).toBe(false)
    },
    () => [`sessions ${one.sessions[0]}: ended_at`],
  ],
  [
    'ending all other sessions of a user',
    async (q) => {
      await q.sessions.endAllOfUser(one.user.id, one.sessions[1], next())
      await q.sessions.endAllOfUser(one.user.id, one.sessions[0], next())
    },
    () => [`sessions ${one.sessions[1]}: ended_at`, ...gone(one.user)],
  ],
]

test.each(steps)('%s changes nothing else', async (_, change, changed) => {
  expect(await changedBy(change)).toEqual(changed().toSorted())
})

test('all sessions of a user end together, and those of other users do not', async () => {
  const fresh = [await addUser(platform), await addUser(platform)]
  const keys = await Promise.all(fresh.map(async (each) => (await sessionOf(platform, each)).sessionKey))
  const [first] = fresh
  devicesOf.clear()
  await noteDevices()
  const own = first?.id ?? ''
  expect(await changedBy(async (q) => await q.sessions.endAllOfUser(own, null, next()))).toEqual([
    ...(first === undefined ? [] : gone(first)),
    `sessions ${keys[0]}: ended_at`,
  ])
  expect(await changedBy(async (q) => await q.sessions.endAllOfUser(own, null, next()))).toEqual([])
  expect(await changedBy(async (q) => expect(await q.sessions.end(keys[1] ?? '', next())).toBe(true))).toEqual([
    `sessions ${keys[1]}: ended_at`,
  ])
})

test('of these grants, retries are closed whose window has passed', async () => {
  const owner = await addUser(platform)
  const theirs = await addApp(platform, owner)
  const grants = [await addFamily(platform, theirs, owner, 0), await addFamily(platform, theirs, owner, 0)]
  const [first, last] = [grants[0]?.retryUntil ?? 0, grants[1]?.retryUntil ?? 0]
  const [one = '', other = ''] = grants.map(({ id }) => id)
  const rows = grants.map(({ key }) => `grants ${key}: ${retry}`)
  expect(await changedBy(async (q) => await q.grants.closeRetries([one, other], first - 1))).toEqual([])
  expect(await changedBy(async (q) => await q.grants.closeRetries([one], last))).toEqual(rows.slice(0, 1))
  expect(await changedBy(async (q) => await q.grants.closeRetries([one, other], last))).toEqual(rows.slice(1))
})
