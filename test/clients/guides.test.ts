import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { run } from '../cli/support/run.ts'
import type { Json } from '../support/call.ts'
import { guide, marked } from '../support/documents.ts'
import { needs, programAt } from '../support/needs.ts'
import { programCommand } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { freePort } from './support/free-port.ts'

const libraries = await guide('develop/oauth-libraries')

/** The lines of a script that the guide shows. */
const shown = async (script: string): Promise<string> => {
  const text = await Bun.file(join(import.meta.dir, script)).text()
  return text.match(/region guide\n([\s\S]*?)\n.*endregion\n/)?.[1]?.trim() ?? ''
}

test.each([
  'with-openid-client.mjs',
  'with-oauth4webapi.mjs',
  'with_authlib.py',
  'with_requests_oauthlib.py',
  'stock/simple-oauth2.mjs',
])('the guide shows the tested code of %s', async (script) => {
  const lines = await shown(script)
  expect(lines.length).toBeGreaterThan(500)
  expect(libraries).toContain(lines)
})

test.each(['auth-js-provider.mjs', 'better-auth.mjs', 'grant.mjs', 'bell.mjs'])(
  'the guide to sign-in libraries shows the tested code of %s',
  async (script) => {
    const lines = await shown(`stock/${script}`)
    expect(lines.length).toBeGreaterThan(400)
    expect(await guide('develop/sign-in-libraries')).toContain(lines)
  },
)

test('the guide shows the webhook receiver that is tested', async () => {
  const receiver = await Bun.file(join(import.meta.dir, 'webhook-receiver.mjs')).text()
  expect(await guide('develop/webhook-events')).toContain(receiver)
})

/** Starts the demo, and returns what it prints up to the walk. */
const startDemo = async () => {
  const child = Bun.spawn([...programCommand, 'dev', '--port', '0'], {
    env: { PATH: process.env['PATH'] ?? '', TMPDIR: temporaryFolder() },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const decoder = new TextDecoder()
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += decoder.decode(chunk, { stream: true })
    if (/^PASSWORD=.*$/m.test(printed)) break
  }
  const value = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(printed)?.[1] ?? ''
  return { child, value, database: /--database (\S+)/.exec(printed)?.[1] ?? '' }
}

needs('node').test(
  'the app of the guide to a first app lists the websites of the demo, only in the browser that began',
  async () => {
    const { child: demo, value, database } = await startDemo()
    const [folder, port] = [temporaryFolder(), freePort()]
    const app = `https://localhost:${port}`
    const redirect = ['redirect', 'add', 'newsletter', '--environment', 'development', `${app}/callback`]
    expect((await run([...redirect, '--database', database])).exitCode).toBe(0)
    expect((await run(['dev-certificate', join(folder, 'certificates')])).exitCode).toBe(0)
    const code = marked(await guide('develop/first-app'), 'app').replaceAll('8443', String(port))
    await Bun.write(join(folder, 'app.mjs'), code.replace(/^```js\n/, '').replace(/```\n$/, ''))
    const node = Bun.spawn([programAt('node'), 'app.mjs'], {
      cwd: folder,
      env: {
        ISSUER: value('BASE'),
        CLIENT_ID: value('CLIENT_ID'),
        CLIENT_SECRET: value('CLIENT_SECRET'),
        CERTIFICATES: join(folder, 'certificates'),
      },
      stdout: 'pipe',
    })
    await node.stdout.getReader().read() // it says where it listens
    const tls = { ca: await Bun.file(join(folder, 'certificates/localhost.pem')).text() }

    const begun = await fetch(app, { redirect: 'manual', tls })
    const asked = new URL(begun.headers.get('location') ?? '').searchParams
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
    const post = async (path: string, headers: Readonly<Record<string, string>>, body: object): Promise<Json> => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
      return await (await fetch(`${value('BASE')}${path}`, { ...init, body: JSON.stringify(body) })).json()
    }
    const { sessionToken } = await post('/api/session', {}, { email: value('EMAIL'), password: value('PASSWORD') })
    const { redirectTo } = await post(
      '/api/app-platform/oauth/authorize',
      { authorization: `Bearer ${sessionToken}`, 'x-service-api-version': '2026-08' },
      {
        clientId: asked.get('client_id'),
        redirectUri: asked.get('redirect_uri'),
        scope: asked.get('scope'),
        state: asked.get('state'),
        codeChallenge: asked.get('code_challenge'),
        codeChallengeMethod: asked.get('code_challenge_method'),
        consent: true,
      },
    )
    const elsewhere = await fetch(redirectTo, { tls })
    expect([elsewhere.status, await elsewhere.text()]).toEqual([400, 'Error: This browser did not start here.'])
    const sites: Json = await (await fetch(redirectTo, { headers: { cookie }, tls })).json()
    expect(sites.data.map(({ slug }: { readonly slug: string }) => slug).toSorted()).toEqual([
      'garden-journal',
      'old-blog',
      'spring-fair',
    ])
    node.kill()
    demo.kill()
    await Promise.all([node.exited, demo.exited])
  },
)
