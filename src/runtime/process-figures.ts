import { turn } from '../domain/awaitable.ts'
import { fstatSync, readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { hasCode } from '../domain/error-code.ts'

/** What the system reports about this process. Null on systems without /proc. */
export type ProcessFigures = {
  readonly openDescriptors: number | null
  readonly maximumDescriptors: number | null
  readonly openSockets: number | null
}

/** Descriptors that are checked in one turn of the event loop, in about half a millisecond. */
const lookedAtOnce = 500

/** Reads files off the event loop and checks descriptors in small batches. */
export const readProcessFigures = async (): Promise<ProcessFigures> => {
  const descriptors = await readdir('/proc/self/fd').catch(() => null)
  const limits = await readFile('/proc/self/limits', 'latin1').catch(() => '')
  return {
    openDescriptors: descriptors?.length ?? null,
    maximumDescriptors: maximumIn(limits),
    openSockets: descriptors === null ? null : await countSockets(descriptors.map(Number)),
  }
}

const maximumIn = (limits: string): number | null => {
  const [, maximum] = /^Max open files +(\d+)/m.exec(limits) ?? []
  return maximum === undefined ? null : Number(maximum)
}

/** How many files and connections this process has open, of how many that it may have. */
export type DescriptorUse = { readonly open: number; readonly most: number }

const lookEveryMs = 5_000

/** That use, looked at every few seconds at most; null on systems without /proc. If none is free to look with, all are in use. */
export const watchDescriptors = (monotonicMs: () => number): (() => DescriptorUse | null) => {
  let [lookedAt, most, use]: [number, number | null, DescriptorUse | null] = [-lookEveryMs, null, null]
  return () => {
    if (monotonicMs() - lookedAt < lookEveryMs) return use
    lookedAt = monotonicMs()
    try {
      most ??= maximumIn(readFileSync('/proc/self/limits', 'latin1'))
      use = most === null ? null : { open: readdirSync('/proc/self/fd').length, most }
    } catch (error) {
      use = most !== null && hasCode(error, 'EMFILE') ? { open: most, most } : null
    }
    return use
  }
}

/** Standard input, output and error are not counted: they may be sockets to a journal. */
const countSockets = async (descriptors: readonly number[]): Promise<number> => {
  let count = 0
  for (let from = 0; from < descriptors.length; from += lookedAtOnce) {
    if (from > 0) await turn()
    for (const descriptor of descriptors.slice(from, from + lookedAtOnce)) {
      if (descriptor > 2 && isSocket(descriptor)) count += 1
    }
  }
  return count
}

const isSocket = (descriptor: number): boolean => {
  try {
    return fstatSync(descriptor).isSocket()
  } catch {
    return false // closed since the folder was read
  }
}

const lagPeriodMs = 100

/** Reports ten times a second by how many milliseconds the event loop was late. Returns the function that ends it. */
export const watchEventLoop = (late: (milliseconds: number) => void, monotonicMs: () => number): (() => void) => {
  let expected = monotonicMs() + lagPeriodMs
  const timer = setInterval(() => {
    const now = monotonicMs()
    late(Math.max(0, now - expected))
    expected = now + lagPeriodMs
  }, lagPeriodMs)
  timer.unref()
  return () => clearInterval(timer)
}
