import { afterAll, afterEach, describe, expect, spyOn, test } from 'bun:test'
import { recordId } from '../../src/domain/identifier.ts'
import { isOfProvider, isOutage, type SignInCause, sentenceOf, signInCauses } from '../../src/domain/sign-in-cause.ts'
import { createUser } from '../../src/operations/users/users.ts'
import { unlinkIdentity } from '../../src/operations/users/identities.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { createIdentityProvider, ProviderFault } from '../../src/runtime/identity-provider.ts'
import { plainBrowser, signedInBrowser } from '../pages/support/plain-browser.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import type { World } from '../support/world.ts'
import { worldOfFile, worldsOfTests } from '../support/world-of-file.ts'
import { idToken, startHostileProvider, type Tricks } from './support/hostile-provider.ts'

// What honest providers do in their own ways, one at a time, and what people, the log and the audit log are told when it goes wrong.

const provider = await startHostileProvider()
afterAll(provider.stop)
afterEach(() => provider.cheat({}))
const rules = { providerName: 'Example ID', ways: ['oidc'], passwordFor: 'operators' } as const
const secret = 'a-secret-of-the-test-that-is-long-enough'
const env = {
  SIGN_IN: 'oidc',
  OIDC_NAME: 'Example ID',
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: 'platform',
  OIDC_CLIENT_SECRET: secret,
}
const open = await worldOfFile({ env: { ...env, OIDC_CREATE_USERS: 'on', OIDC_LINK_BY_EMAIL: 'on' } })
const closed = await worldOfFile({ env })
const fresh = worldsOfTests()
const prompting = await worldOfFile({ env: { ...env, OIDC_CREATE_USERS: 'on', OIDC_PROOF: 'prompt' } })

type Claims = Readonly<Record<string, unknown>>
const personOf = (sub: string): Claims => ({ sub, email: `${sub}@id.example`, email_verified: true })
const saying = (claims: Claims): Tricks => ({ claims: (right) => ({ ...right, ...claims }) })
const ordinary = (claims: Claims = {}): Tricks => saying({ ...personOf('ordinary'), ...claims })

/** Comes back from where a page has sent the browser, with these parameters instead of the right ones. */
const comeBack = async (
  world: World,
  location: string | null,
  change: Claims,
  browser = plainBrowser(world.server.url),
) => {
  const back: Claims = { ...provider.agree(location ?? ''), ...change }
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(back)) if (typeof value === 'string') given.set(name, value)
  return await browser.get(`/sign-in/oidc/callback?${given.toString()}`)
}

const signIn = async (world: World, tricks: Tricks, change: Claims = {}) => {
  provider.cheat(tricks)
  const browser = plainBrowser(world.server.url)
  const away = await browser.get('/sign-in/oidc?return_to=/account')
  const seen = await comeBack(world, away.headers.get('location'), change, browser)
  return { browser, seen }
}

/** Goes to the provider to prove that it is still the same person. */
const prove = async ({ browser, world, tricks, change = {} }: Proving) => {
  const away = await browser.get('/account/prove/oidc?return_to=/account/factors/passkeys/new')
  const asked = new URL(away.headers.get('location') ?? '').searchParams
  provider.cheat(tricks)
  return { asked, seen: await comeBack(world, asked.size === 0 ? null : away.headers.get('location'), change, browser) }
}
type Proving = {
  readonly browser: ReturnType<typeof plainBrowser>
  readonly world: World
  readonly tricks: Tricks
  readonly change?: Claims
}

const lastRefusal = async ({ platform }: World) => {
  const events = await auditEvents(platform)
  const { action, detail } = events.findLast(({ outcome }) => outcome === 'refused') ?? {}
  return { action, reason: JSON.parse(detail ?? '{}').reason }
}

/** The latest line of the log about a provider. The log of a server in a process of its own arrives a little later. */
const lastLine = async ({ server }: World, kind: string): Promise<Record<string, unknown>> => {
  for (let tries = 0; tries < 100; tries += 1) {
    const lines = server
      .log()
      .split('\n')
      .filter((line) => line.includes('"event":"provider.'))
    const found = lines.findLast((line) => line.includes(`"kind":"${kind}"`))
    if (found !== undefined) return JSON.parse(found)
    await Bun.sleep(20)
  }
  throw new Error(`The log has no ${kind}.`)
}

const html = (status: number) => () =>
  new Response('<!doctype html><p>Oops', { status, headers: { 'content-type': 'text/html' } })
const refusing = (status: number, error: string) => () =>
  Response.json({ error, error_description: `Because\u0000 of\u202e ${'x'.repeat(500)}` }, { status })
const at = (path: string, answer: () => Response): Tricks => ({ answers: { [path]: answer } })

type Case = {
  readonly title: string
  readonly cause: SignInCause
  /** The error of the provider that the audit and the page have. */
  readonly code?: string
  readonly world?: World
  readonly tricks?: Tricks
  readonly change?: Claims
  readonly before?: () => Promise<unknown>
}
const addUser = async (world: World, email: string) =>
  await createUser(world.platform, trace, operator, {
    email,
    name: 'Known Person',
    password: 'correct horse battery',
    isOperator: false,
  })

const cases: readonly Case[] = [
  { title: 'an answer that was not asked for', cause: 'not_begun_here', change: { state: 'other' } },
  ...['access_denied'].map((error) => answering(error, 'cancelled')),
  ...['login_required', 'interaction_required', 'consent_required', 'account_selection_required'].map((error) =>
    answering(error, 'interaction_needed'),
  ),
  answering('made_up', 'provider_error'),
  ...['server_error', 'temporarily_unavailable'].map((error): Case => {
    const { change = {} } = answering(error, 'provider_unreachable')
    return { title: `the error “${error}”`, cause: 'provider_unreachable', change }
  }),
  { ...answering('<b>bold</b>', 'provider_error'), code: 'unknown' },
  { ...answering('', 'provider_error'), code: 'unknown' },
  ...(['invalid_client', 'unauthorized_client'] as const).map((code): Case => ({
    title: code,
    cause: 'client_refused',
    code,
    tricks: at('/token', refusing(401, code)),
  })),
  {
    title: 'a refused client with a challenge',
    cause: 'client_refused',
    code: 'invalid_client',
    tricks: at('/token', () =>
      Response.json({ error: 'invalid_client' }, { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } }),
    ),
  },
  ...[400, 500].map((status): Case => ({
    title: `a refused code with status ${status}`,
    cause: 'code_refused',
    code: 'invalid_grant',
    tricks: at('/token', refusing(status, 'invalid_grant')),
  })),
  {
    title: 'another error of the token endpoint',
    cause: 'provider_error',
    code: 'invalid_scope',
    tricks: at('/token', refusing(400, 'invalid_scope')),
  },
  ...([408, 429, 500, 503] as const).flatMap((status): Case[] => [
    { title: `a page of status ${status}`, cause: 'provider_unreachable', tricks: at('/token', html(status)) },
    {
      title: `an error of status ${status}`,
      cause: 'provider_unreachable',
      tricks: at('/token', refusing(status, 'slow_down')),
    },
  ]),
  {
    title: 'an error that will pass',
    cause: 'provider_unreachable',
    tricks: at('/token', refusing(400, 'temporarily_unavailable')),
  },
  ...[{}, { email: 'first@id.example' }].map((claims): Case => ({
    title: `an endpoint for ${Object.hasOwn(claims, 'email') ? 'the proof of an address' : 'addresses'} that is busy`,
    cause: 'provider_unreachable',
    tricks: { ...saying({ sub: 'first', ...claims }), ...at('/userinfo', refusing(429, 'slow_down')) },
  })),
  { title: 'a page instead of tokens', cause: 'provider_broken', tricks: at('/token', html(200)) },
  { title: 'a page instead of an error', cause: 'provider_broken', tricks: at('/token', html(400)) },
  { title: 'a list instead of tokens', cause: 'provider_broken', tricks: at('/token', () => Response.json([])) },
  {
    title: 'a redirect of the token endpoint',
    cause: 'provider_broken',
    tricks: at('/token', () => Response.redirect(`${provider.issuer}/elsewhere`)),
  },
  {
    title: 'an answer without an end',
    cause: 'provider_broken',
    tricks: at('/token', () => Response.json({ access_token: 'x'.repeat(1024 * 1024) })),
  },
  { title: 'an answer of another issuer', cause: 'issuer_differs', change: { iss: 'https://other.example' } },
  {
    title: 'an ID token of another issuer',
    cause: 'issuer_differs',
    tricks: ordinary({ iss: 'https://other.example' }),
  },
  { title: 'a clock that is behind', cause: 'clock_differs', tricks: { clockSeconds: -150 } },
  { title: 'a clock that is ahead', cause: 'clock_differs', tricks: { clockSeconds: 90 } },
  {
    title: 'a sign-in of the future',
    cause: 'clock_differs',
    tricks: ordinary({ auth_time: Math.floor(Date.now() / 1000) + 3600 }),
  },
  { title: 'another nonce', cause: 'answer_invalid', tricks: ordinary({ nonce: 'other' }) },
  {
    title: 'no ID token',
    cause: 'answer_invalid',
    tricks: at('/token', () => Response.json({ access_token: 'x', token_type: 'Bearer' })),
  },
  { title: 'keys that do not sign', cause: 'answer_invalid', tricks: at('/jwks', () => Response.json({ keys: [] })) },
  { title: 'keys that cannot be had', cause: 'provider_unreachable', tricks: at('/jwks', html(503)) },
  ...['', 'x'.repeat(256), 'Zoë', '\ud800', 'a\u0000b', 'a\nb', 42, ['a'], null, undefined].map((sub): Case => ({
    title: `the subject ${JSON.stringify(sub)?.slice(0, 12)}`,
    cause: 'subject_invalid',
    tricks: saying({ ...personOf('odd'), sub }),
  })),
  { title: 'no address', cause: 'email_missing', tricks: saying({ sub: 'nowhere' }) },
  ...[['a@id.example'], 'not an address', 42, { value: 'a@id.example' }].map((email): Case => ({
    title: `the address ${JSON.stringify(email)}`,
    cause: 'email_missing',
    tricks: saying({ ...personOf('odd'), email }),
  })),
  ...[false, 'false', 'FALSE', 0, 1, 'yes', '', null, undefined].map((verified): Case => ({
    title: `an address that is verified: ${JSON.stringify(verified)}`,
    cause: 'email_unverified',
    tricks: saying({ ...personOf('unsure'), email_verified: verified }),
  })),
  { title: 'nobody with the address', cause: 'creation_off', world: closed, tricks: saying(personOf('stranger')) },
  {
    title: 'an account that is not linked',
    cause: 'no_account',
    world: closed,
    tricks: saying(personOf('unlinked')),
    before: async () => await addUser(closed, 'unlinked@id.example'),
  },
  {
    title: 'a person who was unlinked',
    cause: 'unlinked',
    tricks: saying(personOf('parted')),
    before: async () => {
      await signIn(open, saying(personOf('parted')))
      const place = { email: 'parted@id.example', issuer: provider.issuer }
      await unlinkIdentity(open.platform, trace, operator, place)
    },
  },
  {
    title: 'an address that was somebody else’s',
    cause: 'account_of_other_subject',
    tricks: saying({ ...personOf('recycled'), sub: 'successor' }),
    before: async () => await signIn(open, saying(personOf('recycled'))),
  },
  {
    title: 'a disabled account',
    cause: 'disabled',
    tricks: saying(personOf('leaver')),
    before: async () => {
      await signIn(open, saying(personOf('leaver')))
      await setUserStatus(open.platform, trace, operator, { email: 'leaver@id.example', status: 'disabled' })
    },
  },
  {
    title: 'an account that a recovery has suspended',
    cause: 'disabled',
    tricks: saying(personOf('recovered')),
    before: async () => {
      await open.platform.database.transaction(async (q) => {
        const row = await q.users.byId(open.user.id)
        if (row === null) throw new Error('There is no user.')
        const id = recordId('usr_', open.platform.random.uuid(open.platform.clock.now()))
        await q.users.insert({ ...row, id, externalId: id, email: 'recovered@id.example', suspendedAt: 1 })
        await q.identities.link({ issuer: provider.issuer, subject: 'recovered', userId: id, createdAt: 1 })
      })
    },
  },
]
function answering(error: string, cause: SignInCause): Case {
  const change = { code: undefined, iss: undefined, error, error_description: 'Because\r\n of\u202e this' }
  return { title: `the error “${error}”`, cause, code: error, change }
}

describe('nobody is signed in, and everybody reads why, by', () => {
  test.each(cases.map((each) => [each.title, each] as const))('%s', async (_, each) => {
    const { cause, code = null, world = open, tricks = ordinary(), change } = each
    await each.before?.()
    const { seen, browser } = await signIn(world, { ...ordinary(), ...tricks }, change)
    expect([each.title, seen.status]).toEqual([each.title, isOutage(cause) ? 503 : 400])
    expect(seen.text.replaceAll('&#39;', "'")).toContain(sentenceOf({ kind: cause, code }, rules))
    expect(seen.text).toMatch(/href="\/sign-in(\/oidc\?return_to=%2Faccount|\?return_to=%2F|\?way=password)"/)
    expect(browser.cookies.get('session')).toBeUndefined()
    const reason = code === null ? cause : `provider_error:${code}`
    expect(await lastRefusal(world)).toEqual({ action: 'session.create', reason })
    expect((await lastLine(world, cause))['event']).toBe(
      isOfProvider(cause) ? 'provider.unreachable' : 'provider.refused',
    )
    const answered = `"requestId":"${seen.headers.get('x-request-id')}"`
    const lines = world.server
      .log()
      .split('\n')
      .filter((line) => line.includes(answered) && line.includes('http.answered'))
    expect(lines.map((line) => JSON.parse(line).errorCode)).toEqual([cause])
  })

  test('each cause that there is', () => {
    const made = new Set(cases.map(({ cause }) => cause))
    expect([...made, 'proof_refused'].toSorted()).toEqual(signInCauses.toSorted())
  })
})

test('the log has what the provider said, cut and visible, the endpoint, and both issuers', async () => {
  await signIn(open, at('/token', refusing(400, 'invalid_request')))
  const line = await lastLine(open, 'provider_error')
  expect(line).toMatchObject({ providerError: 'invalid_request', endpoint: `${provider.issuer}/token` })
  expect(line['description']).toStartWith('Because of xxx')
  expect(String(line['description']).length).toBeLessThanOrEqual(200)
  await signIn(open, ordinary({ iss: 'https://another.example' }))
  expect(await lastLine(open, 'issuer_differs')).toMatchObject({
    expected: provider.issuer,
    received: 'https://another.example',
  })
})

/** Signs with a header and a key of its own. */
const signed = (header: object) => ({
  sign: async (claims: Claims) => {
    const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
    return await idToken(header, claims, pair.privateKey)
  },
})

test('the log says which check an answer has failed', async () => {
  for (const [claims, description] of [
    [{ nonce: 'other' }, 'unexpected ID Token "nonce" claim value'],
    [{ aud: ['platform', 'other'] }, 'ID Token "aud" (audience) claim includes additional untrusted audiences'],
    [{ azp: 'other' }, 'The ID token is for another client (azp).'],
    [{ auth_time: 'yesterday' }, 'ID Token "auth_time" (authentication time) must be a number'],
  ] as const) {
    await signIn(open, ordinary(claims))
    expect((await lastLine(open, 'answer_invalid'))['description']).toBe(description)
  }
})

test('a refusal that is described in another encoding than UTF-8 is told like every other', async () => {
  const browser = plainBrowser(open.server.url)
  const away = await browser.get('/sign-in/oidc?return_to=/account')
  const state = new URL(away.headers.get('location') ?? '').searchParams.get('state')
  const back = `state=${state}&error=access_denied&error_description=L%27acc%E8s%00`
  const seen = await browser.get(`/sign-in/oidc/callback?${back}`)
  expect([seen.status, seen.text]).toEqual([400, expect.stringContaining('Example ID refused to let you in here')])
  expect(await lastRefusal(open)).toEqual({ action: 'session.create', reason: 'provider_error:access_denied' })
})

test('of what a provider writes, however long, the log, the pages and the audit log have little', async () => {
  const rude = `x\r\n\u202e${'R'.repeat(20_000)}`
  const tooMuch = 'R'.repeat(201)
  const naming = (name: string): Tricks =>
    Object.assign(ordinary(), { metadata: { [name]: name === 'issuer' ? rude : `https://id.example/${rude}` } })
  const tricks: readonly Tricks[] = [
    ...['iss', 'aud', 'nonce', 'azp', 'acr', 'sub', 'email', 'name', 'picture', 'exp', 'auth_time'].map((claim) =>
      ordinary({ [claim]: rude }),
    ),
    ...['kid', 'alg', 'typ', 'jku'].map((name) => signed({ alg: 'RS256', kid: 'first', [name]: rude })),
    ...['error', 'error_description', 'token_type', 'id_token', 'access_token'].map((name) =>
      at('/token', () => Response.json({ [name]: rude }, { status: name.startsWith('error') ? 400 : 200 })),
    ),
    at('/token', () => new Response('', { status: 200, headers: { 'content-type': `x/${'R'.repeat(5_000)}` } })),
    at('/jwks', () => Response.json({ keys: [{ kty: rude, kid: rude, alg: rude }] })),
    ...['issuer', 'token_endpoint', 'userinfo_endpoint', 'authorization_endpoint', 'end_session_endpoint'].map(naming),
  ]
  const creating = { env: { ...env, OIDC_CREATE_USERS: 'on' } }
  const lasting = await fresh(creating)
  for (const [index, trick] of tricks.entries()) {
    // What a provider says of itself is read once by each server.
    const world = 'metadata' in trick ? await fresh(creating) : lasting
    provider.cheat(trick)
    const browser = plainBrowser(world.server.url)
    const away = await browser.get('/sign-in/oidc')
    const to = away.headers.get('location')
    const seen = to === null ? away : await comeBack(world, to, { iss: undefined }, browser)
    expect([index, seen.text.includes(tooMuch), (seen.headers.get('location') ?? '').length < 4_096]).toEqual([
      index,
      false,
      true,
    ])
    expect([index, world.server.log().includes(tooMuch)]).toEqual([index, false])
    expect([index, JSON.stringify(await auditEvents(world.platform)).includes(tooMuch)]).toEqual([index, false])
  }
})

test('a clock that is 45 seconds off is right enough', async () => {
  for (const clockSeconds of [45, -45]) {
    const { seen } = await signIn(open, { ...saying(personOf('clock')), clockSeconds })
    expect([clockSeconds, seen.status]).toEqual([clockSeconds, 303])
  }
})

test('a person who is known needs no address, and the log says why it could not be asked for', async () => {
  await signIn(open, saying(personOf('regular')))
  const { seen } = await signIn(open, { ...saying({ sub: 'regular' }), ...at('/userinfo', html(502)) })
  expect(seen.status).toBe(303)
  expect(await lastLine(open, 'provider_unreachable')).toMatchObject({ endpoint: `${provider.issuer}/userinfo` })
})

test('a changed address and name arrive with the next sign-in, and of two people with one address, operators read', async () => {
  const said = { ...personOf('wanderer'), name: 'Before' }
  await signIn(open, saying(said))
  const email = 'wanderer.moved@id.example'
  const { browser } = await signIn(open, saying({ ...said, email, given_name: 'Ngọc', family_name: 'Trần', name: '' }))
  const page = (await browser.get('/account/email')).text
  expect([page.includes(email), page.includes('Ngọc Trần')]).toEqual([true, true])
  const holder = await addUser(open, 'taken@id.example')
  const kept = await signIn(open, saying({ ...said, email: 'taken@id.example' }))
  expect((await kept.browser.get('/account/email')).text).toContain(email)
  const { id, email: chief } = await createUser(open.platform, trace, operator, { ...chiefOperator })
  const desk = await signedInBrowser(open.server.url, { email: chief, password: chiefOperator.password })
  expect(id).not.toBe(holder.id)
  const users = (await open.platform.database.queries.users.byEmail(email))?.id ?? ''
  expect((await desk.get(`/desk/users/${users}`)).text).toContain(`href="/desk/users/${holder.id}"`)
})
const chiefOperator = {
  email: 'chief@example.com',
  name: 'Chief Operator',
  password: 'correct horse battery',
  isOperator: true,
}

const now = () => Math.floor(Date.now() / 1000)
const signedIn = async (world: World, sub: string) => (await signIn(world, saying(personOf(sub)))).browser

describe('a proof at the provider', () => {
  test('is asked for with max_age=0, and with prompt=login only where that is the setting', async () => {
    provider.cheat(saying(personOf('asked')))
    const away = await plainBrowser(open.server.url).get('/sign-in/oidc')
    const plain = new URL(away.headers.get('location') ?? '').searchParams
    expect([plain.get('max_age'), plain.get('prompt')]).toEqual([null, null])
    for (const [world, prompt] of [
      [open, null],
      [prompting, 'login'],
    ] as const) {
      const browser = await signedIn(world, 'asked')
      const { asked } = await prove({ browser, world, tricks: saying(personOf('asked')) })
      expect([asked.get('max_age'), asked.get('prompt')]).toEqual(['0', prompt])
    }
  })

  test.each<readonly [title: string, world: World, said: () => Claims, reason: string | null]>([
    ['without auth_time', open, () => ({}), 'not_told'],
    ['without auth_time after prompt=login', prompting, () => ({}), null],
    ['with a fresh auth_time', open, () => ({ auth_time: now() }), null],
    ['with a fresh auth_time after prompt=login', prompting, () => ({ auth_time: now() }), null],
    ['by a clock 45 s behind', open, () => ({ auth_time: now() - 45, iat: now() - 45 }), null],
    ['by a clock 45 s ahead', open, () => ({ auth_time: now() + 45, iat: now() + 45 }), null],
    ['by a clock 90 s behind', open, () => ({ auth_time: now() - 90, iat: now() - 90 }), 'clock_behind'],
    ['by a clock 90 s ahead', open, () => ({ auth_time: now() + 90, iat: now() + 90 }), 'clock_differs'],
    ['with an old auth_time', open, () => ({ auth_time: now() - 90 }), 'not_asked'],
    ['with an old auth_time after prompt=login', prompting, () => ({ auth_time: now() - 90 }), 'not_asked'],
    ['of somebody else', prompting, () => personOf('asker'), 'other_person'],
  ])('%s', async (_, world, said, reason) => {
    await signedIn(world, 'asker')
    const browser = await signedIn(world, 'prover')
    const { seen } = await prove({ browser, world, tricks: saying({ ...personOf('prover'), ...said() }) })
    expect([seen.status, browser.cookies.has('proved')]).toEqual(reason === null ? [303, true] : [400, false])
    if (reason === null) return
    expect(await lastRefusal(world)).toEqual({ action: 'session.prove', reason })
    expect(seen.text).toContain('href="/account/prove?return_to=%2Faccount%2Ffactors%2Fpasskeys%2Fnew"')
  })

  test('that the provider refuses is named, and the person stays signed in', async () => {
    const browser = await signedIn(prompting, 'refused')
    const change = { code: undefined, error: 'invalid_request' }
    const { seen } = await prove({ browser, world: prompting, tricks: {}, change })
    expect(seen.text).toContain(sentenceOf({ kind: 'proof_refused', code: 'invalid_request' }, rules))
    expect(await lastRefusal(prompting)).toEqual({ action: 'session.prove', reason: 'provider_error:invalid_request' })
    expect((await lastLine(prompting, 'proof_refused'))['event']).toBe('provider.refused')
    expect((await browser.get('/account')).status).toBe(200)
  })
})

// From here on without a server of ours: what the client of the provider makes of its answers.

type Options = Partial<Parameters<typeof createIdentityProvider>[0]>
const clientOf = (options: Options = {}, patienceMs?: number) =>
  createIdentityProvider(
    {
      issuer: provider.issuer,
      clientId: 'platform',
      clientSecret: secret,
      clientAuth: null,
      trustsEmail: false,
      ...options,
    },
    patienceMs,
  )
const callback = 'https://apps.example/sign-in/oidc/callback'

/** What the client reads of an answer, or its fault. */
const readBy = async (client: ReturnType<typeof clientOf>, from = provider) => {
  try {
    const { url, checks } = await client.begin(callback, 'a nonce', null)
    const back = new URLSearchParams(from.agree(url)).toString()
    return await client.finish(new URL(`${callback}?${back}`), checks, null)
  } catch (error) {
    if (error instanceof ProviderFault) return error
    throw error
  }
}

test('a changed secret is used at once, also by who has left for the provider before', async () => {
  provider.cheat({ claims: (right) => ({ ...right, sub: 'ada' }) })
  const client = clientOf({ clientAuth: 'post' })
  await readBy(client)
  const { url, checks } = await client.begin(callback, 'a nonce', null)
  client.useSecret('another-secret')
  const back = new URLSearchParams(provider.agree(url)).toString()
  expect((await client.finish(new URL(`${callback}?${back}`), checks, null)).subject).toBeTruthy()
  expect(provider.credentials.slice(-2)).toEqual([secret, 'another-secret'])
})

test('a text counts like a boolean, one no is enough, and trust only fills a silence', async () => {
  const { undefined: none } = { undefined }
  for (const [verified, ownDomain, alone, trusted] of [
    [true, none, true, true],
    ['true', none, true, true],
    ['True', none, true, true],
    [false, none, false, false],
    ['false', none, false, false],
    [none, true, true, true],
    [none, 1, true, true],
    [none, '1', true, true],
    [none, 'true', true, true],
    [none, false, false, false],
    [none, 0, false, false],
    [none, '0', false, false],
    [none, 'false', false, false],
    [true, false, false, false],
    ['true', '0', false, false],
    [false, true, false, false],
    ['false', 1, false, false],
    [true, 1, true, true],
    [null, none, false, false],
    [none, null, false, false],
    [1, none, false, false],
    ['yes', none, false, false],
    [[true], none, false, false],
    [none, none, false, true],
  ]) {
    const claims = { ...personOf('forms'), email_verified: verified, xms_edov: ownDomain }
    provider.cheat(saying(claims))
    for (const [trustsEmail, expected] of [
      [false, alone],
      [true, trusted],
    ] as const) {
      const read = await readBy(clientOf({ trustsEmail }))
      expect([claims, trustsEmail, read]).toMatchObject([claims, trustsEmail, { isEmailVerified: expected }])
    }
  }
})

test('where the ID token does not say whether its address is verified, the userinfo endpoint is asked, and both come from one place', async () => {
  const email = 'thin@id.example'
  for (const [inToken, userInfo, expected] of [
    [{}, { email, email_verified: true }, { email, isEmailVerified: true, missed: null }],
    [{}, { email, email_verified: 'true' }, { email, isEmailVerified: true }],
    [{}, { email, email_verified: false }, { email, isEmailVerified: false }],
    [{}, { email }, { email, isEmailVerified: false }],
    [{}, { email: 'new@id.example', email_verified: true }, { email: 'new@id.example', isEmailVerified: true }],
    [{}, { email_verified: true }, { email, isEmailVerified: false }],
    [{}, { email: null, email_verified: true }, { email, isEmailVerified: false }],
    [{}, undefined, { email, isEmailVerified: false, missed: expect.any(ProviderFault) }],
    [{ email_verified: true }, { email, email_verified: false }, { email, isEmailVerified: true }],
    [{ email_verified: false }, { email, email_verified: true }, { email, isEmailVerified: false }],
  ] as const) {
    const told = userInfo && { sub: 'thin', ...userInfo }
    provider.cheat({ ...saying({ sub: 'thin', email, ...inToken }), ...(told && { userInfo: told }) })
    const read = await readBy(clientOf())
    expect([inToken, userInfo, read]).toMatchObject([inToken, userInfo, expected])
  }
  provider.cheat({ ...saying({ sub: 'thin', email }), userInfo: { sub: 'other', email, email_verified: true } })
  expect(await readBy(clientOf())).toMatchObject({ isEmailVerified: false })
  provider.cheat(saying({ sub: 'thin', email })) // who trusts its addresses need not ask
  expect(await readBy(clientOf({ trustsEmail: true }))).toMatchObject({ isEmailVerified: true, missed: null })
})

test('a name is the whole one, or made of its parts', async () => {
  for (const [said, name] of [
    [{ name: 'Ada Lovelace', given_name: 'A', family_name: 'L' }, 'Ada Lovelace'],
    [{ given_name: 'Ada', family_name: 'Lovelace' }, 'Ada Lovelace'],
    [{ name: ' ', given_name: 'Ada' }, 'Ada'],
    [{ name: ['Ada'], family_name: 'Lovelace' }, 'Lovelace'],
    [{ preferred_username: 'ada', nickname: 'ada' }, null],
    [{}, null],
  ] as const) {
    provider.cheat(saying({ ...personOf('named'), ...said }))
    expect([said, await readBy(clientOf())]).toMatchObject([said, { name }])
  }
})

test('the longest subject, and each visible character, is one', async () => {
  const visible = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index))
  for (const sub of ['0', 'x'.repeat(255), visible]) {
    provider.cheat(saying({ ...personOf('odd'), sub }))
    expect(await readBy(clientOf())).toMatchObject({ subject: sub })
  }
})

test('the secret goes by HTTP Basic if the provider lists that or nothing, and otherwise in the form, unless a setting decides', async () => {
  const clientSecret = "s:e%c+r&e=t~*-._!'()/?#"
  const header = `Basic ${btoa(`platform:${new URLSearchParams({ a: clientSecret }).toString().slice(2)}`)}`
  for (const [listed, clientAuth, sent] of [
    [undefined, null, header],
    [[], null, header],
    [['client_secret_basic'], null, header],
    [['client_secret_post', 'client_secret_basic'], null, header],
    [['client_secret_post'], null, clientSecret],
    [['private_key_jwt'], null, clientSecret],
    [['client_secret_post'], 'basic', header],
    [['client_secret_basic'], 'post', clientSecret],
    [undefined, 'post', clientSecret],
  ] as const) {
    provider.cheat({ ...saying(personOf('any')), metadata: { token_endpoint_auth_methods_supported: listed } })
    expect(await readBy(clientOf({ clientSecret, clientAuth }))).toMatchObject({ subject: 'any' })
    expect([listed, clientAuth, provider.credentials.at(-1)]).toEqual([listed, clientAuth, sent])
  }
  const [name, encoded = ''] = atob(header.slice('Basic '.length)).split(':')
  expect([name, new URLSearchParams(`a=${encoded}`).get('a')]).toEqual(['platform', clientSecret])
})

test('a slash at the end of the issuer makes no difference, and is not part of how people are known', async () => {
  for (const [path, setting] of [
    ['/realm', '/realm'],
    ['/realm', '/realm/'],
    ['/realm/', '/realm'],
    ['/realm/', '/realm/'],
    ['', '/'],
  ] as const) {
    const other = await startHostileProvider(path)
    other.cheat(saying(personOf('same')))
    const origin = new URL(other.issuer).origin
    const read = await readBy(clientOf({ issuer: origin + setting }), other)
    expect(read).toMatchObject({ issuer: (origin + path).replace(/\/$/, ''), subject: 'same' })
    await other.stop()
  }
})

test('metadata of another issuer are refused with both names', async () => {
  for (const issuer of [
    'https://evil.example',
    `${provider.issuer}/realm`,
    'https://login.microsoftonline.com/{tenantid}/v2.0',
  ]) {
    provider.cheat({ metadata: { issuer } })
    const words = { expected: provider.issuer, received: issuer }
    expect(await readBy(clientOf())).toMatchObject({ kind: 'issuer_differs', words })
  }
})

test('metadata without what a sign-in needs are refused with what is missing', async () => {
  for (const name of ['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri']) {
    for (const value of [undefined, 42, 'javascript:alert(1)', '/relative', null]) {
      if (name === 'issuer' && typeof value === 'string') continue
      provider.cheat({ metadata: { [name]: value } })
      const words = { description: expect.stringContaining(name) }
      expect([value, await readBy(clientOf())]).toMatchObject([value, { kind: 'provider_broken', words }])
    }
  }
})

test('what nothing here reads in an answer with tokens may have any form', async () => {
  for (const [name, value] of [
    ...['expires_in', 'refresh_token', 'scope', 'ext_expires_in', 'authorization_details'].flatMap((each) =>
      [null, '', -1, '3600', ['a'], { a: 1 }, true].map((odd) => [each, odd] as const),
    ),
    ['azp', null] as const,
  ]) {
    provider.cheat({})
    const browser = plainBrowser(open.server.url)
    const away = (await browser.get('/sign-in/oidc?return_to=/account')).headers.get('location') ?? ''
    const now = Math.floor(Date.now() / 1000)
    const nonce = new URL(away).searchParams.get('nonce')
    const claims = {
      ...personOf('plain-reader'),
      ...(name === 'azp' ? { azp: value } : {}),
      iss: provider.issuer,
      aud: 'platform',
      iat: now,
      exp: now + 60,
      nonce,
    }
    const answer = { access_token: 'x', token_type: 'Bearer', id_token: await provider.sign(claims), [name]: value }
    provider.cheat(at('/token', () => Response.json(answer)))
    expect([name, value, (await comeBack(open, away, {}, browser)).status]).toEqual([name, value, 303])
  }
})

test('an address that a provider leaves empty, or that is none, is one that it does not have', async () => {
  for (const name of ['userinfo_endpoint', 'end_session_endpoint']) {
    for (const value of [
      '',
      null,
      42,
      [],
      'javascript:alert(1)',
      '/relative',
      `${provider.issuer}/${'x'.repeat(3_000)}`,
    ]) {
      provider.cheat({ ...saying({ sub: 'plain' }), userInfo: { sub: 'plain' }, metadata: { [name]: value } })
      const client = clientOf()
      expect([value, await readBy(client)]).toMatchObject([value, { subject: 'plain', missed: null }])
      expect([value, await client.endSessionUrl(callback)]).toEqual([value, null])
    }
  }
})

test('metadata are asked for every ten minutes, however long the server runs, and may begin with a byte order mark', async () => {
  let asked = 0
  const path = '/.well-known/openid-configuration'
  const known = await (await fetch(provider.issuer + path)).text()
  const answer = () => {
    asked += 1
    return new Response(`\ufeff${known}`)
  }
  provider.cheat({ ...saying(personOf('any')), answers: { [path]: answer } })
  const client = clientOf()
  const clock = spyOn(performance, 'now')
  try {
    for (const minutes of [0, 9, 11, 12, 20, 22]) {
      clock.mockReturnValue(minutes * 60_000)
      await client.begin('https://apps.example/callback', 'a nonce', null)
    }
  } finally {
    clock.mockRestore()
  }
  expect(asked).toBe(3)
})

test('metadata that are slow, broken, too long or elsewhere are named with their endpoint', async () => {
  const path = '/.well-known/openid-configuration'
  const endpoint = provider.issuer + path
  for (const [kind, answer, patienceMs] of [
    ['provider_unreachable', async () => (await Bun.sleep(1000), Response.json({})), 200],
    ['provider_unreachable', html(503)],
    ['provider_broken', html(200)],
    ['provider_broken', html(404)],
    ['provider_broken', () => new Response('{"issuer":')],
    ['provider_broken', () => new Response('null')],
    ['provider_broken', () => new Response(' '.repeat(1024 * 1024))],
    ['provider_broken', () => Response.redirect('https://evil.example/')],
  ] as const) {
    provider.cheat({ answers: { [path]: answer } })
    expect(await readBy(clientOf({}, patienceMs))).toMatchObject({ kind, words: { endpoint } })
  }
  const nowhere = await startHostileProvider()
  await nowhere.stop()
  expect(await readBy(clientOf({ issuer: nowhere.issuer }))).toMatchObject({ kind: 'provider_unreachable' })
})
