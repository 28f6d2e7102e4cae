import { refuse } from '../domain/errors.ts'

/** Lets only so many large uploads be in memory at a time. */
export type UploadSlots = {
  /**
   * Waits for a slot and gives what hands it back, once.
   * @throws unavailable when none was handed back in time, or too many wait already
   */
  take(): Promise<() => void>
}

/** Each of those who wait holds as much in memory as an upload may bring without a slot. */
export const longestLine = 64

export const createUploadSlots = (count: number, longestWaitMs: number): UploadSlots => {
  let free = count
  const waiting = new Set<() => void>()

  const handBack = () => {
    const [next] = waiting
    if (next === undefined) free += 1
    else next()
  }
  const slot = () => {
    let held = true
    return () => {
      if (held) handBack()
      held = false
    }
  }
  return {
    take: async () => {
      if (free > 0) {
        free -= 1
        return slot()
      }
      if (waiting.size >= longestLine) throw refuse('unavailable', { retryAfterSeconds: 5 })
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const timer = setTimeout(() => {
        waiting.delete(next)
        reject(refuse('unavailable', { retryAfterSeconds: 1 }))
      }, longestWaitMs)
      const next = () => {
        clearTimeout(timer)
        waiting.delete(next)
        resolve(slot())
      }
      waiting.add(next)
      return await promise
    },
  }
}
