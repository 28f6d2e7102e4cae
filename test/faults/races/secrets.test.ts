import { describe, expect } from 'bun:test'
import {
  createCredential,
  revokeCredential,
  rotateCredential,
  listCredentials,
} from '../../../src/operations/credentials/credentials.ts'
import { together } from '../../support/crash.ts'
import { openAsOperator, operator, trace } from '../../support/operator.ts'
import { addOwnedApp, openArena, race } from './support.ts'

const arena = openArena()

describe('client secrets', () => {
  race(
    '200 parallel creates and rotations by several operators never leave three live, and each answer stays true',
    async (round) => {
      const { platform: first, server } = arena.world
      const app = await addOwnedApp(arena)
      const { clientId } = app.development
      const beside = await together(3, async () => await openAsOperator(server.database))
      const operators = [first, ...beside]
      const attempts = await together(200, async (index) => {
        const platform = operators[index % operators.length] ?? first
        const made =
          index % 2 === 0
            ? createCredential(platform, trace, operator, { slug: app.slug, environment: 'development', label: null })
            : rotateCredential(platform, trace, operator, { clientId, graceHours: index % 4 === 1 ? 0 : 24 })
        return await made.then(
          (record) => ({ record, refusal: null }),
          (error: unknown) => ({
            record: null,
            refusal: error instanceof Error && 'code' in error ? error.code : 'other',
          }),
        )
      })
      await Promise.all(beside.map(async ({ database }) => await database.close()))
      await arena.crash(round)

      const made = attempts.flatMap(({ record }) => (record === null ? [] : [record]))
      expect(made.length).toBeGreaterThan(0)
      expect(
        [...new Set(attempts.flatMap(({ refusal }) => refusal ?? []))].filter((code) => code !== 'unavailable'),
      ).toEqual(['too_many_secrets'])
      const listed = (await listCredentials(arena.world.platform, app.slug)).filter((row) => row.clientId === clientId)
      const live = listed.filter(({ status }) => status === 'live').map(({ id }) => id)
      expect(live.length).toBeLessThanOrEqual(2)
      expect(live.length).toBeGreaterThan(0)
      for (const { id, clientSecret } of made) {
        const { status } = await arena.post('/token', { clientId, clientSecret, scope: 'site:read' })
        expect(status).toBe(live.includes(id) ? 200 : 401)
      }
    },
  )

  race(
    'that are revoked during their use leave no live token once the revocation has answered',
    async (round) => {
      const { platform } = arena.world
      const app = await addOwnedApp(arena)
      const [credential] = await listCredentials(platform, app.slug)
      const ask = async () => await arena.post('/token', { ...app.development, scope: 'site:read' })
      const minting = together(20, ask)
      if (round % 2 === 1) await Bun.sleep(round % 10)
      await revokeCredential(platform, trace, operator, credential?.id ?? '')
      const after = await ask()
      const minted = (await minting).filter(({ status }) => status === 200)
      if (round % 10 === 9) await arena.crash(0)

      expect(after.status).toBe(401)
      for (const { body } of minted) expect(await arena.appStatus(body.accessToken)).toBe(401)
    },
    10,
  )
})
