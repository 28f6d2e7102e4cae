import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { cookieBudget } from '../../src/http/cookies.ts'
import { serviceRights } from '../../src/domain/service-key.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { linkUser } from '../../src/operations/users/users.ts'
import { plainBrowser, type PlainBrowser } from '../pages/support/plain-browser.ts'
import { cookieNamed } from '../support/cookie.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { startHostileProvider } from './support/hostile-provider.ts'
import { send } from './support/send.ts'

// Where people go after they have signed in elsewhere, and the cookies that remember it.

const provider = await startHostileProvider()
afterAll(provider.stop)
const world = await worldOfFile({
  env: {
    SIGN_IN: 'handover,oidc,password',
    SIGN_IN_URL: 'https://builder.example/apps/sign-in',
    OIDC_NAME: 'Example ID',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'platform',
    OIDC_CLIENT_SECRET: 'a-secret-of-the-test-that-is-long-enough',
    OIDC_LINK_BY_EMAIL: 'on',
    RATE_LIMIT: 'off',
  },
})
const { url } = world.server
const { email } = world.user
const asked = { name: 'Builder', rights: serviceRights, networks: [], expiresInDays: null }
const { secret } = await createServiceKey(world.platform, trace, operator, asked)
await linkUser(world.platform, trace, operator, { email, externalId: 'ada' })
provider.cheat({ claims: (right) => ({ ...right, sub: 'ada', email, email_verified: true }) })

/** Both ways to sign in elsewhere: where the answer to the address that the browser was sent to leads. */
const ways = {
  handover: async (away: string): Promise<string> => {
    const request = new URL(away).searchParams.get('request') ?? ''
    const path = `~/api/management/sign-in-requests/${request}/accept`
    const { body } = await send(url, 'POST', path, { token: secret, body: JSON.stringify({ externalId: 'ada' }) })
    return body.redirectTo.slice(new URL(body.redirectTo).origin.length)
  },
  oidc: async (away: string): Promise<string> =>
    `/sign-in/oidc/callback?${new URLSearchParams(provider.agree(away)).toString()}`,
} as const
type Way = keyof typeof ways
const eachWay: readonly Way[] = ['handover', 'oidc']

const randomText = (length: number): string => randomBytes(length).toString('base64url').slice(0, length)
const begin = async (browser: PlainBrowser, way: Way, returnTo: string) =>
  await browser.get(`/sign-in/${way}?${new URLSearchParams({ return_to: returnTo }).toString()}`)

/** The length of the Cookie header with all our cookies. */
const lengthOf = ({ cookies }: PlainBrowser): number =>
  [...cookies].map(([name, value]) => `${cookieNamed(url, 'session').replace(/session$/, name)}=${value}; `).join('')
    .length

const range = (from: number, to: number, step = 1): readonly number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step)
/** All short ones, those about where a cookie is full, those about where an address is no way back, and some of the others. */
const lengths = [
  ...range(1, 20),
  ...range(150, 2_800, 265),
  ...range(2_940, 3_040, 3),
  3_400,
  4_096,
  8_000,
  ...range(32_766, 32_770),
]

describe.each(eachWay)('a way back by %s', (way) => {
  test.each([
    ['that cannot be packed', (length: number) => `/${randomText(length - 1)}`],
    ['that can be packed', (length: number) => `/${'a'.repeat(length - 1)}`],
  ])('%s is kept at any length, or refused at once with what to do', async (_, written) => {
    const refused: number[] = []
    for (const length of lengths) {
      const browser = plainBrowser(url)
      const path = written(length)
      const { status, headers, text } = await begin(browser, way, path)
      expect([length, lengthOf(browser) <= cookieBudget]).toEqual([length, true])
      if (status === 400) {
        refused.push(length)
        expect(text).toContain('is too long to be remembered')
        expect(text).toContain('href="/sign-in"')
        continue
      }
      const back = await browser.get(await ways[way](headers.get('location') ?? ''))
      expect([length, back.status, back.headers.get('location')]).toEqual([length, 303, length > 32_768 ? '/' : path])
      expect((await browser.get('/account')).status).toBe(200)
    }
    // Whatever is longer than one that was refused is refused too, up to those that are no way back at all.
    const [first = Infinity] = refused
    expect(first).toBeGreaterThan(2_900)
    expect(refused).toEqual(lengths.filter((length) => length >= first && length <= 32_768))
  })
})

test('tabs that other sites open never use up the cookies, sign nobody out, and prevent no sign-in', async () => {
  const browser = plainBrowser(url)
  const { password } = world.user
  await browser.submit('/sign-in?way=password', '/sign-in', { email, password })
  const session = browser.cookies.get('session')
  for (const index of range(1, 40)) {
    const way = eachWay[index % 2] ?? 'oidc'
    await begin(browser, way, `/account?${randomText(index % 3 === 0 ? 2_800 : 60 * index)}`)
    expect([index, lengthOf(browser) <= cookieBudget, browser.cookies.get('session')]).toEqual([index, true, session])
    expect((await browser.get('/account')).status).toBe(200)
  }
  await browser.submit('/account', '/sign-out')
  for (const way of eachWay) {
    const away = (await begin(browser, way, '/account/sessions')).headers.get('location') ?? ''
    for (const other of eachWay) await begin(browser, other, `/?${randomText(500)}`)
    const back = await browser.get(await ways[way](away))
    expect([way, back.headers.get('location')]).toEqual([way, '/account/sessions'])
    expect((await browser.get('/account')).status).toBe(200)
  }
})
