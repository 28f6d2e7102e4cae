import type { Command } from 'commander'
import { type DemoClient, type DemoCredentials, seedDemo } from '../../operations/demo/seed-demo.ts'
import { type CommonFlags, databaseCommand } from '../operator-command.ts'
import { asOperator } from '../operator-session.ts'
import { answer, CommandFailed, tableText } from '../output.ts'

export const addSeedCommand = (program: Command): void => {
  databaseCommand(program, 'seed', 'Fill an empty database with a demo and print its passwords and credentials once.')
    .option('--webhook-url <url>', 'an HTTPS endpoint that receives the events of the first app and its installs')
    .addHelpText(
      'after',
      '\nTwo users with websites and stores, two apps, versions in every status, one approved and one pending install.' +
        '\nA database that has other data, or a complete demo, is not changed. A demo whose making was interrupted is completed.',
    )
    .action(seed)
}

type SeedFlags = CommonFlags & { readonly webhookUrl?: string }

const seed = async (flags: SeedFlags): Promise<void> => {
  const demo = await asOperator(flags, async (session) => await seedDemo(...session, flags.webhookUrl ?? null), {
    migrate: true,
  })
  if (demo === null) throw new CommandFailed(['The database has the demo already. Nothing was changed.'])
  answer(flags, { value: demo, text: seedText(demo) })
}

const seedText = ({ users, apps, installs, webhook }: DemoCredentials): string => {
  const clients = apps.flatMap(({ slug, development, production }) => [
    clientRow(slug, 'development', development),
    clientRow(slug, 'production', production),
  ])
  return [
    'Passwords and secrets of the demo, shown this once. Sign in with an address and its password.',
    tableText(users, { Email: 'email', Password: 'password', Name: 'name', Operator: 'operator' }),
    tableText(clients, {
      App: 'app',
      Environment: 'environment',
      'Client ID': 'clientId',
      'Client secret': 'clientSecret',
      'Redirect URI': 'redirectUri',
    }),
    tableText(installs, { App: 'app', User: 'user', Resource: 'resource', Approval: 'approval', 'Install ID': 'id' }),
    webhook === null
      ? howToBeTold
      : tableText([webhook], { App: 'app', 'Webhook URL': 'url', Secret: 'secret', 'Endpoint ID': 'id' }),
  ].join('\n\n')
}

const howToBeTold = `There is no webhook endpoint: it needs an HTTPS address where something listens. The demo of app-platform dev has one
of its own. To receive events here, set your address with seed --webhook-url, or add an endpoint now:
  app-platform endpoint add newsletter --environment production --url https://... --kinds install.approved,grant.revoked`

const clientRow = (app: string, environment: string, client: DemoClient) => ({ app, environment, ...client })
