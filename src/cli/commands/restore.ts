import type { Command } from 'commander'
import { wireRecord } from '../../domain/timestamp.ts'
import { isDump } from '../../../db/backup.ts'
import { restoreMoved } from '../../../db/move.ts'
import { type Restored, type RestoreFacts, type RestoreStep, restoreSqlite } from '../../../db/restore.ts'
import { canonicalPath } from '../../../db/sqlite/files.ts'
import { assertReplaceable } from '../../../db/sqlite/place.ts'
import type { StoppedOptions } from '../../../db/stopped.ts'
import { stoppedCommand } from '../operator-command.ts'
import { type Answer, CommandFailed, endedText } from '../output.ts'
import { withReadableBackup } from '../readable-backup.ts'

const consequences = `
The backup is checked first, as check FILE does, and is only read. A server must not be running on the database. The
database that was there, the predecessor, is set aside under a dated name in the same folder. A database that has moved to
another machine is not replaced.

Every token, code, grant and session that was issued before ends: people sign in and consent again, apps ask for new
tokens. What has ended since the backup stays ended, also over several restores in any order: revoked secrets; suspended,
deleted or transferred apps; disabled users, and operators who no longer are; replaced passwords and addresses; removed second
factors and used recovery codes; members who were removed or got a lesser role; installs; withdrawn scopes; versions that
were withdrawn, rejected or rolled back in production; removed redirect URIs and webhook endpoints. That needs a
predecessor that can be read. If it cannot, the answer says so: rotate the client secrets then.`

export const addRestoreCommand = (program: Command): void => {
  stoppedCommand(program, 'restore <file>', 'Replace the database with a backup.', restore)
    .option('--move', 'the file is the sealed copy of a moved database (see move): ends nothing, replaces nothing')
    .addHelpText('after', consequences)
}

const restore = async (stopped: StoppedOptions, backup: string, flags: { readonly move?: boolean }) => {
  if (flags.move === true) return await putInPlace(stopped, backup)
  const restored = await withBackup(
    stopped,
    backup,
    async (readable) => await restoreSqlite({ ...stopped, backup: readable, progress: showStep }),
  ).finally(() => showStep('done')) // so that an error starts on a new line
  const { at: restoredAt, ...facts } = restored
  const advice = adviceAfter(restored)
  return {
    value: { ...wireRecord({ restoredAt }), ...facts, advice },
    text: [...restoredText(restored), ...advice].join('\n'),
  }
}

/** Works on a backup that the acting user can read, and that is one of SQLite. */
const withBackup = async <T>(
  { file }: StoppedOptions,
  backup: string,
  work: (readable: string) => Promise<T>,
): Promise<T> =>
  await withReadableBackup(
    backup,
    () => placeOf(file),
    async (readable) => {
      if (isDump(readable)) throw new CommandFailed([notHere(backup)])
      return await work(readable)
    },
  )

/** The copy of a backup goes beside the database, so its place is looked at before. */
const placeOf = (file: string): string => {
  const database = canonicalPath(file)
  assertReplaceable(database)
  return database
}

const notHere = (dump: string): string =>
  `${dump} is a dump of PostgreSQL: restore it with pg_restore, as app-platform help postgresql shows.`

const putInPlace = async (stopped: StoppedOptions, sealed: string): Promise<Answer> => {
  const { database, restoredAt } = await withBackup(
    stopped,
    sealed,
    async (readable) => await restoreMoved({ ...stopped, sealed: readable }),
  )
  const text = `Put ${database} in place. Tokens, sessions and grants go on. Remove ${sealed}: it is a whole copy, and must not be used twice.`
  return { value: { ...wireRecord({ restoredAt }), database }, text }
}

const stepTexts = {
  check: 'Checking the backup…',
  copy: 'Copying it…',
  end: 'Ending what was issued…',
  'set aside': 'Setting the predecessor aside…',
  replace: 'Putting it in place…',
  done: '',
} as const satisfies Record<RestoreStep, string>

/** Shown on a terminal only. */
const showStep = (step: RestoreStep): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${stepTexts[step]}`)
}

const restoredText = ({ database, predecessor, keptAs, ended, carriedOver, kept }: Restored): readonly string[] => [
  `Restored ${database}.`,
  keptAs === null
    ? 'There was no predecessor.'
    : `${predecessor === 'missing' ? 'The predecessor was missing. Its write-ahead log' : 'The predecessor'} is set aside as ${keptAs}.`,
  'Every token, code, grant and session issued before has ended; of those in the backup these were still alive: ' +
    `${endedText(ended)}.`,
  ...(carriedOver === null ? [] : carriedText(carriedOver, kept)),
  ...(keptAs === null
    ? []
    : ['Once you miss nothing, remove it with app-platform purge --predecessors: it is a whole database.']),
]

/** One line for each kind of which something has ended. */
const carriedText = (counts: NonNullable<Restored['carriedOver']>, kept: number): readonly string[] => {
  const lines = Object.entries(counts).filter(([, count]) => count > 0)
  return [
    lines.length === 0
      ? 'Nothing that is in this backup has ended since it was made.'
      : 'Carried over from the predecessor, as ended since the backup:',
    ...lines.map(([kind, count]) => `  ${carriedKinds[kind] ?? kind}: ${count}`),
    ...(kept === 0
      ? []
      : [`What has ended and this backup does not know is remembered, should a newer one be restored: ${kept}.`]),
  ]
}

const carriedKinds: Readonly<Record<string, string>> = {
  credentials: 'client secrets',
  serviceKeys: 'service keys',
  apps: 'apps',
  users: 'users',
  passwords: 'changed passwords',
  factors: 'second factors and recovery codes',
  emails: 'addresses',
  links: 'links to the builder and identity providers',
  owners: 'owners of apps',
  members: 'members of apps',
  operators: 'operator rights',
  installs: 'installs',
  resources: 'websites and stores',
  scopes: 'scopes of apps and installs',
  versions: 'versions',
  redirectUris: 'redirect URIs',
  webhooks: 'webhook endpoints and secrets',
}

const adviceAfter = ({ predecessor, unread }: RestoreFacts): readonly string[] => {
  if (predecessor === 'read' && unread === 0) return []
  return [
    `${whyUnknown[predecessor]}, so what was revoked, suspended or disabled since the backup is in force again: rotate every client ` +
      'secret (credential rotate CLIENT_ID --grace-hours 0), and review apps, users, installs and redirect URIs.',
  ]
}

const whyUnknown = {
  missing: 'There was no predecessor',
  stranger: 'The predecessor is not the database that was backed up',
  unreadable: 'The predecessor could not be read',
  read: 'An earlier restore since this backup was made could not read its predecessor, or a recovery accepted a loss',
} as const satisfies Record<RestoreFacts['predecessor'], string>
