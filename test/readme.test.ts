import { expect } from 'bun:test'
import { join } from 'node:path'
import { guide, marked } from './support/documents.ts'
import { programCommand } from './support/program.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { needs } from './support/needs.ts'

const { test } = needs('bash', 'curl')

const root = join(import.meta.dir, '..')
const walkIn = (text: string, name: string) =>
  marked(text, name)
    .replace(/^```sh\n/, '')
    .replace(/```\n$/, '')
const walk = walkIn(await Bun.file(join(root, 'README.md')).text(), 'walk')
const standardWalk = walkIn(await guide('develop/wire-formats'), 'standard-walk')

/** Starts the demo and gives the lines it prints for pasting, once it has printed them all. */
const startDemo = async () => {
  const child = Bun.spawn([...programCommand, 'dev', '--port', '0'], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', TMPDIR: temporaryFolder() },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const decoder = new TextDecoder()
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += decoder.decode(chunk, { stream: true })
    if (printed.includes(walk.trimEnd().split('\n').at(-1) ?? '')) break
  }
  return { child, printed }
}

test('the demo prints the walk of the README, and every step of it and of the guide to wire formats does what it says', async () => {
  expect(walk.length).toBeGreaterThan(1000)
  expect(standardWalk.length).toBeGreaterThan(500)
  const { child, printed } = await startDemo()
  expect(printed).toContain(walk.trim())
  const settings = printed.match(/^(BASE|CLIENT_ID|CLIENT_SECRET|REDIRECT_URI|EMAIL|PASSWORD)=.*$/gm) ?? []
  expect(settings.length).toBe(6)

  for (let pasted = 0; pasted < 2; pasted += 1) {
    if (pasted > 0) await Bun.sleep(1_000) // the walk counts its runs in seconds
    await followWalk(settings)
  }

  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
})

const followWalk = async (settings: readonly string[]): Promise<void> => {
  const pasted = [...settings, walk, standardWalk].join('\n')
  const shell = Bun.spawn(['bash', '-c', pasted], { stdout: 'pipe', stderr: 'pipe' })
  const answers = (await new Response(shell.stdout).text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(await shell.exited).toBe(0)
  const [app, first, second, rollback, user, resources, refreshed, deadByRefresh, revoked, deadByRevocation] = answers
  const [discovered, alive, ended, dead, appToken] = answers.slice(10)
  expect(answers.length).toBe(15)
  expect(ended).toEqual({})
  expect(app.environment).toBe('development')
  expect(first.version).toMatch(/^9\.\d+\.0$/)
  expect(second.version).toBe(first.version.replace(/0$/, '1'))
  expect([first.revision, second.revision]).toEqual([1, 1])
  expect(rollback.version.current.development).toBe(true)
  expect(rollback.rollback.fromVersionId).toBe(second.id)
  expect(rollback.rollback.toVersionId).toBe(first.id)
  expect(user.scope).toBe('profile:read site:read')
  expect(resources.data.length).toBeGreaterThan(0)
  expect({ ...refreshed, expiresAt: '' }).toEqual({ ...user, expiresAt: '' })
  expect(deadByRefresh.error.code).toBe('invalid_token')
  expect(revoked).toEqual({ revoked: true })
  expect(deadByRevocation.error.code).toBe('invalid_token')
  expect(discovered.token_endpoint).toEndWith('/oauth/token')
  expect(alive).toMatchObject({ active: true, scope: 'profile:read site:read', token_type: 'Bearer', sub: user.id })
  expect(dead).toEqual({ active: false })
  expect(appToken).toMatchObject({ token_type: 'Bearer' })
}
