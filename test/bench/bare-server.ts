import { Database } from 'bun:sqlite'
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { fdatasync, openSync, writeSync } from 'node:fs'
import { argv } from 'node:process'
import { createBurst } from '../../src/http/burst.ts'
import { digitsOfTimeKey, nextTimeKey, type TimeKey, timeKeyAt, timeKeyInDigits } from '../../src/domain/time-key.ts'

/**
 * What the same duties cost at least: the hot endpoints in the shortest code on Bun.serve. All read the address of the caller
 * and the headers that the contract checks, count two limits, hash, read with joins in a snapshot that one turn of the event loop
 * shares, send the answers of a turn together, and log a line. A write shares one transaction and one sync with all others that
 * wait. There are no schemas, no order of checks and almost no refusals: it measures, and could not be used.
 */
const [, , file = ''] = argv
const database = new Database(file)
for (const pragma of ['journal_mode = WAL', 'synchronous = NORMAL', 'cache_size = -16384', 'wal_autocheckpoint = 4000'])
  database.run(`PRAGMA ${pragma}`)

type Row = readonly (string | number | Uint8Array)[]
const select = (sql: string) => {
  const statement = database.prepare(sql)
  return (...values: (string | number)[]): readonly Row[] => statement.values(...values) as Row[]
}
const findToken = select(`
  SELECT t.hash, t.scopes, t.expires_at, l.id, l.environment, a.id, a.name, a.slug, a.status, a.created_at, c.revoked_at
  FROM app_tokens t JOIN credentials c ON c.id = t.credential_id JOIN clients l ON l.id = c.client_id
  JOIN apps a ON a.id = l.app_id WHERE t.key = +?`)
const findSecrets = select(`
  SELECT c.id, c.secret_hash, l.environment, a.status, a.scopes, c.revoked_at
  FROM credentials c JOIN clients l ON l.id = c.client_id JOIN apps a ON a.id = l.app_id WHERE l.id = +?`)
const findAccess = select(`
  SELECT t.access_hash, t.scopes, t.created_at, t.access_expires_at, g.client_id, g.app_id, g.user_id, a.status, u.status
  FROM token_pairs t JOIN grants g ON g.key = t.grant_key JOIN apps a ON a.id = g.app_id
  JOIN users u ON u.id = g.user_id WHERE t.key = +? AND g.current_key = t.key AND g.revoked_at IS NULL`)
const findInstall = select(`
  SELECT 1 FROM installs
  WHERE app_id = +? AND user_id = +? AND approval = 'approved' AND state = 'active' LIMIT 1`)
const listResources = select(`
  SELECT name, slug, status, created_at, updated_at, published_at FROM resources
  WHERE owner_id = +? AND kind = +? AND slug > '' ORDER BY slug LIMIT 21`)
const findRefresh = select(`
  SELECT t.refresh_hash, t.refresh_expires_at, g.key, lower(hex(g.id)), g.scopes, g.client_id, g.current_key, u.status
  FROM token_pairs t JOIN grants g ON g.key = t.grant_key JOIN users u ON u.id = g.user_id WHERE t.key = +?`)
const advance = database.prepare(`
  UPDATE grants SET current_key = ?, expires_at = ? WHERE key = +? AND current_key = +? AND revoked_at IS NULL`)
const insertPair = database.prepare(`
  INSERT INTO token_pairs (key, grant_key, previous_key, access_hash, refresh_hash, scopes, created_at, access_expires_at,
    refresh_expires_at, request_id, address) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
const insertToken = database.prepare(`
  INSERT INTO app_tokens (key, hash, credential_id, scopes, created_at, expires_at, request_id, address)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
const [begin, beginRead, commit] = ['BEGIN IMMEDIATE', 'BEGIN', 'COMMIT'].map((sql) => database.prepare(sql))

const requestId = 'req_01a201ac5ab570deb867965af1a7db6b'
const answer = (policy: 'read' | 'token', body: unknown): Response =>
  new Response(JSON.stringify(body), {
    headers: {
      'content-type': 'application/json',
      'x-request-id': requestId,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-service-api-version': '2026-08',
      'cache-control': 'no-store',
      'ratelimit-policy': `"${policy}";q=1000000;w=1`,
      ratelimit: `"${policy}";r=999999;t=1`,
    },
  })
const sha256 = (text: string): Uint8Array => hash('sha256', text, 'buffer')
const isHashOf = (kept: Row[number] | undefined, computed: Uint8Array): boolean =>
  kept instanceof Uint8Array && timingSafeEqual(kept, computed)

const counts = new Map<string, number>()
const count = (key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1)

let lines = ''
const writeLines = (): void => {
  writeSync(2, lines)
  lines = ''
}
const log = (route: string, status: number, address: string): void => {
  if (lines === '') setImmediate(writeLines)
  lines += `{"at":"2026-11-22T05:13:22.357Z","level":"info","event":"http.answered","requestId":"${requestId}","route":"${route}","status":${status},"durationUs":${Math.round(performance.now() % 100)},"address":"${address}"}\n`
}

let isReading = false
const shareSnapshot = (): void => {
  if (isReading) return
  isReading = true
  beginRead?.run()
  setImmediate(() => {
    isReading = false
    commit?.run()
  })
}

const refused = (): Response => new Response(null, { status: 401 })
const bearerOf = (request: Request): string => (request.headers.get('authorization') ?? '').slice('Bearer '.length)
const keyOf = (token: string): number => timeKeyInDigits(token.slice(5, 27)) ?? 0

const me = (request: Request): Response => {
  const token = bearerOf(request)
  shareSnapshot()
  const [row = []] = findToken(keyOf(token))
  if (!isHashOf(row[0], sha256(token))) return refused()
  const [, scope, expiresAt, clientId, environment, appId, name, slug, status, createdAt] = row
  const texts = { appId, clientId, name, slug, environment, status, scope }
  const times = {
    expiresAt: new Date(Number(expiresAt)).toISOString(),
    createdAt: new Date(Number(createdAt)).toISOString(),
  }
  return answer('read', { ...texts, ...times })
}

const check = (request: Request): Response => {
  const token = bearerOf(request)
  const query = new URLSearchParams(request.url.slice(request.url.indexOf('?') + 1))
  shareSnapshot()
  const [row = []] = findToken(keyOf(token))
  if (!isHashOf(row[0], sha256(token))) return refused()
  const [, scope, , , environment, appId] = row
  if (
    !String(scope)
      .split(' ')
      .includes(query.get('scope') ?? '') ||
    environment !== query.get('environment')
  )
    return refused()
  return new Response(null, {
    status: 204,
    headers: {
      'x-request-id': requestId,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'ratelimit-policy': '"read";q=1000000;w=1',
      ratelimit: '"read";r=999999;t=1',
      'x-app-id': String(appId),
      'x-user-external-id': '',
      'x-scope': String(scope),
    },
  })
}

const wireTimes = new Map<unknown, string>()
const wireTime = (at: unknown): string => {
  const text = wireTimes.get(at) ?? new Date(Number(at)).toISOString()
  wireTimes.set(at, text)
  return text
}

const resources = (request: Request): Response => {
  const token = bearerOf(request)
  const kind = request.url.slice(request.url.indexOf('kind=') + 'kind='.length)
  shareSnapshot()
  const [row = []] = findAccess(keyOf(token))
  if (!isHashOf(row[0], sha256(token))) return refused()
  const [appId, userId] = [String(row[5]), String(row[6])]
  if (findInstall(appId, userId).length === 0) return refused()
  const data = listResources(userId, kind).map(([name, slug, status, createdAt, updatedAt, publishedAt]) => ({
    name,
    slug,
    status,
    createdAt: wireTime(createdAt),
    updatedAt: wireTime(updatedAt),
    publishedAt: wireTime(publishedAt),
  }))
  return answer('read', { kind, data, nextCursor: null })
}

const seconds = (at: unknown): number => Math.floor(Number(at) / 1_000)
const introspect = async (request: Request, address: string): Promise<Response> => {
  const form = new URLSearchParams(await request.text())
  const [clientId = '', secret = '', token = ''] = ['client_id', 'client_secret', 'token'].map(
    (name) => form.get(name) ?? '',
  )
  count(`${clientId} ${address}`)
  shareSnapshot()
  const computed = sha256(secret)
  const isClient = findSecrets(clientId).some(([, kept]) => isHashOf(kept, computed))
  const [row = []] = findAccess(keyOf(token))
  if (!isClient || !isHashOf(row[0], sha256(token))) return refused()
  const [, scope, createdAt, expiresAt, tokenClientId, , userId] = row
  const times = { exp: seconds(expiresAt), iat: seconds(createdAt) }
  const facts = { active: true, scope, client_id: tokenClientId, token_type: 'Bearer' }
  return answer('token', { ...facts, ...times, sub: userId, iss: 'http://localhost' })
}

type Job = { readonly run: () => Response; readonly resolve: (response: Response) => void }
let waiting: Job[] = []
let isCommitting = false
let wal: number | null = null
const commitWaiting = (): void => {
  isCommitting = waiting.length > 0
  if (!isCommitting) return
  const jobs = waiting
  waiting = []
  begin?.run()
  const answers = jobs.map(({ run }) => run())
  commit?.run()
  fdatasync((wal ??= openSync(`${file}-wal`, 'r+')), () => {
    for (const [index, { resolve }] of jobs.entries()) resolve(answers[index] ?? new Response(null, { status: 500 }))
    setImmediate(commitWaiting)
  })
}
const inTransaction = async (run: () => Response): Promise<Response> =>
  await new Promise((resolve) => {
    waiting.push({ run, resolve })
    if (isCommitting) return
    isCommitting = true
    setImmediate(commitWaiting)
  })

let lastKey = timeKeyAt(Date.now())
const nextKey = (now: number): TimeKey => (lastKey = nextTimeKey(lastKey, now, 0))
/** As long as a token of the platform. */
const tokenOf = (prefix: string, key: TimeKey): string =>
  `${prefix}${digitsOfTimeKey(key)}${randomBytes(37).toString('base64url').slice(1)}`

const refresh = async (request: Request, address: string): Promise<Response> => {
  const { clientId, clientSecret, refreshToken: presented } = JSON.parse(await request.text())
  count(`${clientId} ${address}`)
  const [computed, presentedHash, presentedKey] = [sha256(clientSecret), sha256(presented), keyOf(presented)]
  const now = Date.now()
  const [accessEnd, refreshEnd] = [now + 3_600_000, now + 2_592_000_000]
  const key = nextKey(now)
  const [accessToken, refreshToken] = [tokenOf('apua_', key), tokenOf('apur_', key)]
  const [accessHash, refreshHash] = [sha256(accessToken), sha256(refreshToken)]
  return await inTransaction(() => {
    const isClient = findSecrets(clientId).some(([, kept]) => isHashOf(kept, computed))
    const [row = []] = findRefresh(presentedKey)
    const [kept, , grantKey = 0, grantId, scope = ''] = row
    if (!isClient || !isHashOf(kept, presentedHash)) return refused()
    if (advance.run(key, refreshEnd, grantKey, presentedKey).changes === 0) return refused()
    insertPair.run(
      key,
      grantKey,
      presentedKey,
      accessHash,
      refreshHash,
      scope,
      now,
      accessEnd,
      refreshEnd,
      requestId,
      address,
    )
    const lifetimes = { expiresIn: 3_600, refreshTokenExpiresIn: 2_592_000 }
    return answer('token', {
      accessToken,
      tokenType: 'Bearer',
      refreshToken,
      ...lifetimes,
      scope,
      grantId: `grt_${grantId}`,
    })
  })
}

const issue = async (request: Request, address: string): Promise<Response> => {
  const { clientId, clientSecret, scope } = JSON.parse(await request.text())
  count(`${clientId} ${address}`)
  const computed = sha256(clientSecret)
  const now = Date.now()
  const key = nextKey(now)
  const accessToken = tokenOf('apat_', key)
  return await inTransaction(() => {
    const row = findSecrets(clientId).find(([, kept]) => isHashOf(kept, computed))
    if (row === undefined) return refused()
    const [credentialId = '', , environment] = row
    insertToken.run(key, sha256(accessToken), credentialId, scope, now, now + 3_600_000, requestId, address)
    return answer('token', { accessToken, tokenType: 'Bearer', expiresIn: 3_600, scope, environment })
  })
}

/** The headers that the contract checks; none of them may be repeated. */
const checked = [
  'host',
  'content-length',
  'content-type',
  'x-service-api-version',
  'x-request-id',
  'idempotency-key',
  'origin',
]
const isRepeated = ({ headers }: Request): boolean => checked.some((name) => headers.get(name)?.includes(',') === true)

type Endpoint = (request: Request, address: string) => Response | Promise<Response>
const endpoints = new Map<string, Endpoint>([
  ['/api/app-platform/me', me],
  ['/oauth/check', check],
  ['/api/app-platform/resources', resources],
  ['/api/app-platform/token', issue],
  ['/api/app-platform/oauth/token', refresh],
  ['/oauth/introspect', introspect],
])
const pathOf = (url: string): string => {
  const [start, end] = [url.indexOf('/', 'http://'.length), url.indexOf('?')]
  return url.slice(start, end === -1 ? url.length : end)
}

const burst = createBurst()
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: (request, bun) => {
    const turn = burst.turn()
    const address = bun.requestIP(request)?.address ?? ''
    count(address)
    const path = pathOf(request.url)
    const finish = (response: Response): Response | Promise<Response> => {
      log(path, response.status, address)
      return burst.leave(response, turn)
    }
    const endpoint = isRepeated(request) ? undefined : endpoints.get(path)
    const answered = endpoint === undefined ? refused() : endpoint(request, address)
    return answered instanceof Promise ? answered.then(finish) : finish(answered)
  },
})
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.port}` })}\n`)
