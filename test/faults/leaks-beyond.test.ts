import { environments } from '../../src/domain/app.ts'
import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCredential } from '../../src/operations/credentials/credentials.ts'
import { setOperator } from '../../src/operations/users/users.ts'
import { hiddenFields, type PlainBrowser, signedInBrowser } from '../pages/support/plain-browser.ts'
import { type Answer, call } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { addEmbeddedInstall, embedOrigin, exchangeInstallCode } from '../support/embedding.ts'
import { type Canary, findCanaries, type Haystack } from '../support/needles.ts'
import { needs } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { runProgram } from '../support/run-program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts'
import { createWorld, type World } from '../support/world.ts'

const { afterAll, beforeAll, describe, test } = needs('openssl')

// What leaves for other places: codes and sessions of framed apps, and webhooks with the secrets that sign them.

let world: World
let receiver: Receiver
let browser: PlainBrowser
const canaries: Canary[] = []
/** The signing keys of webhooks: the only secrets that the database has to hold in plain text. */
const signingBytes: Buffer[] = []
const answers: Answer[] = []
const pages: string[] = []
const printed: string[] = []
let backup: string

const plant = (name: string, value: string): string => {
  canaries.push({ name, value })
  return value
}
const plantSigning = (name: string, text: string): string => {
  const base64 = text.slice('whsec_'.length)
  plant(name, base64)
  const bytes = Buffer.from(base64, 'base64')
  plant(`${name}, in hex`, bytes.toString('hex'))
  signingBytes.push(bytes)
  return text
}
const file = (name: string): Haystack => ({ name, content: readFileSync(name) })
const text = (name: string, content: string): Haystack => ({ name, content: Buffer.from(content) })

/** So that the receiver of this test may be called. */
const settings = () => ({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: receiver.authority })

/** An installed app is opened, gets its session and a fresh code, and then everything about it is refused. */
const playFrame = async (): Promise<void> => {
  const { platform, app, user, server } = world
  const installId = await addEmbeddedInstall(platform, app, user)
  const open = `/installs/${installId}/open`
  const shown = (await browser.get(open)).text
  const code = plant('a code in a fragment', /#code=(apic_[0-9A-Za-z]+)/.exec(shown)?.[1] ?? '')
  const renewing = `/installs/${installId}/code`
  const renewed = await browser.post(renewing, hiddenFields(shown, renewing))
  const fresh = plant('a fresh code', JSON.parse(renewed.text).code)
  const { clientId } = app.production
  const origin = embedOrigin(app)
  const exchange = async (given: string, from: string | null, client = clientId) =>
    await exchangeInstallCode(server.url, { clientId: client, code: given, origin: from })
  answers.push(await exchange(code, 'https://elsewhere.example'), await exchange(code, null))
  answers.push(await exchange(code, origin, app.development.clientId), await exchange(code, origin, code))
  const issued = await exchange(code, origin)
  expect(issued.status).toBe(200)
  const token = plant('a session of a framed app', issued.body.sessionToken)
  answers.push(await exchange(code, origin), await exchange(token, origin), await exchange(`${fresh}x`, origin))
  const stray = plant('a code that nobody issued', `apic_${'Stray0Canary'.repeat(6).slice(0, 71)}`)
  answers.push(await exchange(stray, stray), await exchange(stray, origin, stray))
  for (const path of ['/oauth/me', '/resources', '/me', `/${token}`]) {
    const elsewhere = { Origin: 'https://elsewhere.example' }
    answers.push(await call(server.url, 'GET', path, { token, headers: elsewhere }))
    answers.push(await call(server.url, 'GET', path, { token: fresh, headers: { Origin: origin } }))
  }
  const me = await call(server.url, 'GET', '/oauth/me', { token, headers: { Origin: origin } })
  expect(me.status).toBe(200)
}

/** An endpoint with two secrets gets events and refuses some of them; every page and command shows it. */
const playWebhooks = async (): Promise<void> => {
  const { app, server, platform } = world
  const database = ['--database', server.database]
  const env = Object.entries(settings()).map(([name, value]) => `${name}=${value}`)
  const run = async (...args: readonly string[]) =>
    await runProgram(['endpoint', ...args, ...database], ['env', ...env])
  const kinds = 'credential.created,install.created,install.approved,ping'
  const added = await run(
    'add',
    app.slug,
    '--environment',
    'production',
    '--url',
    receiver.url,
    '--kinds',
    kinds,
    '--json',
  )
  expect(added.code).toBe(0)
  const { id, secret } = JSON.parse(added.stdout)
  const first = plantSigning('a webhook secret', secret)
  const rotated = await run('rotate', id, '--json')
  const second = plantSigning('a second webhook secret', JSON.parse(rotated.stdout).secret)
  const label = 'Canary label 4711'
  await createCredential(platform, trace, operator, { slug: app.slug, environment: 'production', label })
  await playFrame()
  await eventually(
    async () => receiver.received.length,
    (length) => length >= 3,
  )
  receiver.behave(() => 500)
  for (const got of receiver.received) {
    expect([receiver.isSignedWith(got, first), receiver.isSignedWith(got, second)]).toEqual([true, true])
  }
  for (const command of [
    ['list', app.slug, '--json'],
    ['attempts', id, '--json'],
    ['ping', id],
    ['add', secret],
    ['rotate', secret],
  ]) {
    const { stdout, stderr } = await run(...command)
    printed.push(stdout, stderr)
  }
  const audit = await runProgram(['audit', 'list', '--limit', '1000', '--json', ...database])
  printed.push(audit.stdout, audit.stderr)
  const lists = environments.flatMap((name) => [`webhooks?environment=${name}`, `credentials?environment=${name}`])
  const paths = [...lists, `webhooks/${id}`, 'webhooks/new', 'installs', 'trail', ''].map(
    (at) => `/console/${app.slug}/${at}`,
  )
  for (const path of [...paths, '/desk/audit', '/desk/installs', '/installs', '/account'])
    pages.push((await browser.get(path)).text)
}

beforeAll(async () => {
  receiver = await startReceiver()
  world = await createWorld({ env: settings() })
  await setOperator(world.platform, trace, operator, { userId: world.user.id, isOperator: true })
  browser = await signedInBrowser(world.server.url, world.user)
  plant('a session in a cookie', browser.cookies.get('session') ?? '')
  await playWebhooks()
  backup = join(temporaryFolder(), 'backup.db')
  expect((await runProgram(['backup', backup, '--database', world.server.database])).code).toBe(0)
})
afterAll(async () => {
  await world.platform.database.close()
  await world.server.stop()
  await receiver.down()
})

describe('codes and sessions of embedded apps and webhook secrets', () => {
  test('are in no error, page, metric, log line, output of a command or delivery', async () => {
    expect(canaries.filter(({ value }) => value.length < 16)).toEqual([])
    expect(answers.map(({ status }) => status).filter((status) => status < 400)).toEqual([])
    const haystacks = [
      ...answers.map(({ headers, text: body }, index) =>
        text(`answer ${index}`, `${JSON.stringify([...headers])}\n${body}`),
      ),
      ...pages.map((page, index) => text(`page ${index}`, page)),
      ...printed.map((output, index) => text(`command ${index}`, output)),
      ...receiver.received.map(({ body, headers }, index) => text(`delivery ${index}`, body + JSON.stringify(headers))),
      text('metrics', (await call(world.server.url, 'GET', '~/metrics')).text),
      text('log', world.server.log()),
      text('stdout', world.server.output()),
    ]
    expect(findCanaries(canaries, haystacks)).toEqual([])
    expect(haystacks.filter(({ content }) => signingBytes.some((bytes) => content.includes(bytes)))).toEqual([])
  })

  test('are in no file, except the signing keys of webhooks, which the database and its backup need', () => {
    const { database } = world.server
    const files = [file(database), file(`${database}-wal`), file(`${database}-shm`), file(backup)]
    expect(findCanaries(canaries, files)).toEqual([])
    const holds = (names: readonly string[], bytes: Buffer) =>
      files.some(({ name, content }) => names.includes(name) && content.includes(bytes))
    for (const bytes of signingBytes) {
      expect(holds([database, `${database}-wal`], bytes)).toBe(true)
      expect(holds([backup], bytes)).toBe(true)
    }
  })
})

test('a delivery contains nothing about a person: no name, no address, no label, no website or store', () => {
  const { email } = world.user
  const persons = [email, 'Ada Example', 'Canary label 4711', 'my-store', world.app.slug, world.app.redirectUri]
  const found = persons.filter((person) => receiver.received.some(({ body }) => body.includes(person)))
  expect(found).toEqual([])
  expect(receiver.received.length).toBeGreaterThanOrEqual(3)
})
