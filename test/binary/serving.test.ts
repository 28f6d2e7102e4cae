import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { call, type Json } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { builtProgram } from './support/built-program.ts'
import { emptyPlace, setTraps } from './support/empty-place.ts'

let demo: Json
let url = ''
let folder = ''
let server: Bun.Subprocess<'ignore', 'pipe', 'ignore'>

beforeAll(async () => {
  const place = await emptyPlace()
  folder = place.folder
  demo = await place.json(['seed'])
  setTraps(folder)
  server = Bun.spawn([await builtProgram(), 'serve', '--json', '--port', '0'], {
    cwd: folder,
    env: {},
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const { value } = await server.stdout.getReader().read()
  url = JSON.parse(new TextDecoder().decode(value)).url
})

afterAll(async () => {
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
})

const get = async (path: string) => {
  const response = await fetch(url + path)
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

test('the binary serves its pages, and every file that they refer to', async () => {
  for (const path of ['/', '/sign-in', '/docs']) {
    const page = await get(path)
    expect({ path, status: page.status }).toEqual({ path, status: 200 })
    const files = [...page.text.matchAll(/(?:src|href)="(\/[^"]+\.(?:css|js))"/g)].map(([, file = '']) => file)
    expect(files.length).toBeGreaterThan(0)
    for (const file of files) {
      const { status, text, type } = await get(file)
      expect({ file, status }).toEqual({ file, status: 200 })
      expect(type).toMatch(/^text\/(css|javascript)/)
      expect(text.length).toBeGreaterThan(100)
    }
  }
})

test('the binary describes its API, hashes passwords and checks tokens', async () => {
  expect(Object.keys(JSON.parse((await get('/openapi.json')).text).paths).length).toBeGreaterThan(9)
  const { email, password } = demo.users[0]
  expect((await call(url, 'POST', '~/api/session', { body: { email, password } })).status).toBe(200)
  expect((await call(url, 'POST', '~/api/session', { body: { email, password: 'wrong' } })).status).toBe(401)
  expect((await get('/readyz')).status).toBe(200)
  expect((await get('/metrics')).text).toContain('app_platform_database_wal_bytes')
})

test('the binary copies a long WAL into the database in a thread of its own', async () => {
  const database = join(folder, 'data', 'app-platform.db')
  /** How often the process has the database open: each connection has a descriptor. */
  const connections = (): number => {
    const descriptors = `/proc/${server.pid}/fd`
    const targets = readdirSync(descriptors).map((name) => {
      try {
        return readlinkSync(join(descriptors, name))
      } catch {
        return '' // closed meanwhile
      }
    })
    return targets.filter((target) => target === database).length
  }
  // One that reads, one that writes, and the thread's, which opens it in its own time.
  expect(
    await eventually(
      async () => connections(),
      (count) => count === 3,
    ),
  ).toBe(3)
  const bytesBefore = Bun.file(database).size
  const body = { ...demo.apps[0].development, scope: 'site:read' }
  const { accessToken: token } = (await call(url, 'POST', '/token', { body })).body
  for (const version of ['90.0.0', '90.0.1']) {
    const content = randomBytes(10 * 1024 * 1024)
    const artifact = {
      filename: 'app.tar.gz',
      contentBase64: content.toString('base64'),
      sha256: new Bun.CryptoHasher('sha256').update(content).digest('hex'),
    }
    const uploaded = await call(url, 'POST', '/versions', {
      token,
      headers: { 'Idempotency-Key': version },
      body: { version, manifest: {}, scopes: ['site:read'], artifact },
    })
    expect(uploaded.status).toBe(201)
  }
  expect(
    await eventually(
      async () => Bun.file(database).size,
      (now) => now > bytesBefore,
    ),
  ).toBeGreaterThan(bytesBefore)
})
