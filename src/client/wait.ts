/** Waits that long. @throws the signal's reason, as soon as it is aborted */
export const wait = async (ms: number, signal: AbortSignal | undefined): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  try {
    await orAborted(elapsed, signal)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Waits for work that others may wait for too: an abort ends the waiting and not the work.
 * @throws the signal's reason, or what the work throws
 */
export const orAborted = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return await work
  signal.throwIfAborted()
  const listening = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: listening.signal })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    listening.abort()
  }
}
