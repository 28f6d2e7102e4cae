import { describe, expect, test } from 'bun:test'
import { contentsOf, takeAway } from '../support/beside.ts'
import { call } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { findCanaries, type Haystack } from '../support/needles.ts'
import { worldsOfTests } from '../support/world-of-file.ts'
import { appToken, createWorld, verifier } from '../support/world.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import {
  basic,
  basicOf,
  codeForm,
  expectError,
  formPaths,
  freshCode,
  inBody,
  refreshForm,
  sendForm,
  standardAppToken,
  standardTokens,
} from './support/standard.ts'

const roomy = { RATE_LIMIT: 'on', TRUSTED_PROXIES: '127.0.0.1,::1', RATE_LIMIT_ADDRESS: '100000/600' }
const newWorld = worldsOfTests()
const limited = async (limits: Readonly<Record<string, string>>) => await newWorld({ env: { ...roomy, ...limits } })

const text = (name: string, content: string): Haystack => ({ name, content: Buffer.from(content) })

const issue = { grant_type: 'client_credentials' }

describe('the limits are those of the contract', () => {
  test('one share of calls per client and address, for both APIs', async () => {
    const { server, app } = await limited({ RATE_LIMIT_TOKEN: '4/600' })
    const { url } = server
    await appToken(url, app.development)
    for (const path of formPaths) {
      const answer = await sendForm(url, path, { ...issue, token: 'x' }, basic(app.development))
      expect(answer.status).toBe(200)
      expect(answer.headers.get('ratelimit-policy')).toBe('"token";q=4;w=600')
    }
    for (const path of formPaths) {
      const answer = await sendForm(url, path, { ...issue, token: 'x' }, basic(app.development))
      expectError(answer, 'temporarily_unavailable', 429)
      expect(answer.headers.get('ratelimit')).toMatch(/^"token";r=0;t=\d+$/)
    }
    const body = { ...app.development, scope: 'site:read' }
    expectRefusal(await call(url, 'POST', '/token', { body }), 'rate_limited')
    const elsewhere = { ...basic(app.development), 'X-Forwarded-For': '203.0.113.9' }
    expect((await sendForm(url, '/oauth/token', issue, elsewhere)).status).toBe(200)
    expect((await sendForm(url, '/oauth/token', issue, basic(app.production))).status).toBe(200)
  })

  test('refused secrets count, an invalid grant does not, and too many block right ones at this address', async () => {
    const world = await limited({ RATE_LIMIT_FAILED: '3/600' })
    const { url } = world.server
    const { development, production } = world.app
    expectError(
      await sendForm(url, '/oauth/introspect', { token: 'x' }, basic({ ...development, clientSecret: 'x' })),
      'invalid_client',
    )
    expectError(
      await sendForm(url, '/oauth/revoke', { token: 'x', ...inBody({ ...development, clientSecret: 'x' }) }),
      'invalid_client',
    )
    expectError(await sendForm(url, '/oauth/token', refreshForm('x'), basic(development)), 'invalid_grant')
    expect((await sendForm(url, '/oauth/token', issue, basic(development))).status).toBe(200)
    expectError(
      await sendForm(url, '/oauth/token', issue, basic({ ...development, clientSecret: 'x' })),
      'invalid_client',
    )
    expectError(await sendForm(url, '/oauth/token', issue, basic(development)), 'temporarily_unavailable', 429)
    expect((await sendForm(url, '/oauth/token', issue, basic(production))).status).toBe(200)
  })

  test('malformed headers count for their address, and do not affect real clients', async () => {
    const { server, app } = await limited({ RATE_LIMIT_FAILED: '4/600' })
    let answer = await sendForm(server.url, '/oauth/token', issue, basicOf('x'))
    for (let count = 0; count < 8 && answer.status === 401; count += 1) {
      answer = await sendForm(server.url, '/oauth/token', issue, basicOf('x'))
    }
    expectError(answer, 'temporarily_unavailable', 429)
    expect((await sendForm(server.url, '/oauth/token', issue, basic(app.development))).status).toBe(200)
  })

  test('including the share of an address', async () => {
    const { server } = await limited({ RATE_LIMIT_ADDRESS: '3/600' })
    for (const path of formPaths) expectError(await sendForm(server.url, path, ''), 'invalid_client')
    for (const path of formPaths) expectError(await sendForm(server.url, path, ''), 'temporarily_unavailable', 429)
  })
})

describe('metrics and logs', () => {
  test('metrics count issued, refused and reused tokens as for the contract', async () => {
    const world = await limited({})
    const { url } = world.server
    const figures = async () => (await call(url, 'GET', '~/metrics')).text
    const figure = async (name: RegExp) => {
      const line = (await figures()).split('\n').find((each) => name.test(each))
      return line === undefined ? 0 : Number(line.split(' ').at(-1))
    }
    const tokens = await standardTokens(world)
    await standardAppToken(world)
    const renew = async (token: string) =>
      await sendForm(url, '/oauth/token', refreshForm(token), basic(world.app.development))
    const { body } = await renew(tokens.refresh_token)
    await renew(body.refresh_token)
    await renew(tokens.refresh_token)
    expect(await figure(/issued.*"user_tokens"/)).toBe(3)
    expect(await figure(/issued.*"app_token"/)).toBe(1)
    expect(await figure(/reused.*"refresh_token"/)).toBe(1)
    expect(await figure(/refused.*"refresh_token"/)).toBe(1)
    for (const path of formPaths) {
      await sendForm(url, path, { token: 'x' }, basic(world.app.development))
      expect(await figures()).toContain(`route="${path}"`)
    }
  })

  test('a log line has the app, the client and the grant', async () => {
    const world = await limited({})
    const { url } = world.server
    const answer = await sendForm(
      url,
      '/oauth/token',
      codeForm(world.app, await freshCode(world)),
      basic(world.app.development),
    )
    const requestId = answer.headers.get('x-request-id') ?? ''
    const line = await eventually(
      async () =>
        world.server
          .log()
          .split('\n')
          .find((each) => each.includes(requestId)),
      (found) => found !== undefined,
    )
    expect(JSON.parse(line ?? '')).toMatchObject({
      route: '/oauth/token',
      status: 200,
      appId: world.app.id,
      clientId: world.app.development.clientId,
      grantId: expect.stringMatching(/^grt_/),
    })
  })

  test('no secret, right or wrong, is in a log line, a metric, an error or the database', async () => {
    const world = await limited({})
    const { server, app } = world
    const { url, database } = server
    const { development } = app
    const code = await freshCode(world)
    const key = 'canary-key-of-an-exchange-0815'
    const tokens = (
      await sendForm(url, '/oauth/token', codeForm(app, code), { ...basic(development), 'Idempotency-Key': key })
    ).body
    const issued = await standardAppToken(world)
    const renewed = (await sendForm(url, '/oauth/token', refreshForm(tokens.refresh_token), basic(development))).body
    const stray = `aps_dev_${'Stray0Canary'.repeat(6).slice(0, 71)}`
    const errors = [
      await sendForm(url, '/oauth/token', refreshForm(tokens.refresh_token), {
        ...basic(development),
        'Idempotency-Key': key,
      }),
      await sendForm(url, '/oauth/token', refreshForm(stray), basic({ clientId: stray, clientSecret: stray })),
      await sendForm(url, `/oauth/token?client_secret=${development.clientSecret}&code=${stray}`, codeForm(app, code)),
      await sendForm(url, `/oauth/token?${stray}=${stray}#${stray}`, `${stray}=${stray}&client_id=${stray}`),
      await sendForm(url, '/oauth/token', codeForm(app, stray), { Authorization: stray }),
      await sendForm(url, '/oauth/token', { grant_type: stray, scope: stray }, basic(development)),
      await sendForm(url, '/oauth/token', { ...issue, scope: stray }, basic(development)),
      await sendForm(url, `/oauth/revoke?token=${tokens.access_token}`, { token: stray }, basic(development)),
      await sendForm(url, `/oauth/introspect?token=${tokens.access_token}`, { token: stray }, basic(development)),
      await sendForm(url, `/oauth/introspect/${tokens.access_token}`, { token: stray }, basic(development)),
      await sendForm(url, '/oauth/token', `client_secret=${stray}%`, { 'Content-Type': stray }),
    ]
    for (const { status } of errors) expect(status).toBeGreaterThanOrEqual(400)
    await sendForm(url, '/oauth/introspect', { token: stray, token_type_hint: stray }, basic(development))
    await sendForm(url, '/oauth/revoke', { token: issued, token_type_hint: stray }, basic(development))
    const canaries = Object.entries({
      code,
      verifier,
      key,
      issued,
      stray,
      secret: development.clientSecret,
      access: tokens.access_token,
      refresh: tokens.refresh_token,
      nextAccess: renewed.access_token,
      nextRefresh: renewed.refresh_token,
    }).map(([name, value]) => ({ name, value }))
    const files = await contentsOf(database)
    const told = errors.map(({ text: body, headers }, index) =>
      text(`error ${index}`, `${body}${JSON.stringify([...headers])}`),
    )
    const metrics = (await call(url, 'GET', '~/metrics')).text
    await eventually(
      async () => server.log(),
      (log) => log.includes('"route":"/metrics"'),
    )
    expect(server.log()).toContain('"route":"/oauth/introspect"')
    expect(findCanaries(canaries, [...told, ...files, text('log', server.log()), text('metrics', metrics)])).toEqual([])
  })
})

describe('a store that takes no writes', () => {
  test('is reported as unavailable with the time to wait, and never as success', async () => {
    const world = await createWorld()
    const { url } = world.server
    const tokens = await standardTokens(world)
    const code = await freshCode(world)
    await takeAway(world.server.database)
    const send = async (path: string, form: Readonly<Record<string, string>>) =>
      await sendForm(url, path, form, basic(world.app.development))
    await eventually(
      async () => await call(url, 'GET', '~/readyz'),
      ({ status }) => status === 503,
    )
    expectError(await send('/oauth/token', issue), 'temporarily_unavailable')
    expectError(await send('/oauth/token', codeForm(world.app, code)), 'temporarily_unavailable')
    expectError(await send('/oauth/token', refreshForm(tokens.refresh_token)), 'temporarily_unavailable')
    expectError(await send('/oauth/revoke', { token: tokens.access_token }), 'temporarily_unavailable')
    await world.platform.database.close().catch(() => {})
    await world.server.stop()
  })
})
