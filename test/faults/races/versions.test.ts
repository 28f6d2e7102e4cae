import { describe, expect, test } from 'bun:test'
import { moveVersion } from '../../../src/operations/versions/move-version.ts'
import { tally, together } from '../../support/crash.ts'
import { openAsOperator, operator, trace } from '../../support/operator.ts'
import { isLong } from '../../support/proof.ts'
import { appToken } from '../../support/world.ts'
import { addOwnedApp, openArena, race } from './support.ts'

const arena = openArena()

/** An app of its own, so that its versions are those of one race. */
const freshApp = async () => {
  const { platform, server } = arena.world
  const app = await addOwnedApp(arena)
  const token = await appToken(server.url, app.development)
  return {
    ...app,
    upload: async (version: string, key?: string, more: Record<string, unknown> = {}) =>
      await arena.post('/versions', { version, ...more }, key, token),
    rows: async () => await platform.database.queries.versions.list(app.id, null, Number.MAX_SAFE_INTEGER, 500),
  }
}

describe('versions', () => {
  race(
    '200 parallel creates of one version make one row whose revision counts them all, also after a crash',
    async (round) => {
      const { upload, rows } = await freshApp()
      const answers = await together(200, async (index) => await upload('1.0.0', undefined, { notes: `note ${index}` }))
      await arena.crash(round)

      expect(tally(answers)).toEqual({ '201': 1, '200': 199 })
      const revisions = answers.map(({ body }) => body.revision).toSorted((a, b) => a - b)
      expect(revisions).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
      const found = await rows()
      expect(found.map(({ number, revision, status }) => ({ number, revision, status }))).toEqual([
        { number: 1, revision: 200, status: 'draft' },
      ])
      const last = answers.find(({ body }) => body.revision === 200)
      expect(found[0]?.notes).toBe(last?.body.notes)
    },
  )

  race('200 parallel creates of different versions get 200 different numbers without a gap', async () => {
    const app = await freshApp()
    const answers = await together(200, async (index) => await app.upload(`2.${index}.0`))

    expect(tally(answers)).toEqual({ '201': 200 })
    const numbers = answers.map(({ body }) => body.number).toSorted((a, b) => a - b)
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
    const head = (await arena.world.platform.database.queries.apps.byId(app.id))?.developmentVersionId
    expect((await app.rows())[0]?.id).toBe(head ?? 'none')
  })

  race('200 parallel creates under one idempotency key create one version, also after a crash', async (round) => {
    const { upload, rows } = await freshApp()
    const answers = await together(200, async () => await upload('3.0.0', 'create-once'))
    await arena.crash(round)

    const counts = tally(answers)
    expect(Object.keys(counts).filter((kind) => kind !== '201' && kind !== 'idempotency_in_progress')).toEqual([])
    const again = await upload('3.0.0', 'create-once')
    expect(again.status).toBe(201)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const bodies = answers.filter(({ status }) => status === 201).map(({ text }) => text)
    expect(bodies.length).toBeGreaterThan(0)
    expect(new Set([...bodies, again.text]).size).toBe(1)
    expect((await rows()).map(({ version, revision }) => ({ version, revision }))).toEqual([
      { version: '3.0.0', revision: 1 },
    ])
  })

  race(
    'one idempotency key with two bodies, 200 times at once, has one effect, and the other body is refused',
    async () => {
      const { upload, rows } = await freshApp()
      const answers = await together(200, async (index) => await upload(`4.${index % 2}.0`, 'two-bodies'))
      const retried = [await upload('4.0.0', 'two-bodies'), await upload('4.1.0', 'two-bodies')]

      expect(tally(retried)).toEqual({ '201': 1, idempotency_key_reused: 1 })
      expect(tally(answers)['200']).toBeUndefined()
      expect(await rows()).toHaveLength(1)
    },
  )

  test('one artifact uploaded 10 times at once is stored once and completely, also after a crash', async () => {
    const { upload } = await freshApp()
    const bytes = Buffer.alloc(700_000, 'artifact')
    const artifact = { filename: 'app.zip', contentBase64: bytes.toString('base64') }
    const answers = await together(10, async (index) => await upload(`6.${index}.0`, undefined, { artifact }))
    await arena.crash(0)

    expect(tally(answers)).toEqual({ '201': 10 })
    const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest()
    const { artifacts } = arena.world.platform.database.queries
    const chunks: Uint8Array[] = []
    for (;;) {
      const chunk = await artifacts.chunk(sha256, chunks.length)
      if (chunk === null) break
      chunks.push(chunk.data)
    }
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
    expect((await artifacts.find(sha256))?.sizeBytes).toBe(bytes.length)
  })

  race(
    'creates during a submission never change what was submitted',
    async () => {
      const { slug, upload, rows } = await freshApp()
      await upload('5.0.0', undefined, { notes: 'first' })
      const move = { slug, version: '5.0.0', step: 'submit', rejection: null } as const
      const [submitted, ...answers] = await Promise.all([
        moveVersion(arena.world.platform, trace, operator, move),
        ...Array.from(
          { length: isLong ? 200 : 20 },
          async (_, index) => await upload('5.0.0', undefined, { notes: `late ${index}` }),
        ),
      ])
      const [kept] = await rows()

      expect(kept?.status).toBe('submitted')
      expect({ notes: kept?.notes, revision: kept?.revision }).toEqual({
        notes: submitted.notes,
        revision: submitted.revision,
      })
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(submitted.revision - 1)
      expect(Object.keys(tally(answers)).filter((kind) => kind !== '200' && kind !== 'version_locked')).toEqual([])
    },
    8,
  )

  race(
    'a version submitted 200 times at once by several operators is submitted once, also after a crash',
    async (round) => {
      const { id, slug, upload, rows } = await freshApp()
      await upload('7.0.0')
      const beside = await together(3, async () => await openAsOperator(arena.world.server.database))
      const operators = [arena.world.platform, ...beside]
      const move = { slug, version: '7.0.0', step: 'submit', rejection: null } as const
      const ends = await together(
        200,
        async (index) =>
          await moveVersion(operators[index % operators.length] ?? arena.world.platform, trace, operator, move).then(
            () => 'submitted',
            (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'other'),
          ),
      )
      await Promise.all(beside.map(async ({ database }) => await database.close()))
      await arena.crash(round)

      expect(ends.filter((end) => end === 'submitted')).toHaveLength(1)
      const lawful = new Set(['submitted', 'version_not_eligible', 'unavailable']) // another process was writing for long
      expect(ends.filter((end) => !lawful.has(end))).toEqual([])
      expect((await rows()).map(({ status }) => status)).toEqual(['submitted'])
      const events = await arena.world.platform.database.queries.audit.list({ appId: id, since: 0, limit: 1_000 })
      expect(events.filter(({ action }) => action === 'version.submitted')).toHaveLength(1)
    },
  )
})
