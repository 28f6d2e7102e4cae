import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseUnusable } from '../../db/database.ts'
import { readAcknowledged } from '../../db/sqlite/acknowledged.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { call } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { openAsOperator } from '../support/operator.ts'
import { isLong, patience, rounds, seed, seeded } from '../support/proof.ts'
import { runProgram } from '../support/run-program.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type AppInWorld, appToken, createWorld, signIn } from '../support/world.ts'
import { scriptedRun, type Told } from './disk-calls/scripted-run.ts'
import { faultsIn } from '../support/database-file.ts'

setDefaultTimeout(patience)
const flips = rounds(9)
const random = seeded(seed)
const parts = ['', '-wal', '.acknowledged']

type Scene = { readonly file: string; readonly app: AppInWorld; readonly told: Told }

/** A server that was killed once its disk knew how many commits were acknowledged, with most of them in the WAL. */
const makeScene = async (): Promise<Scene> => {
  const { server, platform, app, user } = await createWorld()
  const cast = { app, session: await signIn(server.url, user), managing: await appToken(server.url, app.development) }
  // As long as somebody reads what was there before, the WAL is neither copied nor emptied.
  using reader = new Database(server.database)
  reader.run('BEGIN')
  reader.query('SELECT count(*) FROM users').get()
  const told = await scriptedRun(server.url, cast)
  expect(told.refused).toBe(0)
  // Once the count has not moved for longer than it may lag, it is the last one.
  let count = readAcknowledged(server.database)
  const stands = async () => {
    const before = count
    await Bun.sleep(500)
    count = readAcknowledged(server.database)
    return count === before
  }
  expect(await eventually(stands, (still) => still)).toBe(true)
  await server.kill()
  // Before the platform is closed: the last one to close folds the WAL in.
  const file = copyOf(server.database)
  await platform.database.close()
  return { file, app, told }
}

const copyOf = (file: string): string => {
  const copy = join(temporaryFolder(), 'app-platform.db')
  for (const part of parts) if (existsSync(file + part)) copyFileSync(file + part, copy + part)
  return copy
}

const flip = (file: string, offset: number): void => {
  const content = readFileSync(file)
  content[offset] = (content[offset] ?? 0) ^ (1 << random(8))
  writeFileSync(file, content)
}

const scene = makeScene()

/** `refused`: not opened, with a reason. `found`: `check` reports it. `lost`: neither, and something acknowledged is missing or changed. */
type Outcome = 'refused' | 'found' | 'harmless' | 'lost'

const openingOf = async (file: string, { app, told }: Scene): Promise<Outcome> => {
  let opened: Platform | null = null
  try {
    opened = await openAsOperator(file)
    if ((await faultsIn(file)).length > 0) return 'found'
    const faults = [...(await told.ledger.missing(opened, file, app.id)), ...(await told.ledger.misjudged(opened))]
    return faults.length > 0 ? 'lost' : 'harmless'
  } catch (error) {
    if (error instanceof DatabaseUnusable) {
      expect(error.message).toMatch(/^\S.*\.$/)
      return 'refused'
    }
    throw error
  } finally {
    await opened?.database.close()
  }
}

const flipped = async (scene: Scene, part: '' | '-wal', count: number): Promise<Readonly<Record<Outcome, number>>> => {
  const outcomes = { refused: 0, found: 0, harmless: 0, lost: 0 }
  for (let index = 0; index < count; index += 1) {
    const file = copyOf(scene.file)
    // The first one where it cannot stay unseen.
    const offset = random(index === 0 ? 16 : statSync(file + part).size)
    flip(file + part, offset)
    try {
      outcomes[await openingOf(file, scene)] += 1
    } catch (error) {
      throw new Error(`Broken by a flip at ${offset} of ${part === '' ? 'the database' : 'the WAL'}.`, { cause: error })
    }
    rmSync(dirname(file), { recursive: true })
  }
  return outcomes
}

test('a wrong byte anywhere in the WAL prevents opening, or affects nothing that was acknowledged', async () => {
  const outcomes = await flipped(await scene, '-wal', flips)
  if (isLong) console.log('flips in the WAL:', outcomes)
  expect(outcomes).toMatchObject({ found: 0, lost: 0 })
  expect(outcomes.refused).toBeGreaterThan(0)
})

test('a wrong byte in the database is refused with a reason, found by check, or where SQLite has no means to find it', async () => {
  const whole = { ...(await scene), file: copyOf((await scene).file) }
  // Folds the WAL in, so that all of it is in the database.
  await (await openAsOperator(whole.file)).database.close()
  expect(existsSync(`${whole.file}-wal`)).toBe(false)
  const outcomes = await flipped(whole, '', flips)
  if (isLong) console.log('flips in the database:', outcomes)
  expect(outcomes.refused + outcomes.found).toBeGreaterThan(0)
})

test('a server that lost acknowledged data does not start, says in one line what to do, and starts after that', async () => {
  const file = copyOf((await scene).file)
  const size = statSync(`${file}-wal`).size
  flip(`${file}-wal`, 32 + 24 + random(size / 2))
  const serve = ['serve', '--port', '0', '--database', file]
  const { code, stdout, stderr } = await runProgram(serve)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(stderr).toContain('has lost changes that were acknowledged')
  expect(stderr).toContain('restore a backup')
  const checked = await runProgram(['check', '--database', file])
  expect(checked.code).not.toBe(0)
  expect(checked.stdout + checked.stderr).toContain('has lost changes that were acknowledged')

  const recovered = await runProgram(['recover', '--accept-loss', '--database', file])
  expect(recovered).toMatchObject({ code: 0, stderr: '' })
  const server = await startServer({ database: file })
  expect((await call(server.url, 'GET', '~/readyz')).status).toBe(200)
  expect(await server.stop()).toBe(0)
})
