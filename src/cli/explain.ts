import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseUnusable } from '../../db/database.ts'
import { AppPlatformError } from '../client/index.ts'
import { ConfigError } from '../config.ts'
import { PlatformError } from '../domain/errors.ts'
import { MetricsPortUnusable } from '../http/server.ts'
import { describeCause } from '../runtime/cause.ts'
import { actingUser, ownership } from '../runtime/identity.ts'
import { PasswordsUnusable } from '../runtime/passwords.ts'
import { CommandFailed, printable, UsageError } from './output.ts'
import { remoteSentence, statusSentence } from './remote.ts'

type Explanation = {
  readonly exitCode: 1 | 2
  readonly sentences: readonly string[]
  /** A word for programs: the code that the platform refused with, or one of the command line's own. */
  readonly code: string
  /** Of the server that refused. */
  readonly requestId: string | null
}

/** An error as sentences for the person at the terminal: never a stack, never SQL with its values. */
export const explain = (error: unknown): Explanation => {
  const local = { requestId: null }
  if (error instanceof ConfigError)
    return { ...local, exitCode: 2, code: 'invalid_settings', sentences: error.faults.map(oneLine) }
  if (error instanceof UsageError)
    return { ...local, exitCode: 2, code: usageCode, sentences: [oneLine(error.message)] }
  if (error instanceof CommandFailed)
    return { ...local, exitCode: 1, code: failedCode, sentences: error.sentences.map(oneLine) }
  const sentences = [oneLine(sentenceOf(error))]
  if (error instanceof AppPlatformError) return { exitCode: 1, code: error.code, requestId: error.requestId, sentences }
  const code =
    error instanceof PlatformError ? error.code : error instanceof DatabaseUnusable ? 'database_unusable' : failedCode
  return { ...local, exitCode: 1, code, sentences }
}

/** The command line is wrong, and any other failure of a command. */
export const usageCode = 'usage'
const failedCode = 'command_failed'

const sentenceOf = (error: unknown): string => {
  if (error instanceof PlatformError) return error.message + statusSentence(error.facts.details)
  if (error instanceof AppPlatformError) return remoteSentence(error)
  if (error instanceof DatabaseUnusable || error instanceof PasswordsUnusable) return error.message
  if (error instanceof MetricsPortUnusable) return `${error.message} ${sentenceOf(error.cause)}`
  const cause = innermost(error)
  const fault = systemFaultIn(cause)
  if (fault !== undefined) return aboutFile(cause, fault)
  const { name, code, message } = describeCause(cause)
  return `The command failed: ${[name, code, message].filter((part) => part !== undefined).join(': ')}.`
}

/** The sentence, and the file or folder that it is about; if that may not be used, also its owner and the current user. */
const aboutFile = (cause: unknown, sentence: string): string => {
  if (!(cause instanceof Error && 'code' in cause && 'path' in cause)) return sentence
  const { code, path } = cause
  if (typeof path !== 'string' || path === '') return sentence
  if (code !== 'EACCES' && code !== 'EPERM') return `${sentence.slice(0, -1)}: ${path}.`
  const user = actingUser()
  const found = existsSync(path)
  // The folder around a missing file may be one of the system: nobody is told to give that away.
  const remedy = found ? `give it to that user with chown ${user} ${path}` : `choose a folder of that user`
  return `${sentence} ${ownership(found ? path : dirname(path))}, and this command acts as ${user}: run it as the owner, or ${remedy}.`
}

const systemFaults: ReadonlyMap<unknown, string> = new Map(
  Object.entries({
    ENOENT: 'There is no such file or folder.',
    EACCES: 'The file or folder may not be read or written by this user.',
    EPERM: 'The file or folder may not be changed by this user.',
    EISDIR: 'This is a folder, not a file.',
    ENOTDIR: 'A part of the path is a file, not a folder.',
    ENOSPC: 'The disk is full.',
    SQLITE_FULL: 'The disk is full.',
    SQLITE_IOERR_SHMSIZE: 'The disk is full.',
    SQLITE_CORRUPT: 'The database is damaged: restore a backup with app-platform restore FILE.',
    SQLITE_NOTADB: 'The file is not an SQLite database: restore a backup with app-platform restore FILE.',
    EROFS: 'The file system is read-only.',
    EEXIST: 'A file with this name already exists.',
    EPIPE: 'The reader of the output stopped before all of it was written.',
    EADDRNOTAVAIL: 'This machine has no such address to listen on.',
  }),
)

const systemFaultIn = (error: unknown): string | undefined => {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  // For an unknown host name, Bun reports the code of an earlier failure.
  const isListening = 'syscall' in error && error.syscall === 'listen'
  if (isListening && error.code !== 'EADDRINUSE' && error.code !== 'EACCES') return systemFaults.get('EADDRNOTAVAIL')
  if (error.code === 'EADDRINUSE') {
    const port = /port (\d+)/.exec(error.message)?.[1] // nothing else of the error names it
    return `Port ${port ?? ''} is in use: another program listens there. Stop that program, or choose another port.`
  }
  return systemFaults.get(error.code)
}

/** A wrapping error repeats values of the query; its cause does not. */
const innermost = (error: unknown): unknown => {
  let cause = error
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause
  return cause
}

/** The text contains file names and words of a server, which others chose. */
const oneLine = (text: string): string => printable(text.replaceAll(/\s*[\r\n]+\s*/g, ' '))
