import type { Command } from 'commander'
import type { Environment } from '../../domain/app.ts'
import {
  confirmCredential,
  createCredential,
  revokeCredential,
  rotateCredential,
  listCredentials,
} from '../../operations/credentials/credentials.ts'
import { addAppFlag, type AppFlag, environmentOption, graceHoursOption, requiredApp } from '../flag-values.ts'
import { operatorCommands } from '../operator-command.ts'
import type { OperatorSession } from '../operator-session.ts'
import { listAnswer, recordAnswer } from '../output.ts'

type CreateFlags = { readonly environment: Environment; readonly label?: string }

export const addCredentialCommands = (program: Command): void => {
  const operator = operatorCommands(
    program.command('credential').description('Client secrets: at most two live ones per environment.'),
  )
  operator(
    'create <app>',
    'Create a client secret of an app and print it once.',
    async (session, slug: string, { environment, label }: CreateFlags) =>
      recordAnswer(await createCredential(...session, { slug, environment, label: label ?? null })),
  )
    .addOption(environmentOption())
    .option('--label <text>', 'what it is for')
  operator(
    'rotate <clientId>',
    'Create a new client secret; the one before it expires after the grace period.',
    async (session, clientId: string, { graceHours }: { readonly graceHours: number }) =>
      recordAnswer(await rotateCredential(...session, { clientId, graceHours })),
  ).addOption(graceHoursOption('how long the old secret still works'))
  operator('revoke <credentialId>', 'End a client secret and its app tokens now.', async (session, id: string) =>
    recordAnswer(await revokeCredential(...session, id)),
  )
  operator(
    'confirm <credentialId>',
    'Reactivate a client secret that a recovery has suspended.',
    async (session, id: string) => recordAnswer(await confirmCredential(...session, id)),
  ).addHelpText(
    'after',
    '\nThe data may be older than the revocation of that secret: confirm it only when the app still uses it and nobody' +
      '\nelse has it, and rotate it otherwise.',
  )
  addAppFlag(operator('list [app]', 'List the credentials of an app, without their secrets.', list))
}

const list = async ([platform]: OperatorSession, app: string | undefined, flags: AppFlag) =>
  listAnswer(await listCredentials(platform, requiredApp(app, flags)), {
    ID: 'id',
    Environment: 'environment',
    Status: 'status',
    Label: 'label',
    Created: 'createdAt',
    Expires: 'expiresAt',
    'Last used': 'lastUsedAt',
  })
