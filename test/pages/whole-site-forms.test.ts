import { afterAll, beforeAll, expect, test } from 'bun:test'
import { formCauses } from '../../src/domain/form-cause.ts'
import { ownFormFields } from '../../src/domain/form-ticket.ts'
import { onPostgres } from '../support/postgres.ts'
import { endWorld } from '../support/world.ts'
import { loginOf } from './support/enter.ts'
import { fingerprint, refusedRequests } from './support/fingerprint.ts'
import { genuineTicket } from './support/genuine-ticket.ts'
import { formsIn, type PageForm } from './support/page-forms.ts'
import { pageTable } from './support/page-table.ts'
import { type PlainBrowser, plainBrowser, type Seen, signedInBrowser } from './support/plain-browser.ts'
import { siteMap, type Who } from './support/site-map.ts'
import { createStockedWorld, type StockedWorld } from './support/stocked-world.ts'

// Every form, sent by people who may not send it. What a form does for others is in the tests of its area.

/** A form of one of the pages, and who sees it there. */
type FoundForm = PageForm & { readonly who: Who; readonly page: string }

let world: StockedWorld
let patterns: readonly string[]
let found: ReadonlyMap<string, FoundForm>
const mine = new Map<Who, PlainBrowser>()
/** Other sessions of the same people. */
const elsewhere = new Map<Who, PlainBrowser>()
beforeAll(async () => {
  world = await createStockedWorld({ TRUSTED_PROXIES: '127.0.0.1,::1' })
  const table = pageTable(world.platform)
  patterns = table
    .filter(({ method, pattern }) => method === 'POST' && !(onPostgres && pattern.startsWith('/desk/backups')))
    // After a password, and after a link: `second-factors.test.ts` and `desk-users.test.ts` have them.
    .filter(
      ({ pattern }) =>
        !pattern.startsWith('/sign-in/') &&
        !['/set-password', '/forgot-password', '/confirm-email', '/account/email'].includes(pattern),
    )
    // Only with a second factor, which every sign-in would ask for: `second-factors.test.ts` and `passkeys-browser.test.ts` have them.
    .filter(({ pattern }) => !/^\/account\/factors\/(?:passkeys\/|totp\/remove|recovery-codes$)/.test(pattern))
    .map(({ pattern }) => pattern)
  for (const who of ['visitor', 'user', 'operator'] as const) mine.set(who, await enter(who))
  found = await findForms()
}, 180_000)
afterAll(async () => await endWorld(world))

const enter = async (who: Who): Promise<PlainBrowser> =>
  who === 'visitor' ? plainBrowser(world.server.url) : await signedInBrowser(world.server.url, loginOf(world, who))
const browserOf = (who: Who): PlainBrowser => mine.get(who) ?? plainBrowser(world.server.url)

/** One form for each pattern. */
const findForms = async (): Promise<ReadonlyMap<string, FoundForm>> => {
  const forms = new Map<string, FoundForm>()
  for (const { who, paths } of siteMap) {
    for (const page of paths(world)) {
      for (const form of formsIn((await browserOf(who).get(page)).text)) {
        const [path = ''] = form.action.split('?')
        const pattern = patterns.find((one) => matches(one, path))
        if (pattern !== undefined && !forms.has(pattern)) forms.set(pattern, { ...form, who, page })
      }
    }
  }
  return forms
}

const matches = (pattern: string, path: string): boolean =>
  new RegExp(`^${pattern.replaceAll(/:[^/]+/g, '[^/]+')}$`).test(path)

const ticketIn = ({ fields }: PageForm): string => fields['ticket']?.[0] ?? ''

/** The same form on the same page, as another person sees it. */
const sameFormFor = async (browser: PlainBrowser, { page, action }: FoundForm): Promise<PageForm | undefined> =>
  formsIn((await browser.get(page)).text).find((form) => form.action === action)

/** Ways in which a genuine form never arrives: the ticket and the headers of the request. */
const forgeries: Readonly<Record<string, (form: FoundForm) => Promise<readonly [ticket: string, site: string]>>> = {
  'without a ticket': async () => ['', 'same-origin'],
  'with half a ticket': async (form) => [ticketIn(form).slice(0, -8), 'same-origin'],
  'with the ticket of another form': async (form) => [await ticketOfAnother(form), 'same-origin'],
  'with the ticket of another session': async (form) => [await ticketOfAnotherSession(form), 'same-origin'],
  'from another site': async (form) => [ticketIn(form), 'cross-site'],
  'from another host of the same site': async (form) => [ticketIn(form), 'same-site'],
  'from nowhere': async (form) => [ticketIn(form), 'none'],
}

const ticketOfAnother = async (form: FoundForm): Promise<string> => {
  const page = await browserOf(form.who).get(form.who === 'visitor' ? form.page : '/')
  const other = formsIn(page.text).find(({ action }) => action !== form.action)
  return other === undefined ? `${ticketIn(form)}x` : ticketIn(other)
}

const ticketOfAnotherSession = async (form: FoundForm): Promise<string> => {
  const browser = elsewhere.get(form.who) ?? (await enter(form.who))
  elsewhere.set(form.who, browser)
  const same = await sameFormFor(browser, form)
  return same === undefined ? await ticketFor(browser, form) : ticketIn(same)
}

let sent = 0
/** Each from its own address, because many refusals of one address are counted instead of recorded. */
const nextAddress = (): string => `192.0.2.${(sent += 1) % 250}`

const send = async (browser: PlainBrowser, form: PageForm, ticket: string, site = 'same-origin'): Promise<Seen> =>
  await browser[form.isMultipart ? 'upload' : 'post'](
    form.action,
    { ...form.fields, ticket },
    {
      'x-forwarded-for': nextAddress(),
      'sec-fetch-site': site,
      ...(site === 'same-origin' ? {} : { origin: 'https://evil.example' }),
    },
  )

test('every form is on some page', () => {
  const missing = patterns.filter((pattern) => !found.has(pattern))
  expect(missing, 'A page of site-map.ts must show it, with what stocked-world.ts has.').toEqual([])
})

test('a red button is only on a page that asks first and also leads back', async () => {
  const faults: string[] = []
  for (const { who, paths, isDownload } of siteMap) {
    if (isDownload === true) continue
    for (const path of paths(world)) {
      const { text } = await browserOf(who).get(path)
      const isRed = /class="[^"]*\bdanger\b/.test(text)
      const asksFirst = text.includes('class="confirmation"') && />Cancel<\/a>/.test(text)
      if (isRed && !asksFirst) faults.push(path)
    }
  }
  expect(faults).toEqual([])
})

/** They end the session of whoever is signed in here, so any page of ours may ask for it. */
const endsSession = new Set(['/sign-out', '/oauth/authorize/switch-account'])

for (const [how, forge] of Object.entries(forgeries)) {
  test(`no form changes anything ${how}, and the refusal is in the audit log`, async () => {
    const faults: string[] = []
    const forged: { readonly form: FoundForm; readonly sent: Awaited<ReturnType<typeof forge>> }[] = []
    for (const form of found.values()) forged.push({ form, sent: await forge(form) })
    const refusals: (readonly [action: string, requestId: string | null])[] = []
    const before = await fingerprint(world.server.database)
    for (const {
      form,
      sent: [ticket, site],
    } of forged) {
      if (site === 'same-origin' && endsSession.has(form.action)) continue
      const { status, headers } = await send(browserOf(form.who), form, ticket, site)
      // What the same account has typed is shown again.
      const isKept = site === 'same-origin' && headers.getSetCookie().some((cookie) => cookie.includes('-kept='))
      if (status !== (isKept ? 303 : 403)) faults.push(`${form.action} answers ${status}`)
      if (form.who !== 'visitor') refusals.push([form.action, headers.get('x-request-id')])
    }
    expect(await fingerprint(world.server.database)).toEqual(before)
    const recorded = await refusedRequests(world.server.database)
    for (const [action, id] of refusals) if (!recorded.has(id)) faults.push(`${action} leaves no trace`)
    expect(faults).toEqual([])
  })
}

test('every form that requires a session leads a visitor to the sign-in page, and changes nothing', async () => {
  const faults: string[] = []
  const before = await fingerprint(world.server.database)
  for (const form of [...found.values()].filter(({ who }) => who !== 'visitor')) {
    const { status, headers } = await send(plainBrowser(world.server.url), form, ticketIn(form))
    const leads = headers.get('location') ?? ''
    // Without a session, a person is signed out already and nothing is to be sent again.
    const isRight = form.action === '/sign-out' ? leads === '/sign-in' : leads.startsWith('/sign-in?')
    if (status !== 303 || !isRight) faults.push(`${form.action}: ${leads}`)
  }
  expect(faults).toEqual([])
  expect(await fingerprint(world.server.database)).toEqual(before)
})

test('every address that takes a form can also be loaded, and leads to a page', async () => {
  const faults: string[] = []
  // The decision about a request is never shown again. The pages that take away a URI, a scope or a draft have it in their query.
  const others = /^\/oauth\/authorize|\/(?:redirect-uris\/remove|given-scopes\/take|versions\/delete)(?:\?|$)/
  for (const { action, who } of [...found.values()].filter((form) => !others.test(form.action))) {
    const browser = browserOf(who)
    let answer = await browser.get(action)
    for (let steps = 0; steps < 3 && answer.status === 303; steps += 1) answer = await browser.follow(answer)
    if (answer.status !== 200) faults.push(`${action} answers ${answer.status}`)
  }
  expect(faults).toEqual([])
})

test('no form changes what belongs to somebody else, even with a genuine ticket', async () => {
  const stranger = await signedInBrowser(world.server.url, world.stranger)
  const faults: string[] = []
  const before = await fingerprint(world.server.database)
  for (const [pattern, form] of found) {
    if (!pattern.includes(':') && !pattern.startsWith('/desk')) continue
    if (siteMap.some((site) => site.pattern === pattern && site.isForEverybody === true)) continue
    const { status } = await send(stranger, form, await ticketFor(stranger, form))
    if (status !== 404) faults.push(`${form.action} answers ${status}`)
  }
  expect(await fingerprint(world.server.database)).toEqual(before)
  expect(faults).toEqual([])
})

/** Forms whose ticket binds the scopes that they show. */
const bindsScopes = /^\/(?:apps|installs)\//

const ticketFor = async (browser: PlainBrowser, { action, fields }: PageForm): Promise<string> =>
  await genuineTicket(
    world,
    browser,
    action.split('?')[0] ?? '',
    bindsScopes.test(action) ? (fields['scopes'] ?? []) : [],
  )

test('no field of a form makes the server fail, whatever is typed into it', async () => {
  const faults: string[] = []
  for (const form of found.values()) {
    const browser = await enter(form.who)
    // Not the fields that no person fills in: the form would be right, and take effect.
    const names = Object.keys(form.fields).filter(
      (field) => ![...Object.values(ownFormFields), 'from', 'back'].includes(field),
    )
    for (const name of names) {
      const typed = { ...form, fields: { ...form.fields, [name]: ['no \u{202e}address'] } }
      const { status } = await send(browser, typed, await ticketFor(browser, form))
      if (status >= 500) faults.push(`${form.action} answers ${status} to a wrong ${name}`)
    }
  }
  expect(faults).toEqual([])
})

// Last, because these forms change the world of the test.
test('every form is accepted with its own ticket', async () => {
  const faults: string[] = []
  const address = { here: 'http://localhost', there: '' }
  const stale = [...Object.values(formCauses).map((says) => says(address)), 'A field of the form was sent twice.']
  for (const form of found.values()) {
    const browser = await enter(form.who)
    const own = await sameFormFor(browser, form)
    const ticket = own === undefined ? await ticketFor(browser, form) : ticketIn(own)
    const { status, text } = await send(browser, form, ticket)
    if (status >= 500 || stale.some((sentence) => text.includes(sentence)))
      faults.push(`${form.action} answers ${status}`)
  }
  expect(faults).toEqual([])
})
