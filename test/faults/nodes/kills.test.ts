import { expect } from 'bun:test'
import { createCredential, revokeCredential } from '../../../src/operations/credentials/credentials.ts'
import { addEndpoint } from '../../../src/operations/webhooks/endpoints.ts'
import { createWebhookSender } from '../../../src/runtime/webhook-sender.ts'
import { together } from '../../support/crash.ts'
import { faultsIn } from '../../support/database-file.ts'
import { needs } from '../../support/needs.ts'
import { createNodes, endNodes, startNode, until } from '../../support/nodes.ts'
import { operator, trace } from '../../support/operator.ts'
import { postgresDatabase } from '../../support/postgres.ts'
import { isLong, patience, rounds, seed, seeded } from '../../support/proof.ts'
import { startReceiver } from '../../support/webhook-receiver.ts'
import { networks } from '../../support/webhook-world.ts'
import { addApp, appToken, signIn, type World } from '../../support/world.ts'
import { type ClientHistory, emptyHistory, play } from '../kills/client-history.ts'
import { expectAcknowledged, expectStillAcknowledged } from '../kills/expect-acknowledged.ts'

const { test } = needs('postgres', 'openssl')

const kills = rounds(1)
const nodeCount = 3
/** Clients of each server. Their pauses let the judges, who ask for each answer of a server that was killed, keep up with the others. */
const clients = 2
const pauseMs = 50

/** A server, and what its clients were told. They go on until it is killed. */
type Life = { readonly node: World; readonly histories: readonly ClientHistory[]; readonly playing: Promise<unknown> }

test(
  `each of ${kills} kills of one of ${nodeCount} servers under load loses nothing acknowledged, and others deliver its events`,
  async () => {
    const random = seeded(seed)
    const receiver = await startReceiver()
    const trusted = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: receiver.authority }
    const env = { ...trusted, LIFETIME_REFRESH_RETRY: '60' }
    const nodes = await createNodes(await postgresDatabase('node-kills'), nodeCount, { env })
    const [world] = nodes
    if (world === undefined) throw new Error('no server')
    const session = await signIn(world.server.url, world.user)
    const managing = await appToken(world.server.url, world.app.development)

    const platform = {
      ...world.platform,
      webhooks: createWebhookSender({ resolve: async () => [], allowed: networks('127.0.0.0/8'), timeoutMs: 5_000 }),
    }
    const { slug } = await addApp(platform, world.user)
    const kinds = ['credential.created'] as const
    await addEndpoint(platform, trace, operator, { slug, environment: 'development', url: receiver.url, kinds })
    const made: string[] = []
    const makeEvent = async () => {
      const { id } = await createCredential(platform, trace, operator, {
        slug,
        environment: 'development',
        label: null,
      })
      await revokeCredential(platform, trace, operator, id)
      made.push(id)
    }
    const delivered = () => new Set(receiver.received.map(({ body }): string => JSON.parse(body).data.credentialId))
    // Slow enough that some kills meet a call.
    receiver.behave((index, response) => {
      setTimeout(() => response.writeHead(200).end(), (index * 37) % 200)
      return 'by itself'
    })

    const begin = (node: World): Life => {
      const histories = Array.from({ length: clients }, emptyHistory)
      const playing = Promise.all(
        histories.map(async (history) => await play(node, session, managing, history, pauseMs)),
      )
      return { node, histories, playing }
    }
    const lives = nodes.map(begin)
    const ended: ClientHistory[] = []
    let acknowledged = 0
    /** Kills a server and gives another one, once what its clients were told is true on all. */
    const replace = async (index: number): Promise<World> => {
      const life = lives[index]
      if (life === undefined) throw new Error('no server')
      await life.node.server.kill()
      const next = await startNode(life.node, { env })
      await life.playing
      const others = lives.map(({ node }, each) => (each === index ? next : node))
      await together(clients, async (client) => {
        const history = life.histories[client]
        const judge = others[client % others.length]
        if (history === undefined || judge === undefined) return
        await expectAcknowledged(judge, managing, history)
        acknowledged += history.requestIds.length
        ended.push(history)
      })
      const earlier = ended[random(ended.length)]
      if (earlier !== undefined) await expectStillAcknowledged(next, earlier)
      return next
    }

    for (let round = 0; round < kills; round += 1) {
      await makeEvent()
      await Bun.sleep(500 + random(2_000))
      const index = random(nodeCount)
      lives[index] = begin(await replace(index))
      if (isLong && round % 10 === 9)
        console.log(`node-kills: ${round + 1} done, ${acknowledged} requests acknowledged`)
    }
    // Whoever held the lease of the endpoint, another server has taken it over.
    await until(async () => (delivered().size === made.length ? true : null))
    expect([...delivered()]).toEqual(made)
    for (const index of lives.keys()) {
      lives[index] = { node: await replace(index), histories: [], playing: Promise.resolve() }
    }
    expect(acknowledged).toBeGreaterThan(kills)
    expect(await faultsIn(world.server.database)).toEqual([])
    await endNodes(lives.map(({ node }) => node))
    await receiver.down()
  },
  patience,
)
