import { readAuthorizationParameters } from '../../src/domain/authorization-request.ts'
import { PlatformError, refuse } from '../../src/domain/errors.ts'
import { callOf } from '../../src/http/call.ts'
import type { VersionRecord } from '../../src/operations/versions/version-record.ts'
import { assetRoutes, embedScript, favicon, siteScript, siteStylesheet } from '../../src/pages/assets.ts'
import { outcomeOf } from '../../src/pages/form.ts'
import { lostDecisionPage } from '../../src/pages/front-door/consent.tsx'
import { unansweredPage } from '../../src/pages/front-door/failed-request.tsx'
import { pageRule } from '../../src/pages/pages.ts'
import { listPart, noticeFor, olderPath } from '../../src/pages/query.ts'
import { artifactDownload, readSeen, seenField } from '../../src/pages/version.tsx'
import { refuseVisit, visitorOf } from '../../src/pages/visit.ts'
import { callWith, doorOf, servedBy } from '../http/support/door.ts'
import { auditEvents } from '../support/audit-events.ts'
import { openAsOperator } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { uploadVersion } from '../support/version.ts'
import { addApp, addUser } from '../support/world.ts'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { cookieNamed, sessionCookieOf } from '../support/cookie.ts'

const platform = await platformOfFile()

const requestWith = (headers: Readonly<Record<string, string>> = {}, path = '/') => {
  const request = new Request(`http://localhost${path}`, { headers })
  callWith(request)
  return request
}

/** The secret of a visitor with this cookie. */
const secretFor = (cookie?: string) => {
  const { cookies } = visitorOf(doorOf(platform), requestWith(cookie === undefined ? {} : { cookie }))
  return /-visit=([A-Za-z0-9_-]{43});/.exec(cookies[0] ?? '')?.[1] ?? ''
}
const says = (query: string, headers: Readonly<Record<string, string>> = { 'sec-fetch-site': 'same-origin' }) =>
  noticeFor(
    { door: doorOf(platform), call: callOf(requestWith(headers, `/account${query}`)) },
    { revoked: 'Access revoked.' },
  )
const stylesheet = async (headers: Readonly<Record<string, string>>) =>
  await servedBy(assetRoutes, doorOf(platform)).handle(requestWith(headers, siteStylesheet.path))
/** The page after a decision that was not carried out. */
const lostDecision = async (code: 'idempotency_key_reused' | 'origin_not_allowed', startAgain: string | null) =>
  await lostDecisionPage(platform, callOf(requestWith()), { error: refuse(code), startAgain }).text()

/** The part of this list that an address asks for. */
const asked = (url: string, list = 'apps') => listPart({ call: callOf(requestWith({}, url)) }, list, 'older')

test('a visitor keeps a cookie of this server, and gets a new one for any other', () => {
  const given = secretFor()
  const visit = cookieNamed(platform.publicUrl, 'visit')
  expect(secretFor(`${visit}=${given}`)).toBe(given)
  for (const other of [undefined, '', 'a', `${given}a`, `${given.slice(1)}.`].map(
    (value) => value && `${visit}=${value}`,
  )) {
    expect(secretFor(other)).toHaveLength(43)
    expect(secretFor(other)).not.toBe(secretFor(other))
  }
})

test('a request without a session is no failure; a request with an ended session counts as one and leaves an audit event', async () => {
  const events = async () => await auditEvents(platform)
  const before = (await events()).length
  const door = doorOf(platform)
  const mayFail = () => door.limiter.peek('failed', ' local').remaining
  expect(await refuseVisit(door, requestWith())).toMatchObject({ code: 'login_required' })
  expect([(await events()).length, mayFail()]).toEqual([before, 120])
  expect(await refuseVisit(door, requestWith({ cookie: sessionCookieOf(platform.publicUrl, 'over') }))).toMatchObject({
    code: 'login_required',
  })
  expect((await events()).slice(before)).toMatchObject([{ action: 'bearer.check', reason: 'login_required' }])
  expect(mayFail()).toBe(119)
})

test('a page shows only notices of its own, and only after requests from our own pages', () => {
  expect(says('?done=revoked')).toBe('Access revoked.')
  for (const query of ['', '?done=', '?done=other', '?done=toString', '?done=__proto__']) expect(says(query)).toBeNull()
  for (const site of [{}, { 'sec-fetch-site': 'none' }, { 'sec-fetch-site': 'cross-site' }]) {
    expect(says('?done=revoked', site)).toBeNull()
  }
})

test('an error that a person can correct is shown with the form, and every other error is thrown', async () => {
  for (const code of [
    'invalid_request',
    'consent_required',
    'version_locked',
    'rate_limited',
    'invalid_login',
  ] as const) {
    const error = new PlatformError(code)
    expect(await outcomeOf(Promise.reject(error))).toEqual({ kind: 'refused', error })
  }
  for (const error of [
    refuse('login_required'),
    refuse('route_not_found'),
    refuse('unavailable'),
    new TypeError('odd'),
  ]) {
    expect(await outcomeOf(Promise.reject(error)).catch((thrown: unknown) => thrown)).toBe(error)
  }
  expect(await outcomeOf(Promise.resolve(1))).toEqual({ kind: 'done', value: 1 })
})

test('only two errors have the page for broken links; every other one is thrown', async () => {
  const door = doorOf(platform)
  const parameters = readAuthorizationParameters('')
  const unanswered = async (error: unknown) =>
    await unansweredPage(door, callOf(requestWith()), error, { visit: null, parameters })
  for (const code of ['invalid_client', 'invalid_redirect_uri'] as const) {
    expect((await unanswered(refuse(code))).status).toBe(400)
  }
  for (const error of [refuse('unavailable'), new PlatformError('invalid_request'), new TypeError('odd')]) {
    expect(await unanswered(error).catch((thrown: unknown) => thrown)).toBe(error)
  }
})

test('the page after a lost decision says whether it was made before or never', async () => {
  expect(await lostDecision('idempotency_key_reused', null)).toContain('You have already decided')
  expect(await lostDecision('idempotency_key_reused', null)).toContain('Your first decision counts')
  expect(await lostDecision('origin_not_allowed', null)).toContain('No app was given access')
  expect(await lostDecision('origin_not_allowed', null)).not.toContain('already decided')
  expect(await lostDecision('origin_not_allowed', null)).not.toContain('Ask me again')
  expect(await lostDecision('origin_not_allowed', '/oauth/authorize?a=b')).toContain('href="/oauth/authorize?a=b"')
})

test('a page with a refusal has Retry-After if the time is known', () => {
  for (const [facts, told] of [
    [{ retryAfterSeconds: 6.2 }, '7'],
    [{ retryAfterSeconds: 0 }, '1'],
    [{}, null],
  ] as const) {
    const shown = lostDecisionPage(platform, callOf(requestWith()), {
      error: refuse('rate_limited', facts),
      startAgain: null,
    })
    expect(shown.headers.get('retry-after')).toBe(told)
  }
})

test('a list continues after its own cursor, in its own parameter', () => {
  const path = olderPath('/account', 'apps', 'a/b', 'older') ?? ''
  expect(path).toStartWith('/account?older=')
  expect(asked(path)).toEqual({ limit: 50, cursor: 'a/b' })
  expect(asked('/account?cursor=x')).toEqual({ limit: 50, cursor: null })
  expect(() => asked(`${path}&older=`)).toThrow(PlatformError)
  expect(() => asked(path, 'installs')).toThrow(PlatformError)
  expect(olderPath('/account', 'apps', null)).toBeNull()
})

test('the state that a decision is bound to is read back unchanged, and any other value is refused', () => {
  const [id, liveId] = [`ver_${'a'.repeat(32)}`, `ver_${'b'.repeat(32)}`]
  for (const seen of [
    { id, revision: 3, submittedAt: 7, liveId },
    { id, revision: 3, submittedAt: null, liveId: null },
  ]) {
    expect(readSeen(seenField(seen))).toEqual(seen)
  }
  for (const field of ['', 'nonsense', `${id} 3 7`, `${id} x 7 ${liveId}`, `${id} 3 7 ${liveId} more`]) {
    expect(() => readSeen(field)).toThrow(PlatformError)
  }
})

test('a form has at most 256 KiB, and no other media type is accepted', () => {
  expect(pageRule('POST', '/sign-in')?.body.limitBytes).toBe(256 * 1024)
  expect(pageRule('GET', '/sign-in')).toBeUndefined()
  expect(pageRule('POST', '/api/session')).toBeUndefined()
})

test('clients that do not accept gzip get assets uncompressed', async () => {
  const plain = await stylesheet({})
  const packed = await stylesheet({ 'accept-encoding': 'br, gzip' })
  expect([plain.headers.get('content-encoding'), packed.headers.get('content-encoding')]).toEqual([null, 'gzip'])
  const text = await plain.text()
  expect(text).toContain('{')
  expect(Buffer.from(Bun.gunzipSync(new Uint8Array(await packed.arrayBuffer()))).toString()).toBe(text)
})

test('a client that has an asset in this form is told so, and q=0 refuses gzip', async () => {
  const packed = await stylesheet({ 'accept-encoding': 'gzip' })
  const plain = await stylesheet({ 'accept-encoding': 'gzip;q=0, br' })
  expect(plain.headers.get('content-encoding')).toBeNull()
  const [tag = '', otherTag = ''] = [packed.headers.get('etag') ?? '', plain.headers.get('etag') ?? '']
  expect(tag).not.toBe(otherTag)
  expect(packed.headers.get('vary')).toBe('accept-encoding')
  const again = async (ifNoneMatch: string) =>
    (await stylesheet({ 'accept-encoding': 'gzip', 'if-none-match': ifNoneMatch })).status
  expect([await again(tag), await again(`"x", W/${tag}`), await again(otherTag)]).toEqual([304, 304, 200])
})

test('the names of assets contain a hash of their content', () => {
  const named = [siteStylesheet, siteScript, embedScript, favicon].map(({ path, type }) => [
    path.split(/[0-9a-f]{12}/),
    type,
  ])
  expect(named).toEqual([
    [['/assets/site.', '.css'], 'text/css; charset=utf-8'],
    [['/assets/site.', '.js'], 'text/javascript; charset=utf-8'],
    [['/assets/embed.', '.js'], 'text/javascript; charset=utf-8'],
    [['/assets/favicon.', '.svg'], 'image/svg+xml'],
  ])
})

test('a read error that is not damage is not reported as damage', async () => {
  const broken = await openAsOperator(join(temporaryFolder(), 'closed.db'))
  const app = await addApp(broken, await addUser(broken))
  const version: VersionRecord = await uploadVersion(broken, app, { version: '1.0.0' })
  await broken.database.close()
  const withFile = { ...version, artifact: { filename: 'a.zip', sizeBytes: 1, sha256: 'ab'.repeat(32) } }
  const lines: string[] = []
  const door = { ...doorOf(broken), log: { ...doorOf(platform).log, error: (event: string) => void lines.push(event) } }
  const error = await artifactDownload(door, callOf(requestWith()), withFile).catch((cause: unknown) => cause)
  expect(error).toBeInstanceOf(Error)
  expect(error).not.toBeInstanceOf(PlatformError)
  expect(lines).toEqual([])
})
