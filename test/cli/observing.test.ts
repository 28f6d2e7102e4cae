import { expect, test } from 'bun:test'
import { startServer } from '../support/running-server.ts'
import { failureIn, openDesk } from './support/run.ts'

const metricsUrlOf = (output: string): string => JSON.parse(output.split('\n')[0] ?? '').metricsUrl

test('METRICS_LISTEN serves the metrics on that port only, and nothing else there', async () => {
  const server = await startServer({ env: { METRICS_LISTEN: '127.0.0.1:0' } })
  const metricsUrl = metricsUrlOf(server.output())
  const answer = await fetch(metricsUrl)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/plain/)])
  expect(await answer.text()).toContain('\napp_platform_database_writable 1\n')
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  for (const path of ['/', '/healthz', '/api/app-platform/me', '/desk/health', '/metrics/']) {
    expect([path, (await fetch(new URL(path, metricsUrl))).status]).toEqual([path, 404])
  }
  expect((await fetch(metricsUrl, { method: 'POST', body: 'x' })).status).toBe(405)
  expect(await (await fetch(`${server.url}/openapi-builder.json`)).json()).not.toHaveProperty(['paths', '/metrics'])
  expect(await server.stop()).toBe(0)
  await expect(fetch(metricsUrl)).rejects.toThrow()
})

test('the port of the metrics answers HEAD like GET, and no other method', async () => {
  const server = await startServer({ env: { METRICS_LISTEN: '127.0.0.1:0' } })
  const at = metricsUrlOf(server.output())
  const head = await fetch(at, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect(head.headers.get('content-type')).toBe((await fetch(at)).headers.get('content-type'))
  const posted = await fetch(at, { method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  await server.stop()
})

test('a METRICS_LISTEN port that is in use ends the start with one plain line', async () => {
  const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = other
  const desk = await openDesk()
  const result = await desk.run(['serve', '--port', '0', '--json'], {
    env: { METRICS_LISTEN: `127.0.0.1:${port}` },
  })
  await other.stop(true)
  expect([result.exitCode, failureIn(result)]).toEqual([1, 'command_failed'])
  expect(result.stderr.split('\n').filter((line) => !line.includes('config.warning'))).toEqual([
    `error: The address in METRICS_LISTEN cannot be used. Port ${port} is in use: another program listens there. Stop that program, or choose another port.`,
    '',
  ])
})

/** The events and statuses in the log of a whole run with a good request, a bad one and warnings, which count as one. */
const logged = async (env: Record<string, string>): Promise<readonly string[]> => {
  const server = await startServer({ env: { PUBLIC_URL: 'http://apps.example.com', ...env } })
  await fetch(`${server.url}/healthz`)
  await fetch(`${server.url}/nowhere`)
  expect(await server.stop()).toBe(0)
  return server
    .log()
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .map(({ event, status }) => (status === undefined ? event : `${event} ${status}`))
    .filter((event, index, all) => event !== 'config.warning' || all.indexOf(event) === index)
    .filter((event) => event !== 'condition.began') // a PostgreSQL without a standby
}
const warned = ['config.warning']
const started = [...warned, 'server.listening']

test('LOG_REQUESTS selects the logged requests, and LOG_LEVEL the lowest level', async () => {
  const both = ['http.answered 200', 'http.answered 404']
  expect(await logged({})).toEqual([...started, ...both, 'server.stopped'])
  expect(await logged({ LOG_LEVEL: 'debug', LOG_REQUESTS: 'all' })).toEqual([...started, ...both, 'server.stopped'])
  expect(await logged({ LOG_REQUESTS: 'errors' })).toEqual([...started, 'http.answered 404', 'server.stopped'])
  expect(await logged({ LOG_REQUESTS: 'none' })).toEqual([...started, 'server.stopped'])
  expect(await logged({ LOG_LEVEL: 'warn' })).toEqual(warned)
  expect(await logged({ LOG_LEVEL: 'error' })).toEqual([])
})
