import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { needs } from '../support/needs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { programCommand } from '../support/program.ts'
import { openDesk, run, urlOfDesk } from './support/run.ts'
import { bashIn, type Completer, fishIn, zshIn } from './support/shells.ts'

const shells = { bash: bashIn, zsh: zshIn, fish: fishIn } as const

const expected: readonly (readonly [line: string, offers: readonly string[]])[] = [
  ['cred', ['credential']],
  ['credential ', ['confirm', 'create', 'list', 'revoke', 'rotate']],
  ['credential c', ['confirm', 'create']],
  ['credential create newsletter --environment ', ['development', 'production']],
  ['credential create newsletter --', ['--database', '--environment', '--help', '--json', '--label']],
  ['completion ', ['bash', 'fish', 'zsh']],
  ['print ', ['alerts', 'backup-timer', 'caddy', 'container', 'nginx', 'systemd']],
  ['print nginx --p', ['--port', '--public-url']],
  ['backup ', ['one.db', 'two words.db']],
  ['check --database o', ['one.db']],
  ['app suspend ', ['newsletter', 'shop-insights']],
  ['app suspend n', ['newsletter']],
  ['audit list --app ', ['newsletter', 'shop-insights']],
  ['help oauth', ['oauth-libraries']],
  // Only the platform knows what labels there are, and here is no server to ask for versions.
  ['versions show ', []],
  ['webhooks ping ', []],
  ['credential create newsletter --label ', []],
]

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  const completerIn = shells[shell]
  const { beforeAll, describe, test } = needs(shell)
  describe(`in ${shell}`, () => {
    const folder = temporaryFolder()
    let complete: Completer
    beforeAll(async () => {
      for (const name of ['one.db', 'two words.db']) writeFileSync(join(folder, name), '')
      const desk = await openDesk()
      await desk.json(['seed'])
      const programs = temporaryFolder()
      const script = `#!/bin/sh\nexec ${programCommand.map((word) => `'${word}'`).join(' ')} "$@"\n`
      writeFileSync(join(programs, 'app-platform'), script, { mode: 0o755 })
      const env = { PATH: `${programs}:${process.env['PATH']}`, DATABASE_URL: await urlOfDesk(desk.file) }
      complete = await completerIn(folder, env)
    })

    test('commands, flags, choices and files are offered where they fit, and nothing where the values are unknown', async () => {
      for (const [line, offers] of expected) {
        const found = (await complete(`app-platform ${line}`)).filter((offer) => offer !== 'offered')
        expect({ line, found }).toEqual({ line, found: [...offers] })
      }
    }, 300_000) // each line starts a shell, and some start the program

    test('every command in the help is offered', async () => {
      const { stdout } = await run(['--help'])
      const named = [...stdout.matchAll(/^ {2}([a-z-]+)\b(?= .*(?:\[options\]|<|\[command\]| {2}))/gm)].map(
        ([, name = '']) => name,
      )
      expect(named.length).toBeGreaterThan(15)
      expect(await complete('app-platform ')).toEqual([...new Set([...named, 'help'])].toSorted())
    })
  })
}

needs('bash').test('bash never evaluates what was typed', async () => {
  const folder = temporaryFolder()
  const complete = await bashIn(folder)
  for (const typed of ['backup $(touch${IFS}run)', 'credential `touch${IFS}run`', '--x=$(touch${IFS}run)'])
    await complete(`app-platform ${typed}`)
  expect(existsSync(join(folder, 'run'))).toBe(false)
})

test('an unknown shell is refused with a list of the known ones', async () => {
  const { exitCode, stdout, stderr } = await run(['completion', 'tcsh'])
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(/bash, zsh, fish/)
})
