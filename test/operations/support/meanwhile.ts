import type { Database, TransactionOptions, Queries } from '../../../db/database.ts'
import type { Awaitable } from '../../../src/domain/awaitable.ts'
import type { Platform } from '../../../src/operations/platform.ts'

/** The platform on which something else is done before each transaction of an operation that `does` chooses, the first one being 1. */
export const meanwhileOn = (platform: Platform, does: (transaction: number) => Promise<unknown>): Platform => {
  const { database } = platform
  let count = 0
  const transaction = async <T>(work: (q: Queries) => Awaitable<T>, options?: TransactionOptions<T>): Promise<T> => {
    count += 1
    await does(count)
    return await database.transaction(work, options)
  }
  const proxy = new Proxy<Database>(database, {
    get: (store, name) => (name === 'transaction' ? transaction : Reflect.get(store, name)),
  })
  return { ...platform, database: proxy }
}
