import { describe, expect, test } from 'bun:test'
import { createCredential } from '../../src/operations/credentials/credentials.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { authorize, type Credentials, exchangeBody, refreshBody, signIn } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { basic, codeForm, expectError, inBody, refreshForm, sendForm } from './support/standard.ts'

const world = await worldOfFile()
const { url } = world.server
const first = world.app.development
/** The other live secret of the same client, as after a rotation with grace. */
const second: Credentials = await createCredential(world.platform, trace, operator, {
  slug: world.app.slug,
  environment: 'development',
  label: null,
})
const key = { 'Idempotency-Key': 'once' }
const freshCode = async () => await authorize(url, await signIn(url, world.user), world.app)
const isLive = async (token: string) => (await call(url, 'GET', '/oauth/me', { token })).status === 200

const sendBody = async (body: object, { clientSecret }: Credentials) =>
  (await call(url, 'POST', '/oauth/token', { body: { ...body, clientSecret }, headers: key })).body
const sendKeyed = async (form: Readonly<Record<string, string>>, headers = {}) =>
  (await sendForm(url, '/oauth/token', form, { ...key, ...headers })).body

describe('a retry with the other live secret of the client gives the very same tokens', () => {
  test('for an exchange and a refresh in JSON', async () => {
    const exchange = exchangeBody(world.app, await freshCode())
    const exchanged = await sendBody(exchange, first)
    expect((await sendBody(exchange, second)).accessToken).toBe(exchanged.accessToken)
    const refresh = refreshBody(world.app, exchanged.refreshToken)
    const refreshed = await sendBody(refresh, second)
    const { accessToken, refreshToken, grantId } = await sendBody(refresh, first)
    expect([accessToken, refreshToken]).toEqual([refreshed.accessToken, refreshed.refreshToken])
    expect(grantId).toBe(exchanged.grantId)
    expect(await isLive(accessToken)).toBe(true)
  })

  test('for an exchange and a refresh in a form, by header and by form', async () => {
    const exchange = codeForm(world.app, await freshCode())
    const exchanged = await sendKeyed(exchange, basic(first))
    expect((await sendKeyed(exchange, basic(second))).access_token).toBe(exchanged.access_token)
    expect((await sendKeyed({ ...exchange, ...inBody(second) })).access_token).toBe(exchanged.access_token)
    const refresh = refreshForm(exchanged.refresh_token)
    const refreshed = await sendKeyed(refresh, basic(second))
    expect((await sendKeyed(refresh, basic(first))).refresh_token).toBe(refreshed.refresh_token)
    expect(await isLive(refreshed.access_token)).toBe(true)
  })
})

test('a retry with a wrong secret issues nothing and ends nothing', async () => {
  const body = exchangeBody(world.app, await freshCode())
  const send = async (clientSecret: string) =>
    await call(url, 'POST', '/oauth/token', { body: { ...body, clientSecret }, headers: key })
  const { accessToken } = (await send(first.clientSecret)).body
  expectRefusal(await send(world.app.production.clientSecret), 'invalid_client')
  expect((await send(second.clientSecret)).body.accessToken).toBe(accessToken)
})

test('any other difference in the body is reuse, with either secret', async () => {
  const form = codeForm(world.app, await freshCode())
  const { access_token } = (await sendForm(url, '/oauth/token', form, { ...key, ...basic(first) })).body
  const changed = { ...form, redirect_uri: world.app.liveRedirectUri }
  expectError(await sendForm(url, '/oauth/token', changed, { ...key, ...basic(second) }), 'invalid_grant')
  expect(await isLive(access_token)).toBe(false)
})
