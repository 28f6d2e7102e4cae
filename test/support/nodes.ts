import { connect, createServer, type Socket } from 'node:net'
import { type ServerOptions, startServer } from './running-server.ts'
import { createWorld, endWorld, type World } from './world.ts'

/** Servers in processes of their own on one PostgreSQL database: one world, seen through each of them. */
export const createNodes = async (
  database: string,
  count: number,
  options: ServerOptions = {},
): Promise<readonly World[]> => {
  const first = await createWorld(optionsOfNode(database, options))
  const worlds = [first]
  while (worlds.length < count) worlds.push(await startNode(first, options))
  return worlds
}

/** One more server on the database of this world. */
export const startNode = async (world: World, options: ServerOptions = {}): Promise<World> => ({
  ...world,
  server: await startServer(optionsOfNode(world.server.database, options)),
})

/** To all clients they are one server, under one name. */
const optionsOfNode = (database: string, { env, ...options }: ServerOptions): ServerOptions => ({
  database,
  ownProcess: true,
  ...options,
  env: { PUBLIC_URL: 'http://localhost', ...env },
})

export const endNodes = async ([first, ...others]: readonly World[]): Promise<void> => {
  await Promise.all(others.map(async ({ server }) => await server.stop()))
  if (first !== undefined) await endWorld(first)
}

/**
 * Repeats until there is an answer other than null. A test that takes too long says only that it did, so this says before what it
 * waits for.
 */
export const until = async <T>(ask: () => Promise<T | null>): Promise<T> => {
  const last = performance.now() + 120_000
  while (performance.now() < last) {
    const answer = await ask()
    if (answer !== null) return answer
    await Bun.sleep(50)
  }
  throw new Error(`Waited two minutes in vain for: ${ask.toString()}`)
}

/** The answer of a server, which may need a moment to find that it is in touch with the primary. */
export const answered = async <T extends { readonly status: number }>(send: () => Promise<T>): Promise<T> =>
  await until(async () => {
    const answer = await send()
    return answer.status === 503 ? null : answer
  })

type Pair = readonly [Socket, Socket]
const join = ([one, other]: Pair) => void one.pipe(other).pipe(one)
const part = ([one, other]: Pair) => {
  for (const socket of [one.unpipe(other), other.unpipe(one)]) socket.pause()
}

/** A way to a PostgreSQL server that can be cut: then nothing arrives any more, but no connection ends. */
export const startLine = async (database: string) => {
  const url = new URL(database)
  const folder = url.searchParams.get('host')
  const target = folder === null ? { port: Number(url.port), host: url.hostname } : { path: `${folder}/.s.PGSQL.5432` }
  const pairs = new Set<Pair>()
  let isCut = false
  const listener = createServer((client) => {
    const pair: Pair = [client, connect(target)]
    pairs.add(pair)
    for (const socket of pair) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        pairs.delete(pair)
        for (const each of pair) each.destroy()
      })
    }
    if (isCut) part(pair)
    else join(pair)
  })
  const listening = Promise.withResolvers<void>()
  listener.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const address = listener.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `postgres://app@127.0.0.1:${port}${url.pathname}`,
    cut: () => {
      isCut = true
      for (const pair of pairs) part(pair)
    },
    heal: () => {
      isCut = false
      for (const pair of pairs) join(pair)
    },
    stop: () => {
      listener.close()
      for (const pair of pairs) for (const socket of pair) socket.destroy()
    },
  }
}
