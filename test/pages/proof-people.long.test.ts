import { afterAll, describe, expect, test } from 'bun:test'
import { serviceRights } from '../../src/domain/service-key.ts'
import { mintSession } from '../../src/operations/sessions/sign-in.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { type Effect, effects } from '../../src/pages/proof.ts'
import { putBuilderUser, setOperator } from '../../src/operations/users/users.ts'
import { send } from '../flows/support/send.ts'
import { startHostileProvider } from '../flows/support/hostile-provider.ts'
import { softAuthenticator } from '../support/authenticator.ts'
import { eventually } from '../support/crash.ts'
import { keyFromText, totpCode } from '../support/factors.ts'
import { startMailServer } from '../support/mail-server.ts'
import { operator, trace } from '../support/operator.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addApp, addUser, type Login, type World } from '../support/world.ts'
import { earlier } from './support/earlier.ts'
import { genuineTicket } from './support/genuine-ticket.ts'
import { addOperator } from './support/operator-world.ts'
import { hiddenFields, leadsTo, plainBrowser, type PlainBrowser, type Seen } from './support/plain-browser.ts'
import { formTable } from './support/page-table.ts'

// No step may ask for a proof that a person has no means for. People with different means walk all steps that their rights allow: each
// gets through with what the page offers them, or reads who can help.

const [provider, mails] = [await startHostileProvider(), await startMailServer()]
afterAll(async () => {
  await provider.stop()
  await mails.down()
})
const env = { SMTP_URL: `smtp://localhost:${mails.port}`, MAIL_FROM: 'apps@example.com' }
const local = await worldOfFile()
const byProvider = await worldOfFile({
  env: {
    ...env,
    SIGN_IN: 'oidc',
    OIDC_NAME: 'Example ID',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'platform',
    OIDC_CLIENT_SECRET: 'a-secret-of-the-test-that-is-long-enough',
    OIDC_CREATE_USERS: 'on',
  },
})
const byBuilder = await worldOfFile({
  env: { ...env, SIGN_IN: 'handover', SIGN_IN_URL: 'https://builder.example/apps/sign-in' },
})
const keyInput = { name: 'Builder', rights: serviceRights, networks: [], expiresInDays: null }
const { secret: serviceKey } = await createServiceKey(byBuilder.platform, trace, operator, keyInput)

const locationOf = (seen: Seen): string => leadsTo(seen) ?? ''
const isProofPage = (location: string): boolean => location.startsWith('/account/prove?')
const textOf = ({ text }: Seen): string => text.replaceAll('&#39;', "'")
/** The path of an address at the public name of the server. */
const here = (address: string): string => address.slice(new URL(address).origin.length)

type Walk = {
  readonly world: World
  readonly browser: PlainBrowser
  readonly rows: readonly (readonly [step: string, effect: Effect])[]
  readonly slug: string
  /** Proves on the page at this address who is there, with what that page offers; by default nothing more is needed. */
  readonly prove?: (page: string) => Promise<Seen>
}

/** Sends every form. Returns how many asked for a proof, and those that still did after it was given. */
const walk = async ({ world, browser, rows, slug, prove }: Walk) => {
  const closed: string[] = []
  let asked = 0
  for (const [step] of rows.toSorted(([one], [other]) => Number(isLast(one)) - Number(isLast(other)))) {
    const path = step.replaceAll(/:[^/]+/g, (name) => (name === ':slug' ? slug : 'nothing'))
    const isUpload = /\/versions(\/:version\/edit)?$/.test(step)
    const sendStep = async () => {
      const ticket = await genuineTicket(world, browser, path)
      return await browser[isUpload ? 'upload' : 'post'](path, { ticket })
    }
    let seen = await sendStep()
    if (isProofPage(locationOf(seen)) && prove !== undefined) {
      asked += 1
      const proved = await prove(locationOf(seen))
      expect([step, proved.status]).toEqual([step, 303])
      seen = await sendStep()
      browser.cookies.delete('proved') // so that the next step asks again
    }
    expect([step, seen.status < 500]).toEqual([step, true])
    if (isProofPage(locationOf(seen))) closed.push(step)
  }
  return { asked, closed }
}
/** They end the session of the walk. */
const isLast = (step: string): boolean => step.startsWith('/account/sessions/')

const rowsOf = (isOperator: boolean): Walk['rows'] =>
  formTable(local.platform).flatMap(({ pattern, effect }) =>
    effect === null || pattern.startsWith(isOperator ? '/console/' : '/desk/') ? [] : [[pattern, effect] as const],
  )
const askingOf = (rows: Walk['rows']) => rows.filter(([, effect]) => effects[effect] !== 'none').map(([step]) => step)

/** A session that began some minutes ago, in which nobody has proved anything yet. */
const browserOf = async (world: World, id: string, minutes = 11): Promise<PlainBrowser> => {
  const before = earlier(world.platform, minutes)
  const { sessionToken, rowFor } = mintSession(before, trace, before.clock.now())
  await world.platform.database.transaction(async (q) => await q.sessions.insert(rowFor(id, null, null)))
  const browser = plainBrowser(world.server.url)
  browser.cookies.set('session', sessionToken)
  return browser
}

let counted = 0
/** Somebody whom the builder knows: they have no password here. */
const addStranger = async ({ platform }: World, isOperator = false): Promise<Login> => {
  const externalId = `stranger-${(counted += 1)}`
  const email = `${externalId}@builder.example`
  const stated = { externalId, email, name: 'Sam Stranger', pictureUrl: null, status: null }
  const { id } = (await putBuilderUser(platform, trace, operator, stated)).user
  if (isOperator) await setOperator(platform, trace, operator, { userId: id, isOperator })
  return { id, email, password: '' }
}

const optionsOn = ({ text }: Seen): { readonly challenge: string } => {
  const found = /data-options="([^"]*)"/.exec(text)?.[1] ?? ''
  return JSON.parse(found.replaceAll('&quot;', '"').replaceAll('&amp;', '&'))
}
const placeOf = ({ server }: World) => ({ origin: `http://localhost:${new URL(server.url).port}`, rpId: 'localhost' })

/** Adds a passkey with the page for it. Returns what then proves it on another page. */
const addPasskey = async (world: World, browser: PlainBrowser) => {
  const authenticator = softAuthenticator()
  const path = '/account/factors/passkeys/new'
  const page = await browser.get(path)
  const made = authenticator.create({ ...optionsOn(page), place: placeOf(world) })
  const done = await browser.post(path, {
    ...hiddenFields(page.text, path),
    name: 'Laptop',
    passkey: JSON.stringify(made),
  })
  expect([done.status, locationOf(done)]).toEqual([303, expect.stringContaining('/account/factors/')])
  const prove = (by: PlainBrowser) => async (address: string) => {
    const asking = await by.get(address)
    const answer = authenticator.get({ ...optionsOn(asking), place: placeOf(world) })
    const hidden = hiddenFields(asking.text, '/account/prove')
    return await by.post('/account/prove', { ...hidden, kind: 'passkey', passkey: JSON.stringify(answer) })
  }
  return prove
}

/** Sets up an authenticator app on the page at this address, which needs no proof. Returns its key. */
const addAuthenticator = async (browser: PlainBrowser, address: string): Promise<Uint8Array> => {
  const page = await browser.get(address)
  const key = keyFromText(/id="totp-key">([A-Z2-7 ]+)</.exec(page.text)?.[1] ?? '')
  const fields = { ...hiddenFields(page.text, '/account/factors/totp'), ...sealedKeyOn(page) }
  const done = await browser.post('/account/factors/totp', { ...fields, code: totpCode(key, Date.now()) })
  expect(locationOf(done)).toStartWith('/account/factors/recovery-codes/new')
  return key
}
const sealedKeyOn = ({ text }: Seen) => ({ key: /name="key" value="([^"]*)"/.exec(text)?.[1] ?? '' })

describe.each([
  ['a developer', false],
  ['an operator', true],
])('%s', (_, isOperator) => {
  const rows = rowsOf(isOperator)

  test('with a password reaches every step', async () => {
    const user = isOperator ? await addOperator(local.platform, 'Olive Operator') : await addUser(local.platform)
    const { slug } = await addApp(local.platform, user)
    const browser = await browserOf(local, user.id)
    const prove = async (page: string) => await browser.submit(page, '/account/prove', { password: user.password })
    expect(await walk({ world: local, browser, rows, slug, prove })).toEqual({
      asked: askingOf(rows).length,
      closed: [],
    })
  })

  test('with a passkey only reaches every step, and reads who helps without it', async () => {
    const user = await addStranger(local, isOperator)
    const { slug } = await addApp(local.platform, user)
    const prove = await addPasskey(local, await browserOf(local, user.id, 9))
    const browser = await browserOf(local, user.id)
    const text = textOf(await browser.get('/account/prove'))
    expect(text).toContain('Passkeys need JavaScript')
    expect(text).toContain(
      `${isOperator ? 'another operator' : 'the operator of this server'} can reset your second factors`,
    )
    const walked = await walk({ world: local, browser, rows, slug, prove: prove(browser) })
    expect(walked).toEqual({ asked: askingOf(rows).length, closed: [] })
  })

  test('without anything to prove it with sets up a first factor right after a sign-in, and reads so later', async () => {
    const user = await addStranger(byProvider, isOperator)
    const { slug } = await addApp(byProvider.platform, user)
    const old = await browserOf(byProvider, user.id)
    const path = '/account/factors/totp'
    expect(isProofPage(locationOf(await old.get(path)))).toBe(true)
    const text = textOf(await old.get(`/account/prove?return_to=${path}`))
    expect(text).toContain('Sign in and set up an authenticator app')
    expect(text).toContain(isOperator ? 'Another operator can create a link' : 'ask the operator of this server')
    expect(text.includes('Sign in again with Example ID')).toBe(!isOperator)

    const young = await browserOf(byProvider, user.id, 9)
    const before = await walk({ world: byProvider, browser: young, rows, slug })
    const first = new Set(['/account/factors/passkeys/new', path])
    expect(before.closed.toSorted()).toEqual(
      askingOf(rows)
        .filter((step) => !first.has(step))
        .toSorted(),
    )
  })
})

/** With a new authenticator app, about which they get a mail, the person reaches every step. */
const expectAllWithApp = async (world: World, user: Login, browser: PlainBrowser, setUp: string) => {
  const rows = rowsOf(false)
  const key = await addAuthenticator(browser, setUp)
  await eventually(
    async () =>
      mails.received.map(({ to, head }) => to[0] === user.email && head.includes('A second factor was added')),
    (found) => found.includes(true),
  )
  const code = totpCode(key, Date.now(), 1)
  const done = await browser.submit('/account/prove', '/account/prove', { kind: 'code', code })
  expect(done.status).toBe(303)
  const { slug } = await addApp(world.platform, user)
  expect(await walk({ world, browser, rows, slug })).toEqual({ asked: 0, closed: [] })
}
const setUpLink = (seen: Seen, way: string): string =>
  new RegExp(`href="(/sign-in/${way}\\?return_to=[^"]*)"`).exec(seen.text)?.[1] ?? ''
const provePage = '/account/prove?return_to=/console'

test('a person whose identity provider never says when it asked them gets to every step with an app', async () => {
  const email = 'gina@id.example'
  provider.cheat({ claims: (right) => ({ ...right, sub: 'gina', email, email_verified: true }) })
  const browser = plainBrowser(byProvider.server.url)
  const roundTrip = async (start: string) => {
    const away = await browser.get(start)
    const back = new URLSearchParams(provider.agree(locationOf(away)))
    return await browser.get(`/sign-in/oidc/callback?${back.toString()}`)
  }
  await roundTrip('/sign-in/oidc?return_to=/account')
  const tried = await roundTrip('/account/prove/oidc?return_to=/console')
  expect([tried.status, textOf(tried).includes('Set up an authenticator app here, or ask the operator')]).toEqual([
    400,
    true,
  ])
  const back = await roundTrip(setUpLink(await browser.get(provePage), 'oidc'))
  expect(locationOf(back)).toStartWith('/account/factors/totp?')
  const user = await byProvider.platform.database.queries.users.byEmail(email)
  await expectAllWithApp(byProvider, { id: user?.id ?? '', email, password: '' }, browser, locationOf(back))
})

test('a person whose builder never says that it asked them gets to every step with an app', async () => {
  const user = await addStranger(byBuilder)
  const browser = plainBrowser(byBuilder.server.url)
  const roundTrip = async (start: string) => {
    const request = new URL(locationOf(await browser.get(start))).searchParams.get('request') ?? ''
    const body = JSON.stringify({ externalId: `stranger-${counted}` })
    const path = `~/api/management/sign-in-requests/${request}/accept`
    const { redirectTo } = (await send(byBuilder.server.url, 'POST', path, { token: serviceKey, body })).body
    return await browser.get(here(redirectTo))
  }
  await roundTrip('/sign-in/handover?return_to=/account')
  const tried = await roundTrip('/account/prove/handover?return_to=/console')
  expect([tried.status, textOf(tried).includes('or set up an authenticator app here')]).toEqual([400, true])
  const back = await roundTrip(setUpLink(await browser.get(provePage), 'handover'))
  expect(locationOf(back)).toStartWith('/account/factors/totp?')
  await expectAllWithApp(byBuilder, user, browser, locationOf(back))
})

describe('the pages of the account of somebody without a password', () => {
  for (const [name, world, site] of [
    ['the builder', byBuilder, 'the website builder'],
    ['the identity provider', byProvider, 'Example ID'],
  ] as const) {
    test(`speak of ${name}, and lead to nothing about passwords`, async () => {
      const browser = await browserOf(world, (await addStranger(world)).id, 0)
      for (const page of ['', '/email', '/factors', '/factors/offer', '/factors/passkeys/new', '/sessions']) {
        const { text } = await browser.get(`/account${page}`)
        expect([page, text.match(/(?:href="\/account\/|your )password(?! manager)/i)?.[0]]).toEqual([page, undefined])
      }
      expect((await browser.get('/account')).text).toContain(`Your account at ${site} alone is enough to sign in.`)
      expect((await browser.get('/account/factors')).text).toContain(`in addition to your account at ${site}`)
    })
  }
})
