import { expect, test } from 'bun:test'
import { startScheduler } from '../../src/jobs/scheduler.ts'

const soon = { chance: () => 0, done: () => undefined, failed: () => undefined }

test('a job runs again after its last run has ended, and never twice at once', async () => {
  let running = 0
  let most = 0
  let runs = 0
  const enough = Promise.withResolvers<void>()
  const scheduler = startScheduler(
    [
      {
        name: 'slow',
        periodMs: 1,
        run: async () => {
          running += 1
          most = Math.max(most, running)
          await Bun.sleep(5)
          running -= 1
          runs += 1
          if (runs === 5) enough.resolve()
        },
      },
    ],
    soon,
  )
  await enough.promise
  await scheduler.stop()
  expect(most).toBe(1)
})

test('a job that fails is reported and runs again', async () => {
  const failures: string[] = []
  let runs = 0
  const enough = Promise.withResolvers<void>()
  const scheduler = startScheduler(
    [
      {
        name: 'flaky',
        periodMs: 1,
        run: async () => {
          runs += 1
          if (runs === 3) enough.resolve()
          throw new Error('not today')
        },
      },
    ],
    { ...soon, failed: (job) => failures.push(job) },
  )
  await enough.promise
  await scheduler.stop()
  expect(failures).toEqual(['flaky', 'flaky', 'flaky'])
})

test('a failing job does not stop another one', async () => {
  const ran = Promise.withResolvers<void>()
  const scheduler = startScheduler(
    [
      { name: 'broken', periodMs: 1, run: async () => Promise.reject(new Error('never')) },
      { name: 'sound', periodMs: 1, run: async () => ran.resolve() },
    ],
    soon,
  )
  await ran.promise
  await scheduler.stop()
})

test('a stop informs the running job and waits for it, and nothing runs afterwards', async () => {
  const started = Promise.withResolvers<void>()
  let ended = false
  let runs = 0
  const scheduler = startScheduler(
    [
      {
        name: 'long',
        periodMs: 1,
        run: async (stopped) => {
          runs += 1
          started.resolve()
          while (!stopped()) await Bun.sleep(1)
          ended = true
        },
      },
    ],
    soon,
  )
  await started.promise
  await scheduler.stop()
  expect(ended).toBe(true)
  await Bun.sleep(20)
  expect(runs).toBe(1)
})

test('a job that hangs stops neither another job nor the end of the program', async () => {
  const ran = Promise.withResolvers<void>()
  const scheduler = startScheduler(
    [
      { name: 'hanging', periodMs: 1, run: async () => await new Promise<never>(() => undefined) },
      { name: 'sound', periodMs: 1, run: async () => ran.resolve() },
    ],
    { ...soon, graceMs: 10 },
  )
  await ran.promise
  await scheduler.stop()
})

test('each successful run is reported, and no other', async () => {
  const done: string[] = []
  const scheduler = startScheduler(
    [
      { name: 'broken', periodMs: 1, run: async () => Promise.reject(new Error('never')) },
      { name: 'sound', periodMs: 1, run: async () => undefined },
    ],
    { ...soon, done: (job) => done.push(job) },
  )
  while (done.length < 3) await Bun.sleep(1)
  await scheduler.stop()
  expect(new Set(done)).toEqual(new Set(['sound']))
})
