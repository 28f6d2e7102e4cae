import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'

/** Takes whole lines in ASCII and gets them out; never throws, never waits. */
export type LogWriter = {
  write(line: string): void
  /** Writes what is left, waiting for a slow reader for at most a second. For the end of the process. */
  flush(): void
}

/** The system calls, so that a test can be a full pipe or a reader that went away. */
export type LogTarget = {
  /** How many bytes were taken; throws as `writeSync` does. */
  readonly write: (bytes: Uint8Array) => number
  readonly pause: (milliseconds: number) => void
}

const flushBytes = 65_536
const keptCharacters = 4_194_304
const retryMs = 20
const lastWaits = 50

/**
 * Gathers the lines of one turn of the event loop into one write. What a full pipe or a full disk does not take is kept and tried
 * again, up to 4 MiB; beyond that lines are dropped, and counted in a line of their own once there is room. A reader
 * that went away for good ends the writing.
 */
export const createLogWriter = (target: LogTarget): LogWriter => {
  let pending = ''
  let rest: Uint8Array = new Uint8Array()
  let dropped = 0
  let scheduled = false
  let retrying = false
  let ended = false

  /** False when there is nothing left to write. */
  const refill = (): boolean => {
    if (rest.length > 0) return true
    rest = Buffer.from(pending, 'latin1')
    pending = dropped === 0 ? '' : droppedLine(dropped)
    dropped = 0
    return rest.length > 0
  }

  /** False when the target would not take all. */
  const drain = (): boolean => {
    while (refill()) {
      try {
        rest = rest.subarray(target.write(rest))
      } catch (error) {
        if (!isPassing(error)) end()
        return ended
      }
    }
    return true
  }

  const end = () => {
    ended = true
    pending = ''
    rest = new Uint8Array()
  }

  const turn = () => {
    scheduled = false
    if (retrying || drain()) return
    retrying = true
    setTimeout(() => {
      retrying = false
      turn()
    }, retryMs).unref()
  }

  return {
    write: (line) => {
      if (ended) return
      if (pending.length + line.length > keptCharacters) {
        dropped += 1
        return
      }
      pending += line
      if (pending.length >= flushBytes && !retrying) turn()
      if (scheduled) return
      scheduled = true
      setImmediate(turn)
    },
    flush: () => {
      for (let waits = 0; !drain() && waits < lastWaits; waits += 1) target.pause(retryMs)
    },
  }
}

const droppedLine = (count: number): string =>
  `${JSON.stringify({ at: new Date().toISOString(), level: 'warn', event: 'log.dropped', count })}\n`

/** A full pipe drains, a full disk is cleared; a broken pipe stays broken. */
const isPassing = (error: unknown): boolean => {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return code === 'EAGAIN' || code === 'EINTR' || code === 'ENOSPC' || code === 'EDQUOT' || code === 'EIO'
}

const sleeper = new Int32Array(new SharedArrayBuffer(4))

/** Standard error, written without waiting: a reader that stops reading must not stop the server. */
const standardErrorTarget = (): LogTarget => {
  const descriptor = nonBlockingStandardError()
  return {
    write: (bytes) => writeSync(descriptor, bytes),
    pause: (milliseconds) => void Atomics.wait(sleeper, 0, 0, milliseconds),
  }
}

/**
 * A pipe is opened a second time, since the flag belongs to the open file and others may share ours. A regular
 * file never makes a writer wait for a reader; a socket cannot be opened so, and stays as it is.
 */
const nonBlockingStandardError = (): number => {
  try {
    if (!fstatSync(2).isFIFO()) return 2
    const descriptor = openSync('/proc/self/fd/2', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_APPEND)
    if (fstatSync(descriptor).isFIFO()) return descriptor
    closeSync(descriptor)
  } catch {
    // No /proc, or the reader is gone already: the first write will tell.
  }
  return 2
}

/** The log of a process: what is left is written also when it ends in a hurry. */
export const standardErrorWriter = (): LogWriter => {
  const writer = createLogWriter(standardErrorTarget())
  process.once('exit', () => writer.flush())
  return writer
}
