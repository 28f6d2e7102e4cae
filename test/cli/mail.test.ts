import { expect, test } from 'bun:test'
import { startMailServer } from '../support/mail-server.ts'
import { runHere } from './support/run.ts'

const settings = (port: number, login = '') => ({
  SMTP_URL: `smtp://${login}localhost:${port}`,
  MAIL_FROM: 'The "Apps" <apps@example.com>',
})

test('mail test sends one mail, and prints where to', async () => {
  const server = await startMailServer()
  const sent = await runHere(['mail', 'test', 'ada@example.com', '--json'], { env: settings(server.port) })
  expect(sent).toMatchObject({ exitCode: 0, stderr: '' })
  expect(JSON.parse(sent.stdout)).toEqual({
    sent: true,
    to: 'ada@example.com',
    from: 'apps@example.com',
    host: 'localhost',
    port: server.port,
  })
  expect(server.received).toMatchObject([{ from: 'apps@example.com', to: ['ada@example.com'] }])
  await server.down()
})

const failed = async (port: number) => {
  const { exitCode, stdout, stderr } = await runHere(['mail', 'test', 'ada@example.com'], {
    env: settings(port, 'apps:canary%40word@'),
  })
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toMatch(/^error: The mail server localhost:\d+ [^\n]+: [^\n]+\.\n$/)
  expect(stderr).not.toContain('canary')
  return stderr
}

test('mail test says in one sentence what is wrong and what to do, without the password', async () => {
  const server = await startMailServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(new Error('Wrong.')),
  })
  expect(await failed(server.port)).toContain('refuses the login: check user and password in SMTP_URL')
  const { port } = server
  await server.down()
  expect(await failed(port)).toContain('cannot be reached: check host and port')
})

test('mail test needs settings and an address', async () => {
  const without = await runHere(['mail', 'test', 'ada@example.com'])
  expect(without).toMatchObject({ exitCode: 2, stdout: '' })
  expect(without.stderr).toContain('set SMTP_URL and MAIL_FROM')
  const malformed = await runHere(['mail', 'test', 'ada@example.com\nBcc: b@example.com'], { env: settings(1) })
  expect(malformed).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('a character that cannot be seen') })
})
