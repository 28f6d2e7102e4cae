import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { onSqlite } from '../support/engines.ts'
import { databaseOf, onPostgres } from '../support/postgres.ts'
import { programCommand } from '../support/program.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addUser, failureIn, openDesk, run } from './support/run.ts'

test('a server that gets SIGTERM right after it prints its address exits 0', async () => {
  const { file } = await openDesk(run)
  for (let round = 0; round < 5; round += 1) {
    const server = await startServer({ database: file })
    expect(await server.stop()).toBe(0)
  }
})

test('a server that makes or changes the tables logs it once', async () => {
  const file = await databaseOf(join(temporaryFolder(), 'new.db'))
  const told = async (): Promise<number> => {
    const server = await startServer({ database: file, ownProcess: true })
    expect(await server.stop()).toBe(0)
    return server.log().match(/"event":"database\.migrated","reason":"[^"]+ applied initial\."/g)?.length ?? 0
  }
  expect([await told(), await told()]).toEqual([onPostgres ? 0 : 1, 0]) // on PostgreSQL the database of a test has its tables
})

onSqlite('one server')(
  'a start after a kill says that the last run did not end properly, and one after a stop does not',
  async () => {
    const desk = await openDesk(run)
    const told = async (): Promise<boolean> => {
      const server = await startServer({ database: desk.file, ownProcess: true })
      const hasTold = server.log().includes('server.recovers')
      await addUser(desk, `${crypto.randomUUID()}@example.com`)
      if (hasTold) await server.stop()
      else await server.kill()
      return hasTold
    }
    expect(await told()).toBe(false)
    expect(await told()).toBe(true)
    expect(await told()).toBe(false)
  },
)

onSqlite('one server')('a second server on the same database exits 1 with one plain line', async () => {
  const desk = await openDesk(run)
  const server = await startServer({ database: desk.file })
  const { exitCode, stdout, stderr } = await desk.run(['serve', '--port', '0', '--json'])
  expect({ exitCode, code: failureIn({ stdout, stderr }) }).toEqual({ exitCode: 1, code: 'database_unusable' })
  expect(stderr).toMatch(/^error: Another server is running on [^\n]+\.\n$/)
  expect(await server.stop()).toBe(0)
})

test('a port in use exits 1 with one plain line', async () => {
  const server = await startServer()
  const desk = await openDesk(run)
  const { port } = new URL(server.url)
  const { exitCode, stdout, stderr } = await desk.run(['serve', '--port', port, '--json'])
  expect({ exitCode, code: failureIn({ stdout, stderr }) }).toEqual({ exitCode: 1, code: 'command_failed' })
  expect(stderr.split('\n').filter((line) => !line.includes('config.warning'))).toEqual([
    `error: Port ${port} is in use: another program listens there. Stop that program, or choose another port.`,
    '',
  ])
  expect(await server.stop()).toBe(0)
})

/** What `serve` prints before its log, with its port replaced by 1, on a database that has no accounts or one. */
const printedAtStart = async (words: readonly string[], { accounts }: { readonly accounts: 0 | 1 }) => {
  const desk = await openDesk(run)
  if (accounts === 1) await addUser(desk)
  const { file } = desk
  const child = Bun.spawn([...programCommand, 'serve', '--port', '0', '--database', await databaseOf(file), ...words], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const reader = child.stdout.getReader()
  const decoder = new TextDecoder()
  let printed = decoder.decode((await reader.read()).value)
  child.kill('SIGTERM')
  for (let part = await reader.read(); !part.done; part = await reader.read()) printed += decoder.decode(part.value)
  expect(await child.exited).toBe(0)
  return { file, printed: printed.replaceAll(/:\d+/g, ':1') }
}

const firstLine = async (words: readonly string[]) => (await printedAtStart(words, { accounts: 1 })).printed

test('the first line names the public URL and, if different, the listening address', async () => {
  expect(await firstLine([])).toBe('App Platform is at http://localhost:1\n')
  const proxied = await firstLine(['--public-url', 'https://apps.example.com'])
  expect(proxied).toBe('App Platform is at https://apps.example.com and listens on http://127.0.0.1:1\n')
  expect(await firstLine(['--json', '--public-url', 'https://apps.example.com'])).toBe('{"url":"http://127.0.0.1:1"}\n')
})

onSqlite('place of the file')(
  'a first start prints the command that makes the first account, and that command works',
  async () => {
    const desk = await openDesk(run)
    const server = await startServer({ database: desk.file, ownProcess: true })
    const { printed, file } = await printedAtStart([], { accounts: 0 })
    const [, line = ''] = /^ {2}(PUBLIC_URL=.*)$/m.exec(printed) ?? []
    expect(line).toContain(`user invite you@example.com --name "Your Name" --operator --database ${Bun.$.escape(file)}`)
    const shell = Bun.spawnSync(['sh', '-c', line.replaceAll(file, desk.file)], { cwd: join(import.meta.dir, '../..') })
    const [, link = ''] = /^(http:\S+)$/m.exec(shell.stdout.toString()) ?? []
    expect(link).toStartWith('http://localhost:1/')
    expect((await fetch(link.replace(/^http:..[^/]+/, server.url))).status).toBe(200)
    await server.stop()
    expect(await firstLine(['--json'])).not.toContain('invite')
  },
)

test('health says in one sentence whether the server is ready, also through no proxy, and exits 0 or 1', async () => {
  const server = await startServer()
  const { port, host } = new URL(server.url)
  const env = { PORT: port, HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9' }
  expect(await run(['health'], { env })).toEqual({
    exitCode: 0,
    stdout: `The server on ${host} is ready.\n`,
    stderr: '',
  })
  const told = { exitCode: 0, stdout: `${JSON.stringify({ upstream: host, ready: true })}\n`, stderr: '' }
  expect(await run(['health', '--json'], { env })).toEqual(told)
  expect(await server.stop()).toBe(0)
  const stopped = await run(['health', '--port', port])
  expect(failureIn(await run(['health', '--port', port, '--json']))).toBe('command_failed')
  expect(stopped).toMatchObject({ exitCode: 1, stdout: '' })
  expect(stopped.stderr).toMatch(/^error: No server answers at http:\/\/127\.0\.0\.1:\d+\/readyz: [^\n]+\.\n$/)
  using notReady = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => Response.json({ error: { details: { conditions: ['disk_full', 'clock_ahead'] } } }, { status: 503 }),
  })
  expect(await run(['health', '--port', String(notReady.port)])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `error: The server on 127.0.0.1:${notReady.port} is not ready: disk_full, clock_ahead.\n`,
  })
})

test('further signals do not kill a server that drains, and do not change how it ends', async () => {
  const server = await startServer({ ownProcess: true })
  for (let count = 0; count < 50; count += 1) {
    try {
      process.kill(server.pid, count % 2 === 0 ? 'SIGINT' : 'SIGTERM')
    } catch {
      break // it has ended
    }
    await Bun.sleep(2)
  }
  expect(await server.ended).toBe(0)
  expect(server.log()).toContain('"server.stopped"')
})
