import { expect } from 'bun:test'
import { join } from 'node:path'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { documentPaths } from '../support/api-documents.ts'
import { needs, programAt } from '../support/needs.ts'
import { buildClientPackage } from '../../src/build-client.ts'
import { operator, trace } from '../support/operator.ts'
import { createWorld, endWorld, type World } from '../support/world.ts'

// Tools that read the OpenAPI document: two linters, and two generators whose clients are compiled strictly and run. And two
// that read the npm package of the client library.

const packages = 'network for the packages of test/clients/generators'
const { afterAll, beforeAll, test } = needs(packages)
let world: World
const inFolder = (name: string): string => join(programAt(packages), name)
beforeAll(async () => {
  world = await createWorld()
  for (const path of documentPaths) {
    const document = await (await fetch(world.server.url + path)).text()
    // The linters refuse a document of localhost.
    await Bun.write(inFolder(path), document.replaceAll(/http:\/\/localhost:\d+/g, 'https://apps.builder.dev'))
  }
})
afterAll(async () => await endWorld(world))

const run = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const child = Bun.spawn([process.execPath, ...words], {
    cwd: programAt(packages),
    env: { PATH: process.env['PATH'] ?? '', HOME: programAt(packages), REDOCLY_TELEMETRY: 'off', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const exitCode = await child.exited
  return { exitCode, stdout, text: exitCode === 0 ? '' : stdout + stderr }
}
const tool = (name: string): string => join('node_modules/.bin', name)
const succeed = { exitCode: 0, text: '' }

test.each(documentPaths)('Redocly and Spectral have nothing to say about %s', async (path) => {
  const redocly = await run([tool('redocly'), 'lint', inFolder(path), '--config', 'redocly.yaml', '--format', 'json'])
  expect(redocly).toMatchObject(succeed)
  expect(JSON.parse(redocly.stdout).totals).toEqual({ errors: 0, warnings: 0, ignored: 0 })
  const spectral = ['lint', inFolder(path), '-r', 'spectral.yaml', '--fail-severity', 'hint']
  expect(await run([tool('spectral'), ...spectral])).toMatchObject(succeed)
})

test('clients of two generators compile strictly, and do what an app and the builder do first', async () => {
  for (const path of documentPaths) {
    const name = path.slice(1).replace('.json', '')
    expect(await run([tool('openapi-typescript'), inFolder(path), '-o', `${name}.d.ts`])).toMatchObject(succeed)
    const lines = (await Bun.file(inFolder(`${name}.d.ts`)).text()).split('\n').length
    expect([path, lines < 5_000]).toEqual([path, true])
    const hey = [tool('openapi-ts'), '-i', inFolder(path), '-o', name, '-c', '@hey-api/client-fetch']
    expect(await run(hey)).toMatchObject(succeed)
  }
  expect(await run([tool('tsc'), '-p', '.'])).toMatchObject(succeed)
  const { development } = world.app
  const asked = { name: 'Builder', rights: ['users:write'], networks: [], expiresInDays: null }
  const key = await createServiceKey(world.platform, trace, operator, asked)
  const env = {
    BASE_URL: world.server.url,
    CLIENT_ID: development.clientId,
    CLIENT_SECRET: development.clientSecret,
    SERVICE_KEY: key.secret,
  }
  for (const script of ['with-openapi-fetch.ts', 'with-hey-api.ts']) {
    const { exitCode, stdout, text } = await run([script], env)
    expect({ exitCode, text }).toEqual(succeed)
    expect(JSON.parse(stdout)).toEqual({
      seconds: 3600,
      slug: world.app.slug,
      status: 'draft',
      versions: ['1.0.0'],
      refused: 'invalid_grant',
      wrong: 'refresh_token',
      person: 'u1',
    })
  }
})

test('publint and attw find nothing wrong with the npm package, for either kind of modules', async () => {
  await buildClientPackage(inFolder('package'))
  expect(await run([tool('publint'), 'package', '--strict', '--pack', 'false'])).toMatchObject(succeed)
  const packed = Bun.spawnSync([process.execPath, 'pm', 'pack', '--filename', inFolder('package.tgz')], {
    cwd: inFolder('package'),
  })
  expect(packed.exitCode).toBe(0)
  const judged = await run([tool('attw'), 'package.tgz', '--no-emoji', '--no-color'])
  expect(judged).toMatchObject(succeed)
  expect(judged.stdout).toContain('No problems found')
  expect(judged.stdout).toContain('OK (ESM)')
})
