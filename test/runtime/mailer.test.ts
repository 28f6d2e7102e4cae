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

test('a login that cannot be checked now is not called wrong', async () => {
  for (const [status, fault] of [
    [454, 'refused'],
    [421, 'refused'],
    [535, 'login'],
    [530, 'login'],
  ] as const) {
    const server = await startMailServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(Object.assign(new Error('Not now.'), { responseCode: status })),
    })
    expect({ status, fault: await server.mailer({ tls: 'none', login }).send(mail) }).toEqual({ status, fault })
    await server.down()
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
  // What real mail servers say: Postfix, Exim, Exchange, Gmail, Amazon SES, OVH.
  for (const [command, line, fault] of [
    ['rcptTo', '550 5.1.1 The email account that you tried to reach does not exist.', 'recipient'],
    ['rcptTo', '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found', 'recipient'],
    ['rcptTo', '550 5.2.1 The email account that you tried to reach is disabled.', 'recipient'],
    ['rcptTo', '550 Unrouteable address', 'recipient'],
    ['rcptTo', '553 sorry, that domain is not here', 'recipient'],
    ['rcptTo', '554 5.7.1 <p1@example.com>: Relay access denied', 'relay'],
    ['rcptTo', '550 relay not permitted', 'relay'],
    ['rcptTo', '550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain', 'relay'],
    ['rcptTo', '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.example', 'relay'],
    ['rcptTo', '503 5.5.1 Error: need MAIL command', 'refused'],
    ['rcptTo', '550 5.4.5 Daily user sending quota exceeded', 'refused'],
    ['rcptTo', '552 5.2.2 The mailbox is full', 'recipient_later'],
    ['rcptTo', '452 4.2.2 Over quota', 'recipient_later'],
    ['rcptTo', '450 4.2.0 Greylisted', 'recipient_later'],
    ['rcptTo', '451 4.7.1 Greylisted, try again in 300 seconds', 'recipient_later'],
    ['rcptTo', '452 4.3.1 Insufficient system storage', 'refused'],
    ['rcptTo', '421 4.3.2 The service is shutting down', 'refused'],
    ['rcptTo', '550 5.1.8 Sender address rejected: Domain not found', 'sender'],
    ['mailFrom', '550 5.7.60 Client does not have permissions to send as this sender', 'sender'],
    ['mailFrom', '501 5.1.7 Bad sender address syntax', 'sender'],
    ['mailFrom', '451 4.3.0 Temporary lookup failure', 'refused'],
    ['mailFrom', '452 4.3.1 Insufficient system storage', 'refused'],
    ['mailFrom', '421 4.7.0 Try again later', 'refused'],
    ['data', '451 4.7.1 Greylisted', 'refused'],
    ['data', '554 5.7.1 Message rejected as spam', 'refused'],
    ['data', '554 Message rejected: Email address is not verified.', 'refused'],
  ] as const)
    expect({ line, fault: await refused({ [command]: line }) }).toEqual({ line, fault })
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
