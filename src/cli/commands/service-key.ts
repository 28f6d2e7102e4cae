import type { Command } from 'commander'
import { keyRights, maximumKeyDays } from '../../domain/service-key.ts'
import {
  confirmServiceKey,
  createServiceKey,
  listServiceKeys,
  revokeServiceKey,
  rotateServiceKey,
} from '../../operations/service-keys/change-service-keys.ts'
import { graceHoursOption, limitOption, wholeNumberFlag, listedWords } from '../flag-values.ts'
import { operatorCommands } from '../operator-command.ts'
import { listAnswer, recordAnswer } from '../output.ts'

type CreateFlags = { readonly rights: string; readonly networks?: string; readonly expiresDays?: number }

export const addServiceKeyCommands = (program: Command): void => {
  const operator = operatorCommands(
    program
      .command('service-key')
      .description('Keys for the management API, and for commands of operators over the network.'),
  )
  operator(
    'create <name>',
    'Create a service key and print it once.',
    async (session, name: string, { rights, networks = '', expiresDays }: CreateFlags) =>
      recordAnswer(
        await createServiceKey(...session, {
          name,
          rights: listedWords(rights),
          networks: listedWords(networks),
          expiresInDays: expiresDays ?? null,
        }),
      ),
  )
    .requiredOption('--rights <rights>', `what it may do, separated by commas: ${keyRights.join(', ')}`)
    .option(
      '--networks <networks>',
      'the only networks it works from, such as 10.0.0.0/8,2001:db8::/32; needed for operate',
    )
    .option(
      '--expires-days <days>',
      'when it expires; without this, never; needed for operate',
      wholeNumberFlag(1, maximumKeyDays),
    )
  operator('list', 'List service keys, newest first, without their secrets.', async ([platform], flags: ListFlags) =>
    listAnswer((await listServiceKeys(platform, { limit: flags.limit, cursor: null })).data, {
      ID: 'id',
      Name: 'name',
      Status: 'status',
      Rights: 'rights',
      Networks: 'networks',
      Created: 'createdAt',
      Expires: 'expiresAt',
      'Last used': 'lastUsedAt',
    }),
  ).addOption(limitOption(1000, 100))
  operator(
    'rotate <keyId>',
    'Create a new key with the same rights; the old one expires after the grace period.',
    async (session, id: string, { graceHours }: { readonly graceHours: number }) =>
      recordAnswer(await rotateServiceKey(...session, { id, graceHours })),
  ).addOption(graceHoursOption('how long the old key still works'))
  operator('revoke <keyId>', 'End a service key now.', async (session, id: string) =>
    recordAnswer(await revokeServiceKey(...session, id)),
  )
  operator('confirm <keyId>', 'Reactivate a service key that a recovery has suspended.', async (session, id: string) =>
    recordAnswer(await confirmServiceKey(...session, id)),
  )
}

type ListFlags = { readonly limit: number }
