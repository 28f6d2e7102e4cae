import { hash } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { hasCode } from '../../src/domain/error-code.ts'
import { lazily } from '../../src/domain/remembered.ts'

/*
 * What a process makes for a while and takes away again: whole copies of a database, and programs that it has started. A signal ends it
 * with `endTemporaries`. A killed one leaves its copies: the next server, backup or restore in their folder removes them.
 */

const temporaries = new Set<() => void>()

/** Calls `end` when it is disposed of, or when a signal ends this process before that. */
export const temporarily = (end: () => void): Disposable => {
  temporaries.add(end)
  return {
    [Symbol.dispose]: () => {
      temporaries.delete(end)
      end()
    },
  }
}

/** Takes away what this process has made for a while, because it is about to end. */
export const endTemporaries = (): void => {
  for (const end of temporaries) quietly(end)
}

/** What cannot be taken away keeps neither the rest nor the end. */
const quietly = (work: () => void): void => {
  try {
    work()
  } catch {
    // The next server, backup or restore in that folder tries again, or says what is wrong with it.
  }
}

/** Lets a signal that came while SQLite was copying end this process now. */
export const letSignalsIn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve))

/** What SQLite adds to the name of a file. */
const suffixes = ['', '-journal', '-wal', '-shm']

/** A new path beside the target for a copy that is removed, with what SQLite puts beside it. The caller makes the file. */
export const temporaryFile = (target: string): Disposable & { readonly path: string } => {
  const path = temporaryName(target)
  return {
    path,
    ...temporarily(() => {
      for (const suffix of suffixes) rmSync(path + suffix, { force: true })
    }),
  }
}

/** It has the process ID and whose IDs these are, so that others can tell that its process was killed. */
export const temporaryName = (target: string, pid = process.pid): string =>
  `${target}.${processesHere()}-${pid}-${crypto.randomUUID()}.unfinished`

const temporaryPattern =
  /\.(?:([0-9a-f]{8})-(\d+)-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.unfinished(?:-journal|-wal|-shm)?$/

/** The path without what a copy adds to it. */
export const withoutTemporary = (path: string): string => path.replace(temporaryPattern, '')

/** Stands for those who have the same process IDs: another container, or another machine, has others. */
const processesHere = lazily(() => {
  const parts = [
    () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'),
    () => readlinkSync('/proc/self/ns/pid'),
  ].map((read) => {
    try {
      return read()
    } catch {
      return hostname() // only Linux has these files
    }
  })
  return hash('sha256', parts.join('\n')).slice(0, 8)
})

/** A process that makes a copy writes all the time. */
const longestPauseMs = 60 * 60 * 1_000

/** Removes the copies that killed processes have left in this folder. */
export const removeLeftovers = (folder: string): void =>
  quietly(() => {
    for (const name of readdirSync(folder))
      quietly(() => {
        if (isLeft(folder, name)) rmSync(join(folder, name), { force: true })
      })
  })

const isLeft = (folder: string, name: string): boolean => {
  const [found, whose, pid] = temporaryPattern.exec(name) ?? []
  if (found === undefined) return false
  const changedAt = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
  return Date.now() - changedAt > longestPauseMs || (whose === processesHere() && !isRunning(Number(pid)))
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !hasCode(error, 'ESRCH') // it may belong to another user
  }
}
