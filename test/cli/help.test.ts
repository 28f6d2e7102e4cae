import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { guideAreas } from '../../src/guides/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { run } from './support/run.ts'

const folder = join(import.meta.dir, '../../src/guides')

test('help prints the guide to each topic, from any folder', async () => {
  for (const { guides } of guideAreas) {
    const [{ topic, text } = { topic: '', text: '' }] = guides
    const { exitCode, stdout, stderr } = await run(['help', topic], { cwd: temporaryFolder() })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toBe(text)
  }
  const settings = await Bun.file(join(folder, 'operate/settings.md')).text()
  expect((await run(['help', 'settings'])).stdout).toBe(settings)
})

test('help lists every command and every guide', async () => {
  const { exitCode, stdout } = await run(['help'])
  expect(exitCode).toBe(0)
  for (const { topic, title } of guideAreas.flatMap(({ guides }) => guides)) {
    expect(stdout).toMatch(new RegExp(`^ +${topic} +${title}$`, 'm'))
  }
  expect(stdout).toStartWith((await run(['--help'])).stdout)
})

test('help prints the help of a command, and refuses what is neither command nor guide', async () => {
  expect(await run(['help', 'user', 'create'])).toEqual(await run(['user', 'create', '--help']))
  for (const words of [['frobnicate'], ['user', 'frobnicate'], ['settings', 'proxy']]) {
    const { exitCode, stdout, stderr } = await run(['help', ...words])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^error: There is no such guide or command[^\n]*\n$/)
  }
})
