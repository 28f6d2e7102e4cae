import { Database } from 'bun:sqlite'
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { fdatasync, openSync, writeSync } from 'node:fs'
import { argv } from 'node:process'
import { digitsOfTimeKey, nextTimeKey, timeKeyAt, timeKeyInDigits } from '../../src/domain/time-key.ts'

/**
 * What the same duties cost at least: GET /me and POST /token in the shortest code on Bun.serve. Both read the address of the
 * caller, count two limits, hash, read once with joins in a snapshot that one turn of the event loop shares, and log a line. A
 * write shares one transaction and one sync with all others that wait. There are no schemas, no order of checks and almost no
 * refusals: it measures, and could not be used.
 */
const [, , file = ''] = argv
const database = new Database(file)
for (const pragma of ['journal_mode = WAL', 'synchronous = NORMAL', 'cache_size = -16384'])
  database.run(`PRAGMA ${pragma}`)

type Row = readonly (string | number | Uint8Array)[]
const select = (sql: string) => {
  const statement = database.prepare(sql)
  return (key: string | number): readonly Row[] => statement.values(key) as Row[]
}
const findToken = select(`
  SELECT t.hash, t.scopes, t.expires_at, l.id, l.environment, a.id, a.name, a.slug, a.status, a.created_at, c.revoked_at
  FROM app_tokens t JOIN credentials c ON c.id = t.credential_id JOIN clients l ON l.id = c.client_id
  JOIN apps a ON a.id = l.app_id WHERE t.key = +?`)
const findSecrets = select(`
  SELECT c.id, c.secret_hash, l.environment, a.status, a.scopes, c.revoked_at
  FROM credentials c JOIN clients l ON l.id = c.client_id JOIN apps a ON a.id = l.app_id WHERE l.id = +?`)
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

const me = (request: Request): Response => {
  const token = (request.headers.get('authorization') ?? '').slice('Bearer '.length)
  shareSnapshot()
  const [row = []] = findToken(timeKeyInDigits(token.slice(5, 27))?.key ?? 0)
  if (!isHashOf(row[0], sha256(token))) return new Response(null, { status: 401 })
  const [, scope, expiresAt, clientId, environment, appId, name, slug, status, createdAt] = row
  const texts = { appId, clientId, name, slug, environment, status, scope }
  const times = {
    expiresAt: new Date(Number(expiresAt)).toISOString(),
    createdAt: new Date(Number(createdAt)).toISOString(),
  }
  return answer('read', { ...texts, ...times })
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
const issue = async (request: Request, address: string): Promise<Response> => {
  const { clientId, clientSecret, scope } = JSON.parse(await request.text())
  count(`${clientId} ${address}`)
  const computed = sha256(clientSecret)
  const now = Date.now()
  lastKey = nextTimeKey(lastKey, now, 0)
  const key = lastKey
  const accessToken = `apat_${digitsOfTimeKey(key)}${randomBytes(36).toString('base64url')}`
  return await inTransaction(() => {
    const row = findSecrets(clientId).find(([, kept]) => isHashOf(kept, computed))
    if (row === undefined) return new Response(null, { status: 401 })
    const [credentialId = '', , environment] = row
    insertToken.run(key, sha256(accessToken), credentialId, scope, now, now + 3_600_000, requestId, address)
    return answer('token', { accessToken, tokenType: 'Bearer', expiresIn: 3_600, scope, environment })
  })
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  fetch: async (request, bun) => {
    const address = bun.requestIP(request)?.address ?? ''
    count(address)
    const response = request.method === 'POST' ? await issue(request, address) : me(request)
    log(request.method === 'POST' ? '/token' : '/me', response.status, address)
    return response
  },
})
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.port}` })}\n`)
