import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { hasCode } from '../domain/error-code.ts'

/** Writes whole lines of ASCII. Never throws and never waits. */
export type LogWriter = {
  write(line: string): void
  /** Writes the rest at the end of the process, waiting at most a second for a slow reader. */
  flush(): void
}

/** The system calls. Tests replace them by a full pipe or a closed one. */
type LogTarget = {
  /** Returns how many bytes were written; throws as `writeSync` does. */
  readonly write: (bytes: Uint8Array) => number
  readonly pause: (milliseconds: number) => void
}

const flushBytes = 65_536
const keptCharacters = 4_194_304
const retryMs = 20
const lastWaits = 50

/**
 * Writes the lines of one turn of the event loop together. What a full pipe or disk does not accept is kept and tried again,
 * up to 4 MiB. Beyond that lines are dropped, and a line with their number follows once there is room. When the reader has
 * closed the pipe, nothing more is written.
 */
export const createLogWriter = (target: LogTarget): LogWriter => {
  let pending = ''
  let rest: Uint8Array = new Uint8Array()
  let dropped = 0
  let scheduled = false
  let retrying = false
  let ended = false

  /** Returns whether there is anything to write. */
  const refill = (): boolean => {
    if (rest.length > 0) return true
    rest = Buffer.from(pending, 'latin1')
    pending = dropped === 0 ? '' : droppedLine(dropped)
    dropped = 0
    return rest.length > 0
  }

  /** Returns whether everything was written. */
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

/** A full pipe or disk may have room later; a broken pipe stays broken. */
const isPassing = (error: unknown): boolean => hasCode(error, 'EAGAIN', 'EINTR', 'ENOSPC', 'EDQUOT', 'EIO')

const sleeper = new Int32Array(new SharedArrayBuffer(4))

/** Standard error without waiting: a reader that stops reading must not stop the server. */
const standardErrorTarget = (): LogTarget => {
  const descriptor = nonBlockingStandardError()
  return {
    write: (bytes) => writeSync(descriptor, bytes),
    pause: (milliseconds) => void Atomics.wait(sleeper, 0, 0, milliseconds),
  }
}

/**
 * A pipe is opened a second time, since the flag belongs to the open file, which other processes may share. Regular files
 * never block; sockets cannot be opened this way and stay as they are.
 */
const nonBlockingStandardError = (): number => {
  try {
    if (!fstatSync(2).isFIFO()) return 2
    const descriptor = openSync('/proc/self/fd/2', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_APPEND)
    if (fstatSync(descriptor).isFIFO()) return descriptor
    closeSync(descriptor)
  } catch {
    // No /proc, or the reader is gone: the first write shows it.
  }
  return 2
}

/** The log of this process. The rest is written when it exits, even early. */
export const standardErrorWriter = (): LogWriter => {
  const writer = createLogWriter(standardErrorTarget())
  process.once('exit', () => writer.flush())
  return writer
}
