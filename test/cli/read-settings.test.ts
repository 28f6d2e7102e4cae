import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/crash.ts'
import { startMailServer } from '../support/mail-server.ts'
import { programCommand } from '../support/program.ts'
import { type RunningServer, startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { deskAt, openDesk } from './support/run.ts'

const eventsIn = (log: string, event: string): readonly string[] =>
  log.split('\n').flatMap((line) => {
    const { event: name, reason }: Record<string, unknown> = line.startsWith('{') ? JSON.parse(line) : {}
    return name === event ? [String(reason)] : []
  })

/** Sends SIGHUP, and gives the sentences of this event once there is one more. */
const reloaded = async (server: RunningServer, event: string): Promise<string> => {
  const told = () => eventsIn(server.log(), event)
  const before = told().length
  process.kill(server.pid, 'SIGHUP')
  await eventually(
    async () => told().length,
    (count) => count > before,
  )
  return told()[before] ?? ''
}

const invite = async (server: RunningServer, email: string, env: Readonly<Record<string, string>>): Promise<void> => {
  await deskAt(server.database).json(['user', 'invite', email, '--name', 'Ada'], { env })
}

const openMachine = async () => {
  const mailServer = await startMailServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, done) =>
      password === 'canary-right' ? done(null, { user: 'apps' }) : done(new Error('Wrong.')),
  })
  const folder = temporaryFolder()
  const [mail, secret] = [join(folder, 'smtp-url'), join(folder, 'client-secret')]
  const mailUrl = (password: string): string => `smtp://apps:${password}@localhost:${mailServer.port}\n`
  writeFileSync(mail, mailUrl('canary-wrong'))
  writeFileSync(secret, 'canary-first\n')
  const env = {
    MAIL_FROM: 'apps@example.com',
    SMTP_URL_FILE: mail,
    SIGN_IN: 'password,oidc',
    OIDC_ISSUER: 'https://id.example.com',
    OIDC_CLIENT_ID: 'platform',
    OIDC_CLIENT_SECRET_FILE: secret,
  }
  const { file: database } = await openDesk()
  const server = await startServer({ database, ownProcess: true, env })
  return { mailServer, mail, secret, mailUrl, env, server }
}

test('SIGHUP takes a new password of the mail server from its file, and says which setting changed, never its value', async () => {
  const { mailServer, mail, mailUrl, env, server } = await openMachine()
  await invite(server, 'ada@example.com', env)
  await eventually(
    async () => server.log(),
    (log) => log.includes('"kind":"mail_fails"'),
  )
  writeFileSync(mail, mailUrl('canary-right'))
  expect(await reloaded(server, 'settings.changed')).toBe('Read again, and used from now on: SMTP_URL.')
  await invite(server, 'bob@example.com', env)
  await eventually(
    async () => mailServer.received.length,
    (count) => count > 0,
  )
  expect(mailServer.received[0]?.to).toEqual(['bob@example.com'])
  expect(await reloaded(server, 'settings.unchanged')).toContain('none has another value')
  const { data } = await deskAt(server.database).json(['audit', 'list', '--action', 'settings.changed'])
  expect(data).toMatchObject([{ actor: { kind: 'system' }, detail: { settings: ['SMTP_URL'] } }])
  expect(JSON.stringify(data) + server.log()).not.toContain('canary')
  expect(await server.stop()).toBe(0)
  await mailServer.down()
})

test('SIGHUP changes nothing if one file is wrong, and says which, where it is and what to do', async () => {
  const { mailServer, mail, secret, mailUrl, server } = await openMachine()
  writeFileSync(secret, 'canary-second') // is not used before the other file is right
  const wrongFiles: Readonly<Record<string, readonly [make: () => void, why: string]>> = {
    missing: [() => undefined, 'names a file that is not there'],
    folder: [() => mkdirSync(mail), 'must name a text file'],
    pipe: [() => void Bun.spawnSync(['mkfifo', mail]), 'must name a text file'],
    huge: [() => writeFileSync(mail, 'x'.repeat(70_000)), 'must name a text file'],
    empty: [() => writeFileSync(mail, ''), 'is empty'],
    bytes: [() => writeFileSync(mail, new Uint8Array([0xff, 0xfe, 0])), 'must name a text file'],
    value: [() => writeFileSync(mail, 'https://canary@example.com'), 'must be smtp://'],
  }
  for (const [make, why] of Object.values(wrongFiles)) {
    rmSync(mail, { recursive: true, force: true })
    make()
    const reason = await reloaded(server, 'settings.refused')
    expect(reason).toContain(why)
    expect(reason).toContain(`SMTP_URL_FILE (${mail})`)
    expect(reason).toContain('all of them stay as they were: correct this, and run systemctl reload app-platform')
  }
  const newFile = `${mail}.new`
  writeFileSync(newFile, mailUrl('canary-right'))
  rmSync(mail, { recursive: true, force: true })
  renameSync(newFile, mail)
  expect(await reloaded(server, 'settings.changed')).toContain('OIDC_CLIENT_SECRET, SMTP_URL')
  expect(server.log()).not.toContain('canary')
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  expect(await server.stop()).toBe(0)
  await mailServer.down()
})

test('SIGHUP never ends a server, also without settings in files, many at once, and while it stops', async () => {
  const server = await startServer({ ownProcess: true })
  expect(await reloaded(server, 'settings.unchanged')).not.toBe('')
  for (let count = 0; count < 300; count += 1) process.kill(server.pid, 'SIGHUP')
  await reloaded(server, 'settings.unchanged')
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  process.kill(server.pid, 'SIGTERM')
  for (let count = 0; count < 50; count += 1) {
    try {
      process.kill(server.pid, 'SIGHUP')
    } catch {
      break // it has ended
    }
    await Bun.sleep(2)
  }
  expect(await server.ended).toBe(0)
})

/** Whether the process has a handler for SIGHUP, which is signal 1; proc_pid_status(5). */
const catchesHangup = (pid: number): boolean => {
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0'
  return (BigInt(`0x${caught}`) & 1n) === 1n
}

/** Which files a process has open beside its own program: none of them before the server was composed. */
const opensDatabase = (pid: number, database: string): boolean =>
  readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith(database)
    } catch {
      return false // closed meanwhile
    }
  })

test('SIGHUP does not end a server that has only begun to start', async () => {
  const folder = temporaryFolder()
  let early = 0
  for (let count = 0; count < 5; count += 1) {
    const database = join(folder, `${count}.db`)
    const child = Bun.spawn([...programCommand, 'serve', '--json', '--port', '0', '--database', database], {
      env: { PATH: process.env['PATH'] ?? '' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    // Before its first line runs, the system itself ends a process at a signal.
    while (!catchesHangup(child.pid)) await Bun.sleep(0)
    child.kill('SIGHUP')
    if (!opensDatabase(child.pid, database)) early += 1
    const first = child.stdout.getReader().read()
    const hangUp = setInterval(() => child.kill('SIGHUP'), 1)
    await first.finally(() => clearInterval(hangUp))
    expect(new TextDecoder().decode((await first).value)).toContain('{"url":')
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
  }
  expect(early).toBeGreaterThan(0)
})
