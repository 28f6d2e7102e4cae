type EndingSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'
const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The person at the terminal, or who runs the machine, wants it to end. */
export class Interrupted extends Error {
  constructor(readonly by: EndingSignal) {
    super('The command was interrupted.')
  }
}

/**
 * Runs work that tidies up after itself when the program is told to end: the terminal is as it was. After that the
 * program ends by the very signal, so that a shell knows what happened.
 */
export const interruptible = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  const interruption = new AbortController()
  const stops = endingSignals.map((by) => ({ by, stop: () => interruption.abort(new Interrupted(by)) }))
  for (const { by, stop } of stops) process.once(by, stop)
  try {
    await work(interruption.signal)
  } finally {
    for (const { by, stop } of stops) process.off(by, stop)
  }
}

/** Ends this program by the signal that it was interrupted by. */
export const endBy = async ({ by }: Interrupted): Promise<never> => {
  process.kill(process.pid, by)
  return await new Promise<never>(() => setInterval(() => undefined, 1000)) // until the signal arrives
}
