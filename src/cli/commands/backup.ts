import type { Command } from 'commander'
import { createReadStream, existsSync, fstatSync, mkdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type BackupNames, datedName, pruneFolder, setAside } from '../../../db/backup-folder.ts'
import { DatabaseUnusable } from '../../../db/database.ts'
import { backUpDatabase, backupNamesOf, checkBackup, streamBackup } from '../../../db/engine.ts'
import { temporaryFile } from '../../../db/sqlite/temporary.ts'
import { actingUser, ownership } from '../../../db/faults/system.ts'
import type { DatabasePlace } from '../../config.ts'
import { PlatformError } from '../../domain/errors.ts'
import { recordBackup } from '../../operations/health/health.ts'
import { hasCode } from '../../domain/error-code.ts'
import { wholeNumberFlag } from '../flag-values.ts'
import { type CommonFlags, databaseCommand, databaseOf, leavingNoCopies } from '../operator-command.ts'
import { asOperator } from '../operator-session.ts'
import { answer, CommandFailed, UsageError } from '../output.ts'

type BackupFlags = CommonFlags & { readonly force?: boolean; readonly keep?: number; readonly check?: boolean }

const targets = `
The target is a file, a folder or a dash:
  FILE   one private file; an existing one is left as it is, or replaced with --force
  DIR    a file in that folder, named after the database and the moment (UTC). With --keep N all but the newest N of the
         files that were named so are removed afterwards; nothing else in the folder is touched. If the copy fails its
         check, or the database cannot be opened for use, nothing is removed and the command fails
  -      standard output, for a pipe or a file: app-platform backup - | age -r KEY > backup.age
For a PostgreSQL database pg_dump makes it, in its custom format, and pg_restore always checks it.
Copying the database file by hand is no backup. print backup-timer prints a timer that does all of this every day.`

export const addBackupCommand = (program: Command): void => {
  databaseCommand(
    program,
    'backup <file>',
    'Copy the database into one private file, beside a running server or without one; dump PostgreSQL.',
  )
    .option('--force', 'replace the file if it exists')
    .option('--keep <count>', 'in a folder: keep this many backups and remove older ones', wholeNumberFlag(1, 100_000))
    .option('--check', 'check the copy as check FILE does, before older ones are removed')
    .addHelpText('after', targets)
    .action(async (to: string, flags: BackupFlags) => await leavingNoCopies(async () => await backup(to, flags)))
}

const backup = async (to: string, flags: BackupFlags): Promise<void> => {
  const place = databaseOf(flags)
  if (to === '-') return await toStandardOutput(place, flags)
  if (flags.keep !== undefined && /\.\w+$/.test(to) && !existsSync(to)) {
    throw new UsageError(
      `--keep is for a folder, and ${to} has the name of a file: name a folder, or leave --keep out.`,
    )
  }
  const isFolder =
    flags.keep !== undefined || to.endsWith('/') || statSync(to, { throwIfNoEntry: false })?.isDirectory() === true
  const names = await backupNamesOf(place)
  if (isFolder) makeFolder(to)
  const target = isFolder ? join(to, datedName(names, Date.now())) : to
  await write(place, target, flags)
  const { size: sizeBytes, mtimeMs } = statSync(target)
  const isChecked = flags.check === true || place.kind === 'postgres'
  const problems = isChecked ? (await checkBackup(target)).problems : []
  const unrecorded = problems.length > 0 ? null : await record(flags, sizeBytes)
  const reasons = unrecorded === null ? problems : [unrecorded]
  if (reasons.length > 0 && (flags.keep !== undefined || isChecked)) {
    throw new CommandFailed([...reasons, flags.keep === undefined ? doubtful(target) : keptAside(target, names)])
  }
  const pruned = flags.keep === undefined ? [] : pruneFolder(to, names, { keep: flags.keep, newest: basename(target) })
  const recorded = unrecorded === null
  const createdAt = new Date(mtimeMs).toISOString()
  const text = [
    `Backed up to ${target} (${sizeBytes.toLocaleString('en')} bytes).`,
    ...(pruned.length === 0 ? [] : [`Removed ${pruned.join(', ')}.`]),
    ...(recorded ? [] : ['The time of the backup could not be recorded: see app-platform check.']),
  ].join('\n')
  answer(flags, { value: { file: target, sizeBytes, createdAt, recorded, pruned }, text })
}

const makeFolder = (folder: string): void => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    if (!hasCode(error, 'EACCES')) throw error
    const user = actingUser()
    throw new CommandFailed([
      `${user}, who owns the folder of the database, may not make ${folder}: run install -d -m 0700 -o ${user} ${resolve(folder)} first.`,
    ])
  }
}

const doubtful = (copy: string): string => `The copy was kept as ${copy}.`

const keptAside = (copy: string, names: BackupNames): string =>
  `No older backup was removed. ${doubtful(setAside(dirname(copy), names, basename(copy)))}`

const write = async (place: DatabasePlace, to: string, { force }: BackupFlags): Promise<void> => {
  try {
    await backUpDatabase(place, { to, replace: force === true })
  } catch (error) {
    const folder = resolve(to, '..')
    const isThere = error instanceof Error && 'path' in error && resolve(String(error.path), '..') === folder
    if (!hasCode(error, 'EACCES') || !isThere) throw error
    throw new CommandFailed([
      `${actingUser()}, who owns the folder of the database, may not write to ${folder}: ${ownership(folder)}. ` +
        `This command acts as ${actingUser()}: choose another folder, or app-platform backup - > ${to}.`,
    ])
  }
}

/** Null, or why the database could not record the backup. One that cannot be opened for use can still be backed up. */
const record = async (flags: CommonFlags, sizeBytes: number): Promise<string | null> => {
  try {
    await asOperator(flags, async (session) => await recordBackup(...session, sizeBytes))
    return null
  } catch (error) {
    if (error instanceof DatabaseUnusable || error instanceof PlatformError) return error.message
    throw error
  }
}

/** Of an SQLite file a copy is sent, so that a slow reader blocks nobody and gets a consistent snapshot. */
const toStandardOutput = async (place: DatabasePlace, flags: BackupFlags): Promise<void> => {
  if (flags.json === true || flags.keep !== undefined || flags.force === true || flags.check === true) {
    throw new UsageError('A backup to standard output takes no --json, --keep, --force or --check.')
  }
  if (process.stdout.isTTY)
    throw new UsageError('A backup cannot be written to a terminal: send it to a file or a pipe.')
  if (isLost())
    throw new UsageError('Standard output is closed, or leads to /dev/null: send the backup to a file or a pipe.')
  if (place.kind === 'postgres') {
    let sizeBytes = 0
    const counted = async function* (dump: AsyncIterable<Uint8Array>) {
      for await (const chunk of dump) {
        sizeBytes += chunk.length
        yield chunk
      }
    }
    await streamBackup(place.url, async (dump) => await pipeline(dump, counted, process.stdout, { end: false }))
    return void (await record(flags, sizeBytes))
  }
  using copy = temporaryFile(resolve(place.path))
  await backUpDatabase(place, { to: copy.path, replace: false })
  const { size } = statSync(copy.path)
  await pipeline(createReadStream(copy.path), process.stdout, { end: false })
  await record(flags, size)
}

/** A closed one leads there as well: the runtime opens it. */
const isLost = (): boolean => {
  const [output, nowhere] = [fstatSync(1), statSync('/dev/null')]
  return output.isCharacterDevice() && output.rdev === nowhere.rdev
}
