import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { call } from '../support/call.ts'
import { openAsOperator } from '../support/operator.ts'
import { databaseOf } from '../support/postgres.ts'
import { programCommand } from '../support/program.ts'
import { startServer } from '../support/running-server.ts'
import { addApp, addCredential, addUser, type Desk, failureIn, importLines, openDesk, runHere } from './support/run.ts'

let desk: Desk
let ownerId: string
beforeAll(async () => {
  desk = await openDesk(runHere)
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

test('lines create or update resources, identified by owner, kind and slug', async () => {
  expect(await importLines(desk, [site('upsert'), site('upsert', { kind: 'store' })])).toMatchObject({
    created: 2,
    updated: 0,
  })
  const again = [site('upsert', { name: 'Renamed', status: 'archived' }), site('upsert-2')]
  expect(await importLines(desk, again)).toMatchObject({ created: 1, updated: 1 })
  expect(await stored('site', 'upsert')).toMatchObject({ name: 'Renamed', status: 'archived', publishedAt: null })
  expect(await stored('store', 'upsert')).toMatchObject({ name: 'A site', status: 'draft' })
})

test('published without a time means now, and an earlier publication time is kept', async () => {
  const before = Date.now()
  await importLines(desk, [site('fresh', { status: 'published' })])
  const first = (await stored('site', 'fresh'))?.publishedAt ?? 0
  expect(first).toBeGreaterThanOrEqual(before)
  expect(first).toBeLessThanOrEqual(Date.now())
  await importLines(desk, [site('fresh', { status: 'published', name: 'Again' })])
  expect(await stored('site', 'fresh')).toMatchObject({ name: 'Again', publishedAt: first })
})

test('given times are kept, with any offset; null counts as not given', async () => {
  const times = { createdAt: '2026-01-02T03:04:05+01:00', updatedAt: '2026-01-03T00:00:00Z', publishedAt: null }
  await importLines(desk, [site('times', { ...times, status: 'published' })])
  const row = await stored('site', 'times')
  expect(row?.createdAt).toBe(Date.UTC(2026, 0, 2, 2, 4, 5))
  expect(row?.updatedAt).toBe(Date.UTC(2026, 0, 3))
  expect(row?.publishedAt).toBeGreaterThan(Date.UTC(2026, 0, 3))
})

const redSite = (slug: string) => JSON.stringify(site(slug, { colour: 'red' }))

test('blank lines, a byte order mark, CRLF, a missing last line end and unknown fields are accepted', async () => {
  const text = `\ufeff${redSite('bom')}\r\n\r\n   \n{"constructor":{"a":1},${redSite('proto').slice(1)}\n${redSite('last')}`
  expect(await desk.json(['resource', 'import', '-'], { stdin: text })).toEqual({
    created: 3,
    updated: 0,
    removed: 0,
    installs: 0,
  })
})

const wrongLines: readonly (readonly [name: string, line: string | Uint8Array, says: string])[] = [
  ['no JSON', '{"owner":', 'This is not a JSON object.'],
  ['an array', '[]', 'This is not a JSON object.'],
  ['null', 'null', 'This is not a JSON object.'],
  ['two values', '{} {}', 'This is not a JSON object.'],
  ['not UTF-8', Uint8Array.from([0x7b, 0xff, 0x7d]), 'This is not UTF-8.'],
  ['too long', JSON.stringify(site('x', { name: 'n'.repeat(70_000) })), 'The line is longer than 64 KiB.'],
  ['no owner', JSON.stringify(site('x', { owner: undefined })), 'owner: This is missing.'],
  ['an owner by inheritance', '{"__proto__":{"owner":"ada@example.com"},"kind":"site"}', 'The JSON has a field __proto__, which is not taken here.'],
  ['an unknown owner', JSON.stringify(site('x', { owner: 'nobody@example.com' })), 'owner: There is no user with this address.'],
  ['a number for a name', JSON.stringify(site('x', { name: 7 })), 'name: This must be a string.'],
  ['a bad slug', JSON.stringify(site('Bad Slug')), 'slug: A slug has 1 to 63 characters: a-z, 0-9, and hyphens inside.'],
  ['an unknown kind', JSON.stringify(site('x', { kind: 'website' })), 'kind: This must be site or store.'],
  ['an unknown status', JSON.stringify(site('x', { status: 'live' })), 'status: This must be draft or published or archived.'],
  ['a day that does not exist', JSON.stringify(site('x', { createdAt: '2026-02-30T00:00:00Z' })), 'createdAt: This must be a time such as 2026-08-01T12:00:00.000Z.'],
  ['a number for a time', JSON.stringify(site('x', { publishedAt: 1_790_000_000 })), 'publishedAt: This must be a time such as 2026-08-01T12:00:00.000Z.'],
  ['times in the wrong order', JSON.stringify(site('x', { createdAt: '2026-02-02T00:00:00Z', updatedAt: '2026-02-01T00:00:00Z' })), 'updatedAt: This is before createdAt.'],
] // prettier-ignore

for (const [name, line, says] of wrongLines) {
  test(`a line with ${name} is named, and nothing is stored`, async () => {
    const before = await countStored()
    const stdin = Buffer.concat([
      Buffer.from(`${JSON.stringify(site(`new-${before}`))}\n\n`),
      Buffer.from(line),
      Buffer.from('\n'),
    ])
    const { exitCode, stdout, stderr } = await desk.run(['resource', 'import', '-', '--json'], { stdin })
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: `error: Line 3: ${says}\n` })
    failureIn({ stdout, stderr })
    expect(await countStored()).toBe(before)
  })
}

test('an empty file changes nothing and exits 0', async () => {
  expect(await importLines(desk, [])).toEqual({ created: 0, updated: 0, removed: 0, installs: 0 })
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

test('during an import of 100,000 lines a running server still reads, and writes succeed or get 503', async () => {
  const large = await openDesk(runHere)
  await addUser(large)
  await addApp(large)
  const { clientId, clientSecret } = await addCredential(large)
  const file = join(large.folder, 'many.jsonl')
  await Bun.write(file, manyLines(100_000))
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
  expect(await importing).toMatchObject({ created: 100_000, updated: 0 })
  expect((await issue()).status).toBe(200)
  expect(await server.stop()).toBe(0)
  expect(await countStored(large)).toBe(100_000)
})

test('a killed import has stored everything or nothing', async () => {
  const large = await openDesk(runHere)
  await addUser(large)
  const file = join(large.folder, 'many.jsonl')
  await Bun.write(file, manyLines(30_000))
  for (const waitMs of [150, 300, 400, 450, 500, 550, 600, 650, 700, 800]) {
    const words = [...programCommand, 'resource', 'import', file, '--database', await databaseOf(large.file)]
    const child = Bun.spawn(words, { stdout: 'ignore', stderr: 'ignore' })
    await Bun.sleep(waitMs)
    child.kill('SIGKILL')
    await child.exited
    expect([0, 30_000]).toContain(await countStored(large))
  }
  expect((await large.run(['check'])).exitCode).toBe(0)
})

test('an import is one audit event', async () => {
  const lone = await openDesk(runHere)
  await addUser(lone)
  await importLines(lone, [site('a'), site('b')])
  const { data } = await lone.json(['audit', 'list'])
  expect(data.at(-1)).toMatchObject({
    action: 'resources.imported',
    outcome: 'done',
    detail: { created: 2, updated: 0 },
  })
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
