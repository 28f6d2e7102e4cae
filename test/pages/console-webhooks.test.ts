import { expect } from 'bun:test'
import { createCredential } from '../../src/operations/credentials/credentials.ts'
import { setAppStatus } from '../../src/operations/apps/apps.ts'
import { webhookKinds } from '../../src/domain/webhook-event.ts'
import { listEndpoints } from '../../src/operations/webhooks/endpoints.ts'
import { operator, trace } from '../support/operator.ts'
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts'
import { addApp, addUser, type AppInWorld, createWorld, endWorld, type World } from '../support/world.ts'
import { eventually } from '../support/crash.ts'
import { needs } from '../support/needs.ts'
import { type PlainBrowser, type Seen, signedInBrowser } from './support/plain-browser.ts'

const { afterAll, beforeAll, describe, test } = needs('openssl')

// Webhooks in the console, over plain HTTP, with a real receiver.

let world: World
let owner: PlainBrowser
let stranger: PlainBrowser
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  const env = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: receiver.authority }
  world = await createWorld({ env })
  owner = await signedInBrowser(world.server.url, world.user)
  stranger = await signedInBrowser(world.server.url, await addUser(world.platform, 'Grace Example'))
})
afterAll(async () => {
  await endWorld(world)
  await receiver.down()
})

const freshApp = async () => await addApp(world.platform, world.user)
const at = ({ slug }: AppInWorld, ...rest: readonly string[]) => ['', 'console', slug, 'webhooks', ...rest].join('/')
const add = async (app: AppInWorld, fields: Record<string, string | string[]> = {}) =>
  await owner.submit(at(app, 'new'), at(app), { url: receiver.url, kinds: ['credential.created', 'ping'], ...fields })
const endpointsOf = async ({ slug }: AppInWorld) => await listEndpoints(world.platform, slug)
const onlyEndpoint = async (app: AppInWorld) => {
  const [endpoint] = await endpointsOf(app)
  if (endpoint === undefined) throw new Error('there is no endpoint')
  return endpoint
}
const secretIn = ({ text }: Seen) => /value="(whsec_[^"]+)"/.exec(text)?.[1] ?? ''
const locationOf = ({ headers }: Seen) => headers.get('location') ?? ''
const send = async (app: AppInWorld, id: string, action: string, fields: Record<string, string> = {}) =>
  await owner.submit(at(app, id), at(app, id, action), fields)
const noticeAfter = async (seen: Seen) => (await owner.get(locationOf(seen), { 'sec-fetch-site': 'same-origin' })).text

describe('an endpoint', () => {
  test('is added, shows its secret once, is tested, receives an event, and is removed', async () => {
    const app = await freshApp()
    receiver.behave(() => 200)
    const answer = await add(app)
    expect(answer.status).toBe(303)
    const added = await owner.follow(answer)
    expect(added.headers.get('cache-control')).toContain('no-store')
    const secret = secretIn(added)
    expect((await owner.follow(answer)).text).toContain('There is no new secret to show.')
    const { id } = await onlyEndpoint(app)
    for (const page of [at(app), at(app, id)]) expect((await owner.get(page)).text).not.toContain('whsec_')

    const pinged = await send(app, id, 'ping')
    expect(pinged.status).toBe(303)
    expect(await noticeAfter(pinged)).toContain('The endpoint accepted the ping.')
    const ping = receiver.received.at(-1)
    expect(ping).toMatchObject({ type: 'ping' })
    if (ping !== undefined) expect(receiver.isSignedWith(ping, secret)).toBe(true)

    const { slug } = app
    await createCredential(world.platform, trace, operator, { slug, environment: 'development', label: null })
    await eventually(
      async () => (await owner.get(at(app, id))).text,
      (text) => text.includes('credential.created<br/>'),
    )
    const event = receiver.received.at(-1)
    expect((await owner.get(at(app, id))).text).toContain(event?.id ?? 'no event')
    expect(await noticeAfter(await send(app, id, 'resend', { event: event?.id ?? '' }))).toContain('being sent again')
    await eventually(
      async () => receiver.received.filter((call) => call.id === event?.id).length,
      (count) => count === 2,
    )
    expect(await noticeAfter(await send(app, id, 'remove'))).toContain('The endpoint is removed')
    expect(await endpointsOf(app)).toEqual([])
    expect((await owner.get(at(app, id))).status).toBe(404)
  })

  test('that is refused is shown again as it was typed, with the reason next to the field', async () => {
    const app = await freshApp()
    const wrong: readonly (readonly [fields: Record<string, string | string[]>, reason: string])[] = [
      [{ url: 'http://app.example/' }, 'A webhook URL starts with https://.'],
      [{ url: 'https://10.0.0.1/' }, 'an address that webhooks do not call'],
      [{ kinds: [] }, 'Choose at least one kind of event.'],
      [{ kinds: ['<script>'] }, 'Kind 1 in the list does not exist.'],
    ]
    for (const [fields, reason] of wrong) {
      const { status, text } = await add(app, fields)
      expect(status).toBe(400)
      expect(text).toContain(reason)
    }
    expect(await endpointsOf(app)).toEqual([])
  })

  test('that gets a wrong URL is shown again with what was typed', async () => {
    const app = await freshApp()
    await add(app)
    const { id } = await onlyEndpoint(app)
    const edit = at(app, id, 'edit')
    const { status, text } = await owner.submit(edit, edit, { url: 'no address', kinds: 'ping' })
    expect(status).toBe(400)
    expect(text).toContain('value="no address"')
    expect(await onlyEndpoint(app)).toMatchObject({ url: receiver.url })
  })

  test('is added once, even if its form is sent several times', async () => {
    const app = await freshApp()
    const { text } = await owner.get(at(app, 'new'))
    const ticket = /name="ticket" value="([^"]+)"/.exec(text.slice(text.indexOf(`action="${at(app)}"`)))?.[1] ?? ''
    const fields = { ticket, environment: 'development', url: receiver.url, kinds: 'ping' }
    const answers = await Promise.all([0, 1, 2].map(async () => await owner.post(at(app), fields)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 409, 409])
    const secrets = await Promise.all(answers.map(async (answer) => secretIn(await owner.follow(answer))))
    expect(secrets.filter((secret) => secret !== '')).toHaveLength(1)
    expect(await endpointsOf(app)).toHaveLength(1)
  })

  test('of a suspended app can be disabled and removed, but not added', async () => {
    const app = await freshApp()
    await add(app)
    await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'suspended' })
    expect((await add(app)).status).toBe(403)
    const { id } = await onlyEndpoint(app)
    expect((await send(app, id, 'disable')).status).toBe(303)
    expect(await onlyEndpoint(app)).toMatchObject({ status: 'disabled' })
    expect((await send(app, id, 'remove')).status).toBe(303)
  })

  test('is disabled and enabled, and its secret is rotated within the bounds', async () => {
    const app = await freshApp()
    const first = secretIn(await owner.follow(await add(app)))
    const { id } = await onlyEndpoint(app)
    expect(await noticeAfter(await send(app, id, 'disable'))).toContain('Disabled')
    expect(await noticeAfter(await send(app, id, 'enable'))).toContain('Enabled')
    expect((await send(app, id, 'rotate', { graceHours: '169' })).status).toBe(400)
    const rotated = await send(app, id, 'rotate', { graceHours: '24' })
    expect(rotated.status).toBe(303)
    expect([first, '']).not.toContain(secretIn(await owner.follow(rotated)))
    expect((await owner.get(at(app, id))).text).toContain('Also signs deliveries until')
    expect(await noticeAfter(await send(app, id, 'resend-failed'))).toContain('nothing to send again')
    const refused = await send(app, id, 'resend-since', { since: 'yesterday' })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('Write a time as 2026-08-01 or 2026-08-01T12:00, in UTC.')
    expect((await send(app, id, 'resend-since', { since: new Date().toISOString() })).status).toBe(303)
  })

  test('gets another URL and other kinds, one by one or by group, unless it is refused', async () => {
    const app = await freshApp()
    await add(app)
    const { id } = await onlyEndpoint(app)
    const edit = async (fields: Record<string, string | string[]>) =>
      await owner.submit(at(app, id, 'edit'), at(app, id, 'edit'), fields)
    const page = (await owner.get(at(app, id, 'edit'))).text
    expect(page).toContain(`value="${receiver.url}"`)
    expect([...page.matchAll(/name="(?:kinds|groups)" value="([^"]*)" checked/g)].map(([, kind]) => kind)).toEqual([
      'credential.created',
      'ping',
    ])
    const refused = await edit({ url: 'http://127.0.0.1/', kinds: 'ping' })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('value="http://127.0.0.1/"')])
    expect((await edit({ url: receiver.url, groups: 'nothing' })).status).toBe(400)
    const moved = await edit({ url: `${receiver.url}/new`, kinds: 'ping', groups: ['install', 'app'] })
    expect(await noticeAfter(moved)).toContain('The endpoint is saved.')
    expect(await onlyEndpoint(app)).toMatchObject({
      url: `${receiver.url}/new`,
      kinds: [
        'install.created',
        'install.approved',
        'install.rejected',
        'install.deactivated',
        'app.suspended',
        'app.activated',
        'ping',
      ],
    })
    await edit({ url: receiver.url, groups: 'all' })
    expect((await onlyEndpoint(app)).kinds).toEqual([...webhookKinds])
    const trail = await world.platform.database.queries.audit.pageOfApp(app.id, 'webhook.changed', '~', 10)
    expect(trail.map(({ actorKind }) => actorKind)).toEqual(['user', 'user'])
  })

  test('shows request and response of each attempt, and finds attempts by outcome, kind and day', async () => {
    const app = await freshApp()
    await add(app)
    const { id } = await onlyEndpoint(app)
    receiver.behave(() => ({ status: 503, headers: { 'x-trace': 'abc', 'set-cookie': 'session=of-the-receiver' } }))
    await send(app, id, 'ping')
    receiver.behave(() => 200)
    await send(app, id, 'ping')
    const attemptsOn = async (query: string) =>
      [...(await owner.get(at(app, `${id}?${query}`))).text.matchAll(/attempts\/(att_[0-9a-f]+)/g)].map(
        ([, one]) => one,
      )
    const [delivered = '', failed = ''] = await attemptsOn('')
    expect(await attemptsOn('outcome=delivered')).toEqual([delivered])
    expect(await attemptsOn('outcome=refused&kind=ping')).toEqual([failed])
    for (const query of ['outcome=unanswered', 'kind=install.created', 'from=2000-01-01&to=2000-01-02']) {
      expect(await attemptsOn(query)).toEqual([])
    }
    const today = new Date(world.platform.clock.now()).toISOString().slice(0, 10)
    expect(await attemptsOn(`from=${today}&to=${today}`)).toHaveLength(2)
    for (const query of ['from=yesterday', `from=${today}&to=2000-01-01`]) {
      expect((await owner.get(at(app, `${id}?${query}`))).status).toBe(400)
    }
    const { text } = await owner.get(at(app, id, 'attempts', failed))
    const sent = receiver.received.find((call) => text.includes(call.id))
    for (const shown of [`POST ${receiver.url}`, sent?.headers['webhook-signature'] ?? 'none', 'x-trace: abc', '503']) {
      expect(text).toContain(shown)
    }
    expect(text).not.toContain('of-the-receiver')
    const resent = await owner.submit(at(app, `${id}?outcome=refused`), at(app, id, 'resend'))
    expect(locationOf(resent)).toBe(`${at(app, id)}?outcome=refused&done=resent&environment=development`)
    expect((await owner.get(at(app, id, 'attempts', `att_${'0'.repeat(32)}`))).status).toBe(404)
    expect((await stranger.get(at(app, id, 'attempts', failed))).status).toBe(404)
  })

  test('shows the answer of a receiver as text, and why a ping was not accepted', async () => {
    const app = await freshApp()
    await add(app)
    const { id } = await onlyEndpoint(app)
    receiver.behave((_, response) => {
      response.writeHead(500).end('<script>alert(1)</script>')
      return 'by itself'
    })
    const text = await noticeAfter(await send(app, id, 'ping'))
    receiver.behave(() => 200)
    expect(text).toContain('The endpoint did not accept the ping.')
    expect(text).toContain('Answered 500')
    const attempt = (await owner.get(at(app, id, 'attempts', /att_[0-9a-f]+/.exec(text)?.[0] ?? ''))).text
    expect(attempt).toContain('&lt;script>')
    expect(attempt).not.toContain('<script>alert')
  })
})
