import { expect, setDefaultTimeout } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askPostgres, connectTo } from '../../support/beside.ts'
import { call } from '../../support/call.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/nodes.ts'
import { addSmallDisk, fillDisk, freePort, mayMount, startCluster } from '../../support/postgres.ts'
import { patience } from '../../support/proof.ts'
import { createWorld } from '../../support/world.ts'
import { openStore, outcomeOf } from './support.ts'

setDefaultTimeout(patience)

const { test } = needs('postgres')

const becomes = async (find: () => Promise<unknown>, hoped: unknown) =>
  await until(async () => ((await find()) === hoped ? true : null))

test.skipIf(!mayMount)(
  'a PostgreSQL that refuses to write is told by the servers, which are ready again once it writes (needs root, to mount a small disk)',
  async () => {
    const cluster = startCluster({ port: freePort() })
    const disk = await addSmallDisk(cluster, 'small')
    try {
      const ask = async (text: string, name = 'postgres') =>
        await askPostgres<Record<string, unknown>>(cluster.url(name), text, [])
      for (const name of ['apps', 'ballast']) await ask(`CREATE DATABASE ${name} TABLESPACE small`)
      const url = cluster.url('apps')
      const { server, app, platform } = await createWorld({ database: url, ownProcess: true })
      await platform.database.close()
      const body = { ...app.development, scope: 'site:read' }
      const issued = async () => (await call(server.url, 'POST', '/token', { body })).status
      const readiness = async () => {
        const answer = await call(server.url, 'GET', '~/readyz')
        return [answer.status, ...(answer.body.error?.details?.conditions ?? [])].join(' ')
      }
      const told = (kind: string) =>
        server
          .log()
          .split('\n')
          .filter((line) => line.includes(`"kind":"${kind}"`))
          .map((line) => JSON.parse(line))
          .map(({ event, reason }) => [event, reason])
      /** The condition is in readiness, metrics and log, and then it ends. */
      const expectTold = async (kind: string, sentence: string, solve: () => Promise<unknown>) => {
        await becomes(readiness, `503 ${kind}`)
        const metric = `app_platform_condition{name="${kind}"} 1`
        await becomes(async () => (await (await fetch(`${server.url}/metrics`)).text()).includes(metric), true)
        await becomes(async () => told(kind).at(-1)?.[0], 'condition.began')
        expect(told(kind).at(-1)?.[1]).toStartWith(`PostgreSQL at ${url.split('@')[1]} ${sentence}`)
        await solve()
        await becomes(readiness, '200')
        await becomes(issued, 200)
        await becomes(async () => told(kind).at(-1)?.[0], 'condition.ended')
      }
      await becomes(readiness, '200')

      // A lock that is held for too long passes by itself.
      const bystander = await openStore(url, 'server')
      const holder = connectTo(url)
      const session = await holder.reserve()
      await session.unsafe("BEGIN; SELECT 1 FROM locks WHERE name = 'serial' FOR UPDATE")
      const change = async () => await bystander.transaction(async (q) => await q.watermarks.set('clock', 1))
      expect(await outcomeOf(change)).toBe('unavailable')
      expect(['full', 'refused']).not.toContain(bystander.health().problem)
      await session.unsafe('ROLLBACK')
      session.release()
      await holder.close()
      await bystander.close()

      await fillDisk(cluster.url('ballast'))
      await becomes(issued, 503) // some fit into pages that are there
      await expectTold('disk_full', 'has a full disk: make room', async () => {
        await ask('DROP TABLE ballast', 'ballast')
      })

      await ask('ALTER DATABASE apps SET default_transaction_read_only = on')
      await ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'apps'")
      await expectTold('writes_refused', 'takes no changes, because default_transaction_read_only', async () => {
        await ask('ALTER DATABASE apps RESET default_transaction_read_only')
      })

      // While other tables can be written to, damage counts on.
      await ask('SELECT count(*) FROM app_tokens', 'apps') // which notes what was committed, so that nothing changes pages later
      await ask('CHECKPOINT')
      const [table] = await ask("SELECT pg_relation_filepath('app_tokens') AS path", 'apps')
      await cluster.kill()
      const file = join(cluster.folder, 'data', String(table?.['path']))
      const pages = readFileSync(file)
      for (let at = 8_000; at < pages.length; at += 8_192) pages[at] = (pages[at] ?? 0) ^ 1
      writeFileSync(file, pages)
      await cluster.start()
      await becomes(async () => (await issued()) >= 500 && (await readiness()), '503 writes_refused')
      const isOfDamage = async () =>
        told('writes_refused').at(-1)?.[1]?.includes('finds that its own files are damaged')
      await becomes(isOfDamage, true)
      await server.kill()
    } finally {
      cluster.stop()
      disk.end()
    }
  },
)
