import type { Command } from 'commander'
import { checkFile } from '../../../db/check.ts'
import { migrateFile } from '../../../db/migrate-file.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { readConfig } from '../../config.ts'
import { purgeAll } from '../../operations/purge/purge.ts'
import { asOperator, type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answer, answerRecord, CommandFailed } from '../output.ts'
import { withReadableBackup } from '../readable-backup.ts'

export const addMigrateCommand = (program: Command): void => {
  operatorCommand(
    program,
    'migrate',
    'Create the database, or bring its schema up to date. serve does so by itself.',
  ).action(migrate)
}

const migrate = async (flags: CommonFlags): Promise<void> => {
  const { databasePath } = readConfig({ database: flags.database })
  const applied = await migrateFile(databasePath, migrations)
  const text = applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`
  answer(flags, { database: databasePath, applied }, text)
}

export const addCheckCommand = (program: Command): void => {
  operatorCommand(
    program,
    'check [file]',
    'Check that the database, or a backup, is whole, private and of this version.',
  )
    .addHelpText(
      'after',
      '\nWithout a file it checks the database (--database). A file is a backup: what only stands beside a database is not missed.' +
        '\nReads every page and every artifact. When something is wrong it says what on stderr, one sentence per line, and' +
        '\nexits 1; with --json that is the same and stdout stays empty. When nothing is wrong --json prints' +
        '\n{"ok":true,"problems":[]}.',
    )
    .action(check)
}

const check = async (backup: string | undefined, flags: CommonFlags): Promise<void> => {
  const { databasePath } = readConfig({ database: flags.database })
  const [path, problems] =
    backup === undefined
      ? [databasePath, checkFile(databasePath, migrations, 'database')]
      : [backup, await withReadableBackup(backup, databasePath, async (file) => checkFile(file, migrations, 'backup'))]
  if (problems.length > 0) throw new CommandFailed(problems)
  answer(flags, { ok: true, problems }, `Nothing is wrong with ${path}.`)
}

/** The pause between batches, so that a running server can write. */
const pauseMs = 5

export const addPurgeCommand = (program: Command): void => {
  operatorCommand(program, 'purge', 'Remove what has expired. A server does so by itself, once a minute.').action(purge)
}

const purge = async (flags: CommonFlags): Promise<void> => {
  const removed = await asOperator(flags, async ({ platform, trace }) => {
    let interrupted = false
    process.once('SIGINT', () => (interrupted = true))
    return await purgeAll(
      platform,
      trace,
      async () => await Bun.sleep(pauseMs),
      () => interrupted,
    )
  })
  answerRecord(flags, {
    appTokens: removed.app_tokens,
    sessions: removed.sessions,
    grants: removed.grants,
    devices: removed.devices,
    formTickets: removed.form_tickets,
    installSessionCodes: removed.install_session_codes,
    embeddedSessions: removed.embedded_sessions,
    retrySalts: removed.retry_salts,
    idempotencyKeys: removed.idempotency_keys,
    artifacts: removed.artifacts,
    webhookAttempts: removed.webhook_attempts,
    webhookEvents: removed.webhook_events,
    webhookSecrets: removed.webhook_secrets,
    anonymousRefusals: removed.anonymous_refusals,
    auditEvents: removed.audit_events,
  })
}
