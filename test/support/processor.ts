import { existsSync, readFileSync } from 'node:fs'

export type ProcessorTime = { readonly ranMs: number; readonly waitedMs: number }

/** How long the main thread of a process ran and waited for a processor. Zeros if the kernel does not say. */
export const processorTimeOf = (pid: number): ProcessorTime => {
  const path = `/proc/${pid}/schedstat`
  const [ran = 0, waited = 0] = existsSync(path) ? readFileSync(path, 'utf8').split(' ').map(Number) : []
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 }
}
