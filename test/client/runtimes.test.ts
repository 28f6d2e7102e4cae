import { afterAll, beforeAll, expect } from 'bun:test'
import { join } from 'node:path'
import { needs, programAt } from '../support/needs.ts'
import { addApp, createWorld, endWorld, installApp, type World } from '../support/world.ts'
import { bundledLibrary } from './support/bundled-library.ts'
import { consent, publicUrlOf } from './support/client.ts'

let world: World
let library = ''
beforeAll(async () => {
  world = await createWorld()
  library = await bundledLibrary()
})
afterAll(async () => await endWorld(world))

const runtimes = [
  { name: 'Node', program: () => programAt('node'), ...needs('node') },
  { name: 'Bun', program: () => process.execPath, ...needs() },
] as const

for (const { name, program, test } of runtimes)
  test(`the library completes a whole flow on ${name}`, async () => {
    const app = await addApp(world.platform, world.user)
    await installApp(world.platform, app, world.user)
    const child = Bun.spawn([program(), join(import.meta.dir, 'support/story.mjs')], {
      env: {
        LIBRARY: library,
        URL: world.server.url,
        ISSUER: publicUrlOf(world),
        CLIENT_ID: app.development.clientId,
        CLIENT_SECRET: app.development.clientSecret,
        REDIRECT_URI: app.redirectUri,
      },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    let output = ''
    let isBack = false
    for await (const chunk of child.stdout) {
      output += new TextDecoder().decode(chunk)
      const [authorizationUrl = '', rest] = output.split('\n')
      if (isBack || rest === undefined) continue
      isBack = true
      child.stdin.write(`${await consent(world, authorizationUrl, app)}\n`)
      await child.stdin.end()
    }
    expect(await new Response(child.stderr).text()).toBe('')
    const story = JSON.parse(output.split('\n')[1] ?? '')
    expect(story).toEqual({
      told: [app.slug, 'Ada Example', 'my-site', 'Ada Example'],
      number: 1,
      stored: 2,
      refused: {
        name: 'AppPlatformError',
        code: 'invalid_grant',
        status: 401,
        requestId: expect.stringMatching(/^req_/),
      },
      broken: 'unreachable',
    })
  })
