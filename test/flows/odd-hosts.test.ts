import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rawAnswer } from '../http/support/raw-client.ts'
import { type RunningServer, startServer } from '../support/running-server.ts'
import { sessionCookieOf } from '../support/cookie.ts'

// A Host header can have the form of a host and still not make a URL. Every route refuses it.

let server: RunningServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(async () => void (await server.stop()))

const hosts = ['1.2.3.4.5', '999.1.1.1', 'a:99999', '[1:2]', '[::1', 'xn--a', 'a b', 'a@b', 'a/b', '']
const form = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n'

const statusesOf = async (requestLine: string, headers = '', body = ''): Promise<readonly number[]> => {
  const port = Number(new URL(server.url).port)
  const answers = hosts.map(async (host) => {
    const head = `${requestLine} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nCookie: ${sessionCookieOf(server.url, 'a')}\r\n`
    const answer = await rawAnswer(port, `${head}${headers}Connection: close\r\n\r\n${body}`)
    expect(answer.headers.get('x-request-id')).toStartWith('req_')
    return answer.status
  })
  return await Promise.all(answers)
}

test.each(['/', '/sign-in', '/account/sessions', '/console/a/versions/b', '/oauth/authorize', '/healthz'])(
  'GET %s with a malformed Host is answered with 400',
  async (path) => {
    const statuses = await statusesOf(`GET ${path}`)
    // Load balancers ask for the health of the server without a host.
    if (path === '/healthz') expect(statuses.at(-1)).toBe(200)
    for (const status of path === '/healthz' ? statuses.slice(0, -1) : statuses) expect([400, 404]).toContain(status)
  },
)

test.each(['/sign-in', '/sign-out', '/oauth/token', '/oauth/revoke'])(
  'POST %s with a malformed Host is answered with 400',
  async (path) => {
    for (const status of await statusesOf(`POST ${path}`, form, 'a=b')) expect([400, 404]).toContain(status)
  },
)

test.each(['/nothing', '//[', '//evil.example', '/\\'])('GET %s, which is no route, is not found', async (path) => {
  expect(new Set(await statusesOf(`GET ${path}`))).toEqual(new Set([404]))
})
