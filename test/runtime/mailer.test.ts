import { createServer, type Socket } from 'node:net'
import type { MailSettings } from '../../src/domain/mail.ts'
import { startMailServer } from '../support/mail-server.ts'
import { needs } from '../support/needs.ts'
import { makeCertificates } from '../clients/support/certificates.ts'
import { expect, test } from 'bun:test'

const mail = { to: 'ada@example.com', subject: 'Hello', text: 'Hello\n', html: '<p>Hello</p>' }
const login = { user: 'apps', password: 'right' }
const { test: withOpenssl } = needs('openssl')

const certified = async (names?: string) => {
  const { authority, certificate, key } = await makeCertificates(names)
  const [ca, cert, ownKey] = await Promise.all(
    [authority, certificate, key].map(async (path) => await Bun.file(path).text()),
  )
  return { ca: ca ?? '', pair: { cert: cert ?? '', key: ownKey ?? '' } }
}

withOpenssl('STARTTLS and TLS carry a mail and the login, if the certificate is trusted and has the name', async () => {
  const { ca, pair } = await certified()
  const other = await certified('DNS:other.example')
  for (const tls of ['starttls', 'implicit'] as const) {
    const server = await startMailServer({
      ...pair,
      secure: tls === 'implicit',
      onAuth: ({ password }, _session, done) =>
        password === 'right' ? done(null, { user: 'apps' }) : done(new Error('Wrong.')),
    })
    const send = async (settings: Partial<MailSettings>, authority?: string) =>
      await server.mailer({ tls, login, ...settings }, authority === undefined ? {} : { authority }).send(mail)
    expect(await send({}, ca)).toBeNull()
    expect(await send({})).toBe('tls')
    expect(await send({ login: { ...login, password: 'wrong' } }, ca)).toBe('login')
    expect(await send({ login: null }, ca)).toBe('login')
    expect(server.received).toHaveLength(1)
    await server.down()
    const misnamed = await startMailServer({ ...other.pair, authOptional: true, secure: tls === 'implicit' })
    expect(await misnamed.mailer({ tls }, { authority: other.ca }).send(mail)).toBe('tls')
    expect(misnamed.received).toEqual([])
    await misnamed.down()
  }
})

test('without STARTTLS nothing is sent, unless none is wanted', async () => {
  const server = await startMailServer()
  expect(await server.mailer({ tls: 'starttls', login }).send(mail)).toBe('tls')
  expect(await server.mailer({ tls: 'implicit', login }).send(mail)).toBe('tls')
  expect(server.received).toEqual([])
  expect(await server.mailer({ tls: 'none' }).send(mail)).toBeNull()
  await server.down()
})

test('each refusal is told apart', async () => {
  const server = await startMailServer()
  const refused = async (behaviour: Parameters<typeof server.behave>[0]) => {
    server.behave(behaviour)
    return await server.mailer().send(mail)
  }
  expect(await refused({ mailFrom: 553 })).toBe('sender')
  expect(await refused({ rcptTo: 550 })).toBe('recipient')
  expect(await refused({ rcptTo: 451 })).toBe('recipient_later')
  expect(await refused({ data: 554 })).toBe('refused')
  await server.down()
  const mailer = server.mailer()
  expect(await mailer.send(mail)).toBe('not_connected')
  expect(await server.mailer({ host: 'no-such-host.invalid' }).send(mail)).toBe('unknown_host')
})

test.each([
  ['says nothing', 'timed_out', () => undefined],
  ['hangs up', 'not_connected', (socket: Socket): void => void socket.end()],
  ['speaks HTTP', 'not_connected', (socket: Socket): void => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
] as const)('a server that %s keeps nobody waiting', async (_, fault, answer) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    answer(socket)
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const any = await startMailServer()
  expect(await any.mailer({ port }, { timeoutMs: 200 }).send(mail)).toBe(fault)
  await any.down()
  server.close()
})
