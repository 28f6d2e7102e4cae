import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { createUser } from '../../src/operations/users/users.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { plainBrowser, type PlainBrowser } from '../pages/support/plain-browser.ts'
import { addApp } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { idToken, startHostileProvider, type Tricks } from './support/hostile-provider.ts'

// Signing in with an identity provider, attacked from outside and by answers that no honest provider gives.

const provider = await startHostileProvider()
afterAll(provider.stop)
afterEach(() => provider.cheat({}))
const clientSecret = 'a-secret-of-the-test-that-is-long-enough'
const world = await worldOfFile({
  env: {
    SIGN_IN: 'oidc',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'platform',
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_CREATE_USERS: 'on',
    OIDC_LINK_BY_EMAIL: 'on',
  },
})
const { platform } = world
const { url } = world.server

type Person = { readonly sub: string; readonly email?: string; readonly email_verified?: unknown }
const personOf = (sub: string): Person => ({ sub, email: `${sub}@id.example`, email_verified: true })

/** Goes to the provider; returns what comes back, and `land`, which brings it to the server. */
const leave = async (browser: PlainBrowser = plainBrowser(url)) => {
  const away = await browser.get('/sign-in/oidc?return_to=/account')
  const back = provider.agree(away.headers.get('location') ?? '')
  const land = async (parameters: Readonly<Record<string, string>> = back, by = browser) => {
    const seen = await by.get(`/sign-in/oidc/callback?${new URLSearchParams(parameters).toString()}`)
    return { status: seen.status, location: seen.headers.get('location') }
  }
  return { browser, back, land }
}
const signInAs = async (person: Person, more: Tricks = {}) => {
  provider.cheat({ ...more, claims: (right) => ({ ...right, ...person, ...more.claims?.({ ...right, ...person }) }) })
  const left = await leave()
  const { status } = await left.land()
  return { status, ...left }
}
const sessionOf = ({ cookies }: PlainBrowser) => cookies.get('session')
const refusals = async () =>
  (await auditEvents(platform)).filter(
    ({ action, outcome, detail }) =>
      action === 'session.create' && outcome === 'refused' && detail?.startsWith('{"way":"oidc","reason":') === true,
  ).length

const userOf = async (subject: string) =>
  (await platform.database.queries.identities.find(provider.issuer, subject))?.userId

test('an honest answer signs in', async () => {
  const { status, browser } = await signInAs(personOf('honest'))
  expect([status, (await browser.get('/account')).status]).toEqual([303, 200])
})

test('a sign-in counts as a proof for ten minutes from when the provider asked the person, if it says when', async () => {
  await signInAs(personOf('prover'))
  const { slug } = await addApp(platform, { ...world.user, email: 'prover@id.example' })
  const now = Math.floor(platform.clock.now() / 1000)
  for (const [authTime, isProof] of [
    [undefined, false],
    [now - 601, false],
    [0, false],
    [now - 500, true],
    [now - 500.123456, true], // RFC 7519 section 2 allows fractions of a second
    [now + 45, true],
  ] as const) {
    const claims = (right: Record<string, unknown>) => ({ ...right, iat: now - 0.123456, auth_time: authTime })
    const { browser } = await signInAs(personOf('prover'), { claims })
    const { headers } = await browser.get(`/console/${slug}/credentials/new`)
    const isSentToProve = headers.get('location')?.startsWith('/account/prove?') === true
    expect([authTime, isSentToProve]).toEqual([authTime, !isProof])
  }
})

test('two tabs of a browser that leave at once both come back', async () => {
  provider.cheat({ claims: (right) => ({ ...right, ...personOf('tabs') }) })
  const browser = plainBrowser(url)
  const [first, second] = [await leave(browser), await leave(browser)]
  expect([await first.land(), await second.land()]).toEqual(
    [303, 303].map((status) => ({ status, location: '/account' })),
  )
})

const expectRefused = async (attack: () => Promise<{ readonly status: number }>, browser: PlainBrowser) => {
  const before = await refusals()
  expect((await attack()).status).toBe(400)
  expect(sessionOf(browser)).toBeUndefined()
  expect(await refusals()).toBe(before + 1)
}

test('an address that only the userinfo endpoint tells signs in, too', async () => {
  const person = personOf('asked')
  const { status } = await signInAs({ sub: person.sub }, { userInfo: { ...person } })
  expect([status, await userOf('asked')]).toEqual([303, expect.any(String)])
})

describe('nobody is signed in, and the audit log has the refusal, by', () => {
  test.each([
    ['a wrong state', { state: 'wrong' }],
    ['an answer of another issuer', { iss: 'https://evil.example' }],
    ['a code of another request', { code: '0' }],
    ['an error instead of a code', { code: '', error: 'access_denied' }],
    ['an error beside a code', { error: 'access_denied' }],
  ])('%s', async (_, change) => {
    provider.cheat({ claims: (right) => ({ ...right, ...personOf('victim') }) })
    const { browser, back, land } = await leave()
    const changed = Object.entries({ ...back, ...change }).filter(([, value]) => value !== '')
    await expectRefused(async () => await land(Object.fromEntries(changed)), browser)
  })

  test.each(['state', 'iss'])('an answer without %s', async (name) => {
    provider.cheat({ claims: (right) => ({ ...right, ...personOf('victim') }) })
    const { browser, back, land } = await leave()
    const { [name]: _, ...rest } = back
    await expectRefused(async () => await land(rest), browser)
  })

  test('an answer in a browser that asked for none', async () => {
    provider.cheat({ claims: (right) => ({ ...right, ...personOf('victim') }) })
    const { back, land } = await leave()
    const stranger = plainBrowser(url)
    await expectRefused(async () => await land(back, stranger), stranger)
  })

  test("an attacker's answer in a browser that has asked itself", async () => {
    provider.cheat({ claims: (right) => ({ ...right, ...personOf('attacker') }) })
    const [attacker, victim] = [await leave(), await leave()]
    await expectRefused(async () => await victim.land(attacker.back), victim.browser)
  })

  test("an attacker's code with the state of the victim", async () => {
    provider.cheat({ claims: (right) => ({ ...right, ...personOf('attacker') }) })
    const [attacker, victim] = [await leave(), await leave()]
    const mixed = { ...victim.back, code: attacker.back['code'] ?? '' }
    await expectRefused(async () => await victim.land(mixed), victim.browser)
  })

  test('the same answer again', async () => {
    const { browser, land } = await signInAs(personOf('twice'))
    browser.cookies.delete('session')
    await expectRefused(async () => await land(), browser)
  })

  const header = { alg: 'RS256', kid: 'first' } as const
  test.each<readonly [string, Tricks]>([
    ['an ID token of another issuer', { claims: () => ({ iss: 'https://evil.example' }) }],
    ['an ID token for another client', { claims: () => ({ aud: 'other' }) }],
    ['an ID token that was asked for by another client', { claims: () => ({ azp: 'other' }) }],
    ['an expired ID token', { claims: () => ({ exp: 1_700_000_000 }) }],
    ['an ID token with another nonce', { claims: () => ({ nonce: 'other' }) }],
    ['an ID token without a nonce', { claims: () => ({ nonce: undefined }) }],
    ['an ID token without a signature', { sign: async (claims) => await idToken({ alg: 'none' }, claims, null) }],
    ['an ID token that only claims to be signed', { sign: async (claims) => await idToken(header, claims, null) }],
    [
      'an ID token signed with the public key as a shared secret',
      {
        sign: async (claims) => {
          const raw = await provider.publicKey()
          const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
          return await idToken({ alg: 'HS256', kid: 'first' }, claims, key)
        },
      },
    ],
    ['an ID token without a subject', { claims: () => ({ sub: undefined }) }],
    ['an unverified address', { claims: () => ({ email_verified: false }) }],
    ['an address that only looks verified', { claims: () => ({ email_verified: 1 }) }],
    ['no word on whether the address is verified', { claims: () => ({ email_verified: undefined }) }],
    ['no address', { claims: () => ({ email: undefined }) }],
    [
      'an address that is told of somebody else',
      { claims: () => ({ email: undefined }), userInfo: personOf('somebody') },
    ],
    [
      'an unverified address beside an ID token that claims one to be verified',
      {
        claims: () => ({ email: undefined }),
        userInfo: { ...personOf('cheated'), email_verified: undefined },
      },
    ],
  ])('%s', async (_, tricks) => {
    const before = await refusals()
    const { status, browser } = await signInAs(personOf('cheated'), tricks)
    expect([status, sessionOf(browser), await refusals()]).toEqual([400, undefined, before + 1])
  })
})

const boastful: Tricks = { claims: () => ({ roles: ['operator'], isOperator: true, groups: ['admin'] }) }

describe('an account', () => {
  const password = 'correct horse battery'
  const addPerson = async (email: string, isOperator: boolean) =>
    await createUser(platform, trace, operator, { email, name: 'Known Person', password, isOperator })

  test('that has joined one person of the provider is not joined by another with the same address', async () => {
    const { id } = await addPerson('shared@id.example', false)
    expect((await signInAs({ ...personOf('shared'), sub: 'first-holder' })).status).toBe(303)
    expect(await userOf('first-holder')).toBe(id)
    expect((await signInAs({ ...personOf('shared'), sub: 'next-holder' })).status).toBe(400)
    expect(await userOf('next-holder')).toBeUndefined()
  })

  test('stays that of its person when the address there changes, also to the one of an operator', async () => {
    await addPerson('boss@id.example', true)
    await signInAs(personOf('moving'))
    const id = await userOf('moving')
    const { status, browser } = await signInAs({ ...personOf('boss'), sub: 'moving' })
    expect(status).toBe(303)
    expect((await platform.database.queries.users.byId(id ?? ''))?.email).toBe('moving@id.example')
    expect((await browser.get('/desk')).status).toBe(404)
  })

  test('of an operator is not joined, whatever the claims say', async () => {
    await addPerson('root@id.example', true)
    expect((await signInAs(personOf('root'), boastful)).status).toBe(400)
    const { browser } = await signInAs(personOf('ordinary'), boastful)
    expect((await browser.get('/desk')).status).toBe(404)
  })
})

test('where somebody wanted to go is never another site', async () => {
  provider.cheat({ claims: (right) => ({ ...right, ...personOf('honest') }) })
  for (const target of ['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)']) {
    const browser = plainBrowser(url)
    const away = await browser.get(`/sign-in/oidc?return_to=${encodeURIComponent(target)}`)
    const back = new URLSearchParams(provider.agree(away.headers.get('location') ?? ''))
    const landed = await browser.get(`/sign-in/oidc/callback?${back.toString()}`)
    expect(landed.headers.get('location')).toBe('/')
  }
})

test('a rotated key is fetched, at the latest for the second sign-in', async () => {
  await provider.rotate()
  const first = await signInAs(personOf('honest'))
  expect(first.status).toBeOneOf([303, 400])
  expect((await signInAs(personOf('honest'))).status).toBe(303)
})
