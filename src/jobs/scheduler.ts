/** A job is a name, a period in milliseconds and an operation. `stopped` returns true once the server is stopping. */
export type Job = {
  readonly name: string
  readonly periodMs: number
  run(stopped: () => boolean): Promise<void>
}

type SchedulerOptions = {
  readonly chance: () => number
  readonly done: (job: string) => void
  readonly failed: (job: string, cause: unknown) => void
  /** How long a stop waits for running jobs. The default is 5 seconds. */
  readonly graceMs?: number
}

/**
 * Runs each job repeatedly. A run starts one period (10 % jitter) after the last run ended, so a job never overlaps
 * itself and the jobs of several servers do not run in step. A job that fails is reported and runs again; no job waits
 * for another.
 */
export const startScheduler = (jobs: readonly Job[], options: SchedulerOptions) => {
  let stopping = false
  const timers = new Map<string, ReturnType<typeof setTimeout>>()
  const running = new Set<Promise<void>>()

  const plan = (job: Job, delayMs: number) => {
    timers.set(
      job.name,
      setTimeout(() => {
        const run = execute(job).finally(() => running.delete(run))
        running.add(run)
      }, delayMs),
    )
  }
  const execute = async (job: Job) => {
    try {
      await job.run(() => stopping)
      options.done(job.name)
    } catch (cause) {
      options.failed(job.name, cause)
    }
    if (!stopping) plan(job, job.periodMs * (0.9 + options.chance() * 0.2))
  }

  for (const job of jobs) plan(job, job.periodMs * options.chance())
  return {
    /** Ends the timers and waits for running jobs, at most `graceMs`: a job that hangs must not keep the program from ending. */
    stop: async (): Promise<void> => {
      stopping = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.race([Promise.all(running), Bun.sleep(options.graceMs ?? 5_000)])
    },
  }
}
