import { expect } from 'bun:test'
import { listBuilderEndpoints } from '../../src/operations/webhooks/endpoints.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { eventually } from '../support/crash.ts'
import { needs } from '../support/needs.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts'
import { addUser, endWorld } from '../support/world.ts'
import { createOperatorWorld, type OperatorWorld } from './support/operator-world.ts'
import { type PlainBrowser, type Seen, signedInBrowser } from './support/plain-browser.ts'

const { afterAll, beforeAll, test } = needs('openssl')

// The builder's own endpoints on the desk, with a real receiver. What they share with those of apps is tested in the console.

let world: OperatorWorld
let desk: PlainBrowser
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  const env = {
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: receiver.authority,
    RATE_LIMIT: 'on',
    RATE_LIMIT_AUTHORIZE: '4/300',
  }
  world = await createOperatorWorld({ env })
  desk = await signedInBrowser(world.server.url, world.operator)
})
afterAll(async () => {
  await endWorld(world)
  await receiver.down()
})

const add = async (browser: PlainBrowser) =>
  await browser.submit('/desk/webhooks/new', '/desk/webhooks/new', { url: receiver.url, kinds: ['user.disabled'] })
const only = async (): Promise<string> => {
  const [endpoint] = await listBuilderEndpoints(world.platform)
  return `/desk/webhooks/${endpoint?.id ?? ''}`
}
const noticeAfter = async ({ headers }: Seen) =>
  (await desk.get(headers.get('location') ?? '', { 'sec-fetch-site': 'same-origin' })).text

test('its buttons say what they did: a ping that is taken or not, events that are sent again or none, and that it is enabled', async () => {
  receiver.behave(() => 200)
  expect((await add(desk)).status).toBe(303)
  const page = await only()
  const press = async (step: string) => await noticeAfter(await desk.submit(page, `${page}/${step}`))
  expect(await press('ping')).toContain('The endpoint accepted the ping.')
  expect(await press('resend-failed')).toContain('There was nothing to send again.')
  receiver.behave(() => 500)
  const refused = await press('ping')
  expect(refused).toContain('The endpoint did not accept the ping.')
  expect(refused).not.toContain('being sent again')
  const { email } = await addUser(world.platform)
  await setUserStatus(world.platform, trace, commandLine, { email, status: 'disabled' })
  await eventually(
    async () => (await desk.get(page)).text,
    (text) => text.includes('user.disabled</code>') && text.includes('Answered 500'),
  )
  receiver.behave(() => 200)
  expect(await noticeAfter(await desk.submit(`${page}/disable`, `${page}/disable`))).toContain(
    'The endpoint is disabled',
  )
  expect(await press('enable')).toContain('The endpoint is enabled')
})

test('pings and new endpoints of an operator share one limit on outgoing calls', async () => {
  const colleague = await signedInBrowser(world.server.url, world.colleague)
  const page = await only()
  for (let count = 0; count < 3; count += 1) expect((await colleague.submit(page, `${page}/ping`)).status).toBe(303)
  expect((await add(colleague)).status).toBe(303)
  const before = receiver.received.length
  const refused = await colleague.submit(page, `${page}/ping`)
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
  expect((await add(colleague)).status).toBe(429)
  expect(receiver.received).toHaveLength(before)
})
