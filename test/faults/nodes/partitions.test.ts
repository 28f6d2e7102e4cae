import { expect } from 'bun:test'
import { call } from '../../support/call.ts'
import { eventually, together } from '../../support/crash.ts'
import { needs } from '../../support/needs.ts'
import { createNodes, endNodes, startLine, startNode } from '../../support/nodes.ts'
import { postgresDatabase } from '../../support/postgres.ts'
import { isLong, patience, rounds } from '../../support/proof.ts'
import { appToken, grantTokens, type World } from '../../support/world.ts'

const { test } = needs('postgres')

/** How long a read may take that is refused. Promised are 2 s; a busy machine makes them longer. */
const longestRefusalMs = isLong ? 2_500 : 8_000

const read = async ({ server }: World, token: string) => {
  const began = performance.now()
  const { status, headers } = await call(server.url, 'GET', '/oauth/me', { token })
  return { status, retries: headers.has('retry-after'), tookMs: performance.now() - began }
}
const statusAt = async (world: World, token: string): Promise<number> => (await read(world, token)).status

test(
  'a server that cannot reach the primary refuses reads soon, shows nothing revoked elsewhere as live, and recovers',
  async () => {
    const database = await postgresDatabase('partitions')
    const nodes = await createNodes(database, 1)
    const [near] = nodes
    if (near === undefined) throw new Error('no server')
    const line = await startLine(database)
    const far = await startNode({ ...near, server: { ...near.server, database: line.url } })
    const slowest: number[] = []
    for (let round = 0; round < rounds(1); round += 1) {
      const [kept, doomed] = [await grantTokens(near), await grantTokens(near)]
      const app = await appToken(far.server.url, near.app.development)
      for (const { accessToken } of [kept, doomed]) expect(await statusAt(far, accessToken)).toBe(200)

      line.cut()
      const body = { ...near.app.development, token: doomed.refreshToken }
      expect((await call(near.server.url, 'POST', '/oauth/revoke', { body })).status).toBe(200)
      // Some arrive while the server does not know yet that it is alone, others later.
      const answers = await together(40, async (index) => {
        await Bun.sleep(index * 100)
        return await read(far, index % 2 === 0 ? kept.accessToken : doomed.accessToken)
      })
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
      expect(answers.filter(({ retries }) => !retries)).toEqual([])
      const longest = Math.max(...answers.map(({ tookMs }) => tookMs))
      slowest.push(longest)
      expect(longest).toBeLessThan(longestRefusalMs)
      expect((await call(far.server.url, 'GET', '~/healthz')).status).toBe(200)
      const ready = await call(far.server.url, 'GET', '~/readyz')
      expect([ready.status, ready.body.error.details]).toEqual([503, { conditions: ['database_unreachable'] }])
      expect(await statusAt(near, kept.accessToken)).toBe(200)

      line.heal()
      const statusFar = async () => await statusAt(far, kept.accessToken)
      expect(await eventually(statusFar, (status) => status === 200)).toBe(200)
      expect(await statusAt(far, doomed.accessToken)).toBe(401)
      expect((await call(far.server.url, 'GET', '/me', { token: app })).status).toBe(200)
      expect(await appToken(far.server.url, near.app.development)).toStartWith('apat_')
      expect((await call(far.server.url, 'GET', '~/readyz')).status).toBe(200)
    }
    if (isLong) console.log(`partitions: reads were refused after ${Math.round(Math.max(...slowest))} ms at most`)
    await far.server.stop()
    line.stop()
    await endNodes(nodes)
  },
  patience,
)
