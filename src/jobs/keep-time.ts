import { keepTime } from '../operations/clock/keep-time.ts'
import type { Platform } from '../operations/platform.ts'
import type { Job } from './scheduler.ts'

/** Keeps the time once a minute in the database itself, from where it goes into backups. */
export const keepTimeJob = (platform: Platform): Job => ({
  name: 'keep-time',
  periodMs: 60_000,
  run: async () => await keepTime(platform),
})
