import { expect, setDefaultTimeout, test } from 'bun:test'
import { onSqlite } from '../support/engines.ts'
import { databaseOf } from '../support/postgres.ts'
import { programCommand } from '../support/program.ts'
import { startServer } from '../support/running-server.ts'
import { openDesk } from './support/run.ts'

setDefaultTimeout(30_000)

test('a server that gets SIGTERM right after it prints its address exits 0', async () => {
  const { file } = await openDesk()
  for (let round = 0; round < 5; round += 1) {
    const server = await startServer({ database: file })
    expect(await server.stop()).toBe(0)
  }
})

onSqlite('one server')('a second server on the same database exits 1 with one plain line', async () => {
  const desk = await openDesk()
  const server = await startServer({ database: desk.file })
  const { exitCode, stdout, stderr } = await desk.run(['serve', '--port', '0', '--json'])
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toMatch(/^error: Another server is running on [^\n]+\.\n$/)
  expect(await server.stop()).toBe(0)
})

test('a port in use exits 1 with one plain line', async () => {
  const server = await startServer()
  const desk = await openDesk()
  const { exitCode, stdout, stderr } = await desk.run(['serve', '--port', new URL(server.url).port, '--json'])
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr.split('\n').filter((line) => !line.includes('config.warning'))).toEqual([
    'error: The port is in use: another program listens there.',
    '',
  ])
  expect(await server.stop()).toBe(0)
})

/** The first line of `serve`, with its port replaced by 1. */
const firstLine = async (words: readonly string[]): Promise<string> => {
  const { file } = await openDesk()
  const child = Bun.spawn([...programCommand, 'serve', '--port', '0', '--database', await databaseOf(file), ...words], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const { value } = await child.stdout.getReader().read()
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
  return new TextDecoder().decode(value).replaceAll(/:\d+/g, ':1')
}

test('the first line names the public URL and, if different, the listening address', async () => {
  expect(await firstLine([])).toBe('App Platform is at http://localhost:1\n')
  const proxied = await firstLine(['--public-url', 'https://apps.example.com'])
  expect(proxied).toBe('App Platform is at https://apps.example.com and listens on http://127.0.0.1:1\n')
  expect(await firstLine(['--json', '--public-url', 'https://apps.example.com'])).toBe('{"url":"http://127.0.0.1:1"}\n')
})
