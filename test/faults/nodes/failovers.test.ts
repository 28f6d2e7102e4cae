import { expect } from 'bun:test'
import { call } from '../../support/call.ts'
import { Ledger } from '../../support/ledger.ts'
import { needs } from '../../support/needs.ts'
import { createNodes, endNodes, until } from '../../support/nodes.ts'
import { openAsOperator } from '../../support/operator.ts'
import { type Cluster, startPair, waitForStandby } from '../../support/postgres.ts'
import { isLong, noVerdict, patience, percentile, rounds, seed, seeded } from '../../support/proof.ts'
import { signIn, type World } from '../../support/world.ts'
import { type Findings, startClients } from './clients.ts'

const { test } = needs('postgres')

/**
 * What happens to the primary. A frozen one goes on later; of one without backends the first process starts others. The quick form
 * freezes it, because a killed one is in `postgres-guides.test.ts` and `db/postgres/failover.test.ts`.
 */
const accidents = ['frozen', 'killed', 'backends killed'] as const
type Accident = (typeof accidents)[number]

/** Promised after a promotion. */
const longestPauseMs = 8_000

const strike = async (primary: Cluster, accident: Accident): Promise<void> => {
  if (accident === 'killed') await primary.kill()
  else primary.signal(accident === 'frozen' ? 'SIGSTOP' : 'SIGKILL', accident === 'frozen' ? 'all' : 'backends')
}

/** Afterwards it runs, as a primary that nobody needs. */
const comeBack = async (deposed: Cluster, accident: Accident): Promise<void> => {
  if (accident === 'killed') await deposed.start()
  else deposed.signal('SIGCONT')
}

/** When every server has confirmed a write that was sent after this moment. */
const resumed = async ({ confirmedAt }: Findings, since: number): Promise<number> =>
  await until(async () => {
    // What was under way at this moment may be confirmed soon after it, since the standby had it.
    const firsts = confirmedAt.map((times) => times.find((at) => at > since + 1_000))
    return firsts.includes(undefined) ? null : Math.max(...firsts.map((at) => at ?? 0))
  })

const readyAt = async (nodes: readonly World[]): Promise<void> => {
  for (const { server } of nodes) {
    await until(async () => ((await call(server.url, 'GET', '~/readyz')).status === 200 ? true : null))
  }
}

/** Where a server contradicts the ledger. On a busy machine it may have to be asked again. */
const contradictionsAt = async ({ server }: World, ledger: Ledger): Promise<readonly string[]> =>
  await until(async () => {
    const found = await ledger.contradictions(server.url, 'nothing')
    return found.some((text) => text.includes(': 503 ')) ? null : found
  })

test(
  'after each failover everything acknowledged is there, what was revoked stays revoked, and a deposed primary changes nothing',
  async () => {
    const random = seeded(seed)
    const { url, ...pair } = await startPair()
    let { primary, standby } = pair
    const nodes = await createNodes(url, 2)
    const [world] = nodes
    if (world === undefined) throw new Error('no server')
    const session = await signIn(world.server.url, world.user)
    const pauses: number[] = []
    let acknowledged = 0
    let before = new Ledger()
    for (let round = 0; round < rounds(1); round += 1) {
      const accident = accidents[isLong ? random(accidents.length) : 0] ?? 'killed'
      const [ledger, ending, since] = [new Ledger(), new AbortController(), Date.now()]
      const clients = startClients(nodes, { session, ledger, random, ending: ending.signal })
      await Bun.sleep(700 + random(1_500))
      await strike(primary, accident)
      await Bun.sleep(random(4) * random(2_000)) // so long nobody notices
      const promotedAt = performance.now()
      standby.promote()
      const isEarly = random(2) === 0 // then it is back before the servers have found the promoted one
      if (isEarly) await comeBack(primary, accident)
      const pauseMs = (await resumed(clients.findings, promotedAt)) - promotedAt
      if (!isEarly) await comeBack(primary, accident)
      await Bun.sleep(1_000 + random(2_000)) // two that say they are the primary
      await primary.follow(standby, random(2) === 0 ? 'pg_rewind' : 'pg_basebackup')
      await Bun.sleep(500)
      ending.abort()
      await clients.ended

      const told = `round ${round}: ${accident}, back ${isEarly ? 'before' : 'after'} the first write, which took`
      if (isLong) console.log(`failovers: ${told} ${Math.round(pauseMs)} ms, ${ledger.size} requests acknowledged`)
      expect(clients.findings.faults, told).toEqual([])
      await readyAt(nodes)
      for (const node of nodes) {
        for (const each of [before, ledger]) expect(await contradictionsAt(node, each), told).toEqual([])
      }
      const platform = await openAsOperator(url)
      expect(await ledger.missing(platform, url, world.app.id, since - 5_000), told).toEqual([])
      await platform.database.close()
      pauses.push(pauseMs)
      acknowledged += ledger.size
      before = ledger
      await waitForStandby(standby)
      ;[primary, standby] = [standby, primary]
    }
    expect(acknowledged).toBeGreaterThan(rounds(1) * 20)
    if (isLong) {
      const [median = 0, longest = 0] = [0.5, 1].map((part) => percentile(pauses, part))
      const paused = `writes paused ${median} ms at the median, ${longest} at most`
      console.log(`failovers: ${acknowledged} requests acknowledged; ${paused}`)
      if (longest > longestPauseMs) noVerdict(`${paused}. Repeat it on a machine that does nothing else.`)
    }
    await endNodes(nodes)
    primary.stop()
    standby.stop()
  },
  patience,
)
