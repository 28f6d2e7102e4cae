/** How long a batch waits for one more transaction, and how long for all of them, in milliseconds. */
const silenceMs = 0.15
const longestMs = 2

/**
 * Lets a batch begin at the end of this turn of the event loop, or of a later one: when as many wait as are expected, or
 * when no more come. Whoever was just answered tends to ask again at once, and a commit costs the same whatever is in it;
 * without this wait callers fall into two groups, one of which asks while the other one is synced, and every commit has
 * half of them. A lone caller waits for nobody.
 */
export const gather = (waiting: () => number, expected: number, begin: () => void): void => {
  const startedAt = performance.now()
  let seen = 0
  let lastCameAt = startedAt
  const look = () => {
    const count = waiting()
    if (count === 0 || count >= expected) return begin()
    const now = performance.now()
    if (count > seen) lastCameAt = now
    seen = count
    if (now - lastCameAt > silenceMs || now - startedAt > longestMs) return begin()
    setImmediate(look)
  }
  setImmediate(look)
}
