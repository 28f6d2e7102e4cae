import { afterAll, beforeAll, expect, test } from 'bun:test'
import { serviceRights } from '../../src/domain/service-key.ts'
import { createApp } from '../../src/operations/apps/apps.ts'
import { inviteMember } from '../../src/operations/apps/members.ts'
import { sendNextMail } from '../../src/operations/mails/send-mails.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { readConfig } from '../../src/config.ts'
import { deskAt } from '../cli/support/run.ts'
import { addOperator } from '../pages/support/operator-world.ts'
import { plainBrowser, type PlainBrowser, signedInBrowser } from '../pages/support/plain-browser.ts'
import { call, type Json } from '../support/call.ts'
import { linkIn, startMailServer } from '../support/mail-server.ts'
import { operator, trace } from '../support/operator.ts'
import { authorize, exchange, type Login } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { startHostileProvider } from './support/hostile-provider.ts'
import { send } from './support/send.ts'

// One spelling of a name, whoever gives it and whoever reads it.

const provider = await startHostileProvider()
const mails = await startMailServer()
afterAll(async () => {
  await provider.stop()
  await mails.down()
})
const world = await worldOfFile({
  env: {
    SIGN_IN: 'password,handover,oidc',
    SIGN_IN_URL: 'https://builder.example/apps/sign-in',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'platform',
    OIDC_CLIENT_SECRET: 'a-secret-of-the-test-that-is-long-enough',
    OIDC_CREATE_USERS: 'on',
    RATE_LIMIT: 'off',
  },
})
const { url } = world.server
const q = world.platform.database.queries
const mailer = mails.mailer()
const platform = { ...world.platform, mailer }
const commands = deskAt(world.server.database)
const { secret } = await createServiceKey(platform, trace, operator, {
  name: 'Builder',
  rights: serviceRights,
  networks: [],
  expiresInDays: null,
})
const manage = async (method: string, path: string, body: object | string): Promise<Json> => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = typeof body === 'string' ? { 'content-type': 'application/x-ndjson' } : {}
  const answer = await send(url, method, `~/api/management${path}`, { token: secret, body: text, headers })
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
  return answer.body
}

let boss: Login
let desk: PlainBrowser
let owner: PlainBrowser
beforeAll(async () => {
  boss = await addOperator(platform, 'Olive Operator')
  desk = await signedInBrowser(url, boss)
  owner = await signedInBrowser(url, world.user)
})

const nameOfUser = async (email: string) => (await q.users.byEmail(email))?.name
const nameOfApp = async (slug: string) => (await q.apps.bySlug(slug))?.name
const sent = async (browser: PlainBrowser, page: string, action: string, fields: Record<string, string>) => {
  const answer = await browser.submit(page, action, fields)
  if (answer.status !== 303) throw new Error(`${action}: ${answer.status} ${answer.text}`)
  return answer
}

let count = 0
const fresh = () => `door-${(count += 1)}`
const created = async () => {
  const email = `${fresh()}@example.com`
  await commands.json(['user', 'create', '--email', email, '--name', 'Before', '--generate-password'])
  return { email, id: (await q.users.byEmail(email))?.id ?? '' }
}

/** Every door through which a name enters: it enters one, and returns what is stored then. */
const doors: Readonly<Record<string, (name: string) => Promise<string | null | undefined>>> = {
  'the form that invites a user': async (name) => {
    const email = `${fresh()}@example.com`
    await sent(desk, '/desk/users/new', '/desk/users/new', { email, name })
    return await nameOfUser(email)
  },
  'the form that renames a user': async (name) => {
    const { email, id } = await created()
    await sent(desk, `/desk/users/${id}/edit`, `/desk/users/${id}/rename`, { name })
    return await nameOfUser(email)
  },
  'the form of an operator that creates an app': async (name) => {
    const slug = fresh()
    await sent(desk, '/desk/apps/new', '/desk/apps/new', { owner: world.user.email, name, slug, scopes: 'site:read' })
    return await nameOfApp(slug)
  },
  'the form of an operator that renames an app': async (name) => {
    const { slug } = world.app
    await sent(desk, `/desk/apps/${slug}/settings`, `/desk/apps/${slug}/settings/name`, { name })
    return await nameOfApp(slug)
  },
  'the form of a developer that creates an app': async (name) => {
    const slug = fresh()
    await sent(owner, '/console/new', '/console/new', { name, slug, scopes: 'site:read' })
    return await nameOfApp(slug)
  },
  'the form of a developer that renames an app': async (name) => {
    const { slug } = world.app
    await sent(owner, `/console/${slug}/settings`, `/console/${slug}/name`, { name })
    return await nameOfApp(slug)
  },
  'the form that creates a service key': async (name) => {
    await sent(desk, '/desk/service-keys/new', '/desk/service-keys/new', {
      name,
      rights: 'sign-in',
      networks: '',
      expiresInDays: '',
    })
    return (await commands.json(['service-key', 'list'])).data.find((key: { name: string }) =>
      key.name.startsWith(name[0] ?? ''),
    )?.name
  },
  'the form that creates a secret': async (label) => {
    const slug = fresh()
    const app = await createApp(platform, trace, operator, {
      ownerEmail: world.user.email,
      name: 'Other',
      slug,
      scopes: 'site:read',
    })
    await sent(owner, `/console/${slug}/credentials/new`, `/console/${slug}/credentials`, {
      environment: 'development',
      label,
    })
    return (await commands.json(['credential', 'list', app.slug])).data[0].label
  },
  'user create': async (name) => {
    const email = `${fresh()}@example.com`
    await commands.json(['user', 'create', '--email', email, '--name', name, '--generate-password'])
    return await nameOfUser(email)
  },
  'user invite': async (name) => {
    const email = `${fresh()}@example.com`
    await commands.json(['user', 'invite', email, '--name', name])
    return await nameOfUser(email)
  },
  'user rename': async (name) => {
    const { email } = await created()
    await commands.json(['user', 'rename', email, '--name', name])
    return await nameOfUser(email)
  },
  'app create': async (name) => {
    const slug = fresh()
    await commands.json([
      'app',
      'create',
      '--owner',
      world.user.email,
      '--name',
      name,
      '--slug',
      slug,
      '--scopes',
      'site:read',
    ])
    return await nameOfApp(slug)
  },
  'credential create': async (label) => {
    const slug = fresh()
    await createApp(platform, trace, operator, {
      ownerEmail: world.user.email,
      name: 'Other',
      slug,
      scopes: 'site:read',
    })
    return (await commands.json(['credential', 'create', slug, '--environment', 'development', '--label', label])).label
  },
  'service-key create': async (name) =>
    (await commands.json(['service-key', 'create', name, '--rights', 'sign-in'])).name,
  'resource import': async (name) => {
    const line = { owner: world.user.email, kind: 'site', name, slug: fresh(), status: 'draft' }
    await commands.json(['resource', 'import', '-'], { stdin: `${JSON.stringify(line)}\n` })
    return (await q.resources.find(world.user.id, 'site', line.slug))?.name
  },
  'PUT of a user by the builder': async (name) => {
    const id = fresh()
    return (await manage('PUT', `/users/${id}`, { email: `${id}@builder.example`, name })).name
  },
  'PUT of a website by the builder': async (name) => {
    const [id, person] = [fresh(), fresh()]
    await manage('PUT', `/users/${person}`, { email: `${person}@builder.example`, name: 'Owner' })
    return (await manage('PUT', `/resources/site/${id}`, { ownerExternalId: person, name, slug: id, status: 'draft' }))
      .name
  },
  'the import of the builder': async (name) => {
    const [id, person] = [fresh(), fresh()]
    await manage('PUT', `/users/${person}`, { email: `${person}@builder.example`, name: 'Owner' })
    const line = { externalId: id, ownerExternalId: person, kind: 'site', name, slug: id, status: 'draft' }
    await manage('POST', '/resources/import', `${JSON.stringify(line)}\n`)
    return (await q.resources.byExternalId('site', id))?.name
  },
  'the name that an identity provider gives at the first sign-in': async (name) =>
    await nameFromProvider(fresh(), name),
  'the name that an identity provider gives later': async (name) => {
    const sub = fresh()
    await nameFromProvider(sub, 'Before')
    return await nameFromProvider(sub, name)
  },
  'the two names that an identity provider gives': async (name) => {
    const [given_name, ...others] = name.split(/[ \u3000]/)
    return await nameFromProvider(fresh(), undefined, { given_name, family_name: others.join(' ') })
  },
  PLATFORM_NAME: async (name) => readConfig({}, { PLATFORM_NAME: name }).platformName,
  OIDC_NAME: async (name) => readConfig({}, { OIDC_NAME: name }).signIn.providerName,
  MAIL_FROM: async (name) => {
    const mail = { SMTP_URL: 'smtp://localhost', MAIL_FROM: `${name} <apps@example.com>` }
    return readConfig({}, mail).mail?.from.name
  },
}

const nameFromProvider = async (sub: string, name: string | undefined, more: object = {}) => {
  const email = `${sub}@id.example`
  provider.cheat({ claims: (right) => ({ ...right, sub, email, email_verified: true, name, ...more }) })
  const browser = plainBrowser(url)
  const away = (await browser.get('/sign-in/oidc')).headers.get('location') ?? ''
  const back = await browser.get(`/sign-in/oidc/callback?${new URLSearchParams(provider.agree(away)).toString()}`)
  if (back.status !== 303) throw new Error(back.text)
  return await nameOfUser(email)
}

test.each(Object.entries(doors))('a name that comes by %s gets the spelling of all names', async (_, enter) => {
  const letters =
    'Nguye\u0302\u0303n \u1112\u1161\u11ab\u1100\u1173\u11af \u05e9\u05c1\u05b8 \u0639\u0644\u06cc\u200c\u0631\u0636\u0627' // every mark and letter of its own
  expect(await enter(letters)).toBe(letters.normalize('NFC'))
  expect(await enter('Zoe\u0308\u3000A\u030a')).toBe('Zo\u00eb \u00c5')
})

/** What the builder says, and how it is spelled everywhere. */
const names: readonly (readonly [stated: string, spelled: string])[] = [
  ['\u5c71\u7530\u3000\u592a\u90ce', '\u5c71\u7530 \u592a\u90ce'], // Japanese, with an ideographic space
  ['\u0639\u0644\u06cc\u200c\u0631\u0636\u0627', '\u0639\u0644\u06cc\u200c\u0631\u0636\u0627'], // Persian, with a non-joiner
  ['\u0dc1\u0dca\u200d\u0dbb\u0dd3', '\u0dc1\u0dca\u200d\u0dbb\u0dd3'], // Sinhala, with a joiner
  ['\u0995\u09cd\u200d\u09b7', '\u0995\u09cd\u200d\u09b7'], // Bengali, with a joiner
  ['\u0d15\u0d43\u0d37\u0d4d\u0d23\u0d28\u0d4d\u200d', '\u0d15\u0d43\u0d37\u0d4d\u0d23\u0d28\u0d4d\u200d'], // Malayalam
  ['\u0924\u094d\u200d\u0930\u093f\u0932\u094b\u0915', '\u0924\u094d\u200d\u0930\u093f\u0932\u094b\u0915'], // Devanagari
  ['\u1112\u1161\u11ab\u1100\u1173\u11af', '\ud55c\uae00'], // Korean in single letters
  ['Nguye\u0302\u0303n\u00a0Thi\u0323', 'Nguy\u1ec5n Th\u1ecb'], // Vietnamese with combining marks and a no-break space
  ['\u05d3\u05d5\u05d3\u200f', '\u05d3\u05d5\u05d3'], // Hebrew, with a direction mark
  ['\u0e2a\u0e21\u0e0a\u0e32\u0e22', '\u0e2a\u0e21\u0e0a\u0e32\u0e22'], // Thai
  ['\u0623\u062d\u0645\u062f', '\u0623\u062d\u0645\u062f'], // Arabic
  ['I\u015f\u0131k \u0130nce', 'I\u015f\u0131k \u0130nce'], // Turkish
  ['Sam \u{1f469}\u200d\u{1f467} \u2764\ufe0f', 'Sam \u{1f469}\u200d\u{1f467} \u2764\ufe0f'], // emoji
]

test('a name of any script is spelled alike for the builder, the person, the apps, operators and in mails', async () => {
  for (const [index, [name, spelled]] of names.entries()) {
    const id = `named-${index}`
    const email = `${id}@builder.example`
    const put = await manage('PUT', `/users/${id}`, { email, name })
    expect(put.name).toBe(spelled)
    const browser = plainBrowser(url)
    const away = new URL((await browser.get('/sign-in/handover')).headers.get('location') ?? '')
    const request = away.searchParams.get('request') ?? ''
    const { redirectTo } = await manage('POST', `/sign-in-requests/${request}/accept`, {
      externalId: id,
      reauthenticated: true,
    })
    await browser.get(redirectTo.slice(new URL(redirectTo).origin.length))
    expect((await browser.get('/account')).text).toContain(spelled)
    const code = await authorize(url, browser.cookies.get('session') ?? '', world.app)
    const { accessToken } = (await exchange(url, world.app, code)).body
    expect((await call(url, 'GET', '/oauth/me', { token: accessToken })).body.name).toBe(spelled)
    const exported = await send(url, 'GET', `~/api/management/users/${id}/export`, { token: secret })
    expect(exported.text).toContain(spelled)

    // An app with the same name: what operators see of both, and what is mailed.
    const slug = `app-${id}`
    await sent(browser, '/console/new', '/console/new', { name, slug, scopes: 'site:read' })
    await inviteMember(platform, trace, operator, {
      slug,
      email: `friend-${email}`,
      role: 'developer',
      invitedBy: put.id,
    })
    while (await sendNextMail(platform, trace, mailer));
    const mail = mails.received.at(-1)
    expect(linkIn(mail ?? { text: '' })).not.toBe('')
    for (const form of [mail?.text, mail?.html]) expect(form?.split(spelled).length).toBeGreaterThan(2)
    expect(`${mail?.to.join()} ${mail?.from}`).toBe(`friend-${email} apps@example.com`)

    for (const sought of [name, spelled, spelled.normalize('NFD')]) {
      const query = new URLSearchParams({ q: sought }).toString()
      for (const list of ['users', 'apps']) expect((await desk.get(`/desk/${list}?${query}`)).text).toContain(id)
      expect((await browser.get(`/console?${query}`)).text).toContain(slug)
    }
    for (const page of [`/desk/apps/${slug}`, `/desk/audit?app=${slug}`])
      expect((await desk.get(page)).text).toContain(spelled)
    const file = await desk.submit(`/desk/audit?app=${slug}`, '/desk/audit/export')
    expect(file.text).toContain(spelled)
    for (const [words, found] of [
      [['user', 'list'], { email, name: spelled }],
      [['app', 'list'], { slug, name: spelled }],
    ] as const) {
      expect((await commands.json(words)).data).toContainEqual(expect.objectContaining(found))
      expect((await commands.run(words)).stdout).toContain(spelled)
    }
  }
})
