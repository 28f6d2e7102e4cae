import { argv } from 'node:process'
import type { Database, Queries, TransactionOptions } from '../../../db/database.ts'
import type { Awaitable } from '../../../src/domain/awaitable.ts'
import { importResources } from '../../../src/operations/resources/import-resources.ts'
import { openAsOperator, operator, trace } from '../../support/operator.ts'

/*
 * Imports websites of the user `victim` into the database that is named, and is killed when all is written and nothing is committed.
 */

const platform = await openAsOperator(argv[2] ?? '')
const { database } = platform
const transaction = async <T>(work: (q: Queries) => Awaitable<T>, options?: TransactionOptions<T>): Promise<T> =>
  await database.transaction(async (q) => {
    const value = await work(q)
    if (options?.isLong === true) {
      await Bun.write(Bun.stdout, 'merged\n')
      process.kill(process.pid, 'SIGKILL')
    }
    return value
  }, options)
const killing: Database = Object.create(database, { transaction: { value: transaction } })

const line = (externalId: string) =>
  JSON.stringify({
    kind: 'site',
    externalId,
    ownerExternalId: 'victim',
    name: 'Renamed',
    slug: externalId,
    status: 'published',
  })
const chunks = async function* () {
  const others = Array.from({ length: 2_000 }, (_, index) => line(`new-${index}`))
  yield new TextEncoder().encode([line('a'), ...others].join('\n'))
}
await importResources({ ...platform, database: killing }, trace, operator, {
  chunks: chunks(),
  progress: () => undefined,
  isOfBuilder: true,
  prunes: true,
})
