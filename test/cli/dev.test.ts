import { afterAll, beforeAll, expect, test } from 'bun:test'
import { leadsTo, signedInBrowser } from '../pages/support/plain-browser.ts'
import { exchangeInstallCode } from '../support/embedding.ts'
import { eventually } from '../support/crash.ts'
import { programCommand } from '../support/program.ts'

let demo: ReturnType<typeof startDemo>
let printed = ''
const startDemo = () =>
  Bun.spawn([...programCommand, 'dev', '--port', '0'], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdout: 'pipe',
    stderr: 'ignore',
  })
const read = async (output: ReadableStream<Uint8Array>): Promise<void> => {
  const decoder = new TextDecoder()
  for await (const chunk of output) printed += decoder.decode(chunk, { stream: true })
}
let reading: Promise<void>
beforeAll(() => {
  demo = startDemo()
  reading = read(demo.stdout)
})
afterAll(async () => {
  demo.kill()
  await demo.exited
  await reading
})
const printedWith = async (pattern: RegExp): Promise<readonly string[]> => [
  ...((
    await eventually(
      async () => pattern.exec(printed),
      (found) => found !== null,
    )
  )?.slice(1) ?? []),
]
const signedInAs = async (name: string) => {
  const [url = ''] = await printedWith(/^BASE=(.+)$/m)
  const [email = '', password = ''] = await printedWith(new RegExp(`^  (${name}@example\\.com)  (\\S+)`, 'm'))
  return { url, browser: await signedInBrowser(url, { email, password }) }
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
  expect(pinged.headers.get('location')).toEndWith('?done=taken')
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

test('the installed app of the demo opens in a frame and exchanges its code for a session', async () => {
  const { url, browser } = await signedInAs('grace')
  const path = /\/installs\/ins_\w+\/open/.exec((await browser.get('/installs')).text)?.[0] ?? ''
  const { text } = await browser.get(path)
  const code = /src="https:\/\/newsletter\.example\/builder#code=(apic_\w+)/.exec(text)?.[1] ?? ''
  const [clientId = ''] = await printedWith(/^  newsletter, production:  (\S+)/m)
  const exchanged = await exchangeInstallCode(url, { clientId, code, origin: 'https://newsletter.example' })
  expect(exchanged).toMatchObject({ status: 200, body: { scope: 'site:read' } })
})
