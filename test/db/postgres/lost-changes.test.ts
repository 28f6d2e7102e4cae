import { expect } from 'bun:test'
import { postgresMigrations } from '../../../db/migrations/index.ts'
import { migratePostgres } from '../../../db/postgres/commands.ts'
import { askPostgres } from '../../support/beside.ts'
import { call } from '../../support/call.ts'
import { eventually } from '../../support/crash.ts'
import { needs } from '../../support/needs.ts'
import { createNodes, until } from '../../support/nodes.ts'
import { type Cluster, startPair } from '../../support/postgres.ts'
import { runProgram } from '../../support/run-program.ts'
import { startServer } from '../../support/running-server.ts'
import { appToken, grantTokens } from '../../support/world.ts'

const { afterAll, beforeAll, test } = needs('postgres')

let pair: { readonly primary: Cluster; readonly standby: Cluster; readonly url: string }
let isPrimaryUp = true
beforeAll(async () => {
  pair = await startPair()
  await migratePostgres(pair.url, postgresMigrations)
})
afterAll(() => {
  if (isPrimaryUp) pair.primary.stop()
  pair.standby.stop()
})

const configure = async (cluster: Cluster, setting: string) => {
  await askPostgres(cluster.url('apps'), `ALTER SYSTEM SET ${setting} = ''`, [])
  await askPostgres(cluster.url('apps'), 'SELECT pg_reload_conf()', [])
}
const isWarned = (metrics: string) => metrics.includes('condition{name="no_synchronous_standby"} 1')
const remedy = 'lacks changes that were acknowledged: stop all servers and run app-platform recover --accept-loss.'

test('after a failover that lost changes no server serves, also none that was restarted, until the operator has ended everything', async () => {
  const [one, two] = await createNodes(pair.url, 2)
  if (one === undefined || two === undefined) throw new Error('no server')
  const { accessToken, refreshToken } = await grantTokens(one)
  // From here on the standby receives nothing, and nobody waits for it.
  await configure(pair.primary, 'synchronous_standby_names')
  await configure(pair.standby, 'primary_conninfo')
  const receivers = async () => await askPostgres(pair.standby.url('apps'), 'SELECT 1 FROM pg_stat_wal_receiver', [])
  expect(await eventually(receivers, (rows) => rows.length === 0)).toEqual([])
  for (const { server } of [one, two]) {
    const metrics = async () => await (await fetch(`${server.url}/metrics`)).text()
    expect(isWarned(await eventually(metrics, isWarned))).toBe(true)
  }
  const body = { ...one.app.development, token: refreshToken }
  expect((await call(one.server.url, 'POST', '/oauth/revoke', { body })).status).toBe(200)

  pair.primary.stop()
  isPrimaryUp = false
  pair.standby.promote()
  const statuses: number[] = []
  const asking = (async () => {
    for (const ended = one.server.ended; ; await Bun.sleep(20)) {
      if ((await Promise.race([ended, Bun.sleep(0)])) !== undefined) return
      const answer = await call(two.server.url, 'GET', '/oauth/me', { token: accessToken }).catch(() => null)
      if (answer !== null) statuses.push(answer.status)
    }
  })()
  const codes = await Promise.all([one, two].map(async ({ server }) => await server.ended))
  await asking
  expect(codes).toEqual([1, 1])
  expect(new Set(statuses.filter((status) => status !== 503))).toEqual(new Set())
  for (const { server } of [one, two]) expect(server.log()).toContain(remedy)

  await expect(startServer({ database: pair.url, ownProcess: true })).rejects.toThrow(remedy)
  for (const command of ['check', 'migrate', 'user list']) {
    const ran = await runProgram([...command.split(' '), '--database', pair.url])
    expect(ran).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(remedy) })
  }
  // The last heartbeats are of a moment ago.
  const recovered = await until(async () => {
    const ran = await runProgram(['recover', '--accept-loss', '--database', pair.url])
    return ran.code === 0 ? ran : null
  })
  expect(recovered.stdout).toContain('Ended:')
  const server = await startServer({ database: pair.url, ownProcess: true })
  expect((await call(server.url, 'GET', '/oauth/me', { token: accessToken })).status).toBe(401)
  expect(await appToken(server.url, one.app.development)).toStartWith('apat_')
  await one.platform.database.close()
  await server.stop()
}, 180_000)
