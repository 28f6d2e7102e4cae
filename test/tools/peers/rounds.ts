import { SQL } from 'bun'
import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runLoad } from '../../bench/load.ts'
import { connections } from '../../bench/phase.ts'
import type { ServingProcess } from '../../bench/processes.ts'
import { firstAnswer } from '../../bench/requests.ts'
import type { Contender, Prepared } from './contender.ts'
import { modes, proofs, requestsOf, type WorkName } from './work.ts'

export type Round = {
  readonly rate: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly processorMicroseconds: number
  readonly residentBytes: number
  /** What each request of the round added to the file, including its preparation. */
  readonly diskBytes: number
}

/** A started server. */
export type Runner = {
  readonly contender: Contender
  readonly prepared: Prepared
  readonly folder: string
  readonly live: number
  readonly filledBytes: number
  readonly idleBytes: number
  readonly server: ServingProcess
}

export const startRunner = async (
  contender: Contender,
  parent: string,
  live: number,
  url: string | null,
): Promise<Runner> => {
  const folder = join(parent, `${contender.name.replace(' ', '-')}-${live}`)
  mkdirSync(folder, { mode: 0o700 })
  const prepared = await contender.prepare(folder, live, url)
  const filledBytes = await usedBytes(prepared.database)
  const server = await prepared.start()
  await proven('introspect', server, requestsOf('introspect', contender, prepared.material, [])[0])
  return { contender, prepared, folder, live, filledBytes, idleBytes: server.residentBytes(), server }
}

export const stopRunner = async ({ prepared, server }: Runner): Promise<void> => {
  await server.stop()
  await prepared.close()
}

export type Pace = { readonly rounds: number; readonly seconds: number; readonly warmUpSeconds: number }

/** Rounds of one kind of request. The servers take turns, and each round begins with another one. The first round warms up and does not count. */
export const playWork = async (
  work: WorkName,
  runners: readonly Runner[],
  { rounds, seconds, warmUpSeconds }: Pace,
): Promise<ReadonlyMap<Runner, readonly Round[]>> => {
  const played = new Map<Runner, Round[]>(runners.map((runner) => [runner, []]))
  for (let number = 0; number <= rounds; number += 1) {
    const length = number === 0 ? warmUpSeconds : seconds
    for (const index of runners.keys()) {
      const runner = runners[(index + number) % runners.length]
      if (runner === undefined) continue
      const round = await playRound(work, runner, { number, rounds, seconds: length })
      if (number > 0) played.get(runner)?.push(round)
    }
  }
  return played
}

const playRound = async (
  work: WorkName,
  { contender, prepared, folder, server }: Runner,
  { number, rounds, seconds }: { readonly number: number; readonly rounds: number; readonly seconds: number },
): Promise<Round> => {
  const { database, material } = prepared
  const before = await usedBytes(database)
  const codes = work === 'exchange' ? await prepared.codes(contender.codesPerSecond * seconds) : []
  const prepaid = codes.length === 0 ? 0 : ((await usedBytes(database)) - before) / codes.length
  const every = requestsOf(work, contender, material, codes)
  // A round spends its refresh tokens, so each has its own.
  const share = Math.floor(every.length / (rounds + 1))
  const own = work === 'refresh' ? every.slice(number * share, (number + 1) * share) : every
  await proven(work, server, own[0])
  const unspent = modes[work] === 'cycle' ? own : own.slice(1)
  const requests = join(folder, `${work}.requests`)
  await Bun.write(requests, unspent.join('\0'))
  const usedBefore = await usedBytes(database)
  const processorBefore = server.processorSeconds()
  const result = await runLoad({ port: server.port, mode: modes[work], requests, connections, seconds })
  return {
    ...result,
    processorMicroseconds: ((server.processorSeconds() - processorBefore) / result.requests) * 1e6,
    residentBytes: server.residentBytes(),
    diskBytes: prepaid + ((await usedBytes(database)) - usedBefore) / result.requests,
  }
}

/** @throws if the answer to the request is not what this kind of request asks for */
export const proven = async (work: WorkName, { port }: ServingProcess, request = ''): Promise<void> => {
  const [, { body }] = await firstAnswer(port, request)
  if (!proofs[work].test(body)) throw new Error(`Not an answer to ${work}: ${body}`)
}

/** The size of the pages in use, including those in the WAL; of a PostgreSQL database its files. */
const usedBytes = async (file: string): Promise<number> => {
  if (file.startsWith('postgres:')) return await sizeOf(file)
  const database = new Database(file, { readonly: true })
  const pragma = (name: string) => Number(Object.values(Object(database.query(`PRAGMA ${name}`).get()))[0])
  try {
    return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
  } finally {
    database.close()
  }
}

const sizeOf = async (url: string): Promise<number> => {
  const { pathname, searchParams } = new URL(url)
  const path = searchParams.get('host') ?? ''
  const sql = new SQL({ url: 'postgres://localhost', username: 'app', path, database: pathname.slice(1), max: 1 })
  const [[bytes]] = await sql.unsafe('SELECT pg_database_size(current_database())').values()
  await sql.close()
  return Number(bytes)
}
