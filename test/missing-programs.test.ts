import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './support/temporary-folder.ts'

const root = join(import.meta.dir, '..')
const file = join(temporaryFolder(), 'missing.test.ts')
writeFileSync(
  file,
  `import { beforeAll, expect, test } from 'bun:test'
import { needs } from '${root}/test/support/needs.ts'

const browser = needs('Chromium')
const zsh = needs('zsh', 'bash').test
browser.beforeAll(() => { throw new Error('runs without a browser') })
browser.describe('pages', () => {
  beforeAll(() => { if (process.env.CI !== 'true') throw new Error('runs without a browser') })
  browser.test('one', () => { throw new Error('runs without a browser') })
  browser.test.each([1, 2])('two of them: %p', () => { throw new Error('runs without a browser') })
})
zsh('completes', () => { throw new Error('runs without zsh') })
zsh.skipIf(false)('completes again', () => { throw new Error('runs without zsh') })
needs().test('needs nothing', () => expect(1).toBe(1))
test('waits longer than five seconds', async () => await Bun.sleep(5_200))
`,
)

const withoutRights = join(temporaryFolder(), 'chromium')
writeFileSync(withoutRights, '#!/bin/sh\n', { mode: 0o644 })

/** Where there is no zsh, no bash and no Chromium. */
const runWithout = async (env: Readonly<Record<string, string>>, words: readonly string[]) => {
  const child = Bun.spawn([process.execPath, ...words, file], {
    cwd: root,
    env: { PATH: temporaryFolder(), CHROMIUM: '/nowhere/chromium', TMPDIR: temporaryFolder(), ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exitCode: await child.exited, stdout, text: stdout + stderr }
}

const line =
  '5 tests were skipped. This machine has no Chromium, bash, zsh. Install with: apt-get install -y ' +
  '--no-install-recommends chromium-headless-shell fonts-liberation fonts-noto-color-emoji bash zsh'

test.concurrent.each([
  [['test'], '/nowhere/chromium'],
  [['test'], withoutRights],
  [['test/run.ts'], '/nowhere/chromium'],
])(
  'bun %p skips the tests of programs that are not installed, or at %p not executable, and says in one line how to install them',
  async (words, chromium) => {
    const { exitCode, stdout, text } = await runWithout({ CHROMIUM: chromium }, words)
    expect(text).toContain('waits longer than five seconds')
    expect({ exitCode, lines: stdout.split('\n').filter((one) => one.includes('skipped')) }).toEqual({
      exitCode: 0,
      lines: [line],
    })
    expect(text).toMatch(/^ 2 pass$/m)
  },
)

test.each([
  [['test'], {}, 0],
  [['test/run.ts'], {}, 0],
  [['test'], { CI: 'true' }, 1],
  [['test/run.ts'], { CI: 'true' }, 1],
])(
  'bun %p on a PostgreSQL that is not installed runs nothing, and says so in one line, with %p',
  async (words, env, code) => {
    const { exitCode, stdout, text } = await runWithout(
      { TEST_DATABASE: 'postgres', POSTGRES: '/nowhere', ...env },
      words,
    )
    const how = 'Install with: apt-get install -y --no-install-recommends postgresql'
    expect({ exitCode, lines: stdout.split('\n').filter((one) => one.includes('skipped')) }).toEqual({
      exitCode: code,
      lines: [`All tests were skipped. This machine has no postgres. ${how}`],
    })
    expect(text).not.toMatch(/^ \d+ (pass|fail)$/m)
  },
)

test('with CI=true those tests fail, and say how to install what they need', async () => {
  const { exitCode, text } = await runWithout({ CI: 'true' }, ['test'])
  expect(exitCode).toBe(1)
  expect(text).toMatch(/^ 2 pass$/m)
  expect(text).toMatch(/^ 5 fail$/m)
  expect(text).not.toContain('runs without')
  expect(text).toContain(
    'This machine has no zsh, bash. Install with: apt-get install -y --no-install-recommends zsh bash',
  )
})
