import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { call } from '../support/call.ts'
import { openAsOperator } from '../support/operator.ts'
import { databaseOf } from '../support/postgres.ts'
import { programCommand } from '../support/program.ts'
import { startServer } from '../support/running-server.ts'
import { addApp, addCredential, addUser, type Desk, failureIn, importLines, openDesk } from './support/run.ts'

let desk: Desk
let ownerId: string
beforeAll(async () => {
  desk = await openDesk()
  ownerId = (await addUser(desk)).id
})

const site = (slug: string, more: Readonly<Record<string, unknown>> = {}) => ({
  owner: 'ada@example.com',
  kind: 'site',
  name: 'A site',
  slug,
  status: 'draft',
  ...more,
})

const stored = async (kind: 'site' | 'store', slug: string) => {
  const platform = await openAsOperator(desk.file)
  const row = await platform.database.queries.resources.find(ownerId, kind, slug)
  await platform.database.close()
  return row
}

const countStored = async (at: Desk = desk): Promise<number> => {
  const platform = await openAsOperator(at.file)
  const user = await platform.database.queries.users.byEmail('ada@example.com')
  const counts = []
  for (const kind of ['site', 'store'] as const) {
    counts.push((await platform.database.queries.resources.list(user?.id ?? '', kind, '', 1_000_000)).length)
  }
  await platform.database.close()
  return counts.reduce((sum, count) => sum + count, 0)
}

test('lines create or update resources; a wrong one is named, and nothing is stored', async () => {
  const lines = [site('upsert'), site('upsert', { kind: 'store' })]
  expect(await importLines(desk, lines)).toMatchObject({ created: 2, updated: 0 })
  const renamed = site('upsert', { name: 'Renamed', status: 'archived' })
  expect(await importLines(desk, [renamed, site('upsert-2')])).toMatchObject({ created: 1, updated: 1 })
  expect(await stored('site', 'upsert')).toMatchObject({ name: 'Renamed', status: 'archived', publishedAt: null })
  const stdin = `${JSON.stringify(site('new'))}\n\n[]\n`
  const { exitCode, stdout, stderr } = await desk.run(['resource', 'import', '-', '--json'], { stdin })
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'error: Line 3: This is not a JSON object.\n' })
  failureIn({ stdout, stderr })
  expect(await stored('site', 'new')).toBeNull()
})

test('a missing file and a folder are refused by name', async () => {
  for (const path of [join(desk.folder, 'none.jsonl'), desk.folder]) {
    const { exitCode, stdout, stderr } = await desk.run(['resource', 'import', path, '--json'])
    expect({ exitCode, code: failureIn({ stdout, stderr }) }).toEqual({ exitCode: 1, code: 'command_failed' })
    expect(stderr).toContain(path)
  }
})

const manyLines = (count: number) =>
  Array.from({ length: count }, (_, index) => JSON.stringify(site(`many-${index}`))).join('\n')

test('during an import of 20,000 lines a running server still reads, and writes succeed or get 503', async () => {
  const large = await openDesk()
  await addUser(large)
  await addApp(large)
  const { clientId, clientSecret } = await addCredential(large)
  const file = join(large.folder, 'many.jsonl')
  await Bun.write(file, manyLines(20_000))
  const server = await startServer({ database: large.file })
  const issue = async () =>
    await call(server.url, 'POST', '/token', { body: { clientId, clientSecret, scope: 'site:read' } })
  const token = (await issue()).body.accessToken
  const progress = { ended: false }
  const importing = large.json(['resource', 'import', file]).finally(() => (progress.ended = true))
  while (!progress.ended) {
    const [read, written] = await Promise.all([call(server.url, 'GET', '/me', { token }), issue()])
    expect(read.status).toBe(200)
    if (written.status !== 200) expect([written.status, written.headers.get('retry-after')]).toEqual([503, '1'])
  }
  expect(await importing).toMatchObject({ created: 20_000, updated: 0 })
  expect((await issue()).status).toBe(200)
  expect(await server.stop()).toBe(0)
  expect(await countStored(large)).toBe(20_000)
})

test('a killed import has stored everything or nothing', async () => {
  const large = await openDesk()
  await addUser(large)
  const file = join(large.folder, 'many.jsonl')
  await Bun.write(file, manyLines(30_000))
  for (const waitMs of [150, 400, 600]) {
    const words = [...programCommand, 'resource', 'import', file, '--database', await databaseOf(large.file)]
    const child = Bun.spawn(words, { stdout: 'ignore', stderr: 'ignore' })
    await Bun.sleep(waitMs)
    child.kill('SIGKILL')
    await child.exited
    expect([0, 30_000]).toContain(await countStored(large))
  }
  expect((await large.run(['check'])).exitCode).toBe(0)
})

test('--prune removes what has an external ID and is not in the file', async () => {
  const kept = { ...site('kept'), externalId: 'kept' }
  await importLines(desk, [kept, { ...site('pruned'), externalId: 'pruned' }, site('own')])
  const file = join(desk.folder, 'kept.jsonl')
  await Bun.write(file, JSON.stringify(kept))
  expect(await desk.json(['resource', 'import', file, '--prune'])).toMatchObject({ updated: 0, removed: 1 })
  expect([await stored('site', 'pruned'), (await stored('site', 'own'))?.name]).toEqual([null, 'A site'])
  await Bun.write(file, '\n')
  const { exitCode, stderr } = await desk.run(['resource', 'import', file, '--prune', '--json'])
  expect([exitCode, stderr]).toEqual([1, 'error: The file is empty: with prune, it would remove everything.\n'])
})

test('--prune takes no pipe, whose writer may have died before the end', async () => {
  const lines = ['a', 'b'].map((slug) => site(slug, { externalId: slug }))
  await importLines(desk, lines)
  const file = join(desk.folder, 'cut.jsonl')
  await Bun.write(file, lines.map((line) => JSON.stringify(line)).join('\n'))
  for (const source of ['-', '/dev/stdin']) {
    const words = [
      ...programCommand,
      'resource',
      'import',
      source,
      '--prune',
      '--database',
      await databaseOf(desk.file),
    ]
    const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', 'head -n 1 "$0" | "$@"', file, ...words])
    expect([exitCode, stderr.toString()]).toEqual([1, expect.stringMatching(/^error: --prune needs a file: in a pipe/)])
  }
  expect(await stored('site', 'b')).not.toBeNull()
})
