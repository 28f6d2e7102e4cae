import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { challengeOf } from '../../src/domain/pkce.ts'
import { createUser } from '../../src/operations/users/users.ts'
import { documentPaths } from '../support/api-documents.ts'
import { type Answer, call } from '../support/call.ts'
import { type Canary, findCanaries, type Haystack } from '../support/needles.ts'
import { operator, trace } from '../support/operator.ts'
import { runProgram } from '../support/run-program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, appToken, authorizeBody, createWorld, grantTokens, signIn, type World } from '../support/world.ts'
import { sessionCookieOf } from '../support/cookie.ts'

let world: World
const canaries: Canary[] = []
const answers: Answer[] = []
const printed: string[] = []

const plant = (name: string, value: string): string => {
  canaries.push({ name, value })
  return value
}

/** Calls, and keeps the answer if it is an error: an error must not repeat what was sent. */
const ask = async (method: string, path: string, request: Parameters<typeof call>[3] = {}): Promise<Answer> => {
  const answer = await call(world.server.url, method, path, request)
  if (answer.status >= 400) answers.push(answer)
  return answer
}

/** Sends bytes as they are. */
const sendRaw = async (
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<void> => {
  const response = await fetch(`${world.server.url}/api/app-platform${path}`, {
    method: 'POST',
    body,
    headers: { 'X-Service-Api-Version': '2026-08', 'Content-Type': 'application/json', ...headers },
  })
  const text = await response.text()
  answers.push({ status: response.status, headers: response.headers, body: null, text })
}

/** The flows as they should go, each secret of its own. */
const playWell = async (): Promise<void> => {
  const { platform, app } = world
  for (const credentials of [app.development, app.production]) plant('a client secret', credentials.clientSecret)
  const password = plant('a password', 'Canary pässword/+ &="quoted" 4711')
  const { email } = await createUser(platform, trace, operator, {
    email: 'canary@example.com',
    name: 'Canary',
    password,
    isOperator: false,
  })
  const signedIn = await ask('POST', '~/api/session', { body: { email, password } })
  const session = plant('a session token', signedIn.body.sessionToken)
  await ask('GET', '~/api/session', {
    headers: { Cookie: sessionCookieOf(world.server.url, session), 'Sec-Fetch-Site': 'same-origin' },
  })
  const token = plant('an app token', await appToken(world.server.url, app.development))
  await ask('GET', '/me', { token })

  const verifier = plant('a code verifier', 'CanaryVerifier-0123456789._~abcdefghijklmnopqrs')
  const consent = { ...authorizeBody(app), codeChallenge: challengeOf(verifier) }
  const { body } = await ask('POST', '/oauth/authorize', { token: session, body: consent })
  const code = plant('an authorization code', body.code)
  const exchanging = {
    grantType: 'authorization_code',
    ...app.development,
    code,
    redirectUri: app.redirectUri,
    codeVerifier: verifier,
  }
  const key = plant('an idempotency key of an exchange', 'canary-key-exchange-0815')
  const first = await ask('POST', '/oauth/token', { body: exchanging, headers: { 'Idempotency-Key': key } })
  await ask('POST', '/oauth/token', { body: exchanging, headers: { 'Idempotency-Key': key } })
  plant('an access token', first.body.accessToken)
  plant('a refresh token', first.body.refreshToken)
  const renewing = { grantType: 'refresh_token', ...app.development, refreshToken: first.body.refreshToken }
  const renewKey = plant('an idempotency key of a refresh', 'canary-key-refresh-0815')
  const second = await ask('POST', '/oauth/token', { body: renewing, headers: { 'Idempotency-Key': renewKey } })
  plant('a second access token', second.body.accessToken)
  plant('a second refresh token', second.body.refreshToken)
  await ask('GET', '/oauth/me', { token: second.body.accessToken })
  await ask('GET', '/resources', { token: second.body.accessToken, query: { kind: 'site' } })
  const createKey = plant('an idempotency key of an upload', 'canary-key-create-0815')
  await ask('POST', '/versions', { token, body: { version: '1.0.0' }, headers: { 'Idempotency-Key': createKey } })
  await ask('POST', '/versions', { token, body: { version: '2.0.0' }, headers: { 'Idempotency-Key': createKey } })
  await ask('POST', '/versions', { token, body: { version: '1.1.0' } })
  await ask('POST', '/versions/rollback', { token, body: {} })
  // Reuse: the whole family ends.
  await ask('POST', '/oauth/token', { body: { ...renewing, refreshToken: first.body.refreshToken } })
  await ask('POST', '/oauth/token', { body: exchanging })
  await ask('POST', '/oauth/revoke', { body: { ...app.development, token: second.body.refreshToken } })
  const doomed = plant('a revoked app token', await appToken(world.server.url, app.development))
  await ask('POST', '/oauth/revoke', { token: doomed, body: {} })
  await ask('GET', '/me', { token: doomed })
  await ask('DELETE', '~/api/session', { token: session })
  await ask('POST', '/oauth/authorize', { token: session, body: consent })
}

/** Secrets where they do not belong, and requests that fail in every way. */
const playBadly = async (): Promise<void> => {
  const { app } = world
  const { clientId } = app.development
  const stray = plant('a stray secret', `aps_dev_${'Stray0Canary'.repeat(6).slice(0, 71)}`)
  const wrongPassword = plant('a wrong password', 'Wrong canary pässword 0815')
  const wrongVerifier = plant('a wrong verifier', 'WrongCanaryVerifier-0123456789._~abcdefghijklmn')
  const wrongCode = plant('a wrong code', `apco_${'Wrong0Canary'.repeat(6).slice(0, 71)}`)
  await ask('POST', '~/api/session', { body: { email: world.user.email, password: wrongPassword } })
  await ask('POST', '~/api/session', { body: { email: 'nobody@example.com', password: wrongPassword } })
  await ask('POST', '~/api/session', { body: { email: wrongPassword, password: { nested: wrongPassword } } })
  await ask('POST', '/token', { body: { clientId, clientSecret: stray, scope: 'site:read' } })
  await ask('POST', '/token', { body: { clientId: stray, clientSecret: stray, scope: stray } })
  await ask('POST', '/token', { body: { ...app.development, scope: stray } })
  await ask('POST', '/token', { body: { clientId, clientSecret: [stray], scope: 7, [stray]: stray } })
  await ask('POST', '/token', { body: stray })
  const exchanging = { grantType: 'authorization_code', ...app.development, redirectUri: app.redirectUri }
  await ask('POST', '/oauth/token', { body: { ...exchanging, code: wrongCode, codeVerifier: wrongVerifier } })
  await ask('POST', '/oauth/token', {
    body: { ...exchanging, grantType: stray, code: wrongCode, codeVerifier: wrongVerifier },
  })
  await ask('POST', '/oauth/token', { body: { ...exchanging, code: wrongCode } })
  await ask('POST', '/oauth/revoke', { body: { clientId, clientSecret: stray, token: wrongCode } })
  await ask('POST', '/oauth/revoke', { body: { ...app.development, token: stray, tokenTypeHint: stray } })
  const session = await signIn(world.server.url, world.user)
  for (const field of ['clientId', 'redirectUri', 'scope', 'codeChallenge', 'codeChallengeMethod', 'consent']) {
    await ask('POST', '/oauth/authorize', {
      token: session,
      body: { ...authorizeBody(app), state: stray, [field]: stray },
    })
  }
  await ask('POST', '/oauth/revoke', { token: session, body: { grantId: stray } })
  const token = await appToken(world.server.url, app.development)
  await ask('POST', '/versions', { token, body: { version: stray } })
  await ask('POST', '/versions', { token, body: { version: '3.0.0', status: stray } })
  await ask('POST', '/versions', { token, body: { version: '3.0.0', scopes: [stray] } })
  await ask('POST', '/versions', {
    token,
    body: { version: '3.0.0', artifact: { filename: 'a', contentBase64: stray } },
  })
  await ask('POST', '/versions/rollback', { token, body: { version: stray } })
  await ask('POST', '/versions/rollback', { token, body: { environment: stray } })
  for (const path of ['/me', '/oauth/me', '/versions', '/resources', `/${stray}`, `/me/${stray}`, `~/${stray}`]) {
    await ask('GET', path, { token: stray })
    await ask('GET', path, {
      token,
      query: { access_token: stray, cursor: stray, limit: stray, kind: stray, status: stray },
    })
    await ask('GET', path, { headers: { Authorization: stray, 'X-Service-Api-Version': stray } })
    await ask('GET', path, {
      headers: {
        Cookie: sessionCookieOf(world.server.url, stray),
        Origin: stray,
        'X-Forwarded-For': stray,
        'X-Request-Id': stray,
      },
    })
    await ask('PUT', path, { token: stray, body: { stray } })
  }
  for (const header of [
    'Idempotency-Key',
    'Origin',
    'Referer',
    'User-Agent',
    'Accept',
    'X-Request-Id',
    'Traceparent',
  ]) {
    await ask('POST', '/versions', { token, body: { version: '4.0.0' }, headers: { [header]: `${stray},${stray}` } })
  }
  await sendRaw('/token', `{"clientId":"${clientId}","clientSecret":"${stray}"`)
  await sendRaw('/token', `{"clientSecret":"${stray}","clientSecret":"${stray}"}`)
  await sendRaw('/token', `{"__proto__":"${stray}"}`)
  await sendRaw('/token', `clientSecret=${stray}`, { 'Content-Type': 'application/x-www-form-urlencoded' })
  await sendRaw('/token', `{"clientSecret":"${stray}"}`, { 'Content-Type': stray })
  await sendRaw('/token', new Uint8Array([...Buffer.from(`{"clientSecret":"${stray}`), 0xff, 0xfe]))
  await sendRaw('/token', `{"clientSecret":"${stray.repeat(2_000)}"}`)
}

/** What operators see of it on their terminals and in their files. */
const playOperator = async (): Promise<void> => {
  const database = ['--database', world.server.database]
  const made = await runProgram([
    'credential',
    'create',
    (await addApp(world.platform, world.user)).slug,
    '--environment',
    'development',
    '--json',
    ...database,
  ])
  expect(made.code).toBe(0)
  plant('a secret made on the command line', JSON.parse(made.stdout).clientSecret)
  printed.push(made.stderr)
  const commands = [
    ['audit', 'list', '--limit', '1000'],
    ['audit', 'list', '--limit', '1000', '--json'],
    ['app', 'list', '--json'],
    ['credential', 'list', world.app.slug, '--json'],
    ['check'],
  ]
  for (const command of commands) {
    const { stdout, stderr } = await runProgram([...command, ...database])
    printed.push(stdout, stderr)
  }
}

let backup: string
beforeAll(async () => {
  world = await createWorld()
  await playWell()
  await playBadly()
  await playOperator()
  backup = join(temporaryFolder(), 'backup.db')
  expect((await runProgram(['backup', backup, '--database', world.server.database])).code).toBe(0)
}, 180_000)
afterAll(async () => {
  await world.platform.database.close()
})

const file = (name: string): Haystack[] => (existsSync(name) ? [{ name, content: readFileSync(name) }] : [])
const text = (name: string, content: string): Haystack => ({ name, content: Buffer.from(content) })

describe('a secret is only in the answer that issued it:', () => {
  test('the search finds every form of a secret in a text that contains it', () => {
    for (const { value } of canaries) {
      const forms = [
        value,
        Buffer.from(`xy${value}z`).toString('base64'),
        Buffer.from(value).toString('hex'),
        encodeURIComponent(value),
      ]
      for (const form of forms) {
        expect(findCanaries([{ name: 'it', value }], [text('hay', `..${form}..`)])).toEqual(['it is in hay'])
      }
    }
    expect(canaries.length).toBeGreaterThanOrEqual(20)
    expect(canaries.filter(({ value }) => typeof value !== 'string' || value.length < 16)).toEqual([])
  })

  test('no error, metric, page of the documentation, log line or output contains one', async () => {
    expect(answers.length).toBeGreaterThan(60)
    const told = answers.map((answer, index) => {
      const headers = JSON.stringify([...answer.headers])
      return text(`error answer ${index}, ${answer.status}`, `${headers}\n${answer.text}`)
    })
    const metrics = await call(world.server.url, 'GET', '~/metrics')
    expect(metrics.status).toBe(200)
    const documents = await Promise.all(
      documentPaths.map(async (path) => text(path, (await call(world.server.url, 'GET', `~${path}`)).text)),
    )
    const haystacks = [
      ...told,
      text('metrics', metrics.text),
      ...documents,
      text('log', world.server.log()),
      text('stdout', world.server.output()),
      ...printed.map((output, index) => text(`command ${index}`, output)),
    ]
    expect(findCanaries(canaries, haystacks)).toEqual([])
  })

  test('the database, its WAL, its shared memory and a backup contain none', async () => {
    const { database } = world.server
    const running = [...file(database), ...file(`${database}-wal`), ...file(`${database}-shm`), ...file(backup)]
    expect(running.length).toBe(4)
    expect(findCanaries(canaries, running)).toEqual([])
  })

  test('the files that remain after the server has stopped contain none', async () => {
    const url = world.server.url
    const tokens = await grantTokens(world)
    plant('a last refresh token', tokens.refreshToken)
    plant('a last session', await signIn(url, world.user))
    expect(await world.server.stop()).toBe(0)
    const { database } = world.server
    expect(
      findCanaries(canaries, [...file(database), ...file(`${database}-wal`), text('log', world.server.log())]),
    ).toEqual([])
  })
})

const listedFields = new Set([
  'at',
  'level',
  'event',
  'requestId',
  'clientRequestId',
  'address',
  'method',
  'route',
  'status',
  'durationMs',
  'durationUs',
  'errorCode',
  'appId',
  'clientId',
  'credentialId',
  'userId',
  'grantId',
  'versionId',
  'installId',
  'kind',
  'job',
  'count',
  'seconds',
  'port',
  'reason',
  'cause',
])

test('every log line is one JSON object with listed fields only, and every answer has a line', () => {
  const lines = world.server
    .log()
    .split('\n')
    .filter((line) => line !== '')
  const parsed = lines.map((line) => JSON.parse(line))
  const fields = new Set(parsed.flatMap((line) => Object.keys(line)))
  expect([...fields.difference(listedFields)]).toEqual([])
  const answered = new Set(parsed.filter(({ event }) => event === 'http.answered').map(({ requestId }) => requestId))
  for (const { headers } of answers) expect(answered).toContain(headers.get('x-request-id'))
})

/** An answer without its request ID and date. */
const bare = (answer: Answer): string => {
  const headers = [...answer.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
  const requestId = answer.headers.get('x-request-id') ?? ''
  return `${answer.status}\n${JSON.stringify(headers.toSorted())}\n${answer.text.replaceAll(requestId, 'req_')}`
}

const oneAnswer = (all: readonly Answer[]) => expect([...new Set(all.map(bare))]).toHaveLength(1)

const spoil = (secret: string) => `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`

describe('a refusal does not reveal its reason:', () => {
  let asking: World
  beforeAll(async () => {
    asking = await createWorld()
  })
  afterAll(async () => {
    await asking.platform.database.close()
    await asking.server.stop()
  })
  const post = async (path: string, body: unknown, token?: string) =>
    await call(asking.server.url, 'POST', path, { body, ...(token === undefined ? {} : { token }) })
  const get = async (path: string, token: string) => await call(asking.server.url, 'GET', path, { token })

  test('unknown and wrong client credentials get the same answer', async () => {
    const { development, production } = asking.app
    const pairs = [
      { ...development, clientSecret: spoil(development.clientSecret) },
      { ...development, clientSecret: 'x' },
      { ...development, clientSecret: production.clientSecret },
      { ...production, clientSecret: development.clientSecret },
      { ...development, clientId: `apc_dev_${'0'.repeat(22)}` },
      { ...development, clientId: 'x' },
      { clientId: 'x', clientSecret: 'x' },
    ]
    oneAnswer(await Promise.all(pairs.map(async (pair) => await post('/token', { ...pair, scope: 'site:read' }))))
    oneAnswer(
      await Promise.all(
        pairs.map(
          async (pair) => await post('/oauth/token', { grantType: 'refresh_token', ...pair, refreshToken: 'x' }),
        ),
      ),
    )
  })

  test('every refused code and refresh token gets the same answer', async () => {
    const { app, server } = asking
    const session = await signIn(server.url, asking.user)
    const consent = await post('/oauth/authorize', authorizeBody(app), session)
    const right = {
      grantType: 'authorization_code',
      ...app.development,
      code: consent.body.code,
      redirectUri: app.redirectUri,
      codeVerifier: 'v'.repeat(43),
    }
    const spent = await grantTokens(asking)
    const renewing = { grantType: 'refresh_token', ...app.development }
    const next = await post('/oauth/token', { ...renewing, refreshToken: spent.refreshToken })
    await post('/oauth/token', { ...renewing, refreshToken: next.body.refreshToken })
    oneAnswer([
      await post('/oauth/token', right),
      await post('/oauth/token', { ...right, redirectUri: app.liveRedirectUri }),
      await post('/oauth/token', { ...right, code: spoil(right.code) }),
      await post('/oauth/token', { ...right, code: 'x' }),
      await post('/oauth/token', { ...right, codeVerifier: 'x' }),
      await post('/oauth/token', { ...right, ...app.production }),
      await post('/oauth/token', { ...renewing, refreshToken: 'x' }),
      await post('/oauth/token', { ...renewing, refreshToken: spent.refreshToken }),
      await post('/oauth/token', { ...renewing, refreshToken: spent.refreshToken }),
    ])
  })

  test('every refused bearer token, session and password gets the same answer', async () => {
    const { app, server, user } = asking
    const token = await appToken(server.url, app.development)
    await post('/oauth/revoke', {}, token)
    const over = await signIn(server.url, user)
    await call(server.url, 'DELETE', '~/api/session', { token: over })
    oneAnswer(
      await Promise.all(
        [token, spoil(token), 'x', over, 'x'.repeat(4_000)].map(async (each) => await get('/me', each)),
      ),
    )
    oneAnswer(await Promise.all([over, spoil(over), 'x'].map(async (each) => await get('~/api/session', each))))
    oneAnswer([
      await post('~/api/session', { email: user.email, password: 'wrong password here' }),
      await post('~/api/session', { email: 'nobody@example.com', password: 'wrong password here' }),
      await post('~/api/session', { email: 'not an address', password: 'wrong password here' }),
      await post('~/api/session', { email: user.email, password: 'x' }),
    ])
  })
})
