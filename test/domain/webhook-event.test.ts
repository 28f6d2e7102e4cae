import { describe, expect, test } from 'bun:test'
import {
  type AuditFact,
  eventsToldBy,
  formatKinds,
  parseStoredKinds,
  webhookBody,
  webhookKinds,
} from '../../src/domain/webhook-event.ts'

const uuid = '019f0a3b4c5d71238fedcba987654321'
const fact = (facts: Partial<AuditFact>): AuditFact => ({
  id: `aud_${uuid}`,
  appId: 'app_1',
  environment: 'production',
  action: 'install.approved',
  target: 'ins_1',
  outcome: 'done',
  detail: null,
  ...facts,
})

/** The data of the event for a row with this detail. */
const toldOf = (clientId: unknown) =>
  eventsToldBy(fact({ action: 'grant.created', detail: JSON.stringify({ clientId }) }))[0]?.data['clientId']

describe('the events that endpoints receive', () => {
  test('come from actions that have a kind, with IDs and states', () => {
    expect(eventsToldBy(fact({}))).toEqual([
      {
        id: `evt_${uuid}`,
        appId: 'app_1',
        environment: 'production',
        kind: 'install.approved',
        data: { appId: 'app_1', installId: 'ins_1', approval: 'approved', state: 'active' },
      },
    ])
  })

  test.each([
    'app.created',
    'app.renamed',
    'redirect_uri.added',
    'session.created',
    'webhook.created',
    'app_token.revoked',
  ])('do not include %s', (action) => expect(eventsToldBy(fact({ action }))).toEqual([]))

  test('include no refusal except that of a spent secret, which ended its grant', () => {
    expect(eventsToldBy(fact({ outcome: 'refused' }))).toEqual([])
    const reuse = fact({ action: 'grant.reuse_detected', outcome: 'refused', target: 'grt_1' })
    expect(eventsToldBy(reuse)).toMatchObject([
      { kind: 'grant.reuse_detected', data: { grantId: 'grt_1', state: 'revoked' } },
    ])
  })

  test('include none without an app', () => expect(eventsToldBy(fact({ appId: null }))).toEqual([]))

  test('of the app as a whole come once for each environment', () => {
    const told = eventsToldBy(fact({ environment: null, action: 'app.suspended' }))
    expect(told.map(({ environment }) => environment)).toEqual(['development', 'production'])
    expect(new Set(told.map(({ id }) => id)).size).toBe(2)
  })

  test('name the superseded version before the one that replaces it', () => {
    const detail = JSON.stringify({ superseded: 'ver_old' })
    const told = eventsToldBy(fact({ environment: null, action: 'version.activated', target: 'ver_new', detail }))
    expect(told.map(({ kind, data }) => [kind, data['versionId']])).toEqual([
      ['version.superseded', 'ver_old'],
      ['version.superseded', 'ver_old'],
      ['version.activated', 'ver_new'],
      ['version.activated', 'ver_new'],
    ])
    expect(told[0]?.data).toMatchObject({ status: 'superseded', replacedByVersionId: 'ver_new' })
    expect(new Set(told.map(({ id }) => id)).size).toBe(4)
    for (const { id } of told) expect(id).toMatch(/^evt_[0-9a-f]{32}$/)
  })

  test.each([
    ['install.created', { approval: 'approved', state: 'active' }],
    ['grant.created', { clientId: 'apc_1', scope: 'site:read' }],
    ['grant.scopes_changed', { clientId: 'apc_1', scope: 'site:read', added: ['site:read'], withdrawn: [] }],
    ['version.rolled_back', { rollbackId: 'rbk_1', fromVersionId: 'ver_1' }],
    ['credential.rotated', { graceHours: 24 }],
    ['webhook.disabled', { reason: 'gone' }],
    ['api_version.deprecated', { apiVersion: '2025-01', deprecatedAt: 'then', sunsetAt: 'later' }],
  ])('have the details of %s', (action, detail) => {
    const [told, ...more] = eventsToldBy(fact({ action, detail: JSON.stringify({ ...detail, superseded: 'ver_9' }) }))
    expect(told?.data).toMatchObject(detail)
    expect(Object.keys(told?.data ?? {})).not.toContain('superseded')
    expect(more).toEqual([])
  })

  test('of the app itself have no other ID', () => {
    const [told] = eventsToldBy(fact({ action: 'app.suspended', target: 'app_1' }))
    expect(told?.data).toEqual({ appId: 'app_1', status: 'suspended' })
  })

  test('have only IDs and states of the audit event', () => {
    const detail = JSON.stringify({ scope: 'site:read', clientId: 'apc_1', email: 'ada@example.com', token: 'apat_x' })
    const [told] = eventsToldBy(fact({ action: 'grant.created', target: 'grt_1', detail }))
    expect(told?.data).toEqual({
      appId: 'app_1',
      grantId: 'grt_1',
      state: 'live',
      clientId: 'apc_1',
      scope: 'site:read',
    })
  })

  test('have only texts, numbers and lists of texts of its detail', () => {
    for (const value of ['apc_1', 7, [], ['a', 'b']]) expect(toldOf(value)).toEqual(value)
    for (const value of [null, true, { a: 'b' }, ['a', 7], [['a']], [null]]) expect(toldOf(value)).toBeUndefined()
  })

  test('show changed scopes of an install as changed scopes of a grant', () => {
    const detail = JSON.stringify({ added: ['site:read'], withdrawn: [] })
    expect(eventsToldBy(fact({ action: 'install.scopes_changed', detail }))).toMatchObject([
      {
        kind: 'grant.scopes_changed',
        data: { installId: 'ins_1', added: ['site:read'], withdrawn: [], state: 'active' },
      },
    ])
  })

  test('show a withdrawn install as a deactivated one', () => {
    expect(eventsToldBy(fact({ action: 'install.withdrawn' }))).toMatchObject([
      { kind: 'install.deactivated', data: { approval: 'withdrawn', state: 'inactive' } },
    ])
  })
})

test('the body has the form of Standard Webhooks and of this platform, and is far below 20 kB', () => {
  const [told] = eventsToldBy(fact({}))
  if (told === undefined) throw new Error('nothing was told')
  const body = webhookBody(told, Date.UTC(2026, 7, 1))
  expect(JSON.parse(body)).toEqual({
    id: `evt_${uuid}`,
    type: 'install.approved',
    timestamp: '2026-08-01T00:00:00.000Z',
    apiVersion: '2026-08',
    environment: 'production',
    data: { appId: 'app_1', installId: 'ins_1', approval: 'approved', state: 'active' },
  })
  expect(body.length).toBeLessThan(1_000)
})

test('kinds are stored in one order and without repeats, and unknown ones are left out', () => {
  expect(formatKinds(['ping', 'install.created', 'ping'], 'app')).toBe('install.created ping')
  expect(parseStoredKinds('install.created gone.kind ping', 'app')).toEqual(['install.created', 'ping'])
  expect(parseStoredKinds('', 'app')).toEqual([])
  expect(formatKinds(webhookKinds, 'app')).toBe(`* ${webhookKinds.join(' ')}`)
  expect(parseStoredKinds('* gone.kind ping', 'app')).toEqual([...webhookKinds])
})

test('an endpoint can ask for each of these kinds, and for no other', () => {
  const kinds = {
    install: ['created', 'approved', 'rejected', 'deactivated'],
    grant: ['created', 'scopes_changed', 'revoked', 'reuse_detected'],
    resource: ['updated', 'removed'],
    user: ['erased'],
    version: ['submitted', 'approved', 'rejected', 'withdrawn', 'activated', 'superseded', 'rolled_back'],
    credential: ['created', 'rotated', 'revoked'],
    app: ['suspended', 'activated'],
    webhook: ['disabled'],
    api_version: ['deprecated'],
  }
  const names = Object.entries(kinds).flatMap(([of, events]) => events.map((event) => `${of}.${event}`))
  expect<readonly string[]>(webhookKinds).toEqual([...names, 'ping'])
})
