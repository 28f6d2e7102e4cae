import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { askBeside } from '../support/beside.ts'
import { call } from '../support/call.ts'
import { sessionCookieOf } from '../support/cookie.ts'
import { eventually } from '../support/crash.ts'
import { needs } from '../support/needs.ts'
import { onPostgres } from '../support/postgres.ts'
import { submitVersion, uploadVersion } from '../support/version.ts'
import { addApp, addUser, type AppInWorld, appToken, endWorld } from '../support/world.ts'
import { openBrowser } from './support/browser.ts'
import { createOperatorWorld, type OperatorWorld } from './support/operator-world.ts'
import { type PlainBrowser, plainBrowser, signedInBrowser } from './support/plain-browser.ts'
import { readSlowly } from './support/slow-reader.ts'
import { signInByForm } from './support/sign-in.ts'

let world: OperatorWorld
let owner: PlainBrowser
let operator: PlainBrowser
beforeAll(async () => {
  world = await createOperatorWorld()
  owner = await signedInBrowser(world.server.url, world.user)
  operator = await signedInBrowser(world.server.url, world.operator)
})
afterAll(async () => await endWorld(world))

const consolePath = (app: AppInWorld, version = '1.0.0') => `/console/${app.slug}/versions/${version}/artifact`
const deskPath = (app: AppInWorld, version = '1.0.0') => `/desk/reviews/${app.slug}/${version}/artifact`
const sumOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()

/** An app of the owner with one version, whose file was uploaded over HTTP. */
const appWithFile = async (bytes: Buffer, filename = 'app.tar.gz'): Promise<AppInWorld> => {
  const app = await addApp(world.platform, world.user)
  await upload(app, bytes, filename)
  return app
}
const upload = async (app: AppInWorld, bytes: Buffer, filename = 'app.tar.gz') => {
  const token = await appToken(world.server.url, app.development)
  const artifact = { filename, contentBase64: bytes.toString('base64') }
  const { status } = await call(world.server.url, 'POST', '/versions', { token, body: { version: '1.0.0', artifact } })
  expect([200, 201]).toContain(status)
}

const cookiesOf = ({ cookies }: PlainBrowser) => sessionCookieOf(world.server.url, cookies.get('session') ?? '')

/** Requests as the browser does, and reads the body as bytes. */
const ask = async (browser: PlainBrowser, path: string, init: RequestInit = {}): Promise<Response> => {
  const headers = new Headers(init.headers)
  headers.set('cookie', cookiesOf(browser))
  return await fetch(world.server.url + path, { ...init, headers, redirect: 'manual' })
}

/** Changes what the database has stored while the server runs, as a bad disk would. */
const damage = async (statement: string, ...values: (Uint8Array | string)[]): Promise<void> => {
  expect(await askBeside(world.server.database, `${statement} RETURNING 1 AS changed`, ...values)).toHaveLength(1)
}

const damagedLines = () => world.server.log().split('artifact.damaged').length - 1

describe('the file of a version', () => {
  test('is downloaded byte for byte by its owner and by an operator, with its length and hash', async () => {
    const bytes = randomBytes(10 * 1024 * 1024)
    const app = await appWithFile(bytes)
    const sum = sumOf(bytes)
    for (const [browser, path] of [
      [owner, consolePath(app)],
      [operator, deskPath(app)],
    ] as const) {
      const answer = await ask(browser, path)
      expect(answer.status).toBe(200)
      expect(sumOf(await answer.bytes()).equals(sum)).toBe(true)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="app.tar.gz"; filename*=UTF-8''app.tar.gz`,
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        etag: `"${sum.toString('hex')}"`,
        'repr-digest': `sha-256=:${sum.toString('base64')}:`,
        'x-request-id': expect.stringMatching(/^req_/),
      })
    }
  })

  test('may have any size, from empty to one byte more than a piece', async () => {
    for (const size of [0, 1, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1]) {
      const bytes = randomBytes(size)
      const answer = await ask(owner, consolePath(await appWithFile(bytes)))
      expect([answer.status, Buffer.from(await answer.bytes()).equals(bytes)]).toEqual([200, true])
    }
  })

  test('answers HEAD with its length, and a matching If-None-Match with 304', async () => {
    const bytes = randomBytes(5000)
    const path = consolePath(await appWithFile(bytes))
    const head = await ask(owner, path, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '5000', ''])
    const etag = head.headers.get('etag') ?? ''
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      expect((await ask(owner, path, { headers: { 'if-none-match': tag } })).status).toBe(304)
    }
    expect((await ask(owner, path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  })

  test('does not exist for other people, and for versions without a file', async () => {
    const app = await appWithFile(Buffer.from('mine'))
    const stranger = await signedInBrowser(world.server.url, await addUser(world.platform))
    const other = await addApp(world.platform, world.user)
    await uploadVersion(world.platform, other, { version: '1.0.0' })
    for (const [browser, path] of [
      [stranger, consolePath(app)],
      [stranger, deskPath(app)],
      [owner, deskPath(app)],
      [operator, consolePath(app)],
      [owner, consolePath(other)],
      [operator, deskPath(other)],
      [owner, consolePath(app, '9.9.9')],
      [operator, deskPath(app, '9.9.9')],
    ] as const) {
      const { status, headers } = await ask(browser, path)
      expect([path, status, headers.get('content-type')]).toEqual([path, 404, 'text/html; charset=utf-8'])
    }
    const { status, headers } = await plainBrowser(world.server.url).get(consolePath(app))
    expect([status, headers.get('location')]).toEqual([
      303,
      `/sign-in?return_to=${encodeURIComponent(consolePath(app))}`,
    ])
  })
})

describe('a file name of any kind', () => {
  const names = [
    ['we "quote".zip', 'we _quote_.zip'],
    ['line\r\nSet-Cookie: a=b', 'line__Set-Cookie_ a=b'],
    ['../../etc/passwd', '_.._etc_passwd'],
    ['..\\..\\boot.ini', '_.._boot.ini'],
    ['\u202egpj.exe', '_gpj.exe'],
    ['100%; x="y".zip', '100%; x=_y_.zip'],
    ['naïve – 文件.zip', 'naïve – 文件.zip'],
    [`it's (1)*.zip`, `it's (1)_.zip`],
    ['\ud800.zip', '\ufffd.zip'],
    ['.bashrc', 'bashrc'],
    ['CON.txt', '_CON.txt'],
    ['...', 'artifact'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`${'😀'.repeat(127)}.gz`, `${'😀'.repeat(63)}.gz`],
  ] as const

  test('becomes a safe name in one line of ASCII', async () => {
    const app = await appWithFile(Buffer.from('content'))
    const { id } = (await world.platform.database.queries.versions.byName(app.id, '1.0.0')) ?? { id: '' }
    for (const [filename, expected] of names) {
      await damage('UPDATE versions SET artifact_filename = ? WHERE id = ?', filename, id)
      const answer = await ask(owner, consolePath(app))
      const disposition = answer.headers.get('content-disposition') ?? ''
      const [, plain, encoded] =
        /^attachment; filename="([\x20-\x21\x23-\x5b\x5d-\x7e]+)"; filename\*=UTF-8''([\w%.!#$&+^`|~-]+)$/.exec(
          disposition,
        ) ?? []
      expect({ filename, told: decodeURIComponent(encoded ?? disposition) }).toEqual({ filename, told: expected })
      expect(plain).not.toMatch(/[/\\%]/)
      expect(answer.headers.get('set-cookie')).toBeNull()
      expect(await answer.text()).toBe('content')
    }
  })

  needs('Chromium', 'openssl').test(
    'is the one that a browser saves the file under, from the link on either page',
    async () => {
      const bytes = randomBytes(300_000)
      const app = await addApp(world.platform, world.user)
      await upload(app, bytes, 'naïve (文件).tar.gz')
      await submitVersion(world.platform, app, { version: '2.0.0' })
      for (const [login, path] of [
        [world.user, `/console/${app.slug}/versions/1.0.0`],
        [world.operator, `/desk/reviews/${app.slug}/1.0.0`],
      ] as const) {
        const page = await openBrowser(world.server.url)
        await page.goto('/sign-in')
        await signInByForm(page, login)
        await page.goto(path)
        const downloading = page.waitForEvent('download')
        await page.getByRole('link', { name: 'naïve (文件).tar.gz' }).click()
        const download = await downloading
        expect(download.suggestedFilename()).toBe('naïve (文件).tar.gz')
        expect(sumOf(await Bun.file(await download.path()).bytes()).equals(sumOf(bytes))).toBe(true)
      }
    },
    60_000,
  )
})

describe('a damaged file', () => {
  const zeros = onPostgres ? "decode(repeat('00', length(data)), 'hex')" : 'zeroblob(length(data))'
  const longer = onPostgres ? "data || '\\x00'::bytea" : "CAST(data || x'00' AS BLOB)"
  const flip = `UPDATE artifact_chunks SET data = ${zeros} WHERE sha256 = ? AND position = 1`

  for (const [what, statement] of [
    ['changed', flip],
    ['cut short', 'UPDATE artifact_chunks SET data = substr(data, 1, 1000) WHERE sha256 = ? AND position = 1'],
    ['longer than it was', `UPDATE artifact_chunks SET data = ${longer} WHERE sha256 = ? AND position = 2`],
    ['without a piece', 'DELETE FROM artifact_chunks WHERE sha256 = ? AND position = 2'],
    ['of another length by its own account', 'UPDATE artifacts SET size_bytes = 0 WHERE sha256 = ?'],
  ] as const) {
    test(`that is ${what} is refused before its first byte, and logged`, async () => {
      const bytes = randomBytes(700_000)
      const app = await appWithFile(bytes)
      const before = damagedLines()
      await damage(statement, sumOf(bytes))
      const { status, headers, text } = await owner.get(consolePath(app))
      expect([status, headers.get('content-type')]).toEqual([500, 'text/html; charset=utf-8'])
      expect(text).toContain('The stored file differs from the uploaded one')
      expect(headers.get('content-disposition')).toBeNull()
      expect(
        await eventually(
          async () => damagedLines(),
          (lines) => lines > before,
        ),
      ).toBe(before + 1)
      const { id } = (await world.platform.database.queries.versions.byName(app.id, '1.0.0')) ?? { id: '' }
      expect(world.server.log()).toContain(
        `"event":"artifact.damaged","requestId":"${headers.get('x-request-id')}","versionId":"${id}"`,
      )
    })
  }

  test('ends the connection early when damage is found during the download, so that clients report a failure', async () => {
    const bytes = randomBytes(10 * 1024 * 1024)
    const app = await appWithFile(bytes)
    const before = damagedLines()
    const change = `UPDATE artifact_chunks SET data = ${zeros} WHERE sha256 = ? AND position = 39`
    const headers = { cookie: cookiesOf(owner) }
    const whole = await readSlowly(world.server.url, consolePath(app), headers, async () => undefined)
    expect(whole.isWhole).toBe(true)
    const broken = await readSlowly(
      world.server.url,
      consolePath(app),
      headers,
      async () => await damage(change, sumOf(bytes)),
    )
    expect(broken.isWhole).toBe(false)
    expect(broken.bytes).toBeLessThan(whole.bytes)
    expect(
      await eventually(
        async () => damagedLines(),
        (lines) => lines > before,
      ),
    ).toBe(before + 1)
    expect(
      world.server
        .log()
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('{')),
    ).toEqual([])
  })

  test('is repaired by uploading the same file again', async () => {
    const bytes = randomBytes(700_000)
    const app = await appWithFile(bytes)
    await damage(flip, sumOf(bytes))
    expect((await ask(owner, consolePath(app))).status).toBe(500)
    await upload(app, bytes)
    const answer = await ask(owner, consolePath(app))
    expect([answer.status, sumOf(await answer.bytes()).equals(sumOf(bytes))]).toEqual([200, true])
  })
})
