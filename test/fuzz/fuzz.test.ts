import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call, type Json } from '../support/call.ts'
import { patience, rounds, seed } from '../support/proof.ts'
import { runProgram } from '../support/run-program.ts'
import { endWorld } from '../support/world.ts'
import { readCatalogue } from './support/catalogue.ts'
import { type Credentials, createFuzzWorld, type FuzzWorld, makeCredentials } from './support/credentials.ts'
import { type Recipe, recipeOf } from './support/make.ts'
import { residentKilobytes } from './support/memory.ts'
import type { Operation } from './support/operation.ts'
import { createOracle } from './support/oracle.ts'
import { ask, type Asked, describeRecipe, shrink } from './support/runner.ts'
import { type Line, openLine } from './support/wire.ts'

const count = rounds(400)
const isLong = count >= 20_000
/** Requests between which the credentials are made afresh, and the memory is read. */
const batchSize = 500
const inFlight = 16
/** The run stops after this many wrong answers. */
const enough = 20

let world: FuzzWorld
let operations: readonly Operation[]
let document: Json
beforeAll(async () => {
  world = await createFuzzWorld()
  ;({ operations, document } = await readCatalogue(world))
}, 180_000)
afterAll(async () => await endWorld(world))

const indicesFrom = (start: number): readonly number[] =>
  Array.from({ length: Math.min(batchSize, count - start) }, (_, at) => start + at)

test(
  `${count} mostly hostile requests get answers of the contract, and leave a healthy server`,
  async () => {
    const judge = createOracle(document)
    const lines = Array.from({ length: inFlight }, () => openLine(Number(new URL(world.server.url).port)))
    const statuses = new Map<string, number>()
    const memory: number[] = []
    const faults: string[] = []

    const run = async (recipe: Recipe, credentials: Credentials, line: Line): Promise<void> => {
      const asked = await ask(recipe, credentials, line, judge)
      tally(statuses, recipe, asked)
      if (asked.fault === null || faults.length >= enough) return
      const least = await shrink(
        recipe,
        async (smaller) => (await ask(smaller, credentials, line, judge)).fault !== null,
      )
      faults.push(`${asked.fault} Seed ${seed}, ${describeRecipe(least)}`)
    }
    for (let start = 0; start < count && faults.length < enough; start += batchSize) {
      const credentials = await makeCredentials(world)
      const waiting = [...indicesFrom(start)]
      const work = async (line: Line): Promise<void> => {
        for (let index = waiting.shift(); index !== undefined; index = waiting.shift())
          await run(recipeOf(seed, index, operations), credentials, line)
      }
      await Promise.all(lines.map(work))
      memory.push(residentKilobytes(world.server.pid))
    }
    for (const line of lines) line.hangUp()
    if (isLong) console.log(reportOf(statuses, memory))
    expect(faults).toEqual([])

    expect((await call(world.server.url, 'GET', '~/readyz')).body).toEqual({ status: 'ready' })
    expect(world.server.log()).not.toContain('"level":"error"')
    const checked = await runProgram(['check', '--database', world.server.database])
    expect(checked).toMatchObject({ code: 0 })
    if (isLong) expect(median(quarter(memory, 3))).toBeLessThan(1.2 * median(quarter(memory, 1)))
  },
  patience,
)

const tally = (statuses: Map<string, number>, { steps }: Recipe, { answer }: Asked): void => {
  const key = `${steps.length === 0 ? 'as they are' : 'hostile'} ${answer?.status ?? 'closed'}`
  statuses.set(key, (statuses.get(key) ?? 0) + 1)
}

const quarter = (values: readonly number[], which: number): readonly number[] =>
  values.slice(Math.floor((which * values.length) / 4), Math.floor(((which + 1) * values.length) / 4))
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const reportOf = (statuses: ReadonlyMap<string, number>, memory: readonly number[]): string =>
  [
    ...[...statuses].toSorted().map(([kind, times]) => `${kind}: ${times}`),
    `resident, median of each quarter: ${[0, 1, 2, 3].map((which) => `${Math.round(median(quarter(memory, which)) / 1024)} MB`).join(', ')}`,
  ].join('\n')
