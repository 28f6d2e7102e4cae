import { expect } from 'bun:test'
import { webhookBody } from '../../src/domain/webhook-event.ts'
import { getServers, setServers } from 'node:dns'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { createWebhookSender, openWebhookSender, type Resolve } from '../../src/runtime/webhook-sender.ts'
import { type Receiver, receiverCertificates, startReceiver } from '../support/webhook-receiver.ts'
import { startNameServer } from './support/name-server.ts'
import { networks } from '../support/webhook-world.ts'
import { needs } from '../support/needs.ts'

const { afterAll, beforeAll, describe, test } = needs('openssl')

let receiver: Receiver
let authority: string
beforeAll(async () => {
  receiver = await startReceiver()
  authority = await Bun.file((await receiverCertificates()).authority).text()
})
afterAll(async () => await receiver.down())

const senderWith = (
  options: { readonly resolve?: Resolve; readonly allowed?: string[]; readonly timeoutMs?: number } = {},
) =>
  createWebhookSender({
    resolve: options.resolve ?? (async () => []),
    allowed: networks(...(options.allowed ?? ['127.0.0.1/32'])),
    timeoutMs: options.timeoutMs ?? 60_000, // longer than any test waits
    authority,
  })
const message = (url: string) => ({
  url,
  headers: { 'content-type': 'application/json' },
  body: webhookBody(
    { id: 'evt_1', environment: 'production', kind: 'ping', data: { appId: 'app_1', endpointId: 'whk_1' } },
    0,
  ),
})
const at = (host: string, path = '/hooks') => `https://${host}:${new URL(receiver.url).port}${path}`

/** Lets it listen on a free port. */
const portOf = async (server: Server): Promise<number> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', () => resolve())
  await promise
  const address = server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

describe('a message', () => {
  test('goes to the address that was checked, with the name in Host and for the certificate', async () => {
    const asked: string[] = []
    const resolve: Resolve = async (host) => {
      asked.push(host)
      return ['127.0.0.1']
    }
    const answer = await senderWith({ resolve }).send(message(at('localhost', '/a?b=c')))
    expect(answer).toMatchObject({ status: 200, error: null })
    expect(asked).toEqual(['localhost'])
    const last = receiver.received.at(-1)
    expect(last).toMatchObject({ path: '/a?b=c' })
    expect(last?.headers['host']).toBe(new URL(at('localhost')).host)
  })

  test('is refused if the certificate is for another name, even if the address is right', async () => {
    const before = receiver.received.length
    const answer = await senderWith({ resolve: async () => ['127.0.0.1'] }).send(message(at('hooks.example')))
    expect(answer).toMatchObject({ status: null, error: 'certificate_refused' })
    expect(receiver.received).toHaveLength(before)
  })

  test('is refused if no authority has signed the certificate', async () => {
    const usual = createWebhookSender({ resolve: async () => [], allowed: networks('127.0.0.1'), timeoutMs: 60_000 })
    expect(await usual.send(message(receiver.url))).toMatchObject({ status: null, error: 'certificate_refused' })
  })

  test('of a demo goes to this machine, whatever its certificate is, and to nothing else that is private', async () => {
    const place = { addresses: ['127.0.0.1'] }
    const resolve = async () => place.addresses
    const demo = createWebhookSender({ resolve, allowed: [], timeoutMs: 60_000, callsThisMachine: async () => true })
    expect(await demo.send(message(receiver.url))).toMatchObject({ status: 200 })
    expect(await demo.send(message(at('other.example')))).toMatchObject({ status: 200 })
    for (const addresses of [['10.0.0.1'], ['127.0.0.1', '10.0.0.1'], ['::ffff:127.0.0.1'], ['0.0.0.0'], ['::2']]) {
      place.addresses = addresses
      expect(await demo.check(at('other.example'))).toBe('address_refused')
    }
    expect(await openWebhookSender([], async () => false).check(receiver.url)).toBe('address_refused')
  })

  test('is not sent if any of several addresses must not be called', async () => {
    const before = receiver.received.length
    for (const addresses of [
      ['127.0.0.1', '127.0.0.9'],
      ['127.0.0.9', '127.0.0.1'],
      ['127.0.0.1', '::1'],
      ['127.0.0.1', 'nonsense'],
    ]) {
      const sender = senderWith({ resolve: async () => addresses })
      expect(await sender.check(at('localhost'))).toBe('address_refused')
      expect(await sender.send(message(at('localhost')))).toMatchObject({ status: null, error: 'address_refused' })
    }
    expect(receiver.received).toHaveLength(before)
  })

  test('is not sent if the name has no address or cannot be resolved', async () => {
    expect(await senderWith().send(message(at('localhost')))).toMatchObject({ error: 'not_resolved' })
    const broken = senderWith({ resolve: async () => await Promise.reject(new Error('SERVFAIL')) })
    expect(await broken.send(message(at('localhost')))).toMatchObject({ error: 'not_resolved' })
  })

  test('goes to the next address if a connection fails, IPv4 first, three at most, and is sent once', async () => {
    const before = receiver.received.length
    const allowed = ['127.0.0.0/8', '::1']
    const sent = async (...addresses: readonly string[]) =>
      await senderWith({ allowed, resolve: async () => addresses }).send(message(at('localhost')))
    expect(await sent('127.0.0.2', '127.0.0.3', '127.0.0.1')).toMatchObject({ status: 200 })
    expect(await sent('::1', '::1', '::1', '127.0.0.1')).toMatchObject({ status: 200 })
    expect(receiver.received).toHaveLength(before + 2)
    const far = await sent('127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.1')
    expect(far).toMatchObject({ status: null, error: 'not_connected' })
    receiver.behave((_, response) => {
      response.destroy()
      return 'by itself'
    })
    expect(await sent('127.0.0.1', '127.0.0.1')).toMatchObject({ status: null, error: 'no_answer' })
    expect(receiver.received).toHaveLength(before + 3)
    receiver.behave(() => 200)
  })

  test('goes to the next address if one keeps silent before anything is sent, and then has time for an answer', async () => {
    const silent = createServer((socket) => void socket.on('error', () => undefined))
    silent.listen(Number(new URL(receiver.url).port), '127.0.0.2')
    const before = receiver.received.length
    const brief = { allowed: ['127.0.0.0/8'], timeoutMs: 4_000 }
    const sent = async (...addresses: readonly string[]) =>
      await senderWith({ ...brief, resolve: async () => addresses }).send(message(at('localhost')))
    expect(await sent('127.0.0.2', '127.0.0.1')).toMatchObject({ status: 200 })
    expect(await sent('127.0.0.2', '127.0.0.2', '127.0.0.1')).toMatchObject({ status: 200 })
    expect(receiver.received).toHaveLength(before + 2)
    expect(await sent('127.0.0.2', '127.0.0.3', '127.0.0.2')).toMatchObject({ status: null, error: 'timed_out' })
    receiver.behave(() => 'by itself')
    expect(await sent('127.0.0.1', '127.0.0.1')).toMatchObject({ status: null, error: 'timed_out' })
    expect(receiver.received).toHaveLength(before + 3)
    receiver.behave(() => 200)
    silent.close()
  })

  test('does not wait for a resolver that hangs', async () => {
    const sender = senderWith({ resolve: async () => await new Promise(() => undefined), timeoutMs: 50 })
    expect(await sender.send(message(at('localhost')))).toMatchObject({ error: 'timed_out' })
    expect(await sender.check(at('localhost'))).toBe('timed_out')
  })

  test('does not wait for a receiver that accepts the connection and sends nothing, or stops in the middle', async () => {
    const silent = createServer((socket) => void socket.on('error', () => undefined))
    const port = await portOf(silent)
    const sender = senderWith({ timeoutMs: 300 })
    expect(await sender.send(message(`https://127.0.0.1:${port}/`))).toMatchObject({ status: null, error: 'timed_out' })
    silent.close()

    receiver.behave((_, response) => {
      response.writeHead(202).write('half')
      return 'by itself'
    })
    let stopped = await sender.send(message(receiver.url))
    // A busy machine needs more time for the handshake.
    if (stopped.status === null) stopped = await senderWith({ timeoutMs: 2_000 }).send(message(receiver.url))
    expect(stopped).toMatchObject({ status: 202, error: null, answer: 'half' })
    receiver.behave(() => 200)
  })

  test('has no answer if the receiver reads it and ends the connection, and is not connected if it does so before', async () => {
    const certificates = await receiverCertificates()
    const options = {
      cert: await Bun.file(certificates.certificate).text(),
      key: await Bun.file(certificates.key).text(),
    }
    for (const end of [
      (socket: Socket) => socket.destroy(),
      (socket: Socket) => socket.resetAndDestroy(),
      (socket: Socket) => socket.end(),
      (socket: Socket) => socket.end('It is no HTTP.\r\n\r\n'),
      (socket: Socket) => socket.end('HTTP/1.1 20'),
    ]) {
      const servers = {
        no_answer: createSecureServer(options, (socket) => void socket.once('data', () => end(socket))),
        not_connected: createServer((socket) => void socket.once('data', () => end(socket))),
      }
      for (const [error, server] of Object.entries(servers)) {
        const answer = await senderWith().send(message(`https://127.0.0.1:${await portOf(server)}/`))
        expect([end.toString(), answer.status, answer.error]).toEqual([end.toString(), null, error])
        server.close()
      }
    }
  })

  test('is not delayed by a receiver that sends informational answers without end', async () => {
    const certificates = await receiverCertificates()
    const options = {
      cert: await Bun.file(certificates.certificate).text(),
      key: await Bun.file(certificates.key).text(),
    }
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    const announcer = createSecureServer(options, (socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 1)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        clearInterval(timer)
        close()
      })
    })
    const answer = await senderWith().send(message(`https://127.0.0.1:${await portOf(announcer)}/`))
    expect(answer).toMatchObject({ status: null, error: 'no_answer' })
    await closed // long before the deadline of a minute
    announcer.close()
  })

  test('has an answer of which 8 KiB are read and a kilobyte of UTF-8 is kept', async () => {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    receiver.behave((_, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('€'.repeat(400)), 1)
      response.on('close', () => {
        clearInterval(timer)
        close()
      })
      return 'by itself'
    })
    const { status, answer } = await senderWith().send(message(receiver.url))
    await closed // long before the deadline of a minute
    expect(status).toBe(200)
    expect(answer).toBe('€'.repeat(341))
    receiver.behave((_, response) => {
      response.writeHead(500).end(Buffer.alloc(5_000, 0xff))
      return 'by itself'
    })
    const binary = await senderWith().send(message(receiver.url))
    expect(Buffer.byteLength(binary.answer)).toBeLessThanOrEqual(1024)
    receiver.behave(() => 200)
  })

  test('that is ended early rejects, and does not count as a failed attempt', async () => {
    receiver.behave(() => 'by itself')
    const ending = new AbortController()
    setTimeout(() => ending.abort(), 100)
    await expect(senderWith().send({ ...message(receiver.url), signal: ending.signal })).rejects.toThrow('early')
    receiver.behave(() => 200)
  })
})

test('names whose name server does not answer do not delay other names', async () => {
  const names = await startNameServer({ answer: (name) => (name.startsWith('mute') ? null : '93.184.216.34') })
  const usual = getServers()
  setServers([names.address])
  try {
    const sender = openWebhookSender([], async () => false)
    const mute = Array.from({ length: 64 }, async (_, index) => await sender.check(`https://mute${index}.example/`))
    const others = ['one.example', 'two.example'].map(async (host) => await sender.check(`https://${host}/`))
    for (const other of others) expect(await Promise.race([other, ...mute])).toBe(null)
  } finally {
    setServers(usual)
    names.stop()
  }
})
