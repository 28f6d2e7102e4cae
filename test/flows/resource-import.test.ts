import { connect } from 'node:net'
import { beforeAll, expect, test } from 'bun:test'
import { createServiceKey, revokeServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { eraseUser } from '../../src/operations/users/personal-data.ts'
import { eventually } from '../support/crash.ts'
import { auditEvents } from '../support/audit-events.ts'
import { operator, trace } from '../support/operator.ts'
import { installApp } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { send, type Sent } from './support/send.ts'

const world = await worldOfFile()
const { platform, app, user } = world
const { url } = world.server

const newKey = async (rights: readonly string[]) =>
  await createServiceKey(platform, trace, operator, { name: 'Builder', rights, networks: [], expiresInDays: null })
const { secret } = await newKey(['users:write', 'resources:read', 'resources:write'])

const ask = async (method: string, path: string, request: Sent = {}, key = secret) =>
  await send(url, method, `~/api/management${path}`, {
    ...request,
    headers: { Authorization: `Bearer ${key}`, ...request.headers },
  })
const importText = async (text: Sent['body'], query = '', key = secret) =>
  await ask(
    'POST',
    `/resources/import${query}`,
    { body: text ?? '', headers: { 'Content-Type': 'application/x-ndjson' } },
    key,
  )
const importAll = async (lines: readonly object[], query = '') =>
  await importText(lines.map((line) => JSON.stringify(line)).join('\n'), query)

const siteOf = (externalId: string, change: object = {}) => ({
  kind: 'site',
  externalId,
  ownerExternalId: 'one',
  name: `Site ${externalId}`,
  slug: `site-${externalId}`,
  status: 'published',
  ...change,
})
/** What the builder sees, by external ID. */
const stored = async () => {
  const rows: readonly { externalId: string | null }[] = (await ask('GET', '/resources/site?limit=100')).body.data
  return new Map(rows.filter(({ externalId }) => externalId !== null).map((row) => [row.externalId, row]))
}
const eventCount = async () => (await auditEvents(platform)).length

beforeAll(async () => {
  for (const id of ['one', 'two']) {
    const body = JSON.stringify({ email: `${id}@builder.example`, name: id })
    expect((await ask('PUT', `/users/${id}`, { body })).status).toBe(201)
  }
})

test('all lines are stored, and the same file again changes nothing', async () => {
  const file = [siteOf('1'), siteOf('2', { status: 'draft', createdAt: '2026-01-01T00:00:00.000Z' })]
  expect((await importAll(file)).body).toEqual({ created: 2, updated: 0, removed: 0, installs: 0 })
  const before = await stored()
  expect(before.get('2')).toMatchObject({ status: 'draft', createdAt: '2026-01-01T00:00:00.000Z', publishedAt: null })
  const events = await eventCount()
  expect((await importAll(file)).body).toEqual({ created: 0, updated: 0, removed: 0, installs: 0 })
  const said = JSON.stringify(siteOf('3')).slice(0, -1)
  for (const [more, fault] of [
    ['"name":"Another"', 'an object with the same field twice'],
    ['"x":{"y":"\\ud800"}', 'a text with a NUL or half of a surrogate pair'],
    ['"x":-1e999', 'a number that no double can hold'],
  ]) {
    const strict = await importText(`${said},${more}}`)
    expect(strict.body.error.message).toBe(`Line 1: The JSON has ${fault}, which is not taken here.`)
  }
  expect([await stored(), await eventCount()]).toEqual([before, events])
})

test('a changed line changes its website alone, and two may exchange their slugs', async () => {
  const changed = [siteOf('1', { slug: 'site-2', name: 'Renamed' }), siteOf('2', { slug: 'site-1', status: 'draft' })]
  expect((await importAll(changed)).body).toMatchObject({ created: 0, updated: 2 })
  const rows = await stored()
  expect([rows.get('1'), rows.get('2')]).toMatchObject([{ slug: 'site-2', name: 'Renamed' }, { slug: 'site-1' }])
  expect((await importAll([siteOf('1'), siteOf('2', { status: 'draft' })])).body).toMatchObject({ updated: 2 })
})

test('wrong lines are named by number, and nothing is stored', async () => {
  const before = await stored()
  const events = await eventCount()
  const cases: readonly (readonly [readonly object[], string])[] = [
    [[siteOf('3'), siteOf('4', { kind: 'blog' })], 'Line 2: kind: This must be site or store.'],
    [
      [siteOf('3'), siteOf('4', { ownerExternalId: 'nobody' })],
      'Line 2: ownerExternalId: There is no user with this external ID.',
    ],
    [[siteOf('3'), siteOf('3', { slug: 'other' })], 'Line 2: An earlier line is about the same website or store.'],
    [[siteOf('3'), siteOf('4', { slug: 'site-3' })], 'Line 2: An earlier line is about the same website or store.'],
    [[siteOf('3', { slug: 'site-1' })], 'Line 1: slug: Another website or store of the owner has it.'],
    [[{ ...siteOf('3'), externalId: undefined }], 'Line 1: externalId: This is missing.'],
  ]
  for (const [lines, message] of cases) {
    const answer = await importAll(lines)
    expectRefusal(answer, 'invalid_request', 'line')
    expect(answer.body.error.message).toBe(message)
  }
  const many = await importText(`${JSON.stringify(siteOf('3'))}\n\n{\n7\n`)
  expect(many.body.error.message).toBe('Line 3: This is not a JSON object. 1 more: line 4.')
  expect(many.body.error.details.lines).toEqual([3, 4].map((line) => ({ line, message: 'This is not a JSON object.' })))
  expect([await stored(), await eventCount()]).toEqual([before, events])
})

test('with prune, what is not in the file is removed, and its installs end; what the builder did not send stays', async () => {
  const known = await ask('GET', '/resources/site?limit=100')
  const foreign = known.body.data.find((row: { slug: string }) => row.slug === 'my-site')
  expect(foreign.externalId).toBeNull()
  await platform.database.transaction(
    async (q) => await q.users.change(user.id, { externalId: 'w' }, platform.clock.now()),
  )
  const mine = siteOf('mine', { ownerExternalId: 'w', slug: 'my-site', name: foreign.name })
  expect((await importAll([mine])).body).toMatchObject({ created: 0, updated: 1 })
  expect((await importAll([siteOf('1')], '?prune=true')).body).toEqual({
    created: 0,
    updated: 0,
    removed: 2,
    installs: 1,
  })
  expect([...(await stored()).keys()]).toEqual(['1'])
  const actions = (await auditEvents(platform)).slice(-2).map(({ action }) => action)
  expect(actions.toSorted()).toEqual(['install.deactivated', 'resources.imported'])
})

test('a change of owner ends the installs', async () => {
  await importAll([siteOf('1'), siteOf('5', { ownerExternalId: 'w', slug: 'my-site' })])
  await installApp(platform, app, user)
  expect((await importAll([siteOf('5', { slug: 'my-site' })])).body).toMatchObject({ updated: 1, installs: 1 })
})

test('an empty file with prune is refused, because it would remove everything', async () => {
  const before = await stored()
  for (const text of ['', '\n\n']) expectRefusal(await importText(text, '?prune=true'), 'invalid_request', 'line')
  expect((await importText('\n')).body).toMatchObject({ created: 0, removed: 0 })
  expectRefusal(await importAll([siteOf('1')], '?prune=yes'), 'invalid_request', 'prune')
  expect(await stored()).toEqual(before)
})

test('only JSON lines in UTF-8 are read, and no line above 64 KiB', async () => {
  const wrong = await ask('POST', '/resources/import', { body: '{}' })
  expectRefusal(wrong, 'unsupported_media_type')
  const packed = { 'Content-Type': 'application/x-ndjson', 'Content-Encoding': 'gzip' }
  expectRefusal(await ask('POST', '/resources/import', { body: '', headers: packed }), 'unsupported_media_type')
  const line = JSON.stringify(siteOf('6'))
  expect((await importText(line.padEnd(65 * 1024))).body.error.message).toBe('Line 1: The line is longer than 64 KiB.')
  expect((await importText(Uint8Array.of(0x22, 0xff, 0x22))).body.error.message).toBe('Line 1: This is not UTF-8.')
})

test('a key without the right, or revoked while the lines arrive, changes nothing', async () => {
  const before = await stored()
  expectRefusal(
    await importText(JSON.stringify(siteOf('7')), '', (await newKey(['resources:read'])).secret),
    'right_missing',
  )
  const key = await newKey(['resources:write'])
  const started = Promise.withResolvers<void>()
  const revoked = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      controller.enqueue(new TextEncoder().encode(`${JSON.stringify(siteOf('7'))}\n`))
      started.resolve()
      await revoked.promise
      controller.close()
    },
  })
  const sending = importText(body, '', key.secret)
  await started.promise
  await revokeServiceKey(platform, trace, operator, key.id)
  revoked.resolve()
  expectRefusal(await sending, 'invalid_token')
  expect(await stored()).toEqual(before)
})

test('an owner who was erased meanwhile gets nothing', async () => {
  const started = Promise.withResolvers<void>()
  const erased = Promise.withResolvers<void>()
  const lines = Array.from({ length: 600 }, (_, index) =>
    JSON.stringify(siteOf(`e${index}`, { ownerExternalId: 'two' })),
  )
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      controller.enqueue(new TextEncoder().encode(`${lines.join('\n')}\n`))
      started.resolve()
      await erased.promise
      controller.close()
    },
  })
  const sending = importText(body)
  await started.promise
  await eraseUser(platform, trace, operator, { externalId: 'two' })
  erased.resolve()
  const answer = await sending
  expect(answer.status).toBe(400)
  expect(answer.body.error.message).toMatch(/^Line \d+: (?:The owner has been erased|ownerExternalId)/)
})

/** The lines of imports in the store. They are counted as they are removed, by a transaction that fails. */
const stagedLines = async (): Promise<number> => {
  let lines = 0
  const counting = platform.database.transaction(async (q) => {
    lines = await q.expiring.remove('staged_resources', Date.UTC(2100), 1_000)
    throw new Error('only counted')
  })
  await expect(counting).rejects.toThrow('only counted')
  return lines
}
/** More than are stored at a time, so that some are in the store before the last has arrived. */
const manyLines = Array.from({ length: 600 }, (_, index) => JSON.stringify(siteOf(`m${index}`))).join('\n')

test('an import that is refused leaves no line in the store: for a line by itself, in the merge, or because its key was revoked', async () => {
  const before = await stored()
  expectRefusal(await importText(`${manyLines}\n{}`), 'invalid_request', 'line')
  expect(await stagedLines()).toBe(0)
  expectRefusal(await importText(`${manyLines}\n${JSON.stringify(siteOf('m0'))}`), 'invalid_request', 'line')
  expect(await stagedLines()).toBe(0)

  const key = await newKey(['resources:write'])
  const revoked = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: async (controller) => {
      controller.enqueue(new TextEncoder().encode(`${manyLines}\n`))
      await revoked.promise
      controller.close()
    },
  })
  const sending = importText(body, '', key.secret)
  await eventually(stagedLines, (lines) => lines > 0)
  await revokeServiceKey(platform, trace, operator, key.id)
  revoked.resolve()
  expectRefusal(await sending, 'invalid_token')
  expect(await stagedLines()).toBe(0)
  expect(await stored()).toEqual(before)
})

const importsAnswered = () => world.server.log().split('"route":"/api/management/resources/import"').length

/** Sends a request whose body stops after its first line, leaves, and waits for the server to have noticed. */
const leaveMidway = async (framing: string, line: string): Promise<void> => {
  const { hostname, port } = new URL(url)
  const before = importsAnswered()
  const head = [
    'POST /api/management/resources/import?prune=true HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `Authorization: Bearer ${secret}`,
    'Content-Type: application/x-ndjson',
    framing,
  ]
  const socket = connect(Number(port), hostname, () => {
    const part = framing.startsWith('Transfer') ? `${line.length.toString(16)}\r\n${line}\r\n` : line
    socket.end(`${head.join('\r\n')}\r\n\r\n${part}`)
  })
  await eventually(
    async () => importsAnswered(),
    (answered) => answered > before,
  )
  socket.destroy()
}

test.each(['Content-Length: 1000000', 'Transfer-Encoding: chunked'])(
  'a file that ends in the middle, because its sender leaves, removes nothing and leaves no line in the store (%s)',
  async (framing) => {
    await importAll([siteOf('k1'), siteOf('k2')])
    const before = await stored()
    await leaveMidway(framing, `${JSON.stringify(siteOf('k1'))}\n${manyLines}\n`)
    expect([await stored(), await stagedLines()]).toEqual([before, 0])
  },
)
