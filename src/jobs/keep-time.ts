import { keepTime } from '../operations/clock/keep-time.ts'
import type { Platform } from '../operations/platform.ts'
import type { Job } from './scheduler.ts'

/** Keeps the time once a minute: a program that is killed forgets no more of it. */
export const keepTimeJob = (platform: Platform): Job => ({
  name: 'keep-time',
  periodMs: 60_000,
  run: async () => await keepTime(platform),
})
