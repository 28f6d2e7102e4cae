import { join } from 'node:path'
import { expect, test } from 'bun:test'
import type { Database, Queries, TransactionOptions } from '../../db/database.ts'
import type { Awaitable } from '../../src/domain/awaitable.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { deleteBuilderResource, putBuilderResource } from '../../src/operations/resources/resources.ts'
import { importResources } from '../../src/operations/resources/import-resources.ts'
import { putBuilderUser } from '../../src/operations/users/users.ts'
import { eraseUser } from '../../src/operations/users/personal-data.ts'
import { openAsOperator, operator, trace } from '../support/operator.ts'
import { platformOfFile } from '../support/platform-of-file.ts'
import { databaseOf, onPostgres } from '../support/postgres.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// What an import promises while others use the same database. Another call is made at an exact moment of the import: before the
// transaction that merges its lines, or in the middle of it.

const platform = await platformOfFile()
const { queries } = platform.database

const newUser = async (externalId: string, of = platform): Promise<void> => {
  const facts = { externalId, email: `${externalId}@builder.example`, name: 'A user', pictureUrl: null }
  await putBuilderUser(of, trace, operator, { ...facts, status: 'active' })
}
const site = (owner: string, externalId: string, change: object = {}) => ({
  kind: 'site' as const,
  externalId,
  ownerExternalId: owner,
  name: `Site ${externalId}`,
  slug: externalId,
  status: 'published' as const,
  ...change,
})
const put = async (line: ReturnType<typeof site>) =>
  await putBuilderResource(platform, trace, operator, { ...line, createdAt: null, updatedAt: null })
const found = async (externalId: string) => await queries.resources.byExternalId('site', externalId)

const importLines = async (
  of: Platform,
  lines: readonly object[],
  prunes = false,
  meanwhile = async (): Promise<unknown> => undefined,
) => {
  const text = lines.map((line) => JSON.stringify(line)).join('\n')
  const chunks = async function* () {
    yield new TextEncoder().encode(text)
    await meanwhile()
  }
  const file = { chunks: chunks(), progress: () => undefined, isOfBuilder: true, prunes }
  return await importResources(of, trace, operator, file)
}

type Merge = <T>(work: (q: Queries) => Awaitable<T>, run: Run<T>) => Promise<T>
type Run<T> = (work: (q: Queries) => Awaitable<T>) => Promise<T>

/** The platform whose long transactions are run by `merge`. */
const mergingBy = (merge: Merge): Platform => {
  const { database } = platform
  const transaction = async <T>(work: (q: Queries) => Awaitable<T>, options?: TransactionOptions<T>): Promise<T> => {
    const run: Run<T> = async (body) => await database.transaction(body, options)
    return options?.isLong === true ? await merge(work, run) : await run(work)
  }
  const store: Database = Object.create(database, { transaction: { value: transaction } })
  return { ...platform, database: store }
}
/** The platform on which this is done once, before the lines of an import are merged. */
const before = (work: () => Promise<unknown>): Platform => {
  let isDone = false
  return mergingBy(async (body, run) => {
    if (!isDone) await work()
    isDone = true
    return await run(body)
  })
}

test('reads are answered while the lines of an import are merged, and see nothing of it before its end', async () => {
  await newUser('reader')
  const lines = Array.from({ length: 3_000 }, (_, index) => site('reader', `read-${index}`))
  let isMerging = false
  let isOver = false
  const seen: unknown[] = []
  const read = async () => {
    if (isMerging) seen.push(await found('read-0'))
    if (!isOver) setImmediate(() => void read())
  }
  const watched = mergingBy(async (work, run) => {
    const value = await run(async (q) => {
      isMerging = true
      return await work(q)
    })
    isMerging = false
    return value
  })
  void read()
  expect(await importLines(watched, lines)).toMatchObject({ created: 3_000 })
  isOver = true
  expect(seen.slice(0, 3)).toEqual([null, null, null])
  expect(await found('read-0')).not.toBeNull()
})

test('other changes wait for a merge at most, and are kept', async () => {
  await newUser('writer')
  const lines = Array.from({ length: 1_500 }, (_, index) => site('writer', `write-${index}`))
  const beside: Promise<unknown>[] = []
  const watched = mergingBy(
    async (work, run) =>
      await run(async (q) => {
        if (beside.length === 0) beside.push(newUser('beside'))
        return await work(q)
      }),
  )
  expect(await importLines(watched, lines)).toMatchObject({ created: 1_500 })
  await Promise.all(beside)
  expect(await queries.users.byExternalId('beside')).not.toBeNull()
})

const tooLate = async (): Promise<never> => {
  await Bun.sleep(4_000)
  throw new Error('It waits for the merge.')
}

test.skipIf(!onPostgres)('on PostgreSQL a change of something else does not wait for a merge', async () => {
  await newUser('open')
  const open = mergingBy(
    async (work, run) =>
      await run(async (q) => {
        const value = await work(q)
        await Promise.race([newUser('not-waiting'), tooLate()])
        return value
      }),
  )
  expect(await importLines(open, [site('open', 'open')])).toMatchObject({ created: 1 })
  expect(await queries.users.byExternalId('not-waiting')).not.toBeNull()
})

test('what another call creates after the lines were compared is changed, not created twice', async () => {
  await newUser('creator')
  const meanwhile = before(async () => await put(site('creator', 'made', { name: 'Other name' })))
  expect(await importLines(meanwhile, [site('creator', 'made')])).toMatchObject({ created: 0, updated: 1 })
  expect(await found('made')).toMatchObject({ name: 'Site made', slug: 'made' })
})

test('what another call removes after the lines were compared is created anew', async () => {
  await newUser('remover')
  await put(site('remover', 'gone', { name: 'Other name' }))
  const meanwhile = before(
    async () => await deleteBuilderResource(platform, trace, operator, { kind: 'site', externalId: 'gone' }),
  )
  expect(await importLines(meanwhile, [site('remover', 'gone')])).toMatchObject({ created: 1, updated: 0 })
  expect(await found('gone')).toMatchObject({ name: 'Site gone' })
})

test('a slug that another call takes after the lines were compared is named, and nothing is stored', async () => {
  await newUser('slugs')
  await put(site('slugs', 'first'))
  for (const line of [site('slugs', 'new', { slug: 'taken' }), site('slugs', 'first', { slug: 'taken' })]) {
    const meanwhile = before(async () => await put(site('slugs', 'rival', { slug: 'taken' })))
    await expect(importLines(meanwhile, [site('slugs', 'fresh'), line])).rejects.toMatchObject({
      facts: { param: 'line', message: 'Line 2: slug: Another website or store of the owner has it.' },
    })
    expect([await found('fresh'), await found('new')]).toEqual([null, null])
    expect(await found('first')).toMatchObject({ slug: 'first' })
    await deleteBuilderResource(platform, trace, operator, { kind: 'site', externalId: 'rival' })
  }
})

test('nothing comes to a user who is erased after the lines were compared', async () => {
  await newUser('erased')
  await newUser('heir')
  await put(site('heir', 'handed'))
  const meanwhile = before(async () => await eraseUser(platform, trace, operator, { externalId: 'erased' }))
  await expect(
    importLines(meanwhile, [site('heir', 'kept'), site('erased', 'handed'), site('erased', 'lost')]),
  ).rejects.toMatchObject({ facts: { param: 'line', message: expect.stringMatching(/^Line 2: .* 1 more: line 3\.$/) } })
  expect([await found('kept'), await found('lost')]).toEqual([null, null])
  expect((await found('handed'))?.ownerId).toBe((await queries.users.byExternalId('heir'))?.id)
})

test('the erasure of an owner in the middle of a merge takes what it brings, too, and neither has to begin again', async () => {
  await newUser('leaving')
  await put(site('leaving', 'changed', { name: 'Other name' }))
  const runs = { merge: 0, erasure: 0 }
  const { database } = platform
  const transaction: Database['transaction'] = async (work, options) => {
    let attempts = 0
    return await database.transaction((q) => {
      attempts += 1
      runs.erasure = Math.max(runs.erasure, attempts)
      return work(q)
    }, options)
  }
  const counting = { ...platform, database: Object.create(database, { transaction: { value: transaction } }) }
  let erasing: Promise<unknown> | null = null
  const paused = mergingBy(
    async (work, run) =>
      await run(async (q) => {
        runs.merge += 1
        const create: Queries['stagedResources']['create'] = async (...given) => {
          erasing ??= eraseUser(counting, trace, operator, { externalId: 'leaving' })
          if (onPostgres) await Bun.sleep(1_000) // until it waits for the merge, or is over
          return await q.stagedResources.create(...given)
        }
        return await work({ ...q, stagedResources: { ...q.stagedResources, create } })
      }),
  )
  const { id } = (await queries.users.byExternalId('leaving')) ?? {}
  expect(await importLines(paused, [site('leaving', 'changed'), site('leaving', 'created')])).toMatchObject({
    created: 1,
  })
  expect(await erasing).toMatchObject({ resources: 2 })
  expect(runs).toEqual({ merge: 1, erasure: 1 })
  expect(await queries.resources.ofOwner(id ?? '')).toEqual([])
})

test('an import is right after another one that was merged while its lines were compared', async () => {
  await newUser('twice')
  await put(site('twice', 'both'))
  await put(site('twice', 'old'))
  // To the first file `both` is right as it is, but the second one changes it before the first one is merged.
  const meanwhile = before(
    async () => await importLines(platform, [site('twice', 'both', { name: 'Second', slug: 'second' })]),
  )
  expect(await importLines(meanwhile, [site('twice', 'both'), site('twice', 'extra')])).toMatchObject({
    created: 1,
    updated: 1,
  })
  expect(await found('both')).toMatchObject({ name: 'Site both', slug: 'both' })
})

test('what another call creates while a file arrives is not removed by it', async () => {
  await newUser('pruner')
  const known = site('pruner', 'known')
  await importLines(platform, [known], true)
  const renamed = [site('pruner', 'known', { name: 'Renamed' })]
  const late = async () => await put(site('pruner', 'late'))
  expect(await importLines(platform, renamed, true, late)).toMatchObject({ updated: 1, removed: 0 })
  expect(await found('late')).not.toBeNull()
  expect(await importLines(platform, [known], true)).toMatchObject({ removed: 1 })
})

test('an import whose resources others create and remove again and again is refused as unavailable', async () => {
  await newUser('restless')
  let round = 0
  const restless = mergingBy(async (work, run) => {
    round += 1
    await deleteBuilderResource(platform, trace, operator, { kind: 'site', externalId: 'restless' })
    await put(site('restless', 'restless', { name: `Other ${round}` }))
    return await run(work)
  })
  await put(site('restless', 'restless', { name: 'Other' }))
  await expect(importLines(restless, [site('restless', 'restless')])).rejects.toMatchObject({ code: 'unavailable' })
  expect(await found('restless')).toMatchObject({ name: `Other ${round}` })
})

test('a server that is killed in the merge has changed nothing, and the file may be sent again', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const first = await openAsOperator(file)
  await newUser('victim', first)
  await importLines(first, [site('victim', 'a'), site('victim', 'b')])
  await first.database.close()

  const script = join(import.meta.dir, 'support/import-and-die.ts')
  const child = Bun.spawn([process.execPath, script, await databaseOf(file)], { stdout: 'pipe', stderr: 'inherit' })
  expect(await child.stdout.text()).toBe('merged\n')
  await child.exited
  expect(child.signalCode).toBe('SIGKILL')

  const second = await openAsOperator(file)
  const stored = async () => (await second.database.queries.resources.sent('site', '', 10)).map((row) => row.externalId)
  expect(await stored()).toEqual(['a', 'b'])
  expect(await second.database.queries.resources.byExternalId('site', 'a')).toMatchObject({ name: 'Site a' })
  const lines = [site('victim', 'a', { name: 'Renamed' }), site('victim', 'c')]
  expect(await importLines(second, lines, true)).toEqual({ created: 1, updated: 1, removed: 1, installs: 0 })
  expect(await importLines(second, lines, true)).toEqual({ created: 0, updated: 0, removed: 0, installs: 0 })
  expect(await stored()).toEqual(['a', 'c'])
  await second.database.close()
})
