import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../support/temporary-folder.ts'

const program = join(import.meta.dir, '../../src/main.ts')

test('the program serves its pages whatever folder it is started in', async () => {
  const folder = temporaryFolder()
  const child = Bun.spawn([process.execPath, program, 'serve', '--json', '--port', '0', '--database', 'here.db'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '' },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const { value } = await child.stdout.getReader().read()
  const { url } = JSON.parse(new TextDecoder().decode(value))
  const page = await fetch(`${url}/sign-in`)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>Sign in')])
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
  expect(await Bun.file(join(folder, 'here.db')).exists()).toBe(true)
})
