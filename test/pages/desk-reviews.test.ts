import { zipSync } from 'fflate'
import { createHash } from 'node:crypto'
import { auditEvents } from '../support/audit-events.ts'
import { png } from '../support/icons.ts'
import { receivedArtifact } from '../support/received-artifact.ts'
import { describe, expect, test } from 'bun:test'
import { signOut } from '../../src/operations/sessions/own-sessions.ts'
import { authenticateSession } from '../../src/operations/authenticate.ts'
import { moveVersion, removeDraft } from '../../src/operations/versions/move-version.ts'
import { writeReviewMessage } from '../../src/operations/versions/review.ts'
import { setOperator } from '../../src/operations/users/users.ts'
import { operator as commandLine, trace } from '../support/operator.ts'
import { moveThrough, submitVersion, uploadVersion } from '../support/version.ts'
import { addApp, type AppInWorld } from '../support/world.ts'
import { addOperator, operatorWorldOfFile } from './support/operator-world.ts'
import { hiddenFields, type PlainBrowser, signedInBrowser } from './support/plain-browser.ts'

const world = await operatorWorldOfFile()
const url = world.server.url
const desk = await signedInBrowser(url, world.operator)

const pathOf = (app: AppInWorld, version: string) => `/desk/reviews/${app.slug}/${encodeURIComponent(version)}`
const statusOf = async (app: AppInWorld, version = '1.0.0') =>
  (await world.platform.database.queries.versions.byName(app.id, version))?.status
const eventsOf = async (app: AppInWorld) =>
  (await auditEvents(world.platform, app))
    .filter(({ action }) => action.startsWith('version.'))
    .map(({ action, actorKind, actorId }) => `${action} ${actorKind} ${actorId ?? ''}`)
/** A new app with a version that waits for review, and the address of its review. */
const waiting = async (manifest: Readonly<Record<string, unknown>> = { name: 'Mail' }) => {
  const app = await addApp(world.platform, world.user)
  await submitVersion(world.platform, app, { version: '1.0.0', manifest })
  return { app, path: pathOf(app, '1.0.0') }
}
const isOwnApp = 'This is your own app.'
const nothingToMend = { message: 'Not yet.', path: [], reason: [], intent: 'reject' } as const

test('a version without a manifest, or without a name in it, says so before everything else', async () => {
  for (const [manifest, lack] of [
    [{}, 'This version has no manifest.'],
    [{ websiteUrl: 'https://a.example' }, 'The manifest of this version has no name.'],
  ] as const) {
    const { text } = await desk.get((await waiting(manifest)).path)
    expect(text).toContain(lack)
    expect(text.indexOf(lack)).toBeLessThan(text.indexOf('Live now'))
  }
  expect((await desk.get((await waiting()).path)).text).not.toContain('has no')
})

test('an operator is told that the app under review is their own', async () => {
  expect((await desk.get((await waiting()).path)).text).not.toContain(isOwnApp)
  const own = await addApp(world.platform, world.operator)
  await submitVersion(world.platform, own, { version: '1.0.0' })
  expect((await desk.get(pathOf(own, '1.0.0'))).text).toContain(isOwnApp)
})

test('the icon of the version under review is shown to operators, and to nobody else', async () => {
  const image = png()
  const app = await addApp(world.platform, world.user)
  await submitVersion(world.platform, app, {
    version: '1.0.0',
    manifest: { name: 'Mail', icon: 'icon.png' },
    artifact: { filename: 'app.zip', content: receivedArtifact(zipSync({ 'icon.png': image })), sha256: null },
  })
  const path = pathOf(app, '1.0.0')
  expect((await desk.get(path)).text).toContain(`src="${path}/icon"`)
  const shown = await desk.get(`${path}/icon`)
  expect(shown.headers.get('content-type')).toBe('image/png')
  expect(shown.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
  expect(shown.headers.get('x-content-type-options')).toBe('nosniff')
  expect(shown.headers.get('cache-control')).toBe('no-store')
  expect(shown.text.slice(1, 4)).toBe('PNG')
  const owner = await signedInBrowser(url, world.user)
  expect((await owner.get(`${path}/icon`)).status).toBe(404)
  expect((await fetch(`${url}/icons/${createHash('sha256').update(image).digest('hex')}`)).status).toBe(404)
  const { path: without } = await waiting()
  expect((await desk.get(without)).text).not.toContain(`${without}/icon`)
  expect((await desk.get(`${without}/icon`)).status).toBe(404)
})

describe('the queue', () => {
  test('has the versions that wait for review, and the approved ones that are not live', async () => {
    const { app, path } = await waiting()
    expect((await desk.get('/desk/reviews')).text).toContain(`href="${path}"`)
    await moveThrough(world.platform, app, '1.0.0', 'approve')
    const { text } = await desk.get('/desk/reviews')
    expect(text.indexOf(`href="${path}"`)).toBeGreaterThan(text.indexOf('Approved, not live yet'))
    await moveThrough(world.platform, app, '1.0.0', 'activate')
    expect((await desk.get('/desk/reviews')).text).not.toContain(`href="${path}"`)
  })

  test('is paged when it is long, and no version is missing', async () => {
    const app = await addApp(world.platform, world.user)
    const versions = Array.from({ length: 55 }, (_, index) => `1.0.${index}`)
    for (const version of versions) await submitVersion(world.platform, app, { version })
    let path = '/desk/reviews'
    const seen: string[] = []
    for (let part = 0; part < 5 && path !== ''; part += 1) {
      const { text } = await desk.get(path)
      seen.push(
        ...[...text.matchAll(new RegExp(`/desk/reviews/${app.slug}/([0-9.]+)"`, 'g'))].map(
          ([, version = '']) => version,
        ),
      )
      path = /href="(\/desk\/reviews\?review=[^"]+)" rel="next"/.exec(text)?.[1] ?? ''
    }
    expect(seen).toEqual(versions)
  })
})

/** The notice on the page that an answer leads to, and the heading of that page. */
const afterIt = async (answer: Awaited<ReturnType<PlainBrowser['submit']>>) => {
  const { text } = await desk.follow(answer)
  const [, notice = ''] = /<p class="notice[^>]*>(.*?)<\/p>/s.exec(text) ?? []
  return { notice: notice.replaceAll(/<[^>]*>/g, ''), heading: /<h1[^>]*>(.*?)<\/h1>/s.exec(text)?.[1] ?? '' }
}

describe('after a decision', () => {
  test('the version behind it in the queue is shown, with what was decided; after the last one the first', async () => {
    const { queries } = world.platform.database
    for (const { version, slug } of await queries.versions.queue('review', { since: -1, id: '' }, 500)) {
      await moveVersion(world.platform, trace, commandLine, { slug, version, step: 'withdraw', rejection: null })
    }
    const [one, two, three] = [await waiting(), await waiting(), await waiting()]
    const approved = await afterIt(await desk.submit(two.path, `${two.path}/approve`))
    expect(approved.notice).toMatch(
      new RegExp(`^Approved, but not live yet: Newsletter 1\\.0\\.0\\. Next: .+ 1\\.0\\.0\\.$`),
    )
    const rejected = await desk.submit(three.path, `${three.path}/reject`, nothingToMend)
    expect(rejected.headers.get('location')).toStartWith(`${one.path}?`)
    expect((await afterIt(rejected)).notice).toStartWith('Rejected: Newsletter 1.0.0. Next: ')
    const last = await desk.submit(one.path, `${one.path}/publish`)
    expect(last.headers.get('location')).toBe(`${one.path}?done=published`)
  })

  test('it is in the list of decided versions, by who decided, when and how', async () => {
    const { app, path } = await waiting()
    await desk.submit(path, `${path}/reject`, nothingToMend)
    const other = await waiting()
    const colleague = await signedInBrowser(url, world.colleague)
    await colleague.submit(other.path, `${other.path}/publish`)
    const program = await waiting()
    await moveThrough(world.platform, program.app, '1.0.0', 'approve')
    const found = async (filters: Readonly<Record<string, string>>) => {
      const { text } = await desk.get(`/desk/reviews/decided?${new URLSearchParams(filters).toString()}`)
      return [app, other.app, program.app].map(({ slug }) => text.includes(`/desk/reviews/${slug}/1.0.0"`))
    }
    expect(await found({})).toEqual([true, true, true])
    expect(await found({ outcome: 'rejected' })).toEqual([true, false, false])
    expect(await found({ outcome: 'approved' })).toEqual([false, true, true])
    expect(await found({ by: world.operator.email })).toEqual([true, false, false])
    expect(await found({ by: world.colleague.email, q: other.app.slug })).toEqual([false, true, false])
    expect(await found({ since: '2999-01-01' })).toEqual([false, false, false])
    expect(await found({ until: '2999-01-01' })).toEqual([true, true, true])
    const { text } = await desk.get('/desk/reviews/decided')
    expect(text).toContain(`Decided by ${world.colleague.email}`)
    expect(text).toContain('Decided at the command line or by a program')
    expect(text.indexOf(program.app.slug)).toBeLessThan(text.indexOf(app.slug))
    for (const [filter, sentence] of [
      ['by=nobody@example.com', 'There is no user with the address'],
      ['since=yesterday', 'Write a time as'],
    ] as const) {
      const refused = await desk.get(`/desk/reviews/decided?${filter}`)
      expect([refused.status, refused.text.includes(sentence)]).toEqual([400, true])
    }
  })
})

describe('a review', () => {
  test('links to the addresses that the app names, beside the page and without telling them anything', async () => {
    const { path } = await waiting({
      name: 'Mail',
      websiteUrl: 'https://mail.example/?a="b"',
      supportUrl: 'mailto:help@mail.example',
      privacyUrl: 'https://mail.example/privacy',
    })
    const { text } = await desk.get(path)
    for (const address of [
      'https://mail.example/?a=&quot;b&quot;',
      'mailto:help@mail.example',
      'https://mail.example/privacy',
    ]) {
      expect(text).toContain(`<a href="${address}" target="_blank" rel="noopener noreferrer nofollow">${address}</a>`)
    }
  })

  test('shows what changed against the live version, and which scopes are new, in words', async () => {
    const { app } = await waiting({ name: 'Mail', hosts: ['a.example'] })
    await moveThrough(world.platform, app, '1.0.0', 'approve', 'activate')
    await submitVersion(world.platform, app, {
      version: '1.1.0+build.7',
      manifest: { name: 'Mail', hosts: ['b.example'] },
      scopes: ['site:read', 'profile.email:read'],
      notes: 'Faster\u202egpj.exe',
      artifact: { filename: 'mail.exe', content: receivedArtifact(Buffer.from('content')), sha256: null },
    })
    const { status, text } = await desk.get(pathOf(app, '1.1.0+build.7'))
    expect(status).toBe(200)
    expect(text).toContain('One change, compared with the live version 1.0.0.')
    expect(text).toContain('hosts[0]')
    expect(text).toContain('&quot;a.example')
    expect(text).toContain('One new scope, compared with the live version 1.0.0.')
    expect(text).toMatch(
      /See your email address<\/bdi> <code>profile\.email:read<\/code> <span class="badge waiting">New</,
    )
    expect(text).toContain('ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73')
    expect(text).toContain('7 bytes')
    // Characters that turn the reading direction are shown as escapes.
    expect(text).toContain('Faster\\u202egpj.exe')
    expect(text).not.toContain('\u202e')
  })

  test('of a first version shows the whole manifest, and says that nothing is live yet', async () => {
    const { path } = await waiting({ permissions: ['everything'] })
    const { text } = await desk.get(path)
    expect(text).toContain('Nothing is live yet, so there is nothing to compare it with.')
    expect(text).toContain('<details open')
    expect(text).toContain('everything')
    expect((await desk.get(`${path}/manifest`)).text).toContain('everything')
  })

  test('says when it shows only a part, and links to the rest', async () => {
    const manifest = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`key${index}`, 'x'.repeat(10)]))
    const { app } = await waiting({})
    await moveThrough(world.platform, app, '1.0.0', 'approve', 'activate')
    await submitVersion(world.platform, app, { version: '2.0.0', manifest: { ...manifest, long: 'y'.repeat(5_000) } })
    const { text } = await desk.get(pathOf(app, '2.0.0'))
    expect(text).toContain('2801 more changes are not shown here.')
    expect(text).toContain('more characters)')
    const whole = (await desk.get(`${pathOf(app, '2.0.0')}/manifest`)).text
    expect(whole).toContain('key2999')
    expect(whole).toContain('y'.repeat(5_000))
  })
})

describe('a decision', () => {
  test('approves, with the operator as the actor, and says that it is not live yet', async () => {
    const { app, path } = await waiting()
    const { status, headers } = await desk.submit(path, `${path}/approve`)
    expect([status, headers.get('location')]).toEqual([303, expect.stringMatching(/[?&]done=approved(&|$)/)])
    expect(await statusOf(app)).toBe('approved')
    expect((await eventsOf(app)).at(-1)).toBe(`version.approved operator ${world.operator.id}`)
    await desk.submit(path, `${path}/activate`)
    expect(await statusOf(app)).toBe('active')
  })

  test('approves and makes live in one step', async () => {
    const { app, path } = await waiting()
    expect((await desk.submit(path, `${path}/publish`)).status).toBe(303)
    expect(await statusOf(app)).toBe('active')
    expect((await eventsOf(app)).slice(-2)).toEqual([
      `version.approved operator ${world.operator.id}`,
      `version.activated operator ${world.operator.id}`,
    ])
  })

  test('rejects with a message and reasons, row by row; empty rows are left out', async () => {
    const { app, path } = await waiting()
    const rows = { path: ['manifest.name', '', 'notes'], reason: ['Say <more>.', ' ', 'Missing.'] }
    expect((await desk.submit(path, `${path}/reject`, { ...nothingToMend, ...rows })).status).toBe(303)
    const row = await world.platform.database.queries.versions.byName(app.id, '1.0.0')
    expect(JSON.parse(row?.rejection ?? '')).toEqual({
      message: 'Not yet.',
      items: [
        { path: 'manifest.name', message: 'Say <more>.' },
        { path: 'notes', message: 'Missing.' },
      ],
    })
    expect((await desk.get(path)).text).toContain('Say &lt;more>.')
  })

  test.each([
    ['no message', { message: ' \n ' }, 'the message is empty'],
    ['a long message', { message: 'x'.repeat(2_001) }, 'at most 2000 characters'],
    ['half an item', { path: ['manifest.name'], reason: [''] }, 'Every item needs a place'],
    ['the other half', { path: [''], reason: ['Wrong.'] }, 'Every item needs a place'],
  ])('without a reason that can be read is refused, and shows what was typed: %s', async (_, typed, sentence) => {
    const { app, path } = await waiting()
    const fields = { ...nothingToMend, path: ['kept.place'], reason: ['Kept "reason".'], ...typed }
    const { status, text } = await desk.submit(path, `${path}/reject`, fields)
    expect(status).toBe(400)
    expect(text).toContain(sentence)
    for (const kept of [...fields.path, ...fields.reason].filter((typed) => typed !== '')) {
      expect(text).toContain(`value="${kept.replaceAll('"', '&quot;')}"`)
    }
    expect(await statusOf(app)).toBe('submitted')
  })

  test('asks for more rows without deciding anything', async () => {
    const { app, path } = await waiting()
    const typed = { message: 'So far', path: ['a', 'b', 'c'], reason: ['1', '2', '3'], intent: 'rows' }
    const { status, text } = await desk.submit(path, `${path}/reject`, typed)
    expect(status).toBe(200)
    expect([...text.matchAll(/name="path"/g)]).toHaveLength(6)
    expect(text).toContain('>So far</textarea>')
    expect(await statusOf(app)).toBe('submitted')
  })

  test('about a version that was withdrawn and submitted again with other content is refused, and shows the new content', async () => {
    const { app, path } = await waiting({ harmless: true })
    const shown = (await desk.get(path)).text
    const rejecting = await desk.formOn(path, `${path}/reject`)
    await moveThrough(world.platform, app, '1.0.0', 'withdraw')
    await uploadVersion(world.platform, app, {
      version: '1.0.0',
      manifest: { harmless: false, stealsEverything: true },
    })
    await moveThrough(world.platform, app, '1.0.0', 'submit')
    for (const step of ['approve', 'publish', 'reject']) {
      const hidden = step === 'reject' ? rejecting : hiddenFields(shown, `${path}/${step}`)
      const fields = step === 'reject' ? { ...hidden, ...nothingToMend, message: 'Typed with care.' } : hidden
      const { status, text } = await desk.post(`${path}/${step}`, fields)
      expect([step, status]).toEqual([step, 409])
      expect(text).toContain('has changed since you opened this page')
      expect(text).toContain(step === 'reject' ? 'Typed with care.' : 'stealsEverything')
    }
    // The button for more rows also says that the version has changed.
    const more = { ...rejecting, ...nothingToMend, intent: 'rows' }
    expect((await desk.post(`${path}/reject`, more)).text).toContain('has changed since you opened this page')
    expect(await statusOf(app)).toBe('submitted')
  })

  test('about a withdrawn version changes nothing, and says so', async () => {
    const { app, path } = await waiting()
    const hidden = await desk.formOn(path, `${path}/approve`)
    await moveThrough(world.platform, app, '1.0.0', 'withdraw')
    const { status, text } = await desk.post(`${path}/approve`, hidden)
    expect(status).toBe(409)
    expect(text).toContain('The developer has withdrawn this version.')
    expect(await statusOf(app)).toBe('draft')
  })

  test('without the state of a version, or with one that no page shows, is refused', async () => {
    const { app, path } = await waiting()
    for (const seen of ['', 'ver_1 1 1 ', `ver_${'0'.repeat(32)} 1 1 `]) {
      expect((await desk.submit(path, `${path}/approve`, { seen })).status).toBeOneOf([400, 409])
    }
    expect(await statusOf(app)).toBe('submitted')
  })

  test('is refused when the session has ended or the operator rights were removed after the page was shown', async () => {
    const { app, path } = await waiting()
    const leaving = await addOperator(world.platform, 'Leaving')
    const browser = await signedInBrowser(url, leaving)
    const hidden = await browser.formOn(path, `${path}/approve`)
    await setOperator(world.platform, trace, commandLine, { userId: leaving.id, isOperator: false })
    expect((await browser.post(`${path}/approve`, hidden)).status).toBe(404)
    await setOperator(world.platform, trace, commandLine, { userId: leaving.id, isOperator: true })
    const session = await authenticateSession(world.platform, browser.cookies.get('session') ?? '')
    if (session === null) throw new Error('the session does not live')
    await signOut(world.platform, trace, session)
    const { status, headers } = await browser.post(`${path}/approve`, hidden)
    expect([status, headers.get('location')?.split('?')[0]]).toEqual([303, '/sign-in'])
    expect(await statusOf(app)).toBe('submitted')
  })
})

const signedInDeveloper = async () => await signedInBrowser(url, world.user)
const consolePath = (app: AppInWorld) => `/console/${app.slug}/versions/1.0.0`

describe('questions about a version', () => {
  test('are read and answered by members on the page of the version, and both are in the audit log', async () => {
    const { app, path } = await waiting()
    const developer = await signedInDeveloper()
    expect((await developer.get(consolePath(app))).text).not.toContain('Questions and answers')
    const question = 'Why <b>all</b> scopes?\nAnd \u202ewhy now?'
    const asked = await desk.submit(path, `${path}/ask`, { text: question })
    expect([asked.status, asked.headers.get('location')]).toEqual([303, `${path}?done=asked`])
    const { text: read } = await developer.get(consolePath(app))
    expect(read).toContain('Why &lt;b>all&lt;/b> scopes?\nAnd \\u202ewhy now?')
    expect(read).toContain('An operator')
    expect(read).not.toContain('Olive Operator')
    const form = await developer.formOn(consolePath(app), `${consolePath(app)}/answer`)
    expect((await developer.post(`${consolePath(app)}/answer`, { ...form, text: 'For the shop.' })).status).toBe(303)
    expect((await developer.post(`${consolePath(app)}/answer`, { ...form, text: 'For the shop.' })).status).toBe(409)
    const { text: answered } = await desk.get(path)
    expect([...answered.matchAll(/For the shop\./g)]).toHaveLength(1)
    expect(answered).toContain('Olive Operator')
    expect((await eventsOf(app)).slice(-2)).toEqual([
      `version.asked operator ${world.operator.id}`,
      `version.answered user ${world.user.id}`,
    ])
  })

  test('exist for operators and members of the app only; who has not been asked cannot answer', async () => {
    const { app, path } = await waiting()
    const developer = await signedInDeveloper()
    const answer = `${consolePath(app)}/answer`
    const form = await developer.formOn(consolePath(app), `${consolePath(app)}/withdraw`)
    expect((await developer.post(answer, { ...form, text: 'Hello?' })).status).toBe(303) // what was typed is shown again
    await desk.submit(path, `${path}/ask`, { text: 'Why?' })
    const colleague = await signedInBrowser(url, world.colleague)
    expect((await colleague.get(consolePath(app))).status).toBe(404)
    expect((await colleague.post(answer, { text: 'x', ticket: 'x' })).status).toBe(403)
    expect((await developer.post(`${path}/ask`, { text: 'x', ticket: 'x' })).status).toBe(404)
    const toldOthers = { slug: app.slug, version: '1.0.0', side: 'members', text: 'Mine' } as const
    const unasked = await waiting()
    const outcome = writeReviewMessage(
      world.platform,
      trace,
      { kind: 'user', id: world.user.id },
      {
        ...toldOthers,
        slug: unasked.app.slug,
      },
    )
    await expect(outcome).rejects.toMatchObject({ code: 'version_not_eligible' })
  })

  test('have limits, and end with the decision', async () => {
    const { app, path } = await waiting()
    for (const [text, sentence] of [
      [' \n ', 'Write something.'],
      ['x'.repeat(2_001), 'at most 2000 characters'],
    ] as const) {
      const refused = await desk.submit(path, `${path}/ask`, { text })
      expect([refused.status, refused.text.includes(sentence)]).toEqual([400, true])
    }
    const ask = async () =>
      await writeReviewMessage(
        world.platform,
        trace,
        { kind: 'operator', id: world.operator.id },
        {
          slug: app.slug,
          version: '1.0.0',
          side: 'operators',
          text: 'Why?',
        },
      )
    for (let asked = 0; asked < 50; asked += 1) await ask()
    await expect(ask()).rejects.toMatchObject({ code: 'invalid_request' })
    await moveThrough(world.platform, app, '1.0.0', 'withdraw')
    expect((await (await signedInDeveloper()).get(consolePath(app))).text).toContain(`${consolePath(app)}/answer`)
    await moveThrough(world.platform, app, '1.0.0', 'submit', 'approve', 'activate')
    expect((await desk.get(path)).text).not.toContain(`${path}/ask`)
    expect((await (await signedInDeveloper()).get(consolePath(app))).text).not.toContain(`${consolePath(app)}/answer`)
  })

  test('go with the draft that they are about', async () => {
    const { app, path } = await waiting()
    await desk.submit(path, `${path}/ask`, { text: 'Why?' })
    await moveThrough(world.platform, app, '1.0.0', 'withdraw')
    const { id } = (await world.platform.database.queries.versions.byName(app.id, '1.0.0')) ?? { id: '' }
    await removeDraft(world.platform, trace, commandLine, { slug: app.slug, id })
    expect(await world.platform.database.queries.reviewMessages.ofVersion(id)).toEqual([])
  })
})
