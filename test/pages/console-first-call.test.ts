import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { changeAppScopes } from '../../src/operations/apps/apps.ts'
import { addRedirectUri, removeRedirectUri } from '../../src/operations/redirect-uris.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type AppInWorld, createWorld, endWorld, type World } from '../support/world.ts'
import { leadsTo, type PlainBrowser, signedInBrowser } from './support/plain-browser.ts'

// Runs the lines of the page "First call" exactly as a developer pastes them.

let world: World
let owner: PlainBrowser
let app: AppInWorld
/** A redirect URI with characters that a shell interprets. */
const unkind = `https://unkind.example/it's-$HOME/(1)!/$(id)`
beforeAll(async () => {
  world = await createWorld()
  owner = await signedInBrowser(world.server.url, world.user)
  app = await addApp(world.platform, world.user)
  const change = { slug: app.slug, environment: 'development' } as const
  await removeRedirectUri(world.platform, trace, operator, { ...change, uri: app.redirectUri })
  await addRedirectUri(world.platform, trace, operator, { ...change, uri: unkind })
})
afterAll(async () => await endWorld(world))

/** Unless a server is told another one. */
const publicUrl = () => world.server.url.replace('127.0.0.1', 'localhost')
const pageOf = async (query = '') => (await owner.get(`/console/${app.slug}/first-call${query}`)).text

/** The lines of a block of the page, as the copy button copies them. */
const blockOf = async (id: string, query = ''): Promise<string> => {
  let text = ''
  const rewriter = new HTMLRewriter().on(`#${id}`, { text: (chunk) => void (text += chunk.text) })
  rewriter.transform(await pageOf(query))
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}

/** Opens the link as a user and allows. Returns the parameters that the app receives. */
const allow = async (link: string): Promise<URLSearchParams> => {
  const { pathname, search, origin } = new URL(link)
  expect(origin).toBe(publicUrl())
  const browser = await signedInBrowser(world.server.url, await addUser(world.platform, 'Grace Example'))
  const location = leadsTo(await browser.submit(pathname + search, '/oauth/authorize', { decision: 'allow' })) ?? ''
  expect(location).toStartWith(`${unkind}?`)
  return new URL(location).searchParams
}

needs('bash', 'curl').test('the lines for a terminal do what the page says, step by step', async () => {
  const [setUp, appToken, authorize, exchange] = [
    await blockOf('set-up'),
    await blockOf('app-token'),
    await blockOf('authorize'),
    await blockOf('exchange'),
  ]
  const pasted = exchange.replace("CODE='paste the code here'", 'read -r CODE')
  expect(pasted).not.toBe(exchange)
  const script = [setUp, appToken, authorize, 'echo "$STATE"', pasted].join('\n')
  const shell = Bun.spawn(['bash', '-c', script], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
  shell.stdin.write(`${app.development.clientSecret}\n`)
  void shell.stdin.flush()
  const lines: string[] = []
  let rest = ''
  for await (const chunk of shell.stdout) {
    rest += new TextDecoder().decode(chunk)
    const complete = rest.split('\n')
    rest = complete.pop() ?? ''
    lines.push(...complete)
    if (lines.length !== 3) continue
    const told = await allow(lines[1] ?? '')
    expect(told.get('state')).toBe(lines[2] ?? '')
    expect(told.get('iss')).toBe(publicUrl())
    shell.stdin.write(`${told.get('code')}\n`)
    void shell.stdin.end()
  }
  expect(await shell.exited).toBe(0)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ clientId: app.development.clientId, environment: 'development' })
  expect(JSON.parse(lines[3] ?? '')).toMatchObject({ name: 'Grace Example', appId: app.id })
})

const driver = `
import { finishAuthorization, startAuthorization, whoAmI } from './app-platform.ts'
console.log(JSON.stringify(await whoAmI()))
const { url, state, codeVerifier } = startAuthorization()
console.log(url)
for await (const line of console) {
  const told = new URLSearchParams(line)
  if (told.get('state') !== state) throw new Error('another state')
  console.log(JSON.stringify((await finishAuthorization(told.get('code') ?? '', codeVerifier)).user))
  process.exit(0)
}
`

test('the TypeScript module does the same', async () => {
  const folder = temporaryFolder()
  await Bun.write(join(folder, 'app-platform.ts'), await blockOf('typescript'))
  await Bun.write(join(folder, 'driver.ts'), driver)
  const program = Bun.spawn([process.execPath, join(folder, 'driver.ts')], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    env: { PATH: process.env['PATH'] ?? '', CLIENT_SECRET: app.development.clientSecret },
  })
  let printed = ''
  for await (const chunk of program.stdout) {
    printed += new TextDecoder().decode(chunk)
    if (printed.split('\n').length !== 3) continue
    program.stdin.write(`${(await allow(printed.split('\n')[1] ?? '')).toString()}\n`)
    void program.stdin.end()
  }
  expect(await program.exited).toBe(0)
  const [who = '', , user = ''] = printed.split('\n')
  expect(JSON.parse(who)).toMatchObject({ clientId: app.development.clientId })
  expect(JSON.parse(user)).toMatchObject({ name: 'Grace Example' })
})

test('the lines are for the chosen environment, and never contain a secret', async () => {
  const production = await pageOf('?environment=production')
  expect(production).toContain(app.production.clientId)
  expect(production).not.toContain(app.development.clientId)
  expect(production).toContain(app.liveRedirectUri)
  for (const page of [production, await pageOf()]) expect(page).not.toContain('aps_')
})

test('the page names what is missing for a call, with a link to it', async () => {
  const bare = await addApp(world.platform, world.user)
  const { platform } = world
  await changeAppScopes(platform, trace, operator, { slug: bare.slug, scopes: 'profile:read' })
  const change = { slug: bare.slug, environment: 'production', uri: bare.liveRedirectUri } as const
  await removeRedirectUri(platform, trace, operator, change)
  const { text } = await owner.get(`/console/${bare.slug}/first-call?environment=production`)
  expect(text).toContain('None of its scopes is for the app itself')
  expect(text).toContain('No redirect URI is registered in this environment yet')
  expect(text).not.toContain('id="app-token"')
})
