import { afterAll, beforeAll, expect, test } from 'bun:test'
import { formCauses } from '../../src/domain/form-cause.ts'
import { ownFormFields } from '../../src/domain/form-ticket.ts'
import { serviceRights } from '../../src/domain/service-key.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { linkUser } from '../../src/operations/users/users.ts'
import { send } from '../flows/support/send.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { endWorld } from '../support/world.ts'
import { formsIn, type PageForm } from './support/page-forms.ts'
import { leadsTo, type PlainBrowser, plainBrowser, type Seen } from './support/plain-browser.ts'
import { siteMap, type Who } from './support/site-map.ts'
import { createStockedWorld, type StockedWorld } from './support/stocked-world.ts'

// Every form of every page is sent after its session has ended. The person comes back to it by way of the builder, an operator by their
// password. They find what they typed, and send it again.

const builder = 'https://builder.example'
let world: StockedWorld
let serviceKey: string
beforeAll(async () => {
  world = await createStockedWorld({
    SIGN_IN: 'handover,password',
    SIGN_IN_URL: `${builder}/sign-in`,
    RATE_LIMIT: 'off',
  })
  await linkUser(world.platform, trace, operator, { email: world.user.email, externalId: 'ada' })
  const asked = { name: 'Builder', rights: serviceRights, networks: [], expiresInDays: null }
  serviceKey = (await createServiceKey(world.platform, trace, operator, asked)).secret
}, 180_000)
afterAll(async () => await endWorld(world))

/** Where an answer leads on this server; null if it stays. @throws Error for a redirect to another origin */
const wayOf = (answer: Seen): string | null => {
  const location = answer.headers.get('location')
  if (location !== null && !location.startsWith('/')) throw new Error(`a redirect leads to ${location}`)
  return location
}

/** Signs in where the sign-in page leads, and returns the address that it leads back to. */
const signIn = async (browser: PlainBrowser, path: string): Promise<string> => {
  const asked = await browser.get(path, { 'sec-fetch-site': 'same-origin' })
  const away = wayOf(asked) ?? leadsTo(asked)
  if (away === null) {
    const waiting = /<a class="button primary" href="(https:[^"]+)"/.exec(asked.text)?.[1]
    return waiting === undefined ? await byPassword(browser, path) : await atBuilder(browser, waiting)
  }
  return await atBuilder(browser, away)
}

const byPassword = async (browser: PlainBrowser, path: string): Promise<string> => {
  const { email, password } = world.operator
  const entered = await browser.submit(path, '/sign-in', { email, password })
  const offered = new URL(wayOf(entered) ?? '', world.server.url)
  return offered.pathname === '/account/factors/offer'
    ? (offered.searchParams.get('return_to') ?? '')
    : (wayOf(entered) ?? '')
}

const atBuilder = async (browser: PlainBrowser, away: string): Promise<string> => {
  const request = new URL(away).searchParams.get('request') ?? ''
  const body = JSON.stringify({ externalId: 'ada', reauthenticated: true })
  const accepted = await send(world.server.url, 'POST', `~/api/management/sign-in-requests/${request}/accept`, {
    token: serviceKey,
    body,
  })
  const { pathname, search } = new URL(accepted.body.redirectTo)
  return wayOf(await browser.get(pathname + search)) ?? ''
}

/** Their answer is another page, or a person signs out with them. */
const elsewhere = /^\/sign-out$/

/** Never kept: what only this form may know. */
const secrets: ReadonlySet<string> = new Set([
  ...Object.values(ownFormFields),
  'current',
  'password',
  'repeated',
  'code',
  'key',
  'passkey',
])

/** Forms after which other pages are gone come last, the whole app at the very end. */
const lateness = (pattern: string): number => {
  if (/\/:slug\/(?:delete|transfer)$/.test(pattern)) return 3
  if (/suspend$|^\/(?:account|desk\/users\/:id)\b.*(?:end|revoke|disable)[^/]*$/.test(pattern)) return 2
  return /(?:remove|revoke|rotate|end|end-access|role|leave|disable|reject|edit)$/.test(pattern) ? 1 : 0
}

const stale = Object.values(formCauses).map((says) => says({ here: 'http://localhost', there: '' }).slice(0, 40))

const post = async (
  browser: PlainBrowser,
  form: PageForm,
  fields: PageForm['fields'],
  referer: string,
): Promise<Seen> => await browser[form.isMultipart ? 'upload' : 'post'](form.action, fields, { referer })

/** A field that was empty. */
const isTyped = (name: string, values: readonly string[]): boolean => values[0] === 'something' && !secrets.has(name)

let count = 0
/** Sends the form after its session has ended, comes back and sends it again. Returns what went wrong. */
const sendTwice = async (
  browser: PlainBrowser,
  path: string,
  shown: Seen,
  form: PageForm,
): Promise<readonly string[]> => {
  count += 1
  const faults: string[] = []
  const typed = Object.entries(form.fields)
    .filter(([name, values]) => isTyped(name, values))
    .map(([name]) => name)
  const mine = `typed-${count}`
  const fields = { ...form.fields, ...Object.fromEntries(typed.map((name) => [name, [mine]])) }
  // As the browser names the page: without its path where the page asks for that.
  const referer =
    shown.headers.get('referrer-policy') === 'strict-origin' ? `${world.server.url}/` : world.server.url + path
  await call(world.server.url, 'DELETE', '~/api/session', { token: browser.cookies.get('session') ?? '' })
  const way = wayOf(await post(browser, form, fields, referer))
  if (way?.startsWith('/sign-in?') !== true) return [`leads to ${way} without a session`]
  const back = await signIn(browser, way)
  if (back !== path) faults.push(`comes back to ${back}`)
  const again = await browser.get(back)
  const found = formsIn(again.text).find(
    ({ action, fields: others }) => pathIn(action) === pathIn(form.action) && isSame(others, form.fields),
  )
  if (found === undefined) return [...faults, 'is not shown again']
  const isThere = (name: string) => found.fields[name]?.[0] === mine || again.text.includes(`>${mine}</textarea>`)
  const lost = typed.filter((name) => !isThere(name))
  if (lost.length > 0 && !form.isMultipart) faults.push(`has lost ${lost.join(', ')}`)
  const sent = await post(browser, found, found.fields, referer)
  if (![200, 303, 400, 401, 409].includes(sent.status)) faults.push(`is then answered with ${sent.status}`)
  if ([...stale, 'Not sent yet'].some((sentence) => sent.text.includes(sentence)))
    faults.push('is not taken the second time')
  return faults
}

/** A page that shows a kept form leads on in the environment of that form. */
const pathIn = (address: string): string => address.replace(/\?.*$/, '')

/** The hidden fields that tell apart two forms of one path. */
const isSame = (one: PageForm['fields'], other: PageForm['fields']): boolean =>
  ['environment', 'uri', 'id', 'event', 'way'].every(
    (name) => one[name]?.[0] === other[name]?.[0] || one[name]?.[0]?.startsWith('typed-') === true,
  )

const walk = async (who: Exclude<Who, 'visitor'>): Promise<readonly string[]> => {
  const browser = plainBrowser(world.server.url)
  const enter = async () => await signIn(browser, who === 'user' ? '/sign-in' : '/sign-in?way=password')
  const faults: string[] = []
  const seen = new Set<string>()
  const sites = siteMap.filter((site) => site.who === who && site.isDownload !== true && site.leadsOn !== true)
  for (const { pattern, paths } of sites.toSorted((one, other) => lateness(one.pattern) - lateness(other.pattern))) {
    for (const path of paths(world)) {
      if (!browser.cookies.has('session') || (await browser.get('/account')).status !== 200) await enter()
      for (const { action } of formsIn((await browser.get(path)).text)) {
        const kind = `${pattern} ${action.replaceAll(/[a-z]{3}_\w+/g, '*')}`
        if (elsewhere.test(action) || seen.has(kind)) continue
        seen.add(kind)
        const shown = await browser.get(path)
        const form = formsIn(shown.text).find((one) => one.action === action)
        if (form === undefined) continue
        faults.push(
          ...(await sendTwice(browser, path, shown, form)).map((fault) => `${path}: the form for ${action} ${fault}`),
        )
        if (!browser.cookies.has('session') || (await browser.get('/account')).status !== 200) await enter()
      }
    }
  }
  return faults
}

test.each(['user', 'operator'] as const)(
  'no form of the %s is lost when their session ends before they send it',
  async (who) => {
    expect(await walk(who)).toEqual([])
  },
  300_000,
)
