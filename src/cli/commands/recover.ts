import type { Command } from 'commander'
import { wireRecord } from '../../domain/timestamp.ts'
import { recoverDatabase } from '../../../db/engine.ts'
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
