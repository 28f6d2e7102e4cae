import type { Command } from 'commander'
import type { Environment } from '../../domain/app.ts'
import { graceHours } from '../../domain/credential.ts'
import {
  confirmCredential,
  createCredential,
  revokeCredential,
  rotateCredential,
} from '../../operations/credentials/change-credentials.ts'
import { listCredentials } from '../../operations/credentials/list-credentials.ts'
import { wholeNumberFlag } from '../flag-values.ts'
import { asOperator, type CommonFlags, environmentOption, operatorCommand } from '../operator-command.ts'
import { answerList, answerRecord } from '../output.ts'

type CreateFlags = CommonFlags & { readonly environment: Environment; readonly label?: string }
type RotateFlags = CommonFlags & { readonly graceHours: number }

const { default: usualGrace, maximum: longestGrace } = graceHours

export const addCredentialCommands = (program: Command): void => {
  const group = program.command('credential').description('Client secrets: at most two live ones per environment.')
  operatorCommand(group, 'create <slug>', 'Create a client secret of an app and print it, this once.')
    .addOption(environmentOption())
    .option('--label <text>', 'what it is for')
    .action(create)
  operatorCommand(group, 'rotate <clientId>', 'Create a new client secret and let the one before it end.')
    .option(
      '--grace-hours <hours>',
      `how long the old one goes on working, 0 to ${longestGrace}`,
      wholeNumberFlag(0, longestGrace),
      usualGrace,
    )
    .action(rotate)
  operatorCommand(
    group,
    'revoke <credentialId>',
    'End a client secret now, and the app tokens it minted with it.',
  ).action(revoke)
  operatorCommand(group, 'confirm <credentialId>', 'Let a client secret work again that a recovery has suspended.')
    .addHelpText(
      'after',
      '\nThe data may be older than the revocation of that secret: confirm it only when the app still uses it and nobody' +
        '\nelse has it, and rotate it otherwise.',
    )
    .action(confirm)
  operatorCommand(group, 'list <slug>', 'List the credentials of an app, without their secrets.').action(list)
}

const create = async (slug: string, flags: CreateFlags): Promise<void> => {
  const input = { slug, environment: flags.environment, label: flags.label ?? null }
  const credential = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await createCredential(platform, trace, actor, input),
  )
  answerRecord(flags, credential)
}

const rotate = async (clientId: string, flags: RotateFlags): Promise<void> => {
  const input = { clientId, graceHours: flags.graceHours }
  const credential = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await rotateCredential(platform, trace, actor, input),
  )
  answerRecord(flags, credential)
}

const revoke = async (credentialId: string, flags: CommonFlags): Promise<void> => {
  const credential = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await revokeCredential(platform, trace, actor, credentialId),
  )
  answerRecord(flags, credential)
}

const confirm = async (credentialId: string, flags: CommonFlags): Promise<void> => {
  const credential = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await confirmCredential(platform, trace, actor, credentialId),
  )
  answerRecord(flags, credential)
}

const list = async (slug: string, flags: CommonFlags): Promise<void> => {
  const credentials = await asOperator(flags, async ({ platform }) => await listCredentials(platform, slug))
  answerList(flags, credentials, {
    ID: 'id',
    Environment: 'environment',
    Status: 'status',
    Label: 'label',
    Created: 'createdAt',
    Expires: 'expiresAt',
    'Last used': 'lastUsedAt',
  })
}
