import { expect } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { serviceRights } from '../../src/domain/service-key.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import { codeLines, guide, marked } from '../support/documents.ts'
import { appToken, createWorld, endWorld, grantTokens } from '../support/world.ts'
import { needs, programAt } from '../support/needs.ts'
import { bundledLibrary } from './support/bundled-library.ts'
import { consent, publicUrlOf } from './support/client.ts'

const lines = codeLines(marked(await guide('develop/client-library'), 'client'), 'ts').slice(0, -1)
const turn = lines.findIndex((line) => line.startsWith('//')) + 1

/** The variables that the lines use, and the browser that signs in between two of them. */
const program = `
import { createInterface } from 'node:readline'
import { artifactOf, createPlatformClient } from './client.mjs'
const { URL: url, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, REDIRECT_URI: redirectUri } = process.env
const bytes = new TextEncoder().encode('an app')
let kept
const store = { save: async (tokens) => void (kept = JSON.stringify(tokens)), load: async () => JSON.parse(kept) }
const typed = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
${lines.slice(0, turn).join('\n')}
console.log('go to ' + started.url)
const { value: callbackUrl } = await typed.next()
${lines.slice(turn).join('\n')}
console.log((await user.me().catch((error) => error)).code)
process.exit(0)
`

const runtimes = [
  { name: 'Node', runtime: () => programAt('node'), ...needs('node') },
  { name: 'Bun', runtime: () => process.execPath, ...needs() },
] as const

for (const { name, runtime, test } of runtimes)
  test(`the ten lines of the guide complete a whole flow on ${name}, unchanged`, async () => {
    expect(lines.length).toBe(10)
    const world = await createWorld()
    const file = join(dirname(await bundledLibrary()), 'app.mjs')
    writeFileSync(file, program)
    const child = Bun.spawn([runtime(), file], {
      env: { URL: publicUrlOf(world), REDIRECT_URI: world.app.redirectUri, ...asEnvironment(world.app.development) },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    let printed = ''
    let isBack = false
    for await (const chunk of child.stdout) {
      printed += new TextDecoder().decode(chunk)
      const url = printed.match(/^go to (.+)\n/m)?.[1]
      if (isBack || url === undefined) continue
      isBack = true
      child.stdin.write(`${await consent(world, url)}\n`)
      await child.stdin.end()
    }
    expect(await new Response(child.stderr).text()).toBe('')
    expect(await child.exited).toBe(0)
    const [app = '', rest = ''] = printed.split(/^go to .+\n/m)
    expect(app).toContain(world.app.slug)
    expect(rest).toContain('Ada Example')
    expect(rest).toEndWith('\nmy-site\ninvalid_grant\n')
    const { body } = await call(world.server.url, 'GET', '/versions', {
      token: await appToken(world.server.url, world.app.development),
    })
    expect(body.data[0]).toMatchObject({ version: '1.4.0', artifact: { filename: 'app.zip', sizeBytes: 6 } })
    await endWorld(world)
  })

const managementLines = codeLines(marked(await guide('integrate/management-api'), 'client'), 'ts')

for (const { name, runtime, test } of runtimes)
  test(`the lines of the guide to the management API do what it says on ${name}, unchanged`, async () => {
    const world = await createWorld()
    const input = { name: 'Builder', rights: serviceRights, networks: [], expiresInDays: null }
    const { secret } = await createServiceKey(world.platform, trace, operator, input)
    const { accessToken } = await grantTokens(world)
    const file = join(dirname(await bundledLibrary()), 'builder.mjs')
    const given = 'const { URL: url, SERVICE_KEY: serviceKey, ACCESS_TOKEN: accessToken } = process.env'
    writeFileSync(file, ["import { createManagementClient } from './client.mjs'", given, ...managementLines].join('\n'))
    const child = Bun.spawn([runtime(), file], {
      env: { URL: world.server.url, SERVICE_KEY: secret, ACCESS_TOKEN: accessToken },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    expect(await new Response(child.stderr).text()).toBe('')
    const printed = await new Response(child.stdout).text()
    expect(printed).toContain('store Bakery\n')
    expect(printed).toMatch(/^\d+ user\.created$/m)
    expect(printed).toContain('active: true')
    await endWorld(world)
  })

const asEnvironment = ({ clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string }) => ({
  CLIENT_ID: clientId,
  CLIENT_SECRET: clientSecret,
})
