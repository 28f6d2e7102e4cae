/** A job is a name, a period in milliseconds and an operation; `stopped` turns true when the program wants to end. */
export type Job = {
  readonly name: string
  readonly periodMs: number
  run(stopped: () => boolean): Promise<void>
}

type Scheduler = {
  /** Ends the timers and waits for what is running, but not for long: a job that hangs must not keep the program from ending. */
  stop(): Promise<void>
}

type SchedulerOptions = {
  readonly chance: () => number
  readonly done: (job: string) => void
  readonly failed: (job: string, cause: unknown) => void
  /** How long the end of the program waits for what is running; 5 seconds unless said otherwise. */
  readonly graceMs?: number
}

/**
 * Runs each job again and again, a period with a tenth of jitter after its last run ended, so that no job overlaps
 * itself and restarts do not line up. A job that fails is reported and tried again; none waits for another.
 */
export const startScheduler = (jobs: readonly Job[], options: SchedulerOptions): Scheduler => {
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
    stop: async () => {
      stopping = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.race([Promise.all(running), Bun.sleep(options.graceMs ?? 5_000)])
    },
  }
}
