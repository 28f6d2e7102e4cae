import { expect } from 'bun:test'
import { authenticateSession } from '../../src/operations/authenticate.ts'
import { signInWithIdentity } from '../../src/operations/sessions/identity.ts'
import { proveByProvider } from '../../src/operations/sessions/prove-again.ts'
import { startIdentityProvider } from '../clients/support/identity-provider.ts'
import { freePort } from '../clients/support/free-port.ts'
import { auditEvents } from '../support/audit-events.ts'
import { claimsOf } from '../support/claims.ts'
import { needs } from '../support/needs.ts'
import { trace } from '../support/operator.ts'
import { createWorld, endWorld, type World } from '../support/world.ts'
import { earlier } from './support/earlier.ts'
import { closeBrowsers, openBrowser } from './support/browser.ts'
import { cookieNamed } from '../support/cookie.ts'

const { afterAll, afterEach, beforeAll, describe, test } = needs('Chromium', 'openssl')

let world: World
let platform: string
let provider: Awaited<ReturnType<typeof startIdentityProvider>>
beforeAll(async () => {
  const port = freePort()
  const publicUrl = `http://localhost:${port}`
  provider = await startIdentityProvider(`${publicUrl}/sign-in/oidc/callback`, `${publicUrl}/signed-out`)
  const env = {
    PUBLIC_URL: publicUrl,
    SIGN_IN: 'oidc,password',
    PASSWORD_FOR: 'operators',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    OIDC_NAME: 'Example ID',
    OIDC_CREATE_USERS: 'on',
    OIDC_LINK_BY_EMAIL: 'on',
  }
  world = await createWorld({ env, port })
  platform = publicUrl
})
afterEach(closeBrowsers)
afterAll(async () => {
  await endWorld(world)
  await provider.stop()
})

type Page = Awaited<ReturnType<typeof openBrowser>>

/** Says at the provider who it is, and agrees. */
const answer = async (page: Page, login: string) => {
  await page.getByLabel('Login').fill(login)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

for (const javaScript of [true, false]) {
  describe(`signing in with an identity provider, ${javaScript ? 'with' : 'without'} JavaScript`, () => {
    test('makes an account at the first sign-in, and finds it at the second', async () => {
      const name = `new-${javaScript}`
      for (const count of [1, 2]) {
        const page = await openBrowser(platform, { javaScript, alsoReaches: [provider.issuer] })
        await page.goto('/account/sessions')
        await page.getByRole('link', { name: 'Sign in with Example ID' }).click()
        await answer(page, name)
        await page.waitForURL(`${platform}/account/sessions`)
        expect(await page.content()).toContain(`Person ${name}`)
        const made = (await auditEvents(world.platform)).filter(
          ({ action, actorId, target }) => action === 'user.created' && actorId === target,
        )
        expect(made).toHaveLength(javaScript ? 1 : 2)
        expect(count).toBeLessThan(3)
      }
    })
  })
}

const signIn = async (login: string, javaScript = true) => {
  const page = await openBrowser(platform, { javaScript, alsoReaches: [provider.issuer] })
  await page.goto('/account')
  await page.getByRole('link', { name: 'Sign in with Example ID' }).click()
  await answer(page, login)
  await page.waitForURL((url) => url.origin === platform)
  return page
}
const identityOf = async (email: string) => {
  const q = world.platform.database.queries
  const [identity] = await q.identities.ofUser((await q.users.byEmail(email))?.id ?? '')
  return identity
}
const heading = async (page: Page) => await page.getByRole('heading', { level: 1 }).innerText()

test('an important step asks the provider again, although it knows the person, and takes only the same person', async () => {
  const page = await signIn('prover')
  const email = 'prover@id.example'
  const { subject = '' } = (await identityOf(email)) ?? {}
  const claims = claimsOf({ issuer: provider.issuer, subject, email })
  const rules = { createsUsers: false, linksByEmail: false }
  const old = await signInWithIdentity(earlier(world.platform, 11), trace, claims, rules, {
    agent: null,
    begunAt: Date.now(),
  })
  if (old.kind !== 'signed_in') throw new Error('Not signed in.')
  await page.context().addCookies([{ name: cookieNamed(platform, 'session'), value: old.sessionToken, url: platform }])
  const ask = async () => {
    await page.goto('/account/factors/passkeys/new')
    await page.getByRole('link', { name: 'Sign in again with Example ID' }).click()
  }
  await ask()
  await answer(page, 'somebody-else')
  await page.waitForURL((url) => url.origin === platform)
  expect(await page.getByRole('main').innerText()).toContain('Somebody else has signed in there')
  await ask()
  await answer(page, 'prover')
  await page.waitForURL(`${platform}/account/factors/passkeys/new`)
  expect(await heading(page)).toBe('Add a passkey')
  const kept = (await page.context().cookies()).find(({ name }) => name.endsWith('-session'))
  expect(kept?.value).toBe(old.sessionToken)
})

test('a provider that has not asked again, or does not say so, proves nothing', async () => {
  await signIn('silent')
  const email = 'silent@id.example'
  const { subject = '' } = (await identityOf(email)) ?? {}
  const claims = claimsOf({ issuer: provider.issuer, subject, email })
  const rules = { createsUsers: false, linksByEmail: false }
  const entry = await signInWithIdentity(world.platform, trace, claims, rules, { agent: null, begunAt: Date.now() })
  if (entry.kind !== 'signed_in') throw new Error('Not signed in.')
  const caller = await authenticateSession(world.platform, entry.sessionToken)
  if (caller === null) throw new Error('Not signed in.')
  const since = world.platform.clock.now()
  const prove = async (askedAt: number | null) =>
    await proveByProvider(world.platform, trace, caller, { claims: { ...claims, askedAt }, since })
  for (const askedAt of [null, since - 61_000]) {
    await expect(prove(askedAt)).rejects.toMatchObject({
      message: expect.stringContaining('asked to sign in again there'),
    })
    const refused = (await auditEvents(world.platform)).findLast(({ action }) => action === 'session.prove')
    expect(refused?.detail).toContain(askedAt === null ? 'not_told' : 'not_asked')
  }
  await prove(since)
})

test('a provider that cannot be reached is named on the page, which leads operators to their password', async () => {
  const issuer = `http://localhost:${freePort()}`
  const env = {
    SIGN_IN: 'oidc',
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: 'x',
    OIDC_CLIENT_SECRET: 'y',
    OIDC_NAME: 'Example ID',
  }
  const alone = await createWorld({ env })
  const page = await openBrowser(alone.server.url, { foreseen: [/503/] })
  await page.goto('/sign-in/oidc')
  expect(await page.content()).toContain('Example ID cannot sign you in right now')
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.getByLabel('Password').waitFor()
  await endWorld(alone)
})

for (const javaScript of [true, false]) {
  test(`signing out ends the session at the provider as well, ${javaScript ? 'with' : 'without'} JavaScript`, async () => {
    const page = await signIn(`leaving-${javaScript}`, javaScript)
    await page.getByRole('button', { name: 'Sign out' }).first().click()
    await page.getByRole('button', { name: /sign me out/i }).click()
    await page.waitForURL(`${platform}/signed-out`)
    await page.goto('/account')
    await page.getByRole('link', { name: 'Sign in with Example ID' }).click()
    await page.getByLabel('Login').waitFor() // it no longer knows the person
  })
}
