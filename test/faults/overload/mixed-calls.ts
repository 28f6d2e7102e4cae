import { type AppInWorld, appToken, grantTokens, type Login, signIn, type World } from '../../support/world.ts'
import type { CrowdPlan } from './crowd.ts'
import { sessionCookieOf } from '../../support/cookie.ts'

const base = '/api/app-platform'
const artifact = Buffer.alloc(100_000, 'artifact').toString('base64')

const request = (method: string, path: string, lines: readonly string[], body?: unknown): string => {
  const text = body === undefined ? '' : JSON.stringify(body)
  const content = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]
  return [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    'X-Forwarded-For: @ADDRESS',
    'X-Service-Api-Version: 2026-08',
    ...lines,
    ...(body === undefined ? [] : content),
    '',
    text,
  ].join('\r\n')
}

/** What a day's callers ask for: cheap and dear, reading and writing, programs and people. */
export const mixedCalls = async (world: World, person: Login): Promise<CrowdPlan['calls']> => {
  const { server, app, user } = world
  const { accessToken } = await grantTokens(world)
  const token = await appToken(server.url, app.development)
  const session = await signIn(server.url, user)
  const upload = { version: '1.0.0', artifact: { filename: 'app.zip', contentBase64: artifact } }
  const { email, password } = person
  return [
    { name: 'check', weight: 46, text: request('GET', `${base}/oauth/me`, bearer(accessToken)) },
    { name: 'token', weight: 20, text: request('POST', `${base}/token`, [], tokenBody(app)) },
    { name: 'list', weight: 6, text: request('GET', `${base}/versions`, bearer(token)) },
    { name: 'page', weight: 25, text: request('GET', '/account', [`Cookie: ${sessionCookieOf(server.url, session)}`]) },
    { name: 'sign-in', weight: 1, text: request('POST', '/api/session', [], { email, password }) },
    { name: 'upload', weight: 2, text: request('POST', `${base}/versions`, bearer(token), upload) },
  ]
}

const tokenBody = (app: AppInWorld) => ({ ...app.development, scope: 'site:read' })
const bearer = (secret: string) => [`Authorization: Bearer ${secret}`]
