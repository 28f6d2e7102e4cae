import { expect, test } from 'bun:test'
import { createServer } from 'node:http'
import { inspect } from 'node:util'
import { findCanaries } from '../support/needles.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { clientOf, consent } from './support/client.ts'

const world = await worldOfFile()

/** All usual ways to print a value. */
const printed = (value: unknown): string =>
  [
    String(value),
    inspect(value, { depth: 20, showHidden: true, getters: true }),
    Bun.inspect(value, { depth: 20 }),
    JSON.stringify(value) ?? '',
    value instanceof Error ? `${value.message}${value.stack}${JSON.stringify(Object.entries(value))}` : '',
  ].join('\n')

/** Answers every request with an error that repeats the whole request. */
const startEcho = async (status: number) => {
  const server = createServer((request, response) => {
    void (async () => {
      const body = Buffer.concat(await Array.fromAsync(request)).toString()
      const all = JSON.stringify(request.headers) + body
      const error = { code: 'echoed', message: all, requestId: 'req_x', param: all, details: { all } }
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
    })()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = address === null || typeof address === 'string' ? 0 : address.port
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() }
}

test('printing a client, a user or an error never shows a secret, even if the server repeats it', async () => {
  const client = clientOf(world)
  const started = await client.startAuthorization({ redirectUri: world.app.redirectUri, scope: 'profile:read' })
  const callback = await consent(world, started.url)
  const user = await client.finishAuthorization(callback, started, () => undefined)
  const tokens = user.tokens()
  const code = new URL(callback).searchParams.get('code') ?? ''
  const { accessToken } = await client.appToken()
  const { clientSecret } = world.app.development

  const things: unknown[] = [client, user]
  for (const status of [400, 401, 500]) {
    const echo = await startEcho(status)
    const broken = clientOf(world, echo.url, { retry: { repeats: 0 } })
    const calls: readonly Promise<unknown>[] = [
      broken.me(),
      broken.endpoints.identifyApp({ bearer: accessToken }),
      broken.endpoints.identifyUser({ bearer: tokens.accessToken }),
      broken.finishAuthorization(callback, started, () => undefined),
      broken.user({ ...tokens, accessTokenExpiresAt: new Date(0).toISOString() }, () => undefined).me(),
      broken.user(tokens, () => undefined).me(),
      broken.revoke(tokens.refreshToken),
    ]
    things.push(...(await Promise.all(calls.map(async (call) => await call.catch((error) => error)))))
    echo.close()
  }
  const nowhere = clientOf(world, 'http://127.0.0.1:1', { retry: { repeats: 0 } })
  things.push(await nowhere.me().catch((error) => error))
  things.push(
    await nowhere
      .user(tokens, () => undefined)
      .me()
      .catch((error) => error),
  )
  things.push(
    await client.finishAuthorization(callback, { ...started, state: 'x' }, () => undefined).catch((error) => error),
  )
  expect(things.slice(2).every((thing) => thing instanceof Error)).toBe(true)

  const canaries = Object.entries({ clientSecret, accessToken, code, codeVerifier: started.codeVerifier }).map(
    ([name, value]) => ({ name, value }),
  )
  canaries.push(
    { name: 'user token', value: tokens.accessToken },
    { name: 'refresh token', value: tokens.refreshToken },
  )
  const haystacks = things.map((thing, index) => ({ name: `thing ${index}`, content: Buffer.from(printed(thing)) }))
  expect(findCanaries(canaries, haystacks)).toEqual([])
})
