import type { Figures } from '../../src/runtime/metrics.ts'

/** The metrics of a healthy, unused store. */
export const idleFigures: Figures = {
  transactions: 0,
  commits: 0,
  lockWaits: 0,
  failedCheckpoints: 0,
  databaseBytes: 8_192,
  walBytes: 4_096,
  freeDiskBytes: 1_000_000,
  writable: true,
  engineVersion: '3.0.0',
  clockOffsetSeconds: 0,
  nodes: null,
  databaseClockOffsetSeconds: null,
  leads: true,
  purgeLagSeconds: 0,
  backupAgeSeconds: null,
  mailsWaiting: null,
  dueDeliveries: 0,
  startedUncleanly: false,
  disabledEndpoints: {},
  conditions: {},
}
