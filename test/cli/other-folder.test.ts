import { expect, test } from 'bun:test'
import { copyFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { programCommand } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const program = join(import.meta.dir, '../../src/main.ts')

test('the program serves its pages from any working folder', async () => {
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

const root = join(import.meta.dir, '../..')

test.skipIf(process.env['APP_PLATFORM_PROGRAM'] !== undefined)(
  'from source, a .env in the folder has no effect: not on the program itself and not on a script that starts it',
  async () => {
    const folder = temporaryFolder()
    copyFileSync(join(root, 'bunfig.toml'), join(folder, 'bunfig.toml'))
    for (const name of ['src', 'db', 'node_modules']) symlinkSync(join(root, name), join(folder, name))
    const command = 'bun src/main.ts print systemd'
    await Bun.write(join(folder, 'package.json'), JSON.stringify({ scripts: { print: command } }))
    for (const name of ['.env', '.env.local', '.env.development']) await Bun.write(join(folder, name), 'PORT=4711\n')
    for (const words of [
      ['src/main.ts', 'print', 'systemd'],
      ['run', 'print'],
    ]) {
      const child = Bun.spawn([process.execPath, ...words], {
        cwd: folder,
        env: { PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` },
        stdout: 'pipe',
        stderr: 'ignore',
      })
      const unit = await new Response(child.stdout).text()
      expect([await child.exited, unit]).toEqual([0, expect.stringContaining('PORT=3000')])
      expect(unit).not.toContain('4711')
    }
  },
)

const mayMount = Bun.spawnSync(['unshare', '--mount', 'true'], { stdout: 'ignore', stderr: 'ignore' }).success

test.skipIf(!mayMount)(
  'in another folder than that of the service, commands name its database and touch nothing',
  async () => {
    const folder = temporaryFolder()
    const backup = join(folder, 'backup.db')
    const script = `mount -t tmpfs none /var/lib && mkdir /var/lib/app-platform && cd ${folder}
      ${programCommand.join(' ')} migrate --database /var/lib/app-platform/app-platform.db
      ${programCommand.join(' ')} backup ${backup} --database /var/lib/app-platform/app-platform.db
      for command in 'user list' 'check' 'restore ${backup}' 'migrate'; do ${programCommand.join(' ')} $command; echo $?; done
      export DATABASE_URL=file:/var/lib/app-platform/app-platform.db
      ${programCommand.join(' ')} check; ls ${folder}`
    const { stdout, stderr } = Bun.spawnSync(['unshare', '--mount', 'sh', '-c', script], {
      env: { PATH: process.env['PATH'] ?? '' },
    })
    const lines = stdout.toString().trimEnd().split('\n')
    expect(lines.slice(-6)).toEqual(['2', '2', '2', '2', expect.stringContaining('Nothing is wrong'), 'backup.db'])
    expect(stderr.toString()).toContain('run export DATABASE_URL=file:/var/lib/app-platform/app-platform.db first.')
  },
)
