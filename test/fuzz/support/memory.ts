import { readFileSync } from 'node:fs'

/** What of a process is in memory now. */
export const residentKilobytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
