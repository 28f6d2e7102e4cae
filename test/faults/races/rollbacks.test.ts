import { describe, expect } from 'bun:test'
import { listRollbacks } from '../../../src/operations/versions/lists.ts'
import { moveVersion } from '../../../src/operations/versions/move-version.ts'
import { call, type Json } from '../../support/call.ts'
import { tally, together } from '../../support/crash.ts'
import { operator, trace } from '../../support/operator.ts'
import { appToken } from '../../support/world.ts'
import { addOwnedApp, openArena, race } from './support.ts'

const arena = openArena()
const names = ['1.0.0', '1.1.0', '1.2.0', '1.3.0']
/** The answers that a rollback may get during others; `unavailable` comes from an overloaded server. */
const refusals = new Set(['no_previous_version', 'version_already_current', 'version_not_eligible', 'unavailable'])

/** An app of its own whose four versions have all been live, the last one now. */
const freshApp = async () => {
  const app = await addOwnedApp(arena)
  const token = await appToken(arena.world.server.url, app.development)
  const move = async (version: string, step: 'submit' | 'approve' | 'activate') =>
    await moveVersion(arena.world.platform, trace, operator, { slug: app.slug, version, step, rejection: null })
  const create = async (version: string) => {
    await arena.post('/versions', { version }, undefined, token)
    for (const step of ['submit', 'approve'] as const) await move(version, step)
  }
  for (const version of names) {
    await create(version)
    await move(version, 'activate')
  }
  return {
    move,
    create,
    rollBack: async (body: unknown, key?: string) => await arena.post('/versions/rollback', body, key, token),
    list: async () => (await call(arena.world.server.url, 'GET', '/versions', { token })).body,
    ledger: async (environment: string) =>
      (await listRollbacks(arena.world.platform, app.id, { limit: 1_000, cursor: null })).data
        .filter((row) => row.environment === environment)
        .toReversed(),
  }
}

describe('rollbacks', () => {
  for (const environment of ['development', 'production'] as const) {
    race(`200 at once in ${environment} are in the ledger step by step, and one version is current`, async (round) => {
      const { rollBack, list, ledger } = await freshApp()
      const answers = await together(200, async (index) => {
        const target = index % 5 === 4 ? {} : { version: names[index % 4] }
        return await rollBack({ environment, ...target })
      })
      await arena.crash(round)

      const told = answers.filter(({ status }) => status === 200).map(({ body }) => body.rollback)
      const kept = await ledger(environment)
      expect(told.length).toBeGreaterThan(0)
      expect(kept.map(({ id }) => id).toSorted()).toEqual(told.map((row: Json) => row.id).toSorted())
      for (const [index, row] of kept.entries()) {
        expect(row.from).not.toBe(row.to)
        if (index > 0) expect(row.from).toBe(kept[index - 1]?.to ?? '')
      }
      const { current, data } = await list()
      expect(data.find(({ id }: Json) => id === current[environment]).version).toBe(kept.at(-1)?.to)
      const statuses = data.map((version: Json) => version.status).toSorted()
      expect(statuses).toEqual(['active', 'superseded', 'superseded', 'superseded'])
      expect(Object.keys(tally(answers)).filter((kind) => !refusals.has(kind) && kind !== '200')).toEqual([])
    })
  }

  race('200 under one idempotency key are one rollback', async (round) => {
    const { rollBack, list, ledger } = await freshApp()
    const { current, data } = await list()
    const other = data.find((version: Json) => version.id !== current.development)
    const answers = await together(200, async () => await rollBack({ versionId: other.id }, 'roll-back-once'))
    await arena.crash(round)

    expect(Object.keys(tally(answers)).filter((kind) => kind !== '200' && kind !== 'idempotency_in_progress')).toEqual(
      [],
    )
    expect(new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1)
    expect(await ledger('development')).toHaveLength(1)
  })

  race('and activations at once never leave two versions live', async () => {
    const { rollBack, list, create, move } = await freshApp()
    const fresh = ['2.0.0', '2.1.0', '2.2.0']
    for (const version of fresh) await create(version)
    await Promise.all([
      ...fresh.map(async (version) => await move(version, 'activate')),
      ...names.map(async (version) => await rollBack({ environment: 'production', version })),
    ])
    const { data } = await list()

    expect(data.filter((version: Json) => version.status === 'active')).toHaveLength(1)
    expect(data.filter((version: Json) => version.status === 'superseded')).toHaveLength(6)
  })
})
