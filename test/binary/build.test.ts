import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { buildProgram, threadModules } from '../../src/build.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { builtProgram } from './support/built-program.ts'

test('the same sources, built again in the same place, give the same bytes', async () => {
  const file = join(temporaryFolder(), 'app-platform')
  const fingerprint = () => new Bun.CryptoHasher('sha256').update(readFileSync(file)).digest('hex')
  const first = await buildProgram(file)
  const before = fingerprint()
  expect(await buildProgram(file)).toEqual(first)
  expect(fingerprint()).toBe(before)
  expect(first.commit).toMatch(/^(unknown|[0-9a-f]{12}\+?)$/)
})

test('every module that starts as a thread is in the binary, under the name it is started by', async () => {
  const program = readFileSync(await builtProgram())
  expect(threadModules.length).toBeGreaterThan(1)
  for (const module of threadModules) expect(program.includes(module.replace(/\.ts$/, '.js'))).toBe(true)
  const starter = readFileSync(join(import.meta.dir, '../../db/sqlite/thread.ts'), 'utf8')
  for (const module of threadModules) expect(starter).toContain(`'${basename(module).replace('-worker.ts', '')}'`)
})

const versionOf = async (command: readonly string[]) => {
  const child = Bun.spawn([...command, '--version'], { stdout: 'pipe', env: {} })
  return await new Response(child.stdout).text()
}

test('the binary says which commit it was built from, and the source says that it is none', async () => {
  expect(await versionOf([await builtProgram()])).toMatch(/\(commit (unknown|[0-9a-f]{12}\+?), SQLite 3\.\d+\.\d+, /)
  expect(await versionOf([process.execPath, join(import.meta.dir, '../../src/main.ts')])).toContain(
    '(commit development,',
  )
})
