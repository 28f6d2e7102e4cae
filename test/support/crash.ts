import { type Answer, codeOf } from './call.ts'
import { type ServerOptions, startServer } from './running-server.ts'
import type { World } from './world.ts'

/** Kills the server with SIGKILL and starts it again on the same file. */
export const crash = async (world: World, options: Omit<ServerOptions, 'database'> = {}): Promise<World> => {
  await world.server.kill()
  return { ...world, server: await startServer({ ...options, database: world.server.database }) }
}

/** Runs the same work many times concurrently. */
export const together = async <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  await Promise.all(Array.from({ length: count }, async (_, index) => await work(index)))

/** Counts answers by error code, or by status if there is no code. */
export const tally = (answers: readonly Answer[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const answer of answers) {
    const kind = answer.status < 400 ? String(answer.status) : codeOf(answer)
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}

/** Repeats until the answer is the expected one, or returns the last one after a while. */
export const eventually = async <T>(ask: () => Promise<T> | T, hoped: (answer: T) => boolean): Promise<T> => {
  const giveUpAt = performance.now() + 40_000 // on a busy machine; a quiet one takes less than one
  for (;;) {
    const answer = await ask()
    if (hoped(answer) || performance.now() > giveUpAt) return answer
    await Bun.sleep(20)
  }
}
