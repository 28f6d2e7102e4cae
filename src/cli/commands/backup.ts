import type { Command } from 'commander'
import { createReadStream, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { backupFile, unfinishedName } from '../../../db/backup.ts'
import { checkFile } from '../../../db/check.ts'
import { DatabaseUnusable } from '../../../db/database.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { PlatformError } from '../../domain/errors.ts'
import { recordBackup } from '../../operations/health/figures.ts'
import { hasCode } from '../../runtime/cause.ts'
import { actingUser, ownership } from '../../runtime/identity.ts'
import { wholeNumberFlag } from '../flag-values.ts'
import { asOperator, type CommonFlags, databaseCommand, databasePathOf } from '../operator-command.ts'
import { answer, CommandFailed, UsageError } from '../output.ts'

type BackupFlags = CommonFlags & { readonly force?: boolean; readonly keep?: number; readonly check?: boolean }

const targets = `
The target is a file, a folder or a dash:
  FILE   one private file; an existing one is left as it is, or replaced with --force
  DIR    a file in that folder, named after the database and the moment (UTC). With --keep N all but the newest N of the
         files that were named so are removed afterwards; nothing else in the folder is touched. If the copy fails its
         check, or the database cannot be opened for use, nothing is removed and the command fails
  -      standard output, for a pipe or a file: app-platform backup - | age -r KEY > backup.age
Copying the database file by hand is no backup. print backup-timer prints a timer that does all of this every day.`

export const addBackupCommand = (program: Command): void => {
  databaseCommand(
    program,
    'backup <file>',
    'Copy the database into one private file, beside a running server or without one.',
  )
    .option('--force', 'replace the file if it exists')
    .option('--keep <count>', 'in a folder: keep this many backups and remove older ones', wholeNumberFlag(1, 100_000))
    .option('--check', 'check the copy as check FILE does, before older ones are removed')
    .addHelpText('after', targets)
    .action(backup)
}

const backup = async (to: string, flags: BackupFlags): Promise<void> => {
  const file = databasePathOf(flags)
  if (to === '-') return await toStandardOutput(file, flags)
  const isFolder = flags.keep !== undefined || statSync(to, { throwIfNoEntry: false })?.isDirectory() === true
  if (isFolder) mkdirSync(to, { recursive: true, mode: 0o700 })
  const target = isFolder ? join(to, `${stemOf(file)}-${new Date().toISOString().replaceAll(':', '-')}.db`) : to
  write(file, target, flags)
  const { size: sizeBytes, mtimeMs } = statSync(target)
  const problems = flags.check === true ? checkFile(target, migrations, 'backup') : []
  const unrecorded = problems.length > 0 ? null : await record(flags, sizeBytes)
  const reasons = unrecorded === null ? problems : [unrecorded]
  if (reasons.length > 0 && (flags.keep !== undefined || flags.check === true)) {
    throw new CommandFailed([...reasons, flags.keep === undefined ? doubtful(target) : setAside(target, stemOf(file))])
  }
  const pruned = flags.keep === undefined ? [] : prune(to, stemOf(file), { keep: flags.keep, newest: basename(target) })
  const recorded = unrecorded === null
  const createdAt = new Date(mtimeMs).toISOString()
  const text = [
    `Backed up to ${target} (${sizeBytes.toLocaleString('en')} bytes).`,
    ...(pruned.length === 0 ? [] : [`Removed ${pruned.join(', ')}.`]),
    ...(recorded ? [] : ['The time of the backup could not be recorded: see app-platform check.']),
  ].join('\n')
  answer(flags, { value: { file: target, sizeBytes, createdAt, recorded, pruned }, text })
}

const doubtful = (copy: string): string => `The copy was kept as ${copy}.`

/** Takes the name by which a later backup would count the copy, so that it never takes the place of a good one. */
const setAside = (copy: string, stem: string): string => {
  const kept = join(copy, '..', `${stem}-failed.db`)
  renameSync(copy, kept)
  return `No older backup was removed. ${doubtful(kept)}`
}

const write = (file: string, to: string, { force }: BackupFlags): void => {
  try {
    backupFile({ file, to, replace: force === true, migrations })
  } catch (error) {
    if (!hasCode(error, 'EACCES')) throw error
    const folder = resolve(to, '..')
    throw new CommandFailed([
      `${actingUser()}, who owns the folder of the database, may not write to ${folder}: ${ownership(folder)}. ` +
        `This command acts as ${actingUser()}: choose another folder, or app-platform backup - > ${to}.`,
    ])
  }
}

/** `app-platform` for `/var/lib/app-platform/app-platform.db`. */
const stemOf = (file: string): string => basename(file, extname(file))

const dated = /^-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.db$/

/** Removes older files that this command named and returns their names. The newest write stays, even after a clock change. */
const prune = (folder: string, stem: string, { keep, newest }: { keep: number; newest: string }): readonly string[] => {
  const older = readdirSync(folder)
    .filter((name) => name !== newest && name.startsWith(stem) && dated.test(name.slice(stem.length)))
    .filter((name) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true)
    .toSorted()
  const removed = older.slice(0, Math.max(0, older.length - (keep - 1)))
  for (const name of removed) rmSync(join(folder, name), { force: true })
  return removed
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

/** Copies first and then sends the copy, so that a slow reader blocks nobody and gets a consistent snapshot. */
const toStandardOutput = async (file: string, flags: BackupFlags): Promise<void> => {
  if (flags.json === true || flags.keep !== undefined || flags.force === true || flags.check === true) {
    throw new UsageError('A backup to standard output takes no --json, --keep, --force or --check.')
  }
  if (process.stdout.isTTY) throw new UsageError('A backup does not go to a terminal: send it to a file or a pipe.')
  const copy = unfinishedName(resolve(file))
  try {
    backupFile({ file, to: copy, replace: false, migrations })
    const { size } = statSync(copy)
    await pipeline(createReadStream(copy), process.stdout, { end: false })
    await record(flags, size)
  } finally {
    rmSync(copy, { force: true })
  }
}
