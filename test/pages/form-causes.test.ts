import { expect, test } from 'bun:test'
import { type FormCause, formCauses } from '../../src/domain/form-cause.ts'
import { formTicket } from '../../src/domain/form-ticket.ts'
import { rowKey } from '../../src/domain/identifier.ts'
import { auditEvents } from '../support/audit-events.ts'
import { serverKeyIn } from '../support/server-key-in.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { earlier } from './support/earlier.ts'
import { askPath } from './support/front-door.ts'
import { hiddenFields, type PlainBrowser, plainBrowser, signedInBrowser } from './support/plain-browser.ts'

const world = await worldOfFile()
const { url } = world.server
const publicUrl = `http://localhost:${new URL(url).port}`
const lan = 'http://apps.lan'

/** A form that a page shows: with or without a session, and the one of the consent page. */
type Shown = {
  readonly browser: PlainBrowser
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  readonly bound: readonly string[]
  readonly secret: 'session' | 'visit'
}

const signInForm = async (): Promise<Shown> => {
  const browser = plainBrowser(url)
  const fields = {
    ...(await browser.formOn('/sign-in', '/sign-in')),
    email: world.user.email,
    password: world.user.password,
  }
  return { browser, action: '/sign-in', fields, bound: [], secret: 'visit' }
}
const accountForm = async (): Promise<Shown> => {
  const browser = await signedInBrowser(url, world.user)
  const action = '/account/password'
  return { browser, action, fields: await browser.formOn(action, action), bound: [], secret: 'session' }
}
const consentForm = async (): Promise<Shown> => {
  const browser = await signedInBrowser(url, world.user)
  const action = '/oauth/authorize'
  const hidden = hiddenFields((await browser.get(askPath(world.app))).text, action)
  return {
    browser,
    action,
    fields: { ...hidden, decision: 'allow' },
    bound: [hidden['request'] ?? ''],
    secret: 'session',
  }
}

/** A ticket as a page showed it so long ago. */
const oldTicket = async ({ browser, action, bound, secret }: Shown, minutes: number): Promise<string> => {
  const { random, clock } = earlier(world.platform, minutes)
  const keys = { server: await serverKeyIn(world.server.database), browser: browser.cookies.get(secret) ?? '' }
  return formTicket(keys, { action, bound }, rowKey(random.uuid(clock.now())))
}

const nothingKnown = { 'sec-fetch-site': 'cross-site' } // what a browser says of a form of another site
const atLan = { 'sec-fetch-site': '', origin: lan, host: 'apps.lan', referer: `${lan}/sign-in?return_to=/console` }

/** Makes the cause happen with this form. */
const makers: Readonly<
  Record<FormCause, (shown: Shown) => Promise<{ status: number; text: string; headers: Headers }>>
> = {
  form_expired: async (shown) => {
    const ticket = await oldTicket(shown, 13 * 60)
    return await shown.browser.post(shown.action, { ...shown.fields, ticket })
  },
  form_of_other_session: async ({ browser, action, fields }) =>
    await browser.post(action, { ...fields, ticket: `${fields['ticket'] ?? ''}x` }),
  form_at_other_address: async ({ browser, action, fields }) => await browser.post(action, fields, atLan),
  form_from_other_site: async ({ browser, action, fields }) =>
    await browser.post(action, fields, { ...nothingKnown, origin: 'https://evil.example' }),
  form_without_cookie: async ({ browser, action, fields }) => {
    browser.cookies.clear()
    return await browser.post(action, fields)
  },
}

const loggedCode = (headers: Headers): string | undefined =>
  world.server
    .log()
    .split('\n')
    .find((line) => line.includes('"event":"http.answered"') && line.includes(headers.get('x-request-id') ?? 'none'))
    ?.match(/"errorCode":"([^"]*)"/)?.[1]

const reasonOf = async (headers: Headers): Promise<string | null | undefined> =>
  (await auditEvents(world.platform)).find(({ requestId }) => requestId === headers.get('x-request-id'))?.reason

const causes = Object.keys(formCauses).filter((name): name is FormCause => Object.hasOwn(makers, name))

test('every cause for which a form is refused happens, has a sentence of its own, and stands in the log', async () => {
  expect(causes).toEqual(Object.keys(makers).filter((name): name is FormCause => Object.hasOwn(formCauses, name)))
  const sentences = new Set<string>()
  for (const cause of causes) {
    const { status, text, headers } = await makers[cause](await signInForm())
    const sentence = formCauses[cause]({ here: publicUrl, there: lan })
    expect([cause, status, text.includes(sentence), loggedCode(headers)]).toEqual([cause, 403, true, cause])
    expect(headers.getSetCookie().join()).not.toContain('-session=')
    sentences.add(sentence)
  }
  expect(sentences.size).toBe(causes.length)
})

test('with a session, the audit log has the cause too; a form without one leads to the sign-in', async () => {
  for (const shownForm of [accountForm, consentForm]) {
    for (const cause of causes) {
      const { status, text, headers } = await makers[cause](await shownForm())
      if (cause === 'form_without_cookie') {
        expect([status, headers.get('location')?.split('?')[0]]).toEqual([303, '/sign-in'])
        continue
      }
      const sentence = formCauses[cause]({ here: publicUrl, there: lan })
      expect([cause, status, text.includes(sentence)]).toEqual([cause, 403, true])
      expect([loggedCode(headers), await reasonOf(headers)]).toEqual([cause, cause])
    }
  }
})

test('a page that was opened at another address of this server leads to the same page at the right one', async () => {
  const { text } = await makers.form_at_other_address(await signInForm())
  expect(text).toContain(`<a href="${publicUrl}/sign-in?return_to=/console">Open it at ${publicUrl}</a>`)
  // Another site cannot have itself linked, whatever it sends.
  const { browser, action, fields } = await signInForm()
  const forged = await browser.post(action, fields, { ...atLan, origin: 'https://evil.example' })
  expect(forged.text).not.toContain('evil.example')
  expect(loggedCode(forged.headers)).toBe('form_from_other_site')
})

test('a sign-in page that was open for longer than its cookie lives has expired', async () => {
  const shown = await signInForm()
  const ticket = await oldTicket(shown, 61)
  shown.browser.cookies.clear()
  const { headers } = await shown.browser.post(shown.action, { ...shown.fields, ticket })
  expect(loggedCode(headers)).toBe('form_expired')
})

test('every page that says why something was refused has the code in the log', async () => {
  const { browser, action, fields } = await signInForm()
  const wrong = await browser.post(action, { ...fields, password: 'not the password' })
  expect([wrong.status, loggedCode(wrong.headers)]).toEqual([401, 'invalid_login'])
  const again = await consentForm()
  await again.browser.post(again.action, again.fields)
  const twice = await again.browser.post(again.action, again.fields)
  expect(loggedCode(twice.headers)).toBe('idempotency_key_reused')
})

test('a form that was made elsewhere is told which field it lacks, and an authorization request that it belongs in the URL', async () => {
  const { browser, action, fields } = await consentForm()
  const { decision: _, ...undecided } = fields
  for (const [sent, sentence] of [
    [undecided, 'The form does not have its field “decision” as its page sends it'],
    [{ ...fields, decision: 'perhaps' }, 'The form does not have its field “decision” as its page sends it'],
    [Object.fromEntries(new URL(askPath(world.app), url).searchParams), 'An authorization request is sent with GET'],
  ] as const) {
    const { status, text } = await browser.post(action, sent)
    expect([status, text.includes(sentence)]).toEqual([400, true])
  }
})
