import type { Database } from '../../../db/database.ts'
import { postgresMigrations } from '../../../db/migrations/postgres.ts'
import { openPostgres } from '../../../db/postgres.ts'
import { createQueries } from '../../../db/queries/index.ts'
import { postgresDatabase } from '../../support/postgres.ts'

/** A store on the database of this name, or of this URL. */
export const openStore = async (name: string, role: 'server' | 'operator' = 'operator'): Promise<Database> => {
  const url = name.startsWith('postgres:') ? name : await postgresDatabase(name)
  return await openPostgres({ url, role, createQueries, migrations: postgresMigrations, migrate: false })
}

export type Fate = 'passed on' | 'request lost' | 'answer lost'

type Sides = { client: Bun.Socket<unknown>; server: Bun.Socket<unknown> | null; early: Buffer[]; isMute: boolean }

/** Stands between a store and PostgreSQL, and decides about each COMMIT that names itself, which is the first of a connection. */
export const startProxy = async (name: string, fates: Fate[]) => {
  const url = new URL(await postgresDatabase(name))
  const socket = `${url.searchParams.get('host')}/.s.PGSQL.5432`
  const connections = new Set<Sides>()
  const end = (sides: Sides) => {
    connections.delete(sides)
    sides.client.end()
    sides.server?.end()
  }
  const listener = Bun.listen<{ sides: Sides | null }>({
    hostname: '127.0.0.1',
    port: 0,
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
              if (sides.isMute) end(sides)
              else sides.client.write(data)
            },
            close: () => end(sides),
          },
        })
      },
      data: ({ data: { sides } }, data) => {
        if (sides === null) return
        const fate = data.includes('COMMIT') ? (fates.shift() ?? 'passed on') : 'passed on'
        if (fate === 'request lost') return end(sides)
        sides.isMute = fate === 'answer lost'
        if (sides.server === null) sides.early.push(Buffer.from(data))
        else sides.server.write(data)
      },
      close: ({ data: { sides } }) => {
        if (sides !== null) end(sides)
      },
    },
  })
  return {
    url: `postgres://app@127.0.0.1:${listener.port}${url.pathname}`,
    stop: () => {
      listener.stop(true)
      for (const sides of connections) end(sides)
    },
  }
}
