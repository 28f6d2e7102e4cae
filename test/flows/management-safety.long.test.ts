import { describe, expect, test } from 'bun:test'
import { keyRights, type ServiceRight, serviceRights } from '../../src/domain/service-key.ts'
import { managementPath } from '../../src/http/management.ts'
import { endpointsOf } from '../../src/http/table.ts'
import { createInstall } from '../../src/operations/installs/installs.ts'
import { createServiceKey, revokeServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { linkUser, setOperator } from '../../src/operations/users/users.ts'
import { auditEvents } from '../support/audit-events.ts'
import type { Answer } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, authorize, exchange, signIn } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { send } from './support/send.ts'

// Every call of the management API with every kind of service key that must not make it. A call that is not in the table fails.

const world = await worldOfFile({
  env: {
    TRUSTED_PROXIES: '127.0.0.1',
    SIGN_IN: 'handover,password',
    SIGN_IN_URL: 'https://builder.example/sign-in',
  },
})
const { platform, app } = world
const { url } = world.server

let counted = 0
const fresh = (stem: string) => `${stem}-${(counted += 1)}`
/** The log of refusals and the limits count by address. */
const freshAddress = () => `198.51.${Math.floor((counted += 1) / 250)}.${counted % 250}`

type KeyOptions = {
  readonly rights?: readonly ServiceRight[]
  readonly networks?: readonly string[]
  readonly at?: number
}
const newKey = async ({ rights = serviceRights, networks = [], at }: KeyOptions = {}) => {
  const then = at === undefined ? platform : { ...platform, clock: { ...platform.clock, now: () => at } }
  const isEnding = at !== undefined || rights.includes('operate')
  const input = { name: 'Builder', rights, networks, expiresInDays: isEnding ? 1 : null }
  return await createServiceKey(then, trace, operator, input)
}
const full = await newKey({ rights: keyRights, networks: ['198.51.0.0/16'] })

type Sent = { readonly path: string; readonly body?: unknown; readonly type?: string }
const ask = async (
  method: string,
  { path, body, type }: Sent,
  key: string,
  address = '198.51.100.1',
): Promise<Answer> => {
  const answer = await send(url, method, `~${managementPath}${path}`, {
    token: key,
    headers: { 'X-Forwarded-For': address, ...(type === undefined ? {} : { 'Content-Type': type }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect([method, path, answer.headers.get('cache-control')]).toEqual([method, path, 'no-store'])
  return answer
}

/** A user of the builder with a website, an install on it, a session and a grant. */
const addMember = async (externalId = fresh('member')) => {
  const user = await addUser(platform)
  await linkUser(platform, trace, operator, { email: user.email, externalId })
  const slug = fresh('site')
  const stated = { ownerExternalId: externalId, name: 'My site', slug: 'my-site', status: 'published' }
  await ask('PUT', { path: `/resources/site/${slug}`, body: stated }, full.secret)
  const { id: install } = await createInstall(platform, trace, operator, {
    slug: app.slug,
    userEmail: user.email,
    kind: 'site',
    resourceSlug: 'my-site',
  })
  const session = await signIn(url, user)
  const { body } = await exchange(url, app, await authorize(url, session, app))
  return { user, externalId, site: { slug, stated }, install, session, accessToken: String(body.accessToken) }
}
type Member = Awaited<ReturnType<typeof addMember>>

const leave = async () => {
  const { headers } = await fetch(`${url}/sign-in/handover`, { redirect: 'manual' })
  return new URL(headers.get('location') ?? '').searchParams.get('request') ?? ''
}

/** The ID of a new endpoint of the builder, which has no secret and is disabled. */
const newEndpoint = async (): Promise<string> => {
  const now = platform.clock.now()
  const id = `whk_${platform.random.uuidHex(now)}`
  const row = { id, appId: null, environment: 'production', url: 'https://builder.invalid/hooks', kinds: '*' } as const
  const unused = { status: 'disabled', reason: 'by_hand', failingSince: null, createdAt: now, updatedAt: now } as const
  await platform.database.transaction(async (q) => await q.webhookEndpoints.insert({ ...row, ...unused }))
  return id
}

/** The name of a new restricted scope. */
const newScope = async (): Promise<string> => {
  const name = `${fresh('area')}:read`
  await ask('PUT', { path: `/scopes/${name}`, body: { for: 'both', text: 'List your orders' } }, full.secret)
  return name
}

/** A call that succeeds and, unless it reads, changes something of the member. */
type Call = { readonly right: ServiceRight; readonly sent: (member: Member) => Sent | Promise<Sent> }
const installStep = (step: string): Call => ({
  right: 'installs:write',
  sent: ({ install }) => ({ path: `/installs/${install}/${step}` }),
})
const reading = (right: ServiceRight, path: (member: Member) => string): Call => ({
  right,
  sent: (member) => ({ path: path(member) }),
})
const calls: Readonly<Record<string, Call>> = {
  'GET /users': reading('users:read', () => '/users?limit=100'),
  'PUT /users/:externalId': {
    right: 'users:write',
    sent: ({ externalId, user }) => ({
      path: `/users/${externalId}`,
      body: { email: user.email, name: fresh('Name') },
    }),
  },
  'POST /users': {
    right: 'users:write',
    sent: ({ externalId, user }) => ({
      path: '/users',
      body: { externalId, email: user.email, name: fresh('Name') },
      type: 'application/x-ndjson',
    }),
  },
  'GET /users/:externalId': reading('users:read', ({ externalId }) => `/users/${externalId}`),
  'DELETE /users/:externalId': { right: 'users:write', sent: ({ externalId }) => ({ path: `/users/${externalId}` }) },
  'GET /users/:externalId/export': reading('users:read', ({ externalId }) => `/users/${externalId}/export`),
  'POST /users/:externalId/end-access': {
    right: 'users:write',
    sent: ({ externalId }) => ({ path: `/users/${externalId}/end-access`, body: {} }),
  },
  'GET /resources/:kind': reading('resources:read', () => '/resources/site?limit=100'),
  'PUT /resources/:kind/:externalId': {
    right: 'resources:write',
    sent: ({ site }) => ({ path: `/resources/site/${site.slug}`, body: { ...site.stated, name: fresh('Site') } }),
  },
  'GET /resources/:kind/:externalId': reading('resources:read', ({ site }) => `/resources/site/${site.slug}`),
  'DELETE /resources/:kind/:externalId': {
    right: 'resources:write',
    sent: ({ site }) => ({ path: `/resources/site/${site.slug}` }),
  },
  'POST /resources/import': {
    right: 'resources:write',
    sent: ({ site }) => ({
      path: '/resources/import',
      body: { ...site.stated, kind: 'site', externalId: site.slug, name: fresh('Site') },
      type: 'application/x-ndjson',
    }),
  },
  'GET /installs': reading('installs:read', () => '/installs?limit=100'),
  'POST /installs/:id/approve': installStep('approve'),
  'POST /installs/:id/reject': installStep('reject'),
  'POST /installs/:id/deactivate': {
    right: 'installs:write',
    sent: async ({ install }) => {
      await ask('POST', { path: `/installs/${install}/approve` }, full.secret)
      return { path: `/installs/${install}/deactivate` }
    },
  },
  'GET /apps': reading('apps:read', ({ externalId }) => `/apps?ownerExternalId=${externalId}`),
  'POST /apps/:app/transfer': {
    right: 'apps:write',
    sent: async () => {
      const { externalId } = await addMember()
      return {
        path: `/apps/${(await addApp(platform, await addUser(platform))).slug}/transfer`,
        body: { toExternalId: externalId },
      }
    },
  },
  'DELETE /apps/:app': {
    right: 'apps:write',
    sent: async () => ({ path: `/apps/${(await addApp(platform, await addUser(platform))).slug}` }),
  },
  'GET /scopes': reading('scopes:read', () => '/scopes'),
  'GET /scopes/:name': {
    right: 'scopes:read',
    sent: async () => ({ path: `/scopes/${await newScope()}` }),
  },
  'PUT /scopes/:name': {
    right: 'scopes:write',
    sent: () => ({ path: `/scopes/${fresh('area')}:read`, body: { for: 'both', text: 'List your orders' } }),
  },
  'DELETE /scopes/:name': { right: 'scopes:write', sent: async () => ({ path: `/scopes/${await newScope()}` }) },
  'PUT /scopes/:name/apps/:app': {
    right: 'scopes:write',
    sent: async () => ({ path: `/scopes/${await newScope()}/apps/${app.slug}` }),
  },
  'DELETE /scopes/:name/apps/:app': {
    right: 'scopes:write',
    sent: async () => {
      const path = `/scopes/${await newScope()}/apps/${app.slug}`
      await ask('PUT', { path }, full.secret)
      return { path }
    },
  },
  'GET /webhooks': reading('webhooks:read', () => '/webhooks'),
  'GET /webhooks/:id/attempts': {
    right: 'webhooks:read',
    sent: async () => ({ path: `/webhooks/${await newEndpoint()}/attempts` }),
  },
  'POST /webhooks/:id/ping': {
    right: 'webhooks:write',
    sent: async () => ({ path: `/webhooks/${await newEndpoint()}/ping` }),
  },
  'POST /webhooks/:id/resend': {
    right: 'webhooks:write',
    sent: async () => ({ path: `/webhooks/${await newEndpoint()}/resend`, body: { failed: true } }),
  },
  'POST /commands': {
    right: 'operate',
    sent: () => ({
      path: '/commands',
      body: { arguments: ['scope', 'add', `${fresh('area')}:read`, '--for', 'user', '--text', 'List'] },
    }),
  },
  'GET /audit': reading('audit:read', () => '/audit?limit=1000'),
  'POST /sign-in-requests/:id/accept': {
    right: 'sign-in',
    sent: async ({ externalId }) => ({ path: `/sign-in-requests/${await leave()}/accept`, body: { externalId } }),
  },
  'POST /sign-in-requests/:id/reject': {
    right: 'sign-in',
    sent: async () => ({
      path: `/sign-in-requests/${await leave()}/reject`,
      body: { reason: 'No apps in your plan.' },
    }),
  },
}
const each = Object.entries(calls).map(([name, { right, sent }]) => ({
  name,
  method: name.split(' ')[0] ?? '',
  right,
  sent,
}))
const writes = each.filter(({ method }) => method !== 'GET')

test('the table has every endpoint of the management API', () => {
  const endpoints = endpointsOf({ servesMetrics: false })
    .filter(({ path }) => path.startsWith(managementPath))
    .map(({ method, path }) => `${method} ${path.slice(managementPath.length)}`)
  expect(Object.keys(calls).toSorted()).toEqual(endpoints.toSorted())
})

const isLive = async (path: string, token: string) => (await send(url, 'GET', path, { token })).status === 200

/** What a call could have changed of the member, and what the builder sees of everything. */
const stateOf = async ({ externalId, session, accessToken, site, install }: Member) => {
  const paths = [`/users/${externalId}`, '/users?limit=100', '/resources/site?limit=100', '/installs?limit=100']
  const seen = await Promise.all(paths.map(async (path) => (await ask('GET', { path }, full.secret)).text))
  return {
    seen,
    session: await isLive('~/api/session', session),
    grant: await isLive('/oauth/me', accessToken),
    site: (await ask('GET', { path: `/resources/site/${site.slug}` }, full.secret)).text,
    install: await platform.database.queries.installs.find(install),
  }
}
/** IDs of events grow, but events of one millisecond may come in any order. */
const addedEvents = async (known: ReadonlySet<string>) =>
  (await auditEvents(platform)).filter(({ id }) => !known.has(id))

describe('is refused, changes nothing and is audited:', () => {
  for (const { name, method, right, sent } of each) {
    test(name, async () => {
      const member = await addMember()
      const address = freshAddress()
      const revoked = await newKey()
      await revokeServiceKey(platform, trace, operator, revoked.id)
      const keys = [
        { key: await newKey({ rights: serviceRights.filter((other) => other !== right) }), code: 'right_missing' },
        { key: await newKey({ networks: ['203.0.113.0/24'] }), code: 'invalid_token', because: 'network' },
        { key: await newKey({ at: platform.clock.now() - 2 * 86_400_000 }), code: 'invalid_token', because: 'ended' },
        { key: revoked, code: 'invalid_token', because: 'ended' },
      ] as const
      const asked = await sent(member)
      const before = await stateOf(member)
      expect(before).toMatchObject({ session: true, grant: true })
      const known = new Set((await auditEvents(platform)).map(({ id }) => id))
      for (const { key, code } of keys) expectRefusal(await ask(method, asked, key.secret, address), code)
      const added = await addedEvents(known)
      expect(
        new Set(added.map(({ target, reason, outcome, address: from }) => [target, reason, outcome, from].join(' '))),
      ).toEqual(new Set(keys.map(({ key, code }) => [key.id, code, 'refused', address].join(' '))))
      for (const { key, ...rest } of keys) {
        const detail = added.find(({ target }) => target === key.id)?.detail
        expect(detail).toBe(JSON.stringify('because' in rest ? { because: rest.because } : { right }))
      }
      expect(await stateOf(member)).toEqual(before)
      // The right is all that was missing.
      const only = await newKey({ rights: [right], networks: ['198.51.0.0/16'] })
      expect((await ask(method, asked, only.secret, address)).status).toBeLessThan(300)
    })
  }
})

/** Sends the body after the key has been accepted and revoked. */
const askTooLate = async (method: string, { path, body, type }: Sent) => {
  const key = await newKey({ rights: keyRights, networks: ['127.0.0.1'] })
  const accepted = async () => (await platform.database.queries.serviceKeys.find(key.id))?.lastUsedAt !== null
  const late = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: async (controller) => {
      const text = JSON.stringify(body)
      controller.enqueue(new TextEncoder().encode(text.slice(0, 1)))
      await eventually(accepted, (isAccepted) => isAccepted)
      await revokeServiceKey(platform, trace, operator, key.id)
      controller.enqueue(new TextEncoder().encode(text.slice(1)))
      controller.close()
    },
  })
  const answer = await send(url, method, `~${managementPath}${path}`, {
    token: key.secret,
    body: late,
    headers: type === undefined ? {} : { 'Content-Type': type },
  })
  return { key, answer }
}

describe('with a key that is revoked while its body arrives, is refused, changes nothing and is audited:', () => {
  const withBody = writes.filter(({ name, method }) => method !== 'DELETE' && !/\/(?:installs|apps|ping)/.test(name))
  for (const { name, method, sent } of withBody) {
    test(name, async () => {
      const member = await addMember()
      const asked = await sent(member)
      const before = await stateOf(member)
      const known = new Set((await auditEvents(platform)).map(({ id }) => id))
      const { key, answer } = await askTooLate(method, asked)
      expectRefusal(answer, 'invalid_token')
      const added = (await addedEvents(known)).map(({ target, action, outcome }) => [target, action, outcome])
      expect(added.toSorted()).toEqual([
        [key.id, 'bearer.check', 'refused'],
        [key.id, 'service_key.created', 'done'],
        [key.id, 'service_key.revoked', 'done'],
      ])
      expect(await stateOf(member)).toEqual(before)
    })
  }
})

test('no answer has a secret or a hash of one', async () => {
  const member = await addMember()
  const texts: string[] = []
  // Reads first, because others end what they would show.
  for (const { method, sent } of [...each.filter(({ method }) => method === 'GET'), ...writes]) {
    const { text } = await ask(method, await sent(member), full.secret)
    texts.push(text.replace(/"redirectTo":"[^"]*"/, '')) // a verifier that works once, for the browser
  }
  const all = texts.join('\n')
  expect(all).not.toMatch(/ap(?:ok|us|ua|ur|at|co|es|ic|sr|s_dev|s_live)_[0-9A-Za-z]{20}|\$2[aby]\$|whsec_/)
  for (const secret of [full.secret, member.session, member.accessToken, member.user.password]) {
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      expect(all).not.toContain(new Bun.CryptoHasher('sha256').update(secret).digest(encoding))
    }
    expect(all).not.toContain(secret)
  }
})

test('no key changes, signs in, ends, erases or exports an operator', async () => {
  const member = await addMember()
  await setOperator(platform, trace, operator, { userId: member.user.id, isOperator: true })
  const session = await signIn(url, member.user)
  const row = async () => await platform.database.queries.users.byId(member.user.id)
  const before = await row()
  const touching = each.filter(
    ({ name }) => (name.includes('/users/') && name !== 'GET /users/:externalId') || name.endsWith('/accept'),
  )
  for (const { name, method, sent } of touching) {
    const refused = await ask(method, await sent(member), full.secret)
    expect([name, refused.body.error?.code]).toEqual([name, 'operator_protected'])
  }
  expect(await row()).toEqual(before)
  expect((await send(url, 'GET', '~/api/session', { token: session })).status).toBe(200)
  expect((await send(url, 'GET', '/oauth/me', { token: member.accessToken })).status).toBe(200)
  // Neither by their address under another ID, nor by a field that would make an operator.
  const stolen = { path: '/users/stolen', body: { email: member.user.email, name: 'Thief' } }
  expectRefusal(await ask('PUT', stolen, full.secret), 'email_taken')
  const made = {
    path: '/users/made',
    body: { email: 'made@builder.example', name: 'Made', isOperator: true, passwordHash: 'x' },
  }
  expect((await ask('PUT', made, full.secret)).body).toMatchObject({ isOperator: false, hasPassword: false })
})
