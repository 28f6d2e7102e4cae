import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { run } from '../cli/support/run.ts'
import type { Json } from '../support/call.ts'
import { guide, marked } from '../support/documents.ts'
import { needs } from '../support/needs.ts'
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

/** The parts of a sample program, by name. */
const partsOf = async (path: string) => {
  const text = await Bun.file(join(import.meta.dir, '..', path)).text()
  return [...text.matchAll(/region (\w+)\n([\s\S]*?)\n\/\/ endregion/g)].map(([, name = '', part = '']) => ({
    name,
    part: part.trim(),
  }))
}

test('the guides show every part of the sample app, and the API of the sample builder', async () => {
  const app = await partsOf('sample-app/app.ts')
  const parts = [...app, ...(await partsOf('sample-builder/builder.ts'))]
  expect(parts.map(({ name }) => name)).toEqual(['sites', 'pages', 'frame', 'webhooks', 'serve', 'api'])
  const names = ['develop/first-app', 'develop/webhook-events', 'integrate/frames', 'integrate/your-api']
  const texts = (await Promise.all(names.map(guide))).join('\n')
  expect(parts.filter(({ part }) => !texts.includes(`\n${part}\n`)).map(({ name }) => name)).toEqual([])
  // Nothing of the sample is outside its parts, so the guides lead to the whole of it.
  const rest = (await Bun.file(join(import.meta.dir, '../sample-app/app.ts')).text()).replaceAll(
    /\/\/ region[\s\S]*?\/\/ endregion/g,
    '',
  )
  expect(rest.trim()).toBe('')
})

const children: Pick<Bun.Subprocess, 'kill' | 'exited'>[] = []
afterAll(async () => {
  for (const child of children) child.kill()
  await Promise.all(children.map(async ({ exited }) => await exited))
})

/** Starts the demo, and returns what it prints up to the walk. */
const startDemo = async () => {
  const child = Bun.spawn([...programCommand, 'dev', '--port', '0'], {
    env: { PATH: process.env['PATH'] ?? '', TMPDIR: temporaryFolder() },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  children.push(child)
  const decoder = new TextDecoder()
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += decoder.decode(chunk, { stream: true })
    if (/^PASSWORD=.*$/m.test(printed)) break
  }
  const value = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(printed)?.[1] ?? ''
  return { value, database: /--database (\S+)/.exec(printed)?.[1] ?? '' }
}

/** Writes the program that a guide shows into a folder, and starts it there. It says when it listens. */
const startShown = async (folder: string, code: string, env: Readonly<Record<string, string>>) => {
  await Bun.write(join(folder, 'program.ts'), code.replace(/^```ts\n/, '').replace(/```\n$/, ''))
  const child = Bun.spawn([process.execPath, 'program.ts'], { cwd: folder, env, stdout: 'pipe', stderr: 'ignore' })
  children.push(child)
  return child
}

needs('openssl').test(
  'the app of the guide to a first app lists the websites of the demo, only in the browser that began',
  async () => {
    const { value, database } = await startDemo()
    const [folder, port] = [temporaryFolder(), freePort()]
    const app = `https://localhost:${port}`
    const redirect = ['redirect', 'add', 'newsletter', '--environment', 'development', `${app}/callback`]
    expect((await run([...redirect, '--database', database])).exitCode).toBe(0)
    expect((await run(['dev-certificate', '.'], { cwd: folder })).exitCode).toBe(0)
    const program = await startShown(folder, marked(await guide('develop/first-app'), 'app'), {
      APP_URL: app,
      ISSUER: value('BASE'),
      CLIENT_ID: value('CLIENT_ID'),
      CLIENT_SECRET: value('CLIENT_SECRET'),
    })
    await program.stdout.getReader().read() // it says where it listens
    const tls = { ca: await Bun.file(join(folder, 'localhost.pem')).text() }

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
    expect([elsewhere.status, await elsewhere.text()]).toEqual([400, 'This browser did not start here.'])
    const back = await fetch(redirectTo, { headers: { cookie }, redirect: 'manual', tls })
    expect([back.status, back.headers.get('location')]).toEqual([302, `${app}/`])
    const session =
      back.headers
        .getSetCookie()
        .find((one) => one.startsWith('session='))
        ?.split(';')[0] ?? ''
    const sites: Json = await (await fetch(app, { headers: { cookie: session }, tls })).json()
    expect(sites.data.map(({ slug }: { readonly slug: string }) => slug).toSorted()).toEqual([
      'garden-journal',
      'old-blog',
      'spring-fair',
    ])
  },
)

test('the API of the guide gives the pages to an app that has the scope and is installed there, and to no other', async () => {
  const { value, database } = await startDemo()
  const [port, places] = [freePort(), ['--database', database]]
  const add = ['scope', 'add', 'pages:read', '--for', 'both', '--no-restricted', '--text', 'Read your pages', ...places]
  expect((await run(add)).exitCode).toBe(0)
  const scopes = ['app', 'set-scopes', 'newsletter', '--scopes', 'site:read pages:read', ...places]
  expect((await run(scopes)).exitCode).toBe(0)
  const code = marked(await guide('integrate/your-api'), 'api')
  const own = code.replace('4000', String(port)).replace('http://localhost:3000', value('BASE'))
  const program = await startShown(temporaryFolder(), `${own.replace(/```\n$/, '')}\nconsole.log('ready')\n`, {})
  await program.stdout.getReader().read()

  const tokenFor = async (scope: string): Promise<string> => {
    const headers = { 'content-type': 'application/json', 'x-service-api-version': '2026-08' }
    const client = { clientId: value('CLIENT_ID'), clientSecret: value('CLIENT_SECRET'), scope }
    const init = { method: 'POST', headers, body: JSON.stringify(client) }
    const answer: Json = await (await fetch(`${value('BASE')}/api/app-platform/token`, init)).json()
    return answer.accessToken
  }
  const ask = async (site: string, token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`http://localhost:${port}/api/sites/${site}/pages`, { headers })
    return [answer.status, JSON.parse(await answer.text())]
  }
  const pages = { site: 'garden-journal', pages: ['Home', 'Opening hours'] }
  const token = await tokenFor('pages:read')
  expect(await ask('garden-journal', token)).toEqual([200, pages])
  expect(await ask('spring-fair', token)).toMatchObject([
    403,
    { error_description: expect.stringContaining('no active install') },
  ])
  expect(await ask('garden-journal', await tokenFor('site:read'))).toMatchObject([
    403,
    { error_description: expect.not.stringContaining('install') },
  ])
  expect(await ask('garden-journal', 'apat_none')).toMatchObject([401, { error: 'invalid_token' }])
})
