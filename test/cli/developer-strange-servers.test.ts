import { expect, test } from 'bun:test'
import { worldOfFile } from '../support/world-of-file.ts'
import { appFolder, asVariables, pipeline } from './support/developer.ts'
import { failureIn } from './support/run.ts'
import { atTerminal } from './support/terminal.ts'

const world = await worldOfFile()

/** Sets the title of a terminal, its colours, its cursor and its reading direction. */
const hostile = '\u001b]0;owned\u0007\u001b[31m\u009b2J\u202e'
// eslint-disable-next-line no-control-regex
const steering = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/

const token = {
  accessToken: 'apat_of_another',
  tokenType: 'Bearer',
  expiresIn: 3600,
  scope: 'site:read',
  environment: hostile,
}
const app = {
  appId: hostile,
  clientId: hostile,
  name: hostile,
  slug: hostile,
  environment: hostile,
  status: hostile,
  scope: hostile,
  expiresAt: hostile,
  createdAt: hostile,
  [hostile]: 1,
}
const version = {
  id: 'ver_1',
  number: 1,
  version: `1.0.0${hostile}`,
  status: hostile,
  revision: 1,
  notes: hostile,
  manifest: { [hostile]: hostile },
  scopes: [hostile],
  artifact: { filename: hostile, sizeBytes: 1, sha256: hostile },
  current: { development: true, production: true },
  rejection: { message: hostile, items: [{ path: hostile, message: hostile }] },
  createdAt: hostile,
  updatedAt: hostile,
  submittedAt: hostile,
  reviewedAt: hostile,
  activatedAt: hostile,
}
const list = { data: [version], nextCursor: null, current: { development: 'ver_1', production: 'ver_1' } }
const error = {
  code: 'constructor',
  message: hostile,
  requestId: hostile,
  param: hostile,
  details: { status: hostile },
}

const serve = (answers: Readonly<Record<string, unknown>>, status = 200) =>
  Bun.serve({
    port: 0,
    fetch: ({ url, method }) => {
      const name = new URL(url).pathname.split('/').at(-1) ?? ''
      const answer = answers[`${method} ${name}`] ?? answers[name]
      return Response.json(answer, { status, headers: { 'X-Service-Api-Version': '2026-08' } })
    },
  })

test('an answer of a server cannot send control characters to the terminal', async () => {
  const server = serve({ token, me: app, 'GET versions': list, 'POST versions': version })
  const developer = pipeline(`http://127.0.0.1:${server.port}`, world.app.development)
  const folder = appFolder()
  for (const words of [
    ['login'],
    ['whoami'],
    ['versions', 'list'],
    ['versions', 'create', folder, '--version', '1.0.0'],
  ])
    for (const flags of [[], ['--json']]) {
      const { exitCode, stdout, stderr } = await developer.run([...words, ...flags])
      expect({ words, exitCode, stderr }).toEqual({ words, exitCode: 0, stderr: '' })
      expect(stdout).not.toMatch(steering)
      if (flags.length > 0) expect(JSON.stringify(JSON.parse(stdout))).toContain(JSON.stringify(hostile))
    }
  await server.stop(true)
})

test('a refusal with unusual words or an unusual code is one plain line', async () => {
  const server = serve({ token: { error } }, 400)
  const { exitCode, stdout, stderr } = await pipeline(`http://127.0.0.1:${server.port}`, world.app.development).run([
    'whoami',
  ])
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toMatch(/^error: [^\n]+\n$/)
  expect(stderr).not.toMatch(steering)
  expect(stderr).not.toContain('function')
  await server.stop(true)
})

test('an answer without its tokens, its record or its list is reported in one plain line', async () => {
  const sentence = 'error: The answer is not that of an app platform. Check the URL: something else answered there.\n'
  const good = { token, me: app, 'GET versions': list, 'POST versions': version, rollback: {} }
  for (const [words, wrong] of [
    ['login', { token: {} }],
    ['login', { me: [] }],
    ['whoami', { me: 7 }],
    ['versions list', { 'GET versions': { ...list, data: null } }],
    ['versions list', { 'GET versions': { ...list, data: [7] } }],
    ['versions list --json', { 'GET versions': { ...list, nextCursor: {} } }],
    ['versions rollback --yes', { rollback: [version] }],
  ] as const) {
    const server = serve({ ...good, ...wrong })
    const developer = pipeline(`http://127.0.0.1:${server.port}`, world.app.development)
    const { exitCode, stdout, stderr } = await developer.run(words.split(' '))
    expect({ words, wrong, exitCode, stderr }).toEqual({ words, wrong, exitCode: 1, stderr: sentence })
    if (words.endsWith('--json')) expect(failureIn({ stdout, stderr })).toBe('unexpected_answer')
    else expect(stdout).toBe('')
    await server.stop(true)
  }
})

test('after an unreadable success, create says that the version may exist', async () => {
  const server = serve({ token, me: app, 'GET versions': list, 'POST versions': [version] })
  const developer = pipeline(`http://127.0.0.1:${server.port}`, world.app.development)
  const { exitCode, stderr } = await developer.run(['versions', 'create', appFolder(), '--version', '1.0.0'])
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^error: The answer is not that [^\n]+ It is not known whether 1\.0\.0 was created: [^\n]+\n$/)
  await server.stop(true)
})

test('login refuses a server that answers every request with an unrelated object', async () => {
  const server = Bun.serve({ port: 0, fetch: () => Response.json({ ok: true }) })
  const { exitCode, stdout, stderr } = await pipeline(`http://127.0.0.1:${server.port}`, world.app.development).run([
    'login',
  ])
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toBe(
    'error: The answer is not that of an app platform. Check the URL: something else answered there.\n',
  )
  await server.stop(true)
})

test('requests to this machine bypass the proxy of the environment, which could read the secret', async () => {
  const heard: string[] = []
  const proxy = Bun.serve({ port: 0, fetch: ({ url }) => (heard.push(url), new Response()) })
  const environment = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, http_proxy: `http://127.0.0.1:${proxy.port}` }
  const told = await pipeline(world.server.url, world.app.development).run(['whoami', '--json'], environment)
  expect(JSON.parse(told.stdout).slug).toBe(world.app.slug)
  const elsewhere = pipeline('https://apps.example.com', world.app.development)
  const refused = await elsewhere.run(['whoami'], { HTTPS_PROXY: 'http://127.0.0.1:1' })
  expect(refused.stderr).toContain('The call may go through the proxy in HTTPS_PROXY: check that too.')
  expect(heard).toEqual([])
  await proxy.stop(true)
})

test('an answer that does not fit on the disk exits 1, and a reader that stops early is no failure', async () => {
  const env = { APP_PLATFORM_URL: world.server.url, ...asVariables(world.app.development) }
  for (const words of ['whoami --json', '--version']) {
    const terminal = atTerminal(`$AP ${words} > /dev/full; echo "exit $?"`, env)
    await terminal.shows('error: The answer was not written. The disk is full: make room.')
    await terminal.shows('exit 1')
    await terminal.ended()
  }
  const enough = atTerminal('{ $AP --help; echo "exit $?" >&2; } | head -c 1 > /dev/null', env)
  await enough.shows('exit 0')
  await enough.ended()
})
