import { type Command, Option } from 'commander'
import { type OwnScopeUse, ownScopeUses } from '../../domain/scope.ts'
import { addScope, giveScope, listScopes, retireScope, takeScope } from '../../operations/scopes/scopes.ts'
import { limitOption } from '../flag-values.ts'
import { operatorCommands } from '../operator-command.ts'
import { listAnswer, recordAnswer } from '../output.ts'

type AddFlags = { readonly for: OwnScopeUse; readonly text: string; readonly restricted?: boolean }

export const addScopeCommands = (program: Command): void => {
  const operator = operatorCommands(
    program.command('scope').description('Your own scopes, for the API of the builder.'),
  )
  operator(
    'add <name>',
    'Add a scope. Its name and text can never change.',
    async (session, name: string, flags: AddFlags) => {
      const { for: usableBy, text, restricted = null } = flags
      const { scope } = await addScope(...session, { name, usableBy, text, isRestricted: restricted })
      return recordAnswer(
        scope,
        scope.restricted
          ? [`An app can register it once you have given it: app-platform scope give ${name} <app>`]
          : [],
      )
    },
  )
    .addOption(
      new Option('--for <who>', 'whose tokens can have it: of apps, of users, or of both')
        .choices(ownScopeUses)
        .makeOptionMandatory(),
    )
    .requiredOption('--text <text>', 'what it allows, as consent pages say it, such as "List your orders"')
    .option('--restricted', 'an app can register it only after you have given it to that app; usual for app and both')
    .option('--no-restricted', 'every app can register it; usual for user')
    .addHelpText('after', '\nA name is area:verb, such as orders:read. The areas of built-in scopes are reserved.')
  operator(
    'list',
    'List your own scopes by name, also retired ones.',
    async ([platform], { limit }: { readonly limit: number }) =>
      listAnswer((await listScopes(platform, { limit, cursor: null })).data, {
        Name: 'name',
        For: 'for',
        Text: 'text',
        Restricted: 'restricted',
        Added: 'createdAt',
        Retired: 'retiredAt',
      }),
  ).addOption(limitOption(1000, 1000))
  operator(
    'retire <name>',
    'Retire a scope for good: apps, grants and tokens lose it at once.',
    async (session, name: string) => {
      const { scope, ...lost } = await retireScope(...session, name)
      return recordAnswer({ ...scope, ...lost })
    },
  )
  operator(
    'give <name> <app>',
    'Let an app register a restricted scope.',
    async (session, name: string, slug: string) => recordAnswer(await giveScope(...session, { name, slug })),
  )
  operator(
    'take <name> <app>',
    'Take a restricted scope back: the app, its grants and tokens lose it at once.',
    async (session, name: string, slug: string) => recordAnswer(await takeScope(...session, { name, slug })),
  )
}
