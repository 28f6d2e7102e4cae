import { expect, test } from 'bun:test'
import { guideAreas } from '../../src/guides/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runHere } from './support/run.ts'

test('help prints the guide to each topic, from any folder, with the topics of other guides in place of their files', async () => {
  const topics = new Set(guideAreas.flatMap(({ guides }) => guides.map(({ topic }) => topic)))
  for (const { guides } of guideAreas) {
    const [{ topic, text } = { topic: '', text: '' }] = guides
    const { exitCode, stdout, stderr } = await runHere(['help', topic], { cwd: temporaryFolder() })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).not.toMatch(/<!--|\.md\b/)
    const lines = new Set(stdout.split('\n'))
    expect(text.split('\n').filter((line) => !/<!--|\.md\b/.test(line) && !lines.has(line))).toEqual([])
    const named = [...stdout.matchAll(/\]\(help ([^)]*)\)/g)].map(([, name = '']) => name)
    expect(named.filter((name) => !topics.has(name))).toEqual([])
    expect(named.length).toBeGreaterThan(0)
  }
})

test('help lists every command and every guide', async () => {
  const { exitCode, stdout } = await runHere(['help'])
  expect(exitCode).toBe(0)
  for (const { topic, title } of guideAreas.flatMap(({ guides }) => guides)) {
    expect(stdout).toMatch(new RegExp(`^ +${topic} +${title}$`, 'm'))
  }
  expect(stdout).toStartWith((await runHere(['--help'])).stdout)
})

test('help prints the help of a command, and refuses what is neither command nor guide', async () => {
  expect(await runHere(['help', 'user', 'create'])).toEqual(await runHere(['user', 'create', '--help']))
  for (const words of [['frobnicate'], ['user', 'frobnicate'], ['settings', 'proxy']]) {
    const { exitCode, stdout, stderr } = await runHere(['help', ...words])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^error: There is no such guide or command[^\n]*\n$/)
  }
})

const placesOf = async (...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await runHere(['help', ...words])
  expect({ words, exitCode, stderr }).toEqual({ words, exitCode: 0, stderr: '' })
  return stdout
}

test('help finds commands and guides by what they are about, also by other names for it', async () => {
  expect(await placesOf('alerts')).toMatch(/^ +print alerts +[^\n]+$[^]*^ +monitoring +Alerts$/m)
  expect(await placesOf('2fa')).toMatch(/^ +user reset-factors +/m)
  expect(await placesOf('TOTP')).toBe(await placesOf('2fa'))
  expect(await placesOf('standby')).toMatch(/^ +high-availability +/m)
  expect(await placesOf('invite')).toMatch(/^ +user invite +/m)
})
