import { describe, expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { rawAnswer, sendRaw } from './support/raw-client.ts'
import { startMetricsServer } from '../../src/http/server.ts'
import { startTestServer } from './support/shell-server.ts'

const until = async (reached: () => boolean) => {
  while (!reached()) await Bun.sleep(1)
}

const refusesConnections = async (port: number): Promise<boolean> => {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data: () => undefined } })
    socket.end()
    return false
  } catch {
    return true
  }
}

/** A request over its own connection, which stays open, and the bytes received so far. */
const openConnection = async (port: number, request: string) => {
  const state = { text: '', closed: false }
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data: (_, bytes) => {
        state.text += bytes.toString('latin1')
      },
      close: () => {
        state.closed = true
      },
      error: () => {
        state.closed = true
      },
    },
  })
  socket.write(request)
  return { state, socket }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const post = (path: string, headers: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nX-Service-Api-Version: 2026-08\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`

const askHostless = async (port: number, path: string) => (await rawAnswer(port, `GET ${path} HTTP/1.0\r\n\r\n`)).status

const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

describe('the server', () => {
  test('reports an address that can be called, even if it listens on all of them', async () => {
    const everywhere = startTestServer({ host: '0.0.0.0' })
    expect(everywhere.url).toBe(`http://127.0.0.1:${everywhere.port}`)
    expect((await everywhere.call('/plain')).status).toBe(200)
  })

  test.skipIf(!hasIPv6)('reports an IPv6 address in brackets', async () => {
    for (const host of ['::', '::1']) {
      const server = startTestServer({ host })
      expect(server.url).toBe(`http://[::1]:${server.port}`)
      expect((await server.call('/plain')).status).toBe(200)
    }
  })

  test('answers monitors in HTTP/1.0 without a host, also at a port of their own, and nobody else', async () => {
    const server = startTestServer()
    const metrics = startMetricsServer({
      host: '127.0.0.1',
      port: 0,
      contentType: 'text/plain',
      render: async () => 'figures',
      failed: () => undefined,
    })
    for (const path of ['/healthz', '/readyz', '/metrics', '/readyz?for=proxy']) {
      expect([path, await askHostless(server.port, path)]).toEqual([path, 200])
    }
    for (const path of ['/plain', '/healthz/', '/docs']) expect(await askHostless(server.port, path)).not.toBe(200)
    const port = Number(new URL(metrics.url).port)
    expect([await askHostless(port, '/metrics'), await askHostless(port, '/readyz')]).toEqual([200, 404])
    await metrics.stop()
  })

  test('takes a free port if the port is 0, and names it in both of its URLs', async () => {
    const server = startTestServer()
    expect(server.port).toBeGreaterThan(0)
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`)
    expect(server.publicUrl).toBe(`http://localhost:${server.port}`)
    expect(startTestServer({ publicUrl: 'https://apps.example.com' }).publicUrl).toBe('https://apps.example.com')
  })

  test('completes running requests when it stops, accepts no new ones, and closes the connection', async () => {
    const server = startTestServer()
    const running = server.call('/waits')
    await server.call('/plain')
    const stopped = server.stop()
    expect(server.draining()).toBe(true)
    expect(await refusesConnections(server.port)).toBe(true)
    server.open()
    const response = await running
    expect(await response.text()).toBe('waited')
    expect(response.headers.get('connection')).toBe('close')
    await stopped
  })

  test('closes idle connections when it stops', async () => {
    const server = startTestServer()
    const { state } = await openConnection(server.port, get('/plain'))
    await until(() => state.text.endsWith('plain'))
    await server.stop()
    await until(() => state.closed)
  })

  test('keeps serving when it stops until a proxy that asks for readiness has been told', async () => {
    const server = startTestServer({ noticeMs: 60_000 })
    expect(server.isDrainingForProxy()).toBe(false)
    const { state, socket } = await openConnection(server.port, get('/plain'))
    await until(() => state.text.endsWith('plain'))
    let hasStopped = false
    const stopped = server.stop().then(() => (hasStopped = true))
    for (let round = 0; round < 3; round += 1) {
      const answer = await server.call('/plain')
      expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
    }
    expect([state.closed, hasStopped]).toEqual([false, false])
    expect(server.isDrainingForProxy()).toBe(true)
    socket.write(get('/plain')) // a request that was on its way when the proxy was told
    await until(() => state.text.match(/plain/g)?.length === 2)
    await stopped
    expect(await refusesConnections(server.port)).toBe(true)
  })

  test('waits a limited time for a proxy that does not ask again', async () => {
    const server = startTestServer({ noticeMs: 20 })
    server.isDrainingForProxy()
    await server.stop()
    expect(await refusesConnections(server.port)).toBe(true)
  })

  test('aborts requests that have not ended in time', async () => {
    const server = startTestServer({ drainMs: 50 })
    const { state } = await openConnection(server.port, get('/never'))
    await server.call('/plain')
    await server.stop()
    await until(() => state.closed)
    expect(state.text).toBe('')
  })

  test('stops once, however often it is asked to', async () => {
    const server = startTestServer()
    await Promise.all([server.stop(), server.stop()])
    await server.stop()
    expect(await refusesConnections(server.port)).toBe(true)
  })

  test('keeps running if a client leaves in the middle of a body', async () => {
    const server = startTestServer()
    for (const headers of ['Content-Length: 1000', 'Transfer-Encoding: chunked']) {
      const { socket } = await openConnection(server.port, post('/api/app-platform/echo', headers, '5\r\n{"cou'))
      await server.call('/plain')
      socket.terminate()
    }
    expect((await server.call('/plain')).status).toBe(200)
    expect(server.logged().filter(({ level }) => level === 'error')).toEqual([])
  })

  test('keeps running if a client leaves before its answer', async () => {
    const server = startTestServer()
    const { socket } = await openConnection(server.port, get('/waits'))
    await server.call('/plain')
    socket.terminate()
    server.open()
    expect((await server.call('/plain')).status).toBe(200)
    await until(() => server.logged().some(({ route }) => route === '/waits'))
  })

  test('answers the requests of one connection in order', async () => {
    const server = startTestServer()
    const paths = ['/plain', '/things/1', '/nowhere', '/things/2', '/']
    const answer = await sendRaw(server.port, paths.map(get).join(''), (text) => text.endsWith('home'))
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual([
      'HTTP/1.1 200',
      'HTTP/1.1 200',
      'HTTP/1.1 404',
      'HTTP/1.1 200',
      'HTTP/1.1 200',
    ])
  })

  test('refuses a body of any announced size with the envelope, and keeps none of it', async () => {
    const server = startTestServer()
    const answer = await rawAnswer(server.port, post('/api/app-platform/echo', 'Content-Length: 9000000000', 'x'))
    expect(answer.status).toBe(413)
    expect(JSON.parse(answer.body).error.code).toBe('payload_too_large')
  })

  test('refuses a token of 64 KiB with the envelope', async () => {
    const server = startTestServer()
    const token = `Authorization: Bearer ${'x'.repeat(65_536)}`
    const answer = await rawAnswer(server.port, `GET /plain/ HTTP/1.1\r\nHost: a\r\n${token}\r\n\r\n`)
    expect(answer.status).toBe(404)
    expect(JSON.parse(answer.body).error.code).toBe('route_not_found')
  })

  test('refuses an endless body as soon as it is too long', async () => {
    const server = startTestServer()
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`
    const answer = await rawAnswer(
      server.port,
      post('/api/app-platform/echo', 'Transfer-Encoding: chunked', chunk.repeat(8)),
    )
    expect(answer.status).toBe(413)
  })
})

/** Requests that Bun's parser refuses never reach the shell. These are Bun's answers, so that a change is noticed. */
describe('Bun itself answers', () => {
  const server = startTestServer()
  test.each([
    ['a header of more than 128 KiB', `GET /plain HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(140_000)}\r\n\r\n`, 431],
    ['more than 200 headers', `GET /plain HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(250)}\r\n`, 431],
    ['no Host in HTTP/1.1', 'GET /plain HTTP/1.1\r\n\r\n', 400],
    ['two lengths', 'POST /plain HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
    [
      'a length and chunks',
      'POST /plain HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a length that is no number', 'POST /plain HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n', 400],
    ['a header with NUL', 'GET /plain HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n', 400],
    ['a header with a space in its name', 'GET /plain HTTP/1.1\r\nHost: a\r\nX Y: z\r\n\r\n', 400],
    ['a path that is none', 'GET plain HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['HTTP/3 in words', 'GET /plain HTTP/3.0\r\nHost: a\r\n\r\n', 505],
    ['a method that nobody knows', 'FOO /plain HTTP/1.1\r\nHost: a\r\n\r\n', 0],
    ['a method in small letters', 'get /plain HTTP/1.1\r\nHost: a\r\n\r\n', 0],
  ])('%s, and closes the connection', async (_, request, status) => {
    const answer = await sendRaw(server.port, request, () => false)
    expect(answer.replace(/(?<=^HTTP\/1\.1 \d{3}) [A-Za-z ]+/, '')).toBe(
      status === 0 ? '' : `HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`,
    )
    expect((await server.call('/plain')).status).toBe(200)
  })
})
