import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFiles } from '../../src/cli/developer/package/find-files.ts'
import { prepareArtifact } from '../../src/cli/developer/package/prepare-artifact.ts'
import { needs, programAt } from '../support/needs.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { appFolder, pipeline } from './support/developer.ts'

const world = await worldOfFile()
const developer = pipeline(world.server.url, world.app.development)

const refusalOf = async (folder: string) => {
  const { exitCode, stderr } = await developer.run(['versions', 'create', folder, '--version', '1.0.0'])
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^error: [^\n]+\n$/)
  return stderr
}

test('file names cannot send control characters to the terminal', async () => {
  const folder = appFolder({ '\u001b]0;owned\u0007.txt': '', '\u202egnp.pem': '' })
  const { stderr } = await developer.run(['versions', 'create', folder, '--version', '1.0.0'])
  expect(stderr).toContain('These cannot be packed: \ufffd]0;owned\ufffd.txt.')
  expect(stderr).toContain('These files hold secrets, which must not leave this machine: \ufffdgnp.pem.')
})

needs('mkfifo').test('an ignore file that is a pipe or a folder is refused at once', async () => {
  const piped = appFolder()
  Bun.spawnSync([programAt('mkfifo'), join(piped, '.appignore')])
  const nested = appFolder({ '.appignore/a.txt': '' })
  for (const folder of [piped, nested]) expect(await refusalOf(folder)).toBe('error: .appignore is not a file.\n')
})

test('an ignore file that is not UTF-8 is refused, because its files would be packed', async () => {
  for (const text of [
    Buffer.from('\ufeffprivate.txt\r\n', 'utf16le'), // of PowerShell
    Buffer.from('private.txt', 'utf16le'),
    Buffer.from('für-mich.txt', 'latin1'),
  ]) {
    const folder = appFolder({ 'private.txt': '', 'für-mich.txt': '' })
    writeFileSync(join(folder, '.appignore'), text)
    expect(await refusalOf(folder)).toBe('error: .appignore is not UTF-8. Save it as UTF-8.\n')
  }
})

test('a rule is about its files also where one of them has an accent apart from its letter, and where an editor has marked it as UTF-8', () => {
  const folder = appFolder({
    '.appignore': '\ufeffcafé.txt\r\nnai\u0308ve/\r\n',
    'cafe\u0301.txt': '',
    'naïve/a.txt': '',
  })
  expect(findFiles(folder).files.map(({ path }) => path)).toEqual(['app.json', 'index.html'])
})

test.skipIf(process.getuid?.() === 0)('an unreadable folder is refused by name', () => {
  const folder = appFolder({ 'closed/a.txt': '' })
  chmodSync(join(folder, 'closed'), 0)
  expect(findFiles(folder).unreadable).toEqual(['closed'])
  chmodSync(join(folder, 'closed'), 0o700)
})

test('more files than an archive may have are refused before they are read', async () => {
  const folder = appFolder()
  mkdirSync(join(folder, 'many'))
  for (let number = 0; number < 9_999; number += 1) writeFileSync(join(folder, 'many', String(number)), '')
  const { signal } = new AbortController()
  expect(await prepareArtifact(folder, '1.0.0', signal).catch(({ message }) => message)).toStartWith(
    `There are 10001 files in ${folder}; an archive has at most 10000.`,
  )
})

test('files that would unpack to more than an archive may are refused by name before they are read', async () => {
  const folder = appFolder({ 'data/sparse.img': '', 'data/half.img': '' })
  truncateSync(join(folder, 'data/sparse.img'), 511 * 1024 * 1024)
  truncateSync(join(folder, 'data/half.img'), 1024 * 1024)
  const { signal } = new AbortController()
  expect(await prepareArtifact(folder, '1.0.0', signal).catch(({ message }) => message)).toStartWith(
    'The files are more than 512.0 MiB together. The largest files are data/sparse.img (511.0 MiB), data/half.img (1.0 MiB)',
  )
})
