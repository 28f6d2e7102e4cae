import { receivedArtifact } from '../support/received-artifact.ts'
import { describe, expect, test } from 'bun:test'
import { formTicket } from '../../src/domain/form-ticket.ts'
import { environments } from '../../src/domain/app.ts'
import { rowKey } from '../../src/domain/identifier.ts'
import { ownedApp } from '../../src/operations/apps/app-record.ts'
import { renameApp, setAppStatus } from '../../src/operations/apps/apps.ts'
import { listLiveCredentials, createCredential } from '../../src/operations/credentials/credentials.ts'
import { findVersion } from '../../src/operations/versions/version-record.ts'
import { seenField } from '../../src/pages/version.tsx'
import { developmentCaller, uploadVersion } from '../operations/support/owner.ts'
import { createVersion } from '../../src/operations/versions/create-version.ts'
import { operator, trace } from '../support/operator.ts'
import { serverKeyIn } from '../support/server-key-in.ts'
import { moveThrough, submitVersion } from '../support/version.ts'
import { addApp, addUser, type AppInWorld, appToken } from '../support/world.ts'
import { type Seen, signedInBrowser } from './support/plain-browser.ts'
import { hostileText } from './support/hostile-text.ts'
import { worldOfFile } from '../support/world-of-file.ts'

// The console over plain HTTP: what it does for the owner of an app, and refuses to everybody else.

/** A bound value that no page has shown. */
const seenNever = seenField({ id: `ver_${'0'.repeat(32)}`, revision: 1, submittedAt: null, liveId: null })

const world = await worldOfFile()
const { platform, server, user } = world
const other = await addUser(platform, 'Grace Example')
const strangersApp = await addApp(platform, other)
await uploadVersion(platform, strangersApp, '1.0.0')
const owner = await signedInBrowser(server.url, user)

/** An app of the owner for one test. */
const freshApp = async () => await addApp(world.platform, world.user)
const pathOf = (app: AppInWorld, rest = '') => `/console/${app.slug}${rest}`
/** Sends the first form of the page with this action. */
const send = async (app: AppInWorld, page: string, action: string, fields: Record<string, string | string[]> = {}) =>
  await owner.submit(pathOf(app, page), pathOf(app, action), fields)
const liveSecretsOf = async ({ development, production }: AppInWorld) =>
  await listLiveCredentials(world.platform, { development: development.clientId, production: production.clientId })
const trailOf = async (app: AppInWorld) => await world.platform.database.queries.audit.pageOfApp(app.id, null, '~', 100)
/** A genuine ticket of the owner's session, for a form that none of their pages has. */
const ticketFor = async (action: string): Promise<string> => {
  const { random, clock } = world.platform
  const session = owner.cookies.get('session') ?? ''
  return formTicket(
    { server: await serverKeyIn(world.server.database), browser: session },
    { action, bound: [] },
    rowKey(random.uuid(clock.now())),
  )
}
const secretIn = ({ text }: Seen) => /value="(aps_(?:dev|live)_[^"]+)"/.exec(text)?.[1] ?? ''
const locationOf = ({ headers }: Seen) => headers.get('location')

describe("another app's objects", () => {
  test('cannot be reached through the slug of another app', async () => {
    const [mine, other] = [await freshApp(), await freshApp()]
    await uploadVersion(world.platform, other, '7.7.7')
    for (const elsewhere of [strangersApp, other]) {
      const [secret] = (await liveSecretsOf(elsewhere)).development
      const revoke = pathOf(mine, `/credentials/${secret?.id}/revoke`)
      expect((await owner.post(revoke, { ticket: await ticketFor(revoke) })).status).toBe(404)
      expect((await liveSecretsOf(elsewhere)).development).toHaveLength(1)
      const remove = { environment: 'development', uri: elsewhere.redirectUri }
      await send(mine, '/redirect-uris', '/redirect-uris/remove', remove)
      expect((await owner.get(pathOf(mine, '/redirect-uris'))).text).not.toContain(elsewhere.redirectUri)
      const { redirectUris } = world.platform.database.queries
      expect(await redirectUris.isRegistered(elsewhere.development.clientId, elsewhere.redirectUri)).toBe(true)
    }
    expect((await owner.get(pathOf(mine, '/versions/7.7.7'))).status).toBe(404)
    const submit = pathOf(mine, '/versions/7.7.7/submit')
    expect((await owner.post(submit, { ticket: await ticketFor(submit), seen: seenNever })).status).toBe(404)
  })

  test('are not changed by an additional client ID in a form', async () => {
    const mine = await freshApp()
    const fields = { environment: 'development', graceHours: '0', clientId: strangersApp.development.clientId }
    const answer = await send(mine, '/credentials', '/credentials/rotate', fields)
    expect(answer.status).toBe(303)
    expect((await owner.follow(answer)).text).toContain(mine.development.clientId)
    expect((await liveSecretsOf(strangersApp)).development[0]?.expiresAt).toBeNull()
  })
})

describe('creating an app', () => {
  const fields = { name: 'Fresh', scopes: ['site:read', 'profile:read'] }

  test('leads to its page, and sending the form again leads there too without creating another app', async () => {
    const hidden = await owner.formOn('/console/new', '/console/new')
    const both = await Promise.all(
      [1, 2].map(async () => await owner.post('/console/new', { ...hidden, ...fields, slug: 'twice' })),
    )
    expect(both.map(({ status }) => status).toSorted()).toEqual([303, 409])
    expect(both.map(locationOf)).toContain('/console/twice?done=app')
    const second = both.find(({ status }) => status === 409)
    expect(second?.text).toContain('This form was sent before and has registered your app.')
    expect(second?.text).toContain('href="/console/twice"')
    const other = await owner.post('/console/new', { ...hidden, ...fields, slug: 'thrice' })
    expect(other.status).toBe(409)
    expect((await owner.get('/console/thrice')).status).toBe(404)
  })

  test.each([
    [{ name: ' ', slug: 'good' }, 'The name is empty.'],
    [{ name: 'evil\u202ename', slug: 'good' }, 'The name has control characters.'],
    [{ name: 'x'.repeat(201), slug: 'good' }, 'The name is longer than 200 characters.'],
    [{ name: 'Fine', slug: 'Not a slug' }, 'A slug has 1 to 63 characters: a-z, 0-9, and hyphens inside.'],
    [{ name: 'Fine', slug: 'new' }, 'This slug is reserved.'],
    [{ name: 'Fine', slug: 'good', scopes: [] as string[] }, 'Choose at least one scope.'],
    [{ name: 'Fine', slug: 'good', scopes: ['customers:read'] }, 'The scope customers:read is planned or restricted'],
  ])('with %j is refused in words next to the field, and keeps what was typed', async (change, sentence) => {
    const answer = await owner.submit('/console/new', '/console/new', { ...fields, ...change })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(sentence)
    expect(answer.text).toContain('class="fault"')
    expect((await owner.get('/console/good')).status).toBe(404)
    if (change.slug === 'good') expect(answer.text).toContain('value="good"')
  })

  test('names all faults at once, and the first field at fault has the focus', async () => {
    const wrong = { name: ' ', slug: 'Not a slug', scopes: [] }
    const { status, text } = await owner.submit('/console/new', '/console/new', wrong)
    expect(status).toBe(400)
    for (const fault of ['The name is empty.', 'A slug has 1 to 63 characters', 'Choose at least one scope.']) {
      expect(text).toContain(fault)
    }
    for (const name of ['name', 'slug', 'scopes']) expect(text).toContain(`id="${name}-fault"`)
    expect([...text.matchAll(/<input[^>]* autofocus/g)].map(([input]) => /id="(\w+)"/.exec(input)?.[1])).toEqual([
      'name',
    ])
    const noScopes = await owner.submit('/console/new', '/console/new', { name: 'Fine', slug: 'good', scopes: [] })
    expect(noScopes.text).toMatch(/<fieldset[^>]* autofocus/)
  })

  test('offers the scope that says who somebody is', async () => {
    expect((await owner.get('/console/new')).text).toMatch(/value="profile:read" checked/)
  })

  test('with a slug that is taken is refused', async () => {
    const answer = await owner.submit('/console/new', '/console/new', { ...fields, slug: strangersApp.slug })
    expect(answer.text).toContain('This slug is taken.')
  })
})

describe('a secret', () => {
  test('is shown once and works, and appears on no other page and not in the audit log, the log or an address', async () => {
    const app = await freshApp()
    const answer = await send(app, '/credentials/new', '/credentials', { environment: 'production', label: 'Server' })
    expect(answer.status).toBe(303)
    const created = await owner.follow(answer)
    expect(created.headers.get('cache-control')).toBe('no-store')
    const secret = secretIn(created)
    const again = await owner.follow(answer)
    expect([again.status, secretIn(again), again.text.includes('There is no new secret to show.')]).toEqual([
      200,
      '',
      true,
    ])
    const { clientId } = app.production
    expect(await appToken(world.server.url, { clientId, clientSecret: secret })).toStartWith('apat_')
    for (const page of ['', '/credentials', '/credentials/ended', '/trail', '/first-call']) {
      expect((await owner.get(pathOf(app, `${page}?environment=production`))).text).not.toContain(secret.slice(9, 60))
    }
    expect(world.server.log()).not.toContain(secret)
    expect(JSON.stringify(await trailOf(app))).not.toContain(secret)
  })

  test('is created once by a form that is sent twice, and the second answer does not show it', async () => {
    const app = await freshApp()
    for (const [page, action, fields] of [
      ['/credentials/new', '/credentials', { environment: 'production', label: '' }],
      ['/credentials', '/credentials/rotate', { environment: 'development', graceHours: '24' }],
    ] as const) {
      const hidden = await owner.formOn(pathOf(app, page), pathOf(app, action))
      const both = await Promise.all(
        [1, 2, 3].map(async () => await owner.post(pathOf(app, action), { ...hidden, ...fields })),
      )
      expect(both.map(({ status }) => status).toSorted()).toEqual([303, 409, 409])
      const shown = await Promise.all(both.map(async (answer) => secretIn(await owner.follow(answer))))
      expect(new Set(shown).size).toBe(2) // the secret and nothing
      for (const { text } of both.filter(({ status }) => status === 409)) {
        expect(text).toContain('Only the first answer showed the secret')
        expect(text).toContain(`href="${pathOf(app, '/credentials')}`)
      }
    }
    const live = await liveSecretsOf(app)
    expect([live.development.length, live.production.length]).toEqual([2, 2])
  })

  test('is told from another one by its last four characters and by who made it', async () => {
    const app = await freshApp()
    const { slug } = app
    const byOperator = await createCredential(world.platform, trace, operator, {
      slug,
      environment: 'development',
      label: null,
    })
    const made = await send(app, '/credentials/new', '/credentials', { environment: 'production', label: '  Mine ' })
    const own = secretIn(await owner.follow(made))
    const [development, production] = await Promise.all(
      environments.map(async (name) => (await owner.get(pathOf(app, `/credentials?environment=${name}`))).text),
    )
    expect(development).toContain(`<code>…${byOperator.clientSecret.slice(-4)}</code>`)
    expect(development).toContain('by an operator')
    expect(development).not.toContain('<bdi>Mine</bdi>')
    expect(production).toContain(`<code>…${own.slice(-4)}</code>`)
    expect(production).toContain('by you')
    expect(production).toContain('<bdi>Mine</bdi>')
    expect(production).not.toContain(own.slice(-6))
  })

  test('in its grace period shows when it expires; a third secret is refused, and no form offers it', async () => {
    const app = await freshApp()
    const fields = { environment: 'development', graceHours: '168' }
    const rotated = await send(app, '/credentials', '/credentials/rotate', fields)
    expect((await owner.follow(rotated)).text).toContain('The previous secret expires')
    const shown = await owner.get(pathOf(app, '/credentials'))
    expect(shown.text).not.toContain('Create a development secret')
    // An exposed secret does not wait: without a grace period it can be rotated.
    expect(shown.text).toContain('/credentials/rotate?environment=development')
    expect((await owner.get(pathOf(app, '/credentials'))).text).toContain('Active until ')
    const again = pathOf(app, '/credentials/rotate')
    const third = await owner.submit(again, again, { ...fields, graceHours: '1' })
    expect(third.status).toBe(409)
    expect(third.text).toContain('This environment already has two live secrets.')
    expect(secretIn(third)).toBe('')
  })

  test.each(['169', '-1', '1.5', '1e2', '', 'soon', '0x10'])(
    'is not rotated with a grace period of %j',
    async (graceHours) => {
      const app = await freshApp()
      const answer = await send(app, '/credentials', '/credentials/rotate', { environment: 'development', graceHours })
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('The grace is a whole number of hours from 0 to 168.')
      expect((await liveSecretsOf(app)).development).toHaveLength(1)
    },
  )

  test('that is revoked stops working at once, and so do its tokens', async () => {
    const app = await freshApp()
    const token = await appToken(world.server.url, app.development)
    const [secret] = (await liveSecretsOf(app)).development
    const answer = await send(app, '/credentials', `/credentials/${secret?.id}/revoke`)
    expect(locationOf(answer)).toBe(pathOf(app, '/credentials?done=revoked&environment=development'))
    const { status } = await fetch(`${world.server.url}/api/app-platform/me`, {
      headers: { authorization: `Bearer ${token}`, 'x-service-api-version': '2026-08' },
    })
    expect(status).toBe(401)
    expect((await owner.get(pathOf(app, '/credentials/ended'))).text).toContain(secret?.id ?? 'no secret')
  })
})

describe('a redirect URI', () => {
  test.each([
    ['http://app.example/', 'A redirect URI starts with https://.'],
    ['https://app.example/#top', 'A redirect URI has no fragment (#).'],
    ['https://*.app.example/', 'A redirect URI has no wildcard (*).'],
    ['https://me:pw@app.example/', 'A redirect URI has no user name or password before the host.'],
    ['https://app.example/a/../b', 'A redirect URI is written as browsers write it'],
    ['javascript:alert(1)', 'A redirect URI starts with https://.'],
    ['https://app.example/?code=1', 'A redirect URI has no code in its query'],
    ['', 'A redirect URI starts with https://.'],
  ])('such as %j is refused, and the page says why', async (uri, sentence) => {
    const app = await freshApp()
    const answer = await send(app, '/redirect-uris', '/redirect-uris', { environment: 'production', uri })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(sentence)
  })

  test('of the other environment is refused; one that another app has is added, and every one can be removed', async () => {
    const app = await freshApp()
    const refused = await send(app, '/redirect-uris', '/redirect-uris', {
      environment: 'production',
      uri: app.redirectUri,
    })
    expect(refused.text).toContain('This app has this redirect URI in its other environment.')
    const shared = { environment: 'development', uri: strangersApp.redirectUri }
    const accepted = await send(app, '/redirect-uris', '/redirect-uris', shared)
    expect(locationOf(accepted)).toBe(pathOf(app, '/redirect-uris?done=uri-added&environment=development'))
    const uri = `https://${app.slug}.example/it's?a=1&amp=2`
    const added = await send(app, '/redirect-uris', '/redirect-uris', { environment: 'production', uri: ` ${uri}\n` })
    expect(locationOf(added)).toBe(pathOf(app, '/redirect-uris?done=uri-added&environment=production'))
    const removed = await send(app, '/redirect-uris', '/redirect-uris/remove', { environment: 'production', uri })
    expect(locationOf(removed)).toBe(pathOf(app, '/redirect-uris?done=uri-removed&environment=production'))
    const { redirectUris } = world.platform.database.queries
    expect(await redirectUris.isRegistered(app.production.clientId, uri)).toBe(false)
  })

  test('is registered once by a form that is sent twice', async () => {
    const app = await freshApp()
    const hidden = await owner.formOn(pathOf(app, '/redirect-uris'), pathOf(app, '/redirect-uris'))
    const post = async () =>
      await owner.post(pathOf(app, '/redirect-uris'), { ...hidden, uri: `https://${app.slug}.example/twice` })
    expect((await post()).status).toBe(303)
    expect((await post()).text).toContain('This form was sent before, and nothing was done a second time.')
  })
})

describe('scopes and names', () => {
  test('planned and restricted scopes are shown, and cannot be chosen or forced', async () => {
    const app = await freshApp()
    const { text } = await owner.get(pathOf(app, '/scopes'))
    expect(text).toContain('customers:read')
    expect(text).not.toContain('value="customers:read"')
    const forced = await send(app, '/scopes', '/scopes', { scopes: ['site:read', 'customers:read'] })
    expect(forced.text).toContain('is planned or restricted and cannot be issued.')
    const saved = await send(app, '/scopes', '/scopes', { scopes: ['store:read'] })
    expect(locationOf(saved)).toBe(pathOf(app, '/scopes?done=scopes'))
    expect((await ownedApp(world.platform, world.user.id, app.slug)).scopes).toEqual(['store:read'])
  })

  test('the name of an app that users know since its review cannot be changed by its members', async () => {
    const app = await freshApp()
    await submitVersion(world.platform, app, { version: '1.0.0' })
    expect((await send(app, '/settings', '/name', { name: 'Letters' })).status).toBe(303)
    await moveThrough(world.platform, app, '1.0.0', 'approve', 'activate')
    expect((await owner.get(pathOf(app, '/settings'))).text).toContain('since it was reviewed')
    const refused = await owner.post(pathOf(app, '/name'), {
      ticket: await ticketFor(pathOf(app, '/name')),
      name: 'Bank',
    })
    expect([refused.status, refused.text.includes('Ask the operator')]).toEqual([409, true])
    expect((await ownedApp(world.platform, world.user.id, app.slug)).name).toBe('Letters')
    expect((await renameApp(world.platform, trace, operator, { slug: app.slug, name: 'Post' })).name).toBe('Post')
  })

  test('a hostile name is text on every page', async () => {
    const app = await freshApp()
    const name = `<img src=x onerror=alert(1)>"'&amp;`
    expect((await send(app, '/settings', '/name', { name })).status).toBe(303)
    const { text } = await owner.get(pathOf(app))
    expect(text).not.toContain('<img')
    expect(text).toContain('&lt;img src=x onerror=alert(1)>')
    const refused = await send(app, '/settings', '/name', { name: hostileText })
    expect(refused.status).toBe(400)
    expect(refused.text).not.toContain('<script>alert')
  })
})

describe('a suspended app', () => {
  test('can be viewed, and access to it can be ended; nothing can be added to it', async () => {
    const app = await freshApp()
    const [secret] = (await liveSecretsOf(app)).production
    await uploadVersion(world.platform, app, '1.0.0')
    const attempts = [
      ['/settings', '/name', { name: 'Other' }],
      ['/credentials/new', '/credentials', { label: '' }],
      ['/credentials', '/credentials/rotate', { graceHours: '1' }],
      ['/redirect-uris', '/redirect-uris', { uri: 'https://more.example/' }],
      ['/scopes', '/scopes', { scopes: 'site:read' }],
      ['/versions/1.0.0', '/versions/1.0.0/submit', {}],
    ] as const
    const forms = await Promise.all(
      attempts.map(async ([page, action, fields]) => {
        const hidden = await owner.formOn(pathOf(app, page), pathOf(app, action))
        return { action, fields: { ...hidden, ...fields } }
      }),
    )
    await setAppStatus(world.platform, trace, operator, { slug: app.slug, status: 'suspended' })
    for (const { action, fields } of forms) {
      const answer = await owner.post(pathOf(app, action), fields)
      expect([action, answer.status]).toEqual([action, 403])
      expect(answer.text).toMatch(/An operator has suspended this app|The app is suspended/)
      expect(secretIn(answer)).toBe('')
    }
    expect((await send(app, '/credentials?environment=production', `/credentials/${secret?.id}/revoke`)).status).toBe(
      303,
    )
    const remove = { environment: 'development', uri: app.redirectUri }
    expect((await send(app, '/redirect-uris', '/redirect-uris/remove', remove)).status).toBe(303)
    for (const page of ['', '/versions', '/installs', '/trail', '/first-call']) {
      expect((await owner.get(pathOf(app, page))).status).toBe(200)
    }
  })
})

describe('versions', () => {
  test('a version number with + and . has its own page, escaped or not', async () => {
    const app = await freshApp()
    const version = '1.0.0-rc.1+build.5'
    await uploadVersion(world.platform, app, version)
    expect((await owner.get(pathOf(app, '/versions'))).text).toContain('/versions/1.0.0-rc.1%2Bbuild.5"')
    const path = '/versions/1.0.0-rc.1%2Bbuild.5'
    expect((await owner.get(pathOf(app, path))).text).toContain(`Version ${version}`)
    expect((await owner.get(pathOf(app, `/versions/${version}`))).status).toBe(200)
    const submitted = await send(app, path, `${path}/submit`)
    expect(locationOf(submitted)).toBe(pathOf(app, `${path}?done=submitted`))
    expect((await owner.get(pathOf(app, path))).text).toContain('Waiting for review')
    expect(locationOf(await send(app, path, `${path}/withdraw`))).toBe(pathOf(app, `${path}?done=withdrawn`))
  })

  test('a draft that was replaced after it was shown is not submitted', async () => {
    const app = await freshApp()
    await uploadVersion(world.platform, app, '1.0.0')
    const submit = pathOf(app, '/versions/1.0.0/submit')
    const hidden = await owner.formOn(pathOf(app, '/versions/1.0.0'), submit)
    await uploadVersion(world.platform, app, '1.0.0')
    const answer = await owner.post(submit, hidden)
    expect(answer.status).toBe(409)
    expect(answer.text).toContain('has changed since it was shown')
    const found = await findVersion(world.platform, await ownedApp(world.platform, world.user.id, app.slug), '1.0.0')
    expect(found.status).toBe('draft')
  })

  test('a form that is sent twice submits once, and does not undo a withdrawal', async () => {
    const app = await freshApp()
    await uploadVersion(world.platform, app, '1.0.0')
    const submit = pathOf(app, '/versions/1.0.0/submit')
    const hidden = await owner.formOn(pathOf(app, '/versions/1.0.0'), submit)
    expect((await owner.post(submit, hidden)).status).toBe(303)
    await send(app, '/versions/1.0.0', '/versions/1.0.0/withdraw')
    const again = await owner.post(submit, hidden)
    expect(again.status).toBe(409)
    expect(again.text).toContain('This form was sent before')
  })

  test('a manifest is shown as text, and a huge one only in part; its artifact is shown with size and SHA-256', async () => {
    const app = await freshApp()
    const caller = await developmentCaller(world.platform, app)
    const manifest = { '</pre><script>': '\u202egpj.exe', long: 'x'.repeat(200_000) }
    const artifact = { filename: '<b>.zip', content: receivedArtifact(Buffer.from('hello')), sha256: null }
    const upload = { version: '1.0.0', notes: '<i>\nline', manifest, scopes: [], artifact }
    await createVersion(world.platform, trace, caller, upload, null)
    const { text } = await owner.get(pathOf(app, '/versions/1.0.0'))
    expect(text).not.toContain('<script>"')
    expect(text).not.toContain('\u202e')
    expect(text).toContain('\\u202egpj.exe')
    expect(text).toContain('5 bytes')
    expect(text).toContain('2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824')
    expect(text).toContain('Only the first 100,000 of')
    expect(text.length).toBeLessThan(130_000)
  })
})

describe('long lists', () => {
  test('have 50 rows on a page, and a link to the next that keeps the filter', async () => {
    const app = await freshApp()
    for (let number = 0; number < 60; number += 1) await uploadVersion(world.platform, app, `1.${number}.0`)
    const first = (await owner.get(pathOf(app, '/trail?action=version.created'))).text
    expect(first.match(/class="timeline-words"/g)).toHaveLength(50)
    const href = /href="([^"]*)" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect(href).toContain('action=version.created')
    const second = (await owner.get(href)).text
    expect(second.match(/class="timeline-words"/g)).toHaveLength(10)
    expect(second).not.toContain('rel="next"')
    const versions = (await owner.get(pathOf(app, '/versions?status=draft'))).text
    const older = /href="([^"]*)" rel="next"/.exec(versions)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect((await owner.get(older)).text).toContain('1.9.0')
  })

  test.each(['/trail', '/versions', '/installs', '/rollbacks', '/live', '/credentials/ended'])(
    'refuse a cursor that is not theirs: %s',
    async (rest) => {
      const foreign = Buffer.from('elsewhere 1').toString('base64url')
      for (const cursor of ['x', foreign, '%00', `${foreign}&cursor=${foreign}`]) {
        expect((await owner.get(pathOf(world.app, `${rest}?cursor=${cursor}`))).status).toBe(400)
      }
    },
  )
})

describe('rollbacks of production by development secrets', () => {
  test('are switched off and on again in the settings of the app, by owners', async () => {
    const app = await freshApp()
    const rule = async () => (await world.platform.database.queries.apps.byId(app.id))?.secretsRollBack
    for (const [secrets, now] of [
      ['refused', false],
      ['allowed', true],
    ] as const) {
      const sent = await send(app, '/settings', '/rollback-rule', { secrets })
      expect(locationOf(sent)).toBe(pathOf(app, '/settings?done=rollback'))
      expect(await rule()).toBe(now)
    }
  })
})
