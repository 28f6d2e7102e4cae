import { DatabaseUnusable } from '../database.ts'
import { faultKind } from './fault.ts'

const longestWaitMs = 60_000

/**
 * Tries again while another process holds the lock: at a start, which may have to wait for a migration elsewhere. Waits
 * outside of SQLite, for at most a minute, then throws `DatabaseUnusable` ('busy').
 */
export const patiently = async <T>(work: () => T): Promise<T> => {
  const giveUpAt = performance.now() + longestWaitMs
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (faultKind(error) !== 'busy') throw error
      if (performance.now() > giveUpAt) {
        throw new DatabaseUnusable('busy', 'Another process kept the database locked for a minute.', { cause: error })
      }
      await Bun.sleep(5 + Math.random() * 20)
    }
  }
}
