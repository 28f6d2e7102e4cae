import type { Command } from 'commander'
import { wireRecord } from '../../domain/timestamp.ts'
import { recoverDatabase, resetDatabaseClock } from '../../../db/engine.ts'
import type { Recovered } from '../../../db/stopped-changes.ts'
import { type CommonFlags, databaseCommand, databaseOf, nameOfPlace } from '../operator-command.ts'
import { operatorMoment } from '../operator-session.ts'
import { answer, endedText, UsageError } from '../output.ts'

const consequences = `
For a database that has lost changes: the server refuses it, the whole machine was set back to an earlier snapshot, or
PostgreSQL was restored from a dump or to a point in time, or failed over to a standby that was behind. A newer backup is
better if you have one. A server must not be running.

What was revoked, rotated or demoted in the lost time is in force again, and nobody can tell what it was. Therefore:
  - Every token, code, grant and session ends. People sign in and consent again, apps ask for new tokens.
  - Client secrets for production are suspended. Confirm each one that its app still uses:
      app-platform credential confirm CRD_ID
    or rotate it: app-platform credential rotate CLIENT_ID --grace-hours 0
  - Operators are suspended: they cannot sign in in any way. Confirm each user who is still an operator:
      app-platform user confirm EMAIL
Then review users and their second factors, apps and their members, installs and redirect URIs. Client secrets for
development keep working.`

export const addRecoverCommand = (program: Command): void => {
  databaseCommand(program, 'recover', 'Continue with a database that has lost changes, and end everything issued.')
    .option('--accept-loss', 'the lost changes will not come back; needed')
    .addHelpText('after', consequences)
    .action(recover)
}

const recover = async (flags: CommonFlags & { readonly acceptLoss?: boolean }): Promise<void> => {
  if (flags.acceptLoss !== true) {
    throw new UsageError(
      'recover ends everything that was issued, and the lost changes do not come back: say --accept-loss to do it, or restore a newer backup.',
    )
  }
  const place = databaseOf(flags)
  const recovered = await recoverDatabase(place, operatorMoment())
  const { at: recoveredAt, ...facts } = recovered
  const database = nameOfPlace(place)
  const value = { ...wireRecord({ recoveredAt }), database, ...facts }
  answer(flags, { value, text: textOf(database, recovered) })
}

const textOf = (database: string, { ended, suspended }: Recovered): string =>
  [
    `Recovered ${database}.`,
    `Ended: ${endedText(ended)}.`,
    `Suspended until you confirm them: client secrets for production ${suspended.credentials} (credential list SLUG, ` +
      `credential confirm CRD_ID), service keys ${suspended.serviceKeys} (service-key list, service-key confirm ID), ` +
      `operators ${suspended.operators} (user list, user confirm EMAIL).`,
    'Anything else that was revoked, disabled or removed in the lost time is in force again: review users and their second factors, apps and their members, installs and redirect URIs.',
  ].join('\n')

const aboutReset = `
For a machine whose clock was once ahead: the time that was trusted then is kept, so that setting a clock back revives
nothing, and /readyz fails. Set the machine's clock right first, and stop the server. On PostgreSQL its clock decides.

Every token, code, grant and session ends: people sign in and consent again, apps ask for new tokens. Times that lie in
the future become now, so the grace of rotated secrets ends as well. The audit keeps its order.`

export const addClockCommands = (program: Command): void => {
  const group = program.command('clock').description('The time that the database trusts.')
  databaseCommand(group, 'reset', 'Set the trusted time back to the clock of the machine, and end everything issued.')
    .addHelpText('after', aboutReset)
    .action(reset)
}

const reset = async (flags: CommonFlags): Promise<void> => {
  const place = databaseOf(flags)
  const { at, ...facts } = await resetDatabaseClock(place, operatorMoment())
  answer(flags, {
    value: { ...wireRecord({ resetAt: at }), database: nameOfPlace(place), ...facts },
    text:
      `The trusted time was ${facts.aheadSeconds} s ahead, and is correct now. Ended: ${endedText(facts.ended)}. ` +
      `Times taken back: ${facts.clamped}.`,
  })
}
