import { expect, test } from 'bun:test'
import { putBuilderResource } from '../../src/operations/resources/resources.ts'
import { putBuilderUser } from '../../src/operations/users/users.ts'
import { importResources } from '../../src/operations/resources/import-resources.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { addUser } from '../support/world.ts'

const platform = await platformOfFile()
const owner = await addUser(platform)

const bytes = (text: string) => new TextEncoder().encode(text)

const events = async () => await auditEvents(platform)

async function* inChunks(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks
}

const importText = async (chunks: Iterable<Uint8Array>, progress: (lines: number) => void = () => undefined) =>
  await importResources(platform, trace, operator, {
    chunks: inChunks(chunks),
    progress,
    isOfBuilder: false,
    prunes: false,
  })

/** Imports one site of the owner and returns what is stored of it. */
const importSite = async (slug: string, stated: Readonly<Record<string, unknown>>) => {
  const site = { owner: owner.email, kind: 'site', name: 'A site', slug, status: 'draft', ...stated }
  await importText([bytes(JSON.stringify(site))])
  return await platform.database.queries.resources.find(owner.id, 'site', slug)
}
const day = (number: number) => new Date(Date.UTC(2026, 0, number)).toISOString()
const dayMs = (number: number) => Date.UTC(2026, 0, number)

test('importing a resource again updates all its fields, and no other resource', async () => {
  const beside = await importSite('beside', { createdAt: day(1), updatedAt: day(2) })
  await importSite('changed', { createdAt: day(1), updatedAt: day(2) })
  const times = { createdAt: day(3), updatedAt: day(4), publishedAt: day(5) }
  expect(await importSite('changed', { ...times, name: 'Renamed', status: 'archived' })).toMatchObject({
    name: 'Renamed',
    status: 'archived',
    createdAt: dayMs(3),
    updatedAt: dayMs(4),
    publishedAt: dayMs(5),
  })
  expect(await platform.database.queries.resources.find(owner.id, 'site', 'beside')).toEqual(beside)
})

test('a resource that a file names twice is refused, and nothing is stored', async () => {
  const line = { owner: owner.email, kind: 'site', slug: 'twice', status: 'draft' }
  const text = ['One', 'Two'].map((name) => JSON.stringify({ ...line, name })).join('\n')
  await expect(importText([bytes(text)])).rejects.toMatchObject({
    facts: { message: 'Line 2: An earlier line is about the same website or store.' },
  })
  expect(await platform.database.queries.resources.find(owner.id, 'site', 'twice')).toBeNull()
})

test('a time that a line omits keeps its value; a draft has no time of publication', async () => {
  const before = Date.now()
  await importSite('kept', { status: 'published', createdAt: day(1), updatedAt: day(2), publishedAt: day(3) })
  const archived = await importSite('kept', { status: 'archived' })
  expect(archived).toMatchObject({ createdAt: dayMs(1), publishedAt: dayMs(3) })
  expect(archived?.updatedAt).toBeGreaterThanOrEqual(before)
  expect((await importSite('kept', { status: 'draft' }))?.publishedAt).toBeNull()
})

test('a resource that is published without a time is published now, whether it is new or not', async () => {
  const before = platform.clock.now()
  expect((await importSite('fresh', { status: 'published' }))?.publishedAt).toBeGreaterThanOrEqual(before)
  expect((await importSite('later', { status: 'archived' }))?.publishedAt).toBeNull()
  expect((await importSite('later', { status: 'published' }))?.publishedAt).toBeGreaterThanOrEqual(before)
})

test('a new resource was created no later than it was changed or published', async () => {
  expect(await importSite('old', { updatedAt: day(2) })).toMatchObject({ createdAt: dayMs(2), publishedAt: null })
  const published = { updatedAt: day(3), status: 'published', publishedAt: day(1) }
  expect((await importSite('published', published))?.createdAt).toBe(dayMs(1))
})

const right = { owner: owner.email, kind: 'site', name: 'A site', slug: 'right', status: 'draft' }
const aTime = 'This must be a time such as 2026-08-01T12:00:00.000Z.'

test.each([
  ['{"owner":', 'This is not a JSON object.'],
  ['[]', 'This is not a JSON object.'],
  ['null', 'This is not a JSON object.'],
  ['{} {}', 'This is not a JSON object.'],
  [Uint8Array.of(0x7b, 0xff, 0x7d), 'This is not UTF-8.'],
  ['{"__proto__":{"owner":"ada@example.com"}}', 'The JSON has a field __proto__, which is not taken here.'],
  [{ owner: undefined }, 'owner: This is missing.'],
  [{ owner: 'nobody@example.com' }, 'owner: There is no user with this address.'],
  [{ name: 7 }, 'name: This must be a string.'],
  [{ slug: 'Bad Slug' }, 'slug: A slug has 1 to 63 characters: a-z, 0-9, and hyphens inside.'],
  [{ kind: 'castle' }, 'kind: This must be site or store.'],
  [{ status: 'live' }, 'status: This must be draft or published or archived.'],
  [{ createdAt: '2026-02-30T00:00:00Z' }, `createdAt: ${aTime}`],
  [{ publishedAt: 1_790_000_000 }, `publishedAt: ${aTime}`],
  [{ createdAt: day(2), updatedAt: day(1) }, 'updatedAt: This is before createdAt.'],
] as const)('a line such as %j is named, and nothing is stored', async (wrong, says) => {
  const line = typeof wrong === 'string' || wrong instanceof Uint8Array ? wrong : JSON.stringify({ ...right, ...wrong })
  const chunks = [bytes(`${JSON.stringify(right)}\n\n`), typeof line === 'string' ? bytes(line) : line, bytes('\n')]
  await expect(importText(chunks)).rejects.toMatchObject({ facts: { param: 'line', message: `Line 3: ${says}` } })
  expect(await platform.database.queries.resources.find(owner.id, 'site', 'right')).toBeNull()
})

test('a byte order mark is allowed only at the start of the file', async () => {
  const line = JSON.stringify({ owner: owner.email, kind: 'site', name: 'A', slug: 'mark', status: 'draft' })
  expect(await importText([bytes(`\ufeff${line}\n`)])).toMatchObject({ created: 1, updated: 0 })
  await expect(importText([bytes(`${line}\n\ufeff${line}\n`)])).rejects.toMatchObject({
    facts: { message: 'Line 2: The JSON has a byte order mark, which is not taken here.' },
  })
})

test('an empty file leaves no event', async () => {
  const before = await events()
  expect(await importText([bytes('\n \n')])).toMatchObject({ created: 0, updated: 0 })
  expect(await events()).toEqual(before)
})

test('a line has at most 64 KiB, and a longer one is not read to its end', async () => {
  const line = JSON.stringify({ owner: owner.email, kind: 'site', name: 'A site', slug: 'long', status: 'draft' })
  const longest = bytes(line.padEnd(64 * 1024))
  const refusal = { facts: { param: 'line', message: 'Line 2: The line is longer than 64 KiB.' } }
  const ended = [bytes('\n'), longest, bytes('\n')]
  expect(await importText(ended)).toMatchObject({ created: 1, updated: 0 })
  await expect(importText([bytes('\n'), longest, bytes(' \n')])).rejects.toMatchObject(refusal)
  let read = 0
  const endless = function* () {
    yield bytes('\n')
    for (; read < 1_000; read += 1) yield longest
  }
  expect(await importText(endless()).catch((error: unknown) => error)).toMatchObject(refusal)
  expect(read).toBe(1)
})

test('progress is reported every thousand lines and at the end', async () => {
  const lines = Array.from({ length: 2_500 }, (_, index) =>
    JSON.stringify({ owner: owner.email, kind: 'store', name: 'One', slug: `told-${index}`, status: 'draft' }),
  )
  const told: number[] = []
  await importText([bytes(lines.join('\n'))], (count) => void told.push(count))
  expect(told).toEqual([1_000, 2_000, 2_500])
})

test('all wrong lines are told, up to twenty, and reading ends there', async () => {
  let read = 0
  const file = function* () {
    for (; read < 1_000; read += 1) yield bytes('{}\n')
  }
  const refusal = await importText(file()).catch((error: unknown) => error)
  expect(refusal).toMatchObject({
    facts: { details: { lines: expect.arrayContaining([expect.objectContaining({ line: 20 })]) } },
  })
  expect(read).toBe(19)
})

test('an import that has ended leaves no staged line', async () => {
  await importSite('left', {})
  await importText([bytes('{}')]).catch(() => undefined)
  expect(
    await platform.database.transaction(async (q) => await q.expiring.remove('staged_resources', Date.UTC(2100), 500)),
  ).toBe(0)
})

const sent = (time: string | null) => (time === null ? null : Date.parse(time))

test('a record that is put and a line that says the same lead to the same times, and none was changed before it was made', async () => {
  const builder = { externalId: 'times', email: 'times@builder.example', name: 'Times', pictureUrl: null }
  await putBuilderUser(platform, trace, operator, { ...builder, status: 'active' })
  const times = [null, '2019-01-01T00:00:00.000Z', '2021-01-01T00:00:00.000Z', '9999-12-31T00:00:00.000Z']
  const stated = times.flatMap((createdAt) => times.map((updatedAt) => ({ createdAt, updatedAt })))
  const isStatable = ({ createdAt, updatedAt }: (typeof stated)[number]) =>
    createdAt === null || updatedAt === null || createdAt <= updatedAt
  const site = { kind: 'site', ownerExternalId: 'times', name: 'A site', status: 'draft' } as const
  let count = 0
  for (const first of stated.filter(isStatable)) {
    for (const second of stated.filter(isStatable)) {
      const [put, imported] = [`put-${(count += 1)}`, `line-${count}`]
      for (const { createdAt, updatedAt } of [first, second]) {
        const record = { ...site, externalId: put, slug: put, createdAt: sent(createdAt), updatedAt: sent(updatedAt) }
        await putBuilderResource(platform, trace, operator, record)
        const given = { ...(createdAt && { createdAt }), ...(updatedAt && { updatedAt }) }
        const line = { ...site, externalId: imported, slug: imported, ...given }
        await importResources(platform, trace, operator, {
          chunks: inChunks([bytes(JSON.stringify(line))]),
          progress: () => undefined,
          isOfBuilder: true,
          prunes: false,
        })
      }
      const [one, other] = await Promise.all(
        [put, imported].map(async (id) => await platform.database.queries.resources.byExternalId('site', id)),
      )
      const isNow = (time: number | undefined) => Math.abs((time ?? 0) - platform.clock.now()) < 60_000
      const shown = (row: typeof one) =>
        [row?.createdAt, row?.updatedAt].map((time) => (isNow(time) ? 'now' : new Date(time ?? 0).toISOString()))
      expect({ first, second, times: shown(one ?? null) }).toEqual({ first, second, times: shown(other ?? null) })
      expect(one?.updatedAt).toBeGreaterThanOrEqual(one?.createdAt ?? Infinity)
      if (second.updatedAt !== null) expect(one?.updatedAt).toBe(Date.parse(second.updatedAt))
    }
  }
  expect(count).toBeGreaterThan(100)
})
