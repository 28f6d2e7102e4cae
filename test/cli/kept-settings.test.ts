import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { settingsFor } from '../../src/cli/operator-session.ts'
import { askBeside } from '../support/beside.ts'
import { openAsOperator } from '../support/operator.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { deskAt } from './support/run.ts'

setDefaultTimeout(240_000)

// A command often runs in a shell that has none of the settings of the service.

/** A database that a server with these settings has used. */
const servedWith = async (env: Readonly<Record<string, string>>, file = join(temporaryFolder(), 'app-platform.db')) => {
  const server = await startServer({ database: file, env })
  await server.stop()
  return deskAt(file)
}
const invite = ['user', 'invite', '--name', 'Ada']
const mailsIn = async (file: string) => (await askBeside(file, 'SELECT id FROM mails')).length
const complete = {
  PUBLIC_URL: 'https://apps.example.com',
  MAIL_FROM: 'apps@example.com',
  SMTP_URL: 'smtp://user:canary@127.0.0.1:1',
  AUDIT_RETENTION_DAYS: '1000',
}

test('a command goes by the settings of the server that started last', async () => {
  const desk = await servedWith(complete)
  const invited = await desk.json([...invite, 'ada@example.com'])
  expect(invited.link).toStartWith('https://apps.example.com/set-password?link=')
  expect(invited.advice).toEqual(['The server also mails a link of its own to ada@example.com.'])
  expect(await mailsIn(desk.file)).toBe(1)
  const platform = await openAsOperator(desk.file)
  expect((await settingsFor(platform.database)).auditRetention).toEqual({ days: 1000, anonymousDays: 30 })
  await platform.database.close()

  await servedWith({ PUBLIC_URL: 'https://apps.example.org' }, desk.file)
  const next = await desk.json([...invite, 'eve@example.com'])
  expect(next.link).toStartWith('https://apps.example.org/set-password?link=')
  expect(next.advice).toBeUndefined()
  expect(await mailsIn(desk.file)).toBe(1)
})

test('a setting of the command itself comes first, also one that does not go together with those of the server', async () => {
  const desk = await servedWith({
    ...complete,
    SIGN_IN: 'handover',
    SIGN_IN_URL: 'https://builder.example.com/sign-in',
  })
  const own = { PUBLIC_URL: 'https://other.example.com' }
  const invited = await desk.json([...invite, 'ada@example.com'], { env: own })
  expect(invited.link).toStartWith('https://other.example.com/')
  const apart = await desk.json([...invite, 'eve@example.com'], { env: { ...own, SIGN_IN: 'oidc,password' } })
  expect(apart.link).toStartWith('https://other.example.com/')
})

test('no secret of a setting is kept, and no address of the database', async () => {
  const { file } = await servedWith(complete)
  const kept = await askBeside<{ name: string; value: string }>(file, 'SELECT name, value FROM server_settings')
  expect(kept.map(({ name }) => name)).toContain('MAIL_FROM')
  expect(JSON.stringify(kept)).not.toMatch(/canary|DATABASE_URL|SMTP_URL|SECRET/)
})
