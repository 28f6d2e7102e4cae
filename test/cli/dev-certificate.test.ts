import { expect } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '../support/call.ts'
import { needs } from '../support/needs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, openDesk, run } from './support/run.ts'

const { test } = needs('openssl')

test('with its certificate, an app on localhost is trusted, and gets webhooks from a server that may call this machine', async () => {
  const folder = temporaryFolder()
  const made = await run(['dev-certificate', '.'], { cwd: folder })
  expect(made).toMatchObject({ exitCode: 0, stderr: '' })
  const [cert, key] = [join(folder, 'localhost.pem'), join(folder, 'localhost-key.pem')]
  expect(made.stdout).toContain(`Certificate: ${cert}\n`)
  expect(statSync(key).mode & 0o777).toBe(0o600)

  const got: string[] = []
  using app = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert: readFileSync(cert), key: readFileSync(key) },
    fetch: async (request) => {
      const event: Json = await request.json()
      got.push(event.type)
      return new Response(null, { status: 204 })
    },
  })
  const desk = await openDesk()
  await addUser(desk)
  await addApp(desk)
  const url = `https://localhost:${app.port}/webhooks`
  const add = [
    'endpoint',
    'add',
    'newsletter',
    '--environment',
    'development',
    '--url',
    url,
    '--kinds',
    'grant.created',
  ]
  const allowed = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128' }
  expect(await desk.run(add)).toMatchObject({ exitCode: 1 })
  const { id } = await desk.json(add, { env: allowed })
  const ping = ['endpoint', 'ping', id, '--json']
  expect(await desk.run(ping, { env: allowed })).toMatchObject({ exitCode: 1 })
  expect(got).toEqual([])
  expect(await desk.json(['endpoint', 'ping', id], { env: { ...allowed, NODE_EXTRA_CA_CERTS: cert } })).toMatchObject({
    delivered: true,
  })
  expect(got).toEqual(['ping'])
})

test('a certificate is never replaced, and an impossible folder is refused in a sentence', async () => {
  const folder = temporaryFolder()
  expect((await run(['dev-certificate', folder])).exitCode).toBe(0)
  const before = readFileSync(join(folder, 'localhost-key.pem'), 'utf8')
  const again = await run(['dev-certificate', folder])
  expect(again).toMatchObject({ exitCode: 1, stdout: '' })
  expect(again.stderr).toMatch(/^error: [^\n]+localhost\.pem exists already and was left as it is\.\n$/)
  expect(readFileSync(join(folder, 'localhost-key.pem'), 'utf8')).toBe(before)
  expect(await run(['dev-certificate', join(folder, 'localhost.pem/none')])).toMatchObject({ exitCode: 1, stdout: '' })
  expect(await run(['dev-certificate', folder], { env: { PATH: folder } })).toMatchObject({ exitCode: 1 })
})
