import { beforeAll, expect, test } from 'bun:test'
import { createApi, endpointRules } from '../../src/http/api.ts'
import { createHttpApp } from '../../src/http/app.ts'
import { createShell, type Shell } from '../../src/http/shell.ts'
import { standardRefusal } from '../../src/http/standard-refusal.ts'
import { endpointsOf } from '../../src/http/table.ts'
import { authorize } from '../../src/operations/oauth/authorize.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { sessionOf } from '../operations/support/owner.ts'
import { trace } from '../support/operator.ts'
import {
  addApp,
  addUser,
  type AppInWorld,
  authorizeBody,
  exchangeBody,
  installApp,
  type Login,
} from '../support/world.ts'
import { doorOf } from './support/door.ts'

const platform = await platformOfFile()
let user: Login
let app: AppInWorld
beforeAll(async () => {
  user = await addUser(platform)
  app = await addApp(platform, user)
  await installApp(platform, app, user)
})

/** The shell around the whole API; hot endpoints are answered by it directly, or by Elysia. */
const shellOf = (isDirect: boolean): Shell => {
  const door = doorOf(platform)
  const rules = endpointRules(door)
  const byElysia: typeof rules = (method, path) => {
    const rule = rules(method, path)
    return rule && { ...rule, answer: null }
  }
  return createShell({
    app: createHttpApp(door, standardRefusal),
    publicUrl: platform.publicUrl,
    draining: () => false,
    trustedProxies: [],
    ruleOf: isDirect ? rules : byElysia,
    clock: platform.clock,
    random: platform.random,
    log: door.log,
    metrics: door.metrics,
    limiter: door.limiter,
    turnstile: { enter: () => true },
    standardRefusal,
  })
}

type Asked = { readonly path: string; readonly token?: string; readonly json?: unknown; readonly form?: object }

const requestOf = ({ path, token, json, form }: Asked): Request => {
  const body = json === undefined ? form && new URLSearchParams({ ...form }).toString() : JSON.stringify(json)
  return new Request(`http://localhost${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body === undefined ? {} : { body }),
    headers: {
      host: 'localhost',
      'x-service-api-version': '2026-08',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-length': String(body.length) }),
      'content-type': json === undefined ? 'application/x-www-form-urlencoded' : 'application/json',
    },
  })
}

/** The shape of an answer. Two equal requests differ only in IDs, times, secrets and what is left of a limit. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]))
}
const compared = async (shell: Shell, asked: Asked) => {
  const response = await shell(requestOf(asked), '127.0.0.1')
  const headers = new Map(response.headers)
  for (const name of ['x-request-id', 'ratelimit']) headers.set(name, typeof headers.get(name))
  return {
    status: response.status,
    headers: Object.fromEntries(headers),
    body:
      asked.path === '/metrics'
        ? typeof (await response.text())
        : shapeOf(JSON.parse((await response.text()) || 'null')),
  }
}

/** Calls of every hot endpoint, answered and refused; single-use secrets are new each time. */
const calls = async (): Promise<readonly Asked[]> => {
  const contract = '/api/app-platform'
  const code = async () =>
    (await authorize(platform, trace, await sessionOf(platform, user), authorizeBody(app), true)).code
  const shell = shellOf(true)
  const tokens = async (asked: Asked) => JSON.parse(await (await shell(requestOf(asked), '127.0.0.1')).text())
  const { accessToken: appToken } = await tokens({
    path: `${contract}/token`,
    json: { ...app.development, scope: 'site:read' },
  })
  const { accessToken: userToken } = await tokens({
    path: `${contract}/oauth/token`,
    json: exchangeBody(app, await code()),
  })
  const client = { client_id: app.development.clientId, client_secret: app.development.clientSecret }
  return [
    { path: `${contract}/token`, json: { ...app.development, scope: 'site:read', unknown: true } },
    { path: `${contract}/token`, json: { ...app.development, scope: 7 } },
    { path: `${contract}/token`, json: { clientId: 'a', clientSecret: 'b', scope: 'site:read' } },
    { path: `${contract}/me`, token: appToken },
    { path: `${contract}/me`, token: userToken },
    { path: `${contract}/me` },
    { path: `${contract}/oauth/token`, json: exchangeBody(app, await code()) },
    { path: `${contract}/oauth/token`, json: exchangeBody(app, 'apco_nothing') },
    { path: `${contract}/resources?kind=site&limit=1&unknown=1`, token: userToken },
    { path: `${contract}/installs`, token: appToken },
    { path: `${contract}/installs?kind=site&limit=1&unknown=1`, token: userToken },
    { path: `${contract}/installs?kind=blog`, token: userToken },
    { path: `${contract}/installs` },
    { path: `${contract}/resources?kind=site&kind=store`, token: userToken },
    { path: `${contract}/resources?kind=%zz`, token: userToken },
    { path: '/oauth/token', form: { ...client, grant_type: 'client_credentials' } },
    { path: '/oauth/token', form: { ...client, grant_type: 'password' } },
    { path: '/oauth/introspect', form: { ...client, token: userToken } },
    { path: '/oauth/introspect', form: { ...client, token: 'nothing' } },
    { path: '/oauth/introspect', form: { token: 'nothing' } },
    { path: '/oauth/check?scope=site:read&environment=development', token: userToken },
    { path: '/oauth/check?scope=site:read', token: userToken },
    { path: '/oauth/check', token: userToken },
    { path: '/oauth/check?scope=site:read' },
    { path: '/healthz' },
    { path: '/readyz' },
    { path: '/readyz?for=proxy' },
    { path: '/readyz?for=monitor' },
    { path: '/metrics' },
  ]
}

test('the shell and Elysia answer hot endpoints alike, with the same headers and the same fields', async () => {
  const [direct, byElysia] = [shellOf(true), shellOf(false)]
  const [asked, again] = [await calls(), await calls()]
  for (const [index, call] of asked.entries()) {
    expect([call.path, await compared(direct, call)]).toEqual([
      call.path,
      await compared(byElysia, again[index] ?? call),
    ])
  }
})

const namesOf = (routes: readonly { readonly method: string; readonly path: string }[]) =>
  new Set(routes.map(({ method, path }) => `${method} ${path}`))

test('the shell knows the same routes before Elysia is loaded as after', () => {
  const door = doorOf(platform)
  expect(namesOf(createApi(door).app.routes)).toEqual(namesOf(createHttpApp(door).routes))
})

test('every hot endpoint is compared', async () => {
  const compared = new Set((await calls()).map(({ path }) => path.split('?')[0]))
  const hot = endpointsOf({ servesMetrics: true }).filter(({ isHot }) => isHot)
  expect(hot.map(({ path }) => path).filter((path) => !compared.has(path))).toEqual([])
})
