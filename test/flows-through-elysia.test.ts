import { expect, test } from 'bun:test'
import { join } from 'node:path'

/** The shell answers hot endpoints itself, so the tests of the contract never reach their Elysia routes. Here they do. */
test('the contract holds when Elysia answers the hot endpoints too', async () => {
  const flows = Bun.spawn([process.execPath, 'test', '--timeout', '60000', 'test/flows'], {
    cwd: join(import.meta.dir, '..'),
    env: { ...process.env, TEST_SUITE: '', TEST_ROUTES: 'elysia' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, code] = await Promise.all([new Response(flows.stderr).text(), flows.exited])
  expect(output.split('\n').filter((line) => line.startsWith('(fail)'))).toEqual([])
  expect(code).toBe(0)
}, 600_000)
