import { expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { verifyWebhook } from '../../src/client/index.ts'
import { webhookBody } from '../../src/domain/webhook-event.ts'

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
const secret = secretOf(1)
const data = { appId: 'app_1', grantId: 'grt_1', state: 'live', clientId: 'apc_1', scope: 'site:read' }
const body = webhookBody({ id: 'evt_1', environment: 'production', kind: 'grant.created', data }, Date.now())

/** The headers of a delivery, signed by another implementation of Standard Webhooks. */
const headersOf = (secondsAgo = 0, by: readonly string[] = [secret]) => {
  const at = new Date(Date.now() - secondsAgo * 1000)
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': by.map((each) => new Webhook(each).sign('evt_1', at, body)).join(' '),
  }
}
const codeOf = async (work: Promise<unknown>) =>
  await work.then(
    () => 'no error',
    ({ code }) => code,
  )

test('a signed delivery gives its event, whose type says what its data is', async () => {
  for (const headers of [headersOf(), new Headers(headersOf()), headersOf(0, [secretOf(2), secret])]) {
    const event = await verifyWebhook({ body, headers, secret })
    expect(event.type === 'grant.created' ? event.data.clientId : null).toBe('apc_1')
  }
})

test('a delivery of another signer, with another body or header, or of another time is refused', async () => {
  const refused = [
    { body, headers: headersOf(), secret: secretOf(2) },
    { body: body.replace('grt_1', 'grt_2'), headers: headersOf(), secret },
    { body, headers: { ...headersOf(), 'webhook-id': 'evt_2' }, secret },
    { body, headers: { ...headersOf(), 'webhook-signature': '' }, secret },
    { body, headers: {}, secret },
    { body, headers: headersOf(400), secret },
    { body, headers: headersOf(-400), secret },
  ]
  for (const delivery of refused) expect(await codeOf(verifyWebhook(delivery))).toBe('invalid_signature')
  const late = { body, headers: headersOf(400), secret, toleranceSeconds: 600 }
  expect((await verifyWebhook(late)).id).toBe('evt_1')
})
