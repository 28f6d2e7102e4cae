import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { leadsTo, signedInBrowser } from '../pages/support/plain-browser.ts'
import { eventually } from '../support/crash.ts'
import type { Json } from '../support/call.ts'
import { needs } from '../support/needs.ts'
import { programCommand } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { run } from './support/run.ts'

const startDemo = (words: readonly string[] = []) => {
  const child = Bun.spawn([...programCommand, 'dev', '--port', '0', ...words], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const said = { stdout: '', stderr: '' }
  const read = async (name: keyof typeof said): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const chunk of child[name]) said[name] += decoder.decode(chunk, { stream: true })
  }
  const reading = Promise.all([read('stdout'), read('stderr')])
  return {
    said,
    printedWith: async (pattern: RegExp): Promise<readonly string[]> => {
      const found = await eventually(
        async () => pattern.exec(said.stdout),
        (match) => match !== null || child.exitCode !== null,
      )
      if (found === null) throw new Error(`${pattern} is not in ${said.stdout}${said.stderr}`)
      return found.slice(1)
    },
    ended: async (signal?: NodeJS.Signals): Promise<number> => {
      if (signal !== undefined) child.kill(signal)
      const exitCode = await child.exited
      await reading
      return exitCode
    },
  }
}

let demo: ReturnType<typeof startDemo>
beforeAll(() => void (demo = startDemo()))
afterAll(async () => void (await demo.ended('SIGTERM')))
const printedWith = async (pattern: RegExp) => await demo.printedWith(pattern)
const signedInAs = async (name: string, { printedWith: printed } = demo) => {
  const [url = ''] = await printed(/^BASE=(.+)$/m)
  const [email = '', password = ''] = await printed(new RegExp(`^  (${name}@example\\.com)  (\\S+)`, 'm'))
  return { url, email, password, browser: await signedInBrowser(url, { email, password }) }
}

test('the webhook endpoint of the demo receives the first install event and a ping', async () => {
  const first = await printedWith(/^# webhook (evt_\w+): install\.created in production, verified: \{"appId":"app_/m)
  expect(first).toHaveLength(1)
  expect(await printedWith(/^# webhook (evt_\w+): install\.approved in production, verified/m)).toHaveLength(1)
  const { browser } = await signedInAs('ada')
  const page = /\/console\/newsletter\/webhooks\/whk_\w+/.exec(
    (await browser.get('/console/newsletter/webhooks')).text,
  )?.[0]
  const pinged = await browser.submit(page ?? '', `${page}/ping`)
  expect(pinged.headers.get('location')).toContain('?done=taken')
  expect(await printedWith(/^# webhook (evt_\w+): ping in production, verified/m)).toHaveLength(1)
})

test('the consent of the demo ends at a page that shows what the app received', async () => {
  const { url, browser } = await signedInAs('grace')
  const [clientId = ''] = await printedWith(/^  newsletter, development: (\S+)/m)
  const callback = `${url}/demo/callback/newsletter/development`
  const asked = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: callback,
    scope: 'profile:read',
    state: 'a-state-of-the-app',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }
  const page = `/oauth/authorize?${new URLSearchParams(asked).toString()}`
  const location = leadsTo(await browser.submit(page, '/oauth/authorize', { decision: 'allow' })) ?? ''
  expect(location).toStartWith(`${callback}?code=apco_`)
  const { status, text } = await browser.get(location.slice(url.length))
  expect(status).toBe(200)
  for (const shown of ['apco_', 'a-state-of-the-app', 'newsletter']) expect(text).toContain(shown)
  expect((await browser.get('/demo/callback/newsletter/staging')).status).toBe(404)
})

test('the installed app of the demo, which has no server, opens in a frame with a page that says so', async () => {
  const { browser } = await signedInAs('grace')
  const path = /\/installs\/ins_\w+\/open/.exec((await browser.get('/installs')).text)?.[0] ?? ''
  expect((await browser.get(path)).text).toContain('src="/demo/app/newsletter"')
  const shown = await browser.get('/demo/app/newsletter')
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('newsletter')])
})

test('a demo in a file is served again as its users left it, and what was not delivered before is delivered then', async () => {
  const file = join(temporaryFolder(), 'demo.db')
  const first = startDemo(['--database', file])
  const { email, password } = await signedInAs('ada', first)
  await first.ended('SIGKILL')
  const endpoints = await run(['endpoint', 'list', 'newsletter', '--database', file, '--json'])
  const [endpoint] = JSON.parse(endpoints.stdout).data
  expect((await run(['app', 'delete', 'shop-insights', '--yes', '--database', file])).exitCode).toBe(0)

  for (const _ of [2, 3]) {
    const again = startDemo(['--database', file])
    const [url = ''] = await again.printedWith(/^App Platform with the demo of \S+ is at (http:\/\/\S+);/m)
    const browser = await signedInBrowser(url, { email, password })
    expect((await browser.get('/console')).text).not.toContain('shop-insights')
    const page = `/console/newsletter/webhooks/${endpoint.id}`
    expect((await browser.submit(page, `${page}/ping`)).headers.get('location')).toContain('?done=taken')
    const callback = `${url}/demo/callback/newsletter/development`
    expect((await browser.get('/console/newsletter/redirect-uris?environment=development')).text).toContain(callback)
    // The commands that it prints give new ones.
    const [line = ''] = await again.printedWith(/app-platform (user set-password grace@example\.com .+)$/m)
    const renewed = await run([...line.replaceAll('"', '').split(' '), '--json'])
    expect(JSON.parse(renewed.stdout)).toMatchObject({ email: 'grace@example.com', password: expect.any(String) })
    expect(await again.ended('SIGTERM')).toBe(0)
    expect(again.said.stdout).not.toContain(password)
  }
})

test('a database with other data is refused at once, and nothing in it changes', async () => {
  const file = join(temporaryFolder(), 'other.db')
  const make = ['user', 'create', '--email', 'linh@example.com', '--name', 'Linh', '--generate-password']
  expect((await run(['migrate', '--database', file])).exitCode).toBe(0)
  expect((await run([...make, '--database', file])).exitCode).toBe(0)
  const refused = startDemo(['--database', file])
  expect(await refused.ended()).toBe(1)
  expect(refused.said.stderr).toContain('error: The database has data that is not of a demo')
  const users = await run(['user', 'list', '--database', file, '--json'])
  expect(JSON.parse(users.stdout).data.map((user: Json) => user.email)).toEqual(['linh@example.com'])
})

needs('openssl').test(
  'a webhook endpoint on this machine works in a demo without a setting, and its certificate needs no trust',
  async () => {
    const receiver = await startReceiver()
    const file = join(temporaryFolder(), 'demo.db')
    const local = startDemo(['--database', file])
    await local.printedWith(/^BASE=(.+)$/m)
    const url = receiver.url.replace('127.0.0.1', 'localhost')
    const add = ['endpoint', 'add', 'newsletter', '--environment', 'development', '--kinds', 'ping', '--url', url]
    const added = await run([...add, '--database', file, '--json'])
    expect(added.exitCode).toBe(0)
    const { id, secret } = JSON.parse(added.stdout)
    expect((await run(['endpoint', 'ping', id, '--database', file])).exitCode).toBe(0)
    const { browser } = await signedInAs('ada', local)
    const page = `/console/newsletter/webhooks/${id}`
    expect((await browser.submit(page, `${page}/ping`)).headers.get('location')).toContain('?done=taken')
    expect(receiver.received.map((one) => [one.type, receiver.isSignedWith(one, secret)])).toEqual([
      ['ping', true],
      ['ping', true],
    ])
    await local.ended('SIGTERM')
    await receiver.down()
  },
)
