import { writeFileSync } from 'node:fs'

/** Of a process's memory only the first page of each file that is mapped in it; core(5). */
const headersOnly = '0x10'

/**
 * Leaves the memory of this process, where secrets have been, out of its core dumps: they keep registers, and which
 * programs and libraries were loaded. Linux alone has this; elsewhere it does nothing, and dumps should be forbidden.
 */
export const keepMemoryOutOfCoreDumps = (): void => {
  if (process.platform !== 'linux') return
  try {
    writeFileSync('/proc/self/coredump_filter', headersOnly)
  } catch {
    // A sandbox that hides /proc or may not write to it.
  }
}
