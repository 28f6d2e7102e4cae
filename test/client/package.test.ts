import { expect } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildClientPackage } from '../../src/build-client.ts'
import { needs, programAt } from '../support/needs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { beforeAll, test } = needs('node')
const compiler = join(import.meta.dir, '../../node_modules/typescript/lib/tsc.js')

const app = temporaryFolder()
const library = join(app, 'node_modules/app-platform-client')
beforeAll(async () => {
  mkdirSync(join(app, 'node_modules'))
  await buildClientPackage(library)
  writeFileSync(join(app, 'package.json'), '{"type":"module"}')
  for (const file of ['use.ts', 'use.cts']) writeFileSync(join(app, file), strictUse)
  const told = 'console.log(typeof createPlatformClient, typeof verifyWebhook, libraryVersion)'
  const names = '{ createPlatformClient, libraryVersion, verifyWebhook }'
  writeFileSync(join(app, 'use.mjs'), `import ${names} from 'app-platform-client'\n${told}\n`)
  const same =
    "import { createRequire } from 'node:module'\nimport * as own from 'app-platform-client'\n" +
    "const other = createRequire(import.meta.url)('app-platform-client')\n" +
    'console.log(JSON.stringify([Object.keys(own), Object.keys(other)].map((names) => names.sort())))'
  writeFileSync(join(app, 'names.mjs'), same)
  writeFileSync(join(app, 'use.cjs'), `const ${names} = require('app-platform-client')\n${told}\n`)
}, 180_000)

const strictUse = `
import * as client from 'app-platform-client'
const builder = client.createManagementClient({ url: 'https://apps.example', serviceKey: 'apok_x' })
export const user: Promise<client.ManagedUser> = builder.users.put('1', { email: 'a@b.example', name: 'Ada' })
// @ts-expect-error: there is no such status
void builder.resources.put('site', '1', { ownerExternalId: '1', name: 'Bakery', slug: 'bakery', status: 'gone' })
export const opened = client.openEmbeddedSession(window, { url: 'https://apps.example', clientId: 'apc_x' })
export const receive = async (request: Request): Promise<string> => {
  const event = await client.verifyWebhook({ body: await request.text(), headers: request.headers, secret: 'whsec_x' })
  // @ts-expect-error: not every event has a client
  void event.data.clientId
  return event.type === 'grant.created' ? event.data.clientId : event.data.appId
}
export const status = (error: client.AppPlatformError): number | null => error.status
`

test.each([
  ['esnext', 'bundler', 'use.ts'],
  ['nodenext', 'nodenext', 'use.ts'],
  ['nodenext', 'nodenext', 'use.cts'],
])('the package compiles strictly in a project without other types: %s, %s, %s', async (module, resolution, file) => {
  const options = ['--noEmit', '--strict', '--module', module, '--moduleResolution', resolution, '--target', 'es2022']
  const command = [programAt('node'), compiler, ...options, '--types', '', file]
  const { stdout, exitCode } = Bun.spawnSync(command, { cwd: app })
  expect(stdout.toString()).toBe('')
  expect(exitCode).toBe(0)
})

test.each(['use.mjs', 'use.cjs'])('the package runs on Node and on Bun: %s', (file) => {
  for (const runtime of [programAt('node'), process.execPath]) {
    const { stdout, stderr } = Bun.spawnSync([runtime, file], { cwd: app })
    expect(stderr.toString()).toBe('')
    expect(stdout.toString()).toMatch(/^function function \d+\.\d+\.\d+\n$/)
  }
})

test('import gives every name that require gives, on Node and on Bun', () => {
  for (const runtime of [programAt('node'), process.execPath]) {
    const { stdout } = Bun.spawnSync([runtime, 'names.mjs'], { cwd: app })
    const [imported, required] = JSON.parse(stdout.toString())
    expect(imported).toEqual(required)
    expect(imported).toContain('verifyWebhook')
  }
})

test('npm makes one file of the package, with all that it has', () => {
  const { stdout } = Bun.spawnSync(['npm', 'pack', '--json', '--dry-run', library], { cwd: app })
  const [{ files }]: [{ files: readonly { path: string }[] }] = JSON.parse(stdout.toString())
  expect(files.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['index.js', 'index.mjs', 'index.d.ts', 'LICENSE']),
  )
})

test('a browser can load the module as it is, without a bundler', async () => {
  const { imports, exports } = new Bun.Transpiler().scan(await Bun.file(join(library, 'index.mjs')).text())
  expect(imports).toEqual([])
  expect(exports).toContain('openEmbeddedSession')
})

test('an error that nobody catches prints the line of the library where it was thrown, and no more', async () => {
  const script = `require('${join(library, 'index.js')}').verifyWebhook({ body: '', headers: {}, secret: '' })`
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, '-e', script])
  expect(exitCode).toBe(1)
  expect(stderr.toString()).toContain('The delivery is not signed by the platform')
  expect(stderr.toString().length).toBeLessThan(2_500)
})

test('the package depends on nothing, and its archive has at most 40 KB', async () => {
  const manifest = await Bun.file(join(library, 'package.json')).json()
  expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([])
  const { stdout } = Bun.spawnSync(['tar', '-cz', '.'], { cwd: library })
  expect(stdout.length).toBeLessThanOrEqual(40_000)
})
