import { afterAll } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { ApiVersion } from '../../../src/domain/api-version.ts'
import { refuse } from '../../../src/domain/errors.ts'
import { parseIpNetwork } from '../../../src/domain/ip-address.ts'
import { defaultRateLimits, type RateLimits } from '../../../src/domain/limits.ts'
import type { BodyRule } from '../../../src/http/admission.ts'
import { docsRoutes } from '../../../src/http/docs.ts'
import { createRateLimiter } from '../../../src/http/rate-limit.ts'
import { baseApp } from '../../../src/http/app.ts'
import { callOf } from '../../../src/http/call.ts'
import { listen, startingShell } from '../../../src/http/server.ts'
import { checkOf } from '../../../src/http/schema-check.ts'
import { createShell } from '../../../src/http/shell.ts'
import { readJson } from '../../../src/http/strict-body.ts'
import type { Turnstile } from '../../../src/http/turnstile.ts'
import { createClock, systemTime } from '../../../src/runtime/clock.ts'
import { createLog, type Log } from '../../../src/runtime/log.ts'
import { createMetrics } from '../../../src/runtime/metrics.ts'
import { idleFigures } from '../../support/figures.ts'
import { createRandom } from '../../../src/runtime/random.ts'

/** The message of an error that handlers throw: it must appear in no answer and no log line. */
export const canary = 'canary apat_canary'

const checkEcho = checkOf(
  Type.Object({
    count: Type.Integer(),
    nested: Type.Optional(Type.Object({ name: Type.String() })),
    list: Type.Optional(Type.Array(Type.Object({ name: Type.String() }))),
    free: Type.Optional(Type.Record(Type.String(), Type.Number())),
  }),
)
const checkQuery = checkOf(Type.Object({ kind: Type.String({ maxLength: 4 }) }))

/** A small app with one route for each way of answering. */
const createTestApp = (log: Log, gate: Promise<void>, render: () => Promise<string>) => {
  const app = baseApp(log, () => null)
    .get('/', async () => 'home')
    .get('/plain', async () => 'plain', { detail: { operationId: 'readPlain' } })
    .delete('/plain', async () => new Response(null, { status: 204 }), { detail: { operationId: 'removePlain' } })
    .get('/things/:id', async ({ params }) => params.id, { detail: { operationId: 'readThing' } })
    .get('/throws', async () => {
      throw new Error(canary)
    })
    .get('/throws-text', async () => {
      throw canary
    })
    .get('/rejects', async () => await Promise.reject(new TypeError(`"${canary}" is bad`)))
    .get('/refuses/:code', async ({ params }) => {
      if (params.code === 'rate_limited') throw refuse('rate_limited', { retryAfterSeconds: 7.2 })
      if (params.code === 'insufficient_scope')
        throw refuse('insufficient_scope', { details: { scope: 'a:read b:read' } })
      if (params.code === 'bad_scope') throw refuse('insufficient_scope', { details: { scope: 'a" b\r\nX: y' } })
      if (params.code === 'login_required') throw refuse('login_required')
      if (params.code === 'invalid_client') throw refuse('invalid_client')
      throw refuse('invalid_token', { param: 'token', details: { kind: 'app' } })
    })
    .get('/broken-answer', async () => ({ count: Number('1.5') }), {
      response: { 200: Type.Object({ count: Type.Integer() }) },
    })
    .get('/query', async ({ query }) => checkQuery(query).kind)
    .get('/waits', async () => {
      await gate
      return 'waited'
    })
    .get('/never', async () => await new Promise<string>(() => undefined))
    .get('/healthz', async () => 'alive')
    .get('/readyz', async () => 'ready')
    .get('/metrics', async () => await render())
    .get('/address', async ({ request }) => callOf(request).address)
    .get('/api/app-platform/me', async ({ request }) => {
      callOf(request).notes.appId = `app_${'1'.repeat(32)}`
      return { appId: 'app_1' }
    })
    .get('/api/session', async () => ({ user: null }))
    .use(
      new Elysia()
        .onTransform(async (context) => void (context.body = await readJson(callOf(context.request))))
        .post('/api/app-platform/echo', async ({ body }) => checkEcho(body))
        .post('/api/app-platform/large', async ({ body }) => ({ length: JSON.stringify(body).length }), {
          body: Type.Unknown(),
          detail: { operationId: 'large' },
        }),
    )
  return app.use(docsRoutes('https://platform.example', () => app.routes))
}

const largeBodies: BodyRule = { limitBytes: 256 * 1024, mediaTypes: ['application/json'] }

type TestOptions = {
  readonly host?: string
  readonly rateLimits?: Partial<RateLimits> | null
  readonly publicUrl?: string
  readonly trustedProxies?: readonly string[]
  readonly drainMs?: number
  readonly noticeMs?: number
  readonly turnstile?: Turnstile
  readonly apiVersion?: ApiVersion
  readonly loadPages?: Parameters<typeof createShell>[0]['loadPages']
}

const started: (() => Promise<void>)[] = []
afterAll(async () => void (await Promise.all(started.splice(0).map(async (stop) => await stop()))))

/** The shell around the small app on a port; stopped when the tests of the file have run. */
export const startTestServer = (options: TestOptions = {}) => {
  const lines: string[] = []
  const log = createLog({ write: (line) => void lines.push(line), flush: () => undefined })
  const metrics = createMetrics()
  const limits = options.rateLimits === undefined ? null : options.rateLimits
  const gate = Promise.withResolvers<void>()
  const listener = listen(
    {
      host: options.host ?? '127.0.0.1',
      port: 0,
      publicUrl: options.publicUrl ?? null,
      ...(options.drainMs === undefined ? {} : { drainMs: options.drainMs }),
      ...(options.noticeMs === undefined ? {} : { noticeMs: options.noticeMs }),
    },
    startingShell(() => 'req_0', []),
  )
  listener.serve(
    createShell({
      app: createTestApp(log, gate.promise, async () => await metrics.render(idleFigures)),
      publicUrl: listener.publicUrl,
      draining: listener.draining,
      ...(options.apiVersion === undefined ? {} : { apiVersion: options.apiVersion }),
      ...(options.loadPages === undefined ? {} : { loadPages: options.loadPages }),
      trustedProxies: (options.trustedProxies ?? []).map(parseIpNetwork).filter((network) => network !== null),
      ruleOf: (_, pattern) => (pattern.endsWith('/large') ? { body: largeBodies, answer: null } : undefined),
      clock: createClock(systemTime, null),
      random: createRandom(),
      log,
      metrics,
      limiter: createRateLimiter({
        limits: limits === null ? null : { ...defaultRateLimits, ...limits },
        monotonicMs: systemTime.monotonic,
        secret: 'a',
      }),
      turnstile: options.turnstile ?? { enter: () => true },
    }),
  )
  started.push(async () => {
    gate.resolve()
    await listener.stop()
  })
  return {
    ...listener,
    port: Number(new URL(listener.url).port),
    /** Lets `/waits` answer. */
    open: gate.resolve,
    /** All log lines so far, parsed. */
    logged: (): readonly Record<string, unknown>[] => lines.map((line) => JSON.parse(line)),
    metrics: async () => await metrics.render(idleFigures),
    call: async (path: string, init: RequestInit = {}) => await fetch(`${listener.url}${path}`, init),
  }
}
