import { expect, setDefaultTimeout, test } from 'bun:test'
import { startServer } from '../support/running-server.ts'
import { openDesk } from './support/run.ts'

setDefaultTimeout(30_000)

test('a server that is told to end as soon as it says where it listens ends with 0', async () => {
  const { file } = await openDesk()
  for (let round = 0; round < 5; round += 1) {
    const server = await startServer({ database: file })
    expect(await server.stop()).toBe(0)
  }
})

test('a second server on the same file exits 1 with one plain line', async () => {
  const desk = await openDesk()
  const server = await startServer({ database: desk.file })
  const { exitCode, stdout, stderr } = await desk.run(['serve', '--port', '0', '--json'])
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toMatch(/^error: Another server is running on [^\n]+\.\n$/)
  expect(await server.stop()).toBe(0)
})
