import type { Database } from '../../../db/database.ts'
import { postgresMigrations } from '../../../db/migrations/index.ts'
import { isPostgresUrl } from '../../../db/postgres/address.ts'
import { openPostgres } from '../../../db/postgres.ts'
import { createQueries } from '../../../db/queries/index.ts'
import { PlatformError } from '../../../src/domain/errors.ts'
import { postgresDatabase } from '../../support/postgres.ts'

/** The URL of the database of this name, unless it is one. */
const urlOf = async (name: string): Promise<string> => (isPostgresUrl(name) ? name : await postgresDatabase(name))

/** A store on the database of this name, or of this URL. */
export const openStore = async (name: string, role: 'server' | 'operator' = 'operator'): Promise<Database> => {
  const url = await urlOf(name)
  return await openPostgres({ url, role, createQueries, migrations: postgresMigrations, migrate: false })
}

/** 'done', or what the refusal or the error says. */
export const outcomeOf = async (work: () => Promise<unknown>): Promise<string> => {
  try {
    await work()
    return 'done'
  } catch (error) {
    if (error instanceof PlatformError) return error.code
    return error instanceof Error ? error.message : String(error)
  }
}

/** COMMIT, and changes that need none. They are seen when a connection prepares them. */
const commits = ['COMMIT', 'made as ('] as const

/** A transaction of its own, with which a connection begins. */
const ofTheStart = 'BEGIN READ WRITE'

export type Fate = 'passed on' | 'request lost' | 'answer lost'

type Sides = { client: Bun.Socket<unknown>; server: Bun.Socket<unknown> | null; early: Buffer[]; isMute: boolean }

/** What goes over the wire, of all connections together: how often the store sent something and then waited for an answer. */
type Traffic = { trips: number; isWaiting: boolean }

/**
 * Stands between a store and PostgreSQL, and decides about what contains one of the `decisive` texts. `change` alters what is sent to PostgreSQL, `changeAnswer` what it answers.
 */
export const startProxy = async (
  name: string,
  fates: Fate[],
  change = (data: Buffer): Buffer => data,
  changeAnswer = (data: Buffer): Buffer => data,
  decisive: readonly string[] = commits,
  port = 0,
) => {
  const traffic: Traffic = { trips: 0, isWaiting: false }
  const url = new URL(await urlOf(name))
  const socket = `${url.searchParams.get('host')}/.s.PGSQL.5432`
  const connections = new Set<Sides>()
  const end = (sides: Sides) => {
    connections.delete(sides)
    sides.client.end()
    sides.server?.end()
  }
  const listener = Bun.listen<{ sides: Sides | null }>({
    hostname: '127.0.0.1',
    port,
    data: { sides: null },
    socket: {
      open: (client) => {
        const sides: Sides = { client, server: null, early: [], isMute: false }
        client.data = { sides }
        connections.add(sides)
        void Bun.connect({
          unix: socket,
          socket: {
            open: (server) => {
              sides.server = server
              for (const data of sides.early) server.write(data)
            },
            data: (_server, data) => {
              traffic.isWaiting = false
              if (sides.isMute) end(sides)
              else sides.client.write(changeAnswer(Buffer.from(data)))
            },
            close: () => end(sides),
          },
        })
      },
      data: ({ data: { sides } }, data) => {
        if (sides === null) return
        if (!traffic.isWaiting) traffic.trips += 1
        traffic.isWaiting = true
        const fate =
          !data.includes(ofTheStart) && decisive.some((text) => data.includes(text))
            ? (fates.shift() ?? 'passed on')
            : 'passed on'
        if (fate === 'request lost') return end(sides)
        sides.isMute = fate === 'answer lost'
        if (sides.server === null) sides.early.push(change(Buffer.from(data)))
        else sides.server.write(change(data))
      },
      close: ({ data: { sides } }) => {
        if (sides !== null) end(sides)
      },
    },
  })
  return {
    url: `postgres://app@127.0.0.1:${listener.port}${url.pathname}`,
    traffic,
    stop: () => {
      listener.stop(true)
      for (const sides of connections) end(sides)
    },
  }
}
