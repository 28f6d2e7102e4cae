import { expect, setDefaultTimeout, test } from 'bun:test'
import { zipSync } from 'fflate'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onSqlite } from '../support/engines.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type Desk, openDesk, run } from './support/run.ts'

setDefaultTimeout(240_000)

const sentencesOf = async (desk: Desk, words: readonly string[]): Promise<string> => {
  const { exitCode, stdout, stderr } = await desk.run(words)
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  return stderr
}

onSqlite('place of the file')(
  'a file that is no database is reported as that, not as a database with wrong permissions',
  async () => {
    const file = join(temporaryFolder(), 'passwd')
    writeFileSync(file, 'root:x:0:0:root:/root:/bin/bash\n', { mode: 0o644 })
    const { exitCode, stderr } = await run(['serve', '--port', '0', '--database', file])
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `error: ${file} cannot be read as an SQLite database: correct the path, or restore a backup with app-platform restore FILE.\n`,
    })
    expect(existsSync(`${file}.lock`)).toBe(false)
  },
)

onSqlite('place of the file')(
  'a compressed backup is reported as that, not as something else than a backup',
  async () => {
    const desk = await openDesk()
    await desk.json(['migrate'])
    const content = readFileSync(desk.file)
    const packed: Readonly<Record<string, Uint8Array>> = {
      gz: Bun.gzipSync(content),
      zst: Bun.zstdCompressSync(content),
      zip: zipSync({ 'app-platform.db': content }),
    }
    for (const [ending, bytes] of Object.entries(packed)) {
      const file = join(temporaryFolder(), `backup.db.${ending}`)
      writeFileSync(file, bytes, { mode: 0o600 })
      for (const command of ['check', 'restore']) {
        const said = `error: ${file} is compressed: unpack it, and name what comes out.\n`
        expect(await sentencesOf(desk, [command, file])).toBe(said)
      }
    }
  },
)

test('an unknown host is not reported as a port in use, and warnings come before the refusal', async () => {
  const desk = await openDesk(run)
  const { exitCode, stderr } = await desk.run(['serve', '--port', '0'], { env: { HOST: 'nonexist.invalid' } })
  expect(exitCode).toBe(1)
  const lines = stderr.trimEnd().split('\n')
  expect(lines.at(-1)).toBe('error: HOST is nonexist.invalid, and this machine finds no address for that name.')
  expect(lines.findIndex((line) => line.includes('config.warning'))).toBe(0)
})

onSqlite('place of the file')('check explains a lock that is a folder, and an empty file', async () => {
  const desk = await openDesk()
  const empty = join(temporaryFolder(), 'empty.db')
  writeFileSync(empty, '', { mode: 0o600 })
  expect(await sentencesOf(desk, ['check', empty])).toBe(`error: ${empty} is empty.\n`)
  mkdirSync(`${desk.file}.lock`, { recursive: true })
  expect(await sentencesOf(desk, ['check'])).toBe(
    `error: ${desk.file}.lock is a folder, a link, a pipe or a device, not a file of the database: move it away.\n`,
  )
})

test('a backup is checked by itself: no setting and no database is needed, and what is no backup gets one sentence', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'copy.db')
  await run(['migrate', '--database', join(folder, 'app-platform.db')])
  await run(['backup', file, '--database', join(folder, 'app-platform.db')])
  const unusable = [
    {},
    { DATABASE_URL: 'mysql://nobody@nowhere/x' },
    { DATABASE_URL: 'postgres://nobody:secret-word@127.0.0.1:1/none', PORT: 'none' },
  ]
  for (const env of unusable) {
    const { exitCode, stdout, stderr } = await run(['check', file, '--json'], { env, cwd: temporaryFolder() })
    expect({ exitCode, stderr, found: JSON.parse(stdout) }).toEqual({
      exitCode: 0,
      stderr: '',
      found: { ok: true, problems: [] },
    })
  }
  for (const [given, sentence] of [
    [join(folder, 'none.db'), `There is no database at ${join(folder, 'none.db')}.`],
    [folder, `${folder} is a folder, a pipe or a device, not the file of a backup.`],
    ['-', 'A backup is not read from standard input: write it to a file, and name the file.'],
    [
      'postgresql://127.0.0.1/none',
      'The URL of a database is not the file of a backup. Name a database with --database or DATABASE_URL.',
    ],
  ] as const) {
    const { exitCode, stdout, stderr } = await run(['check', given], { env: {}, cwd: temporaryFolder() })
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 1, stdout: '', stderr: `error: ${sentence}\n` })
  }
})

test('the refusal of an unknown user names the address', async () => {
  const desk = await openDesk()
  await addUser(desk)
  await addApp(desk)
  for (const words of [
    ['app', 'transfer', 'newsletter', '--to', 'nobody@example.com'],
    ['user', 'disable', 'ada@example.com', '--apps', 'transfer:nobody@example.com'],
    ['user', 'set-email', 'nobody@example.com', '--to', 'new@example.com'],
  ]) {
    expect(await sentencesOf(desk, words)).toBe('error: There is no user with the address nobody@example.com.\n')
  }
})

test('app create warns about a name that mixes scripts', async () => {
  const desk = await openDesk()
  await addUser(desk)
  const create = ['app', 'create', '--owner', 'ada@example.com', '--slug', 'paypal', '--scopes', 'site:read', '--name']
  const { advice } = await desk.json([...create, 'P\u0430ypal'])
  expect(advice).toEqual([expect.stringContaining('The name mixes scripts: Latin (P y p a l), Cyrillic (\u0430)')])
})
