import type { Command } from 'commander'
import { createApp } from '../../operations/apps/create-app.ts'
import { listApps } from '../../operations/apps/list-apps.ts'
import { setAppStatus } from '../../operations/apps/set-app-status.ts'
import { asOperator } from '../as-operator.ts'
import { type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answerList, answerRecord } from '../output.ts'

type CreateFlags = CommonFlags & {
  readonly owner: string
  readonly name: string
  readonly slug: string
  readonly scopes: string
}

export const addAppCommands = (program: Command): void => {
  const group = program.command('app').description('Registered apps.')
  operatorCommand(group, 'create', 'Register an app, with one client ID per environment and no secret yet.')
    .requiredOption('--owner <email>', 'the address of an active user')
    .requiredOption('--name <name>', 'the name that people see')
    .requiredOption('--slug <slug>', '1 to 63 of a-z, 0-9 and inner hyphens')
    .requiredOption('--scopes <scopes>', 'the scopes it may ask for, separated by spaces')
    .addHelpText(
      'after',
      '\nScopes: profile:read profile.email:read site:read store:read site.content:write' +
        '\nNext: app-platform credential create <slug> --environment development',
    )
    .action(create)
  operatorCommand(group, 'suspend <slug>', 'Suspend an app: none of its credentials and tokens works.').action(
    async (slug: string, flags: CommonFlags) => await setStatus(slug, 'suspended', flags),
  )
  operatorCommand(group, 'activate <slug>', 'Activate a suspended app: what has not expired works again.').action(
    async (slug: string, flags: CommonFlags) => await setStatus(slug, 'active', flags),
  )
  operatorCommand(group, 'list', 'List every app.').action(list)
}

const create = async (flags: CreateFlags): Promise<void> => {
  const { owner, name, slug, scopes } = flags
  const app = await asOperator(
    flags,
    async ({ platform, trace, actor }) =>
      await createApp(platform, trace, actor, { ownerEmail: owner, name, slug, scopes }),
  )
  answerRecord(flags, app)
}

const setStatus = async (slug: string, status: 'active' | 'suspended', flags: CommonFlags): Promise<void> => {
  const app = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await setAppStatus(platform, trace, actor, { slug, status }),
  )
  answerRecord(flags, app)
}

const list = async (flags: CommonFlags): Promise<void> => {
  const apps = await asOperator(flags, async ({ platform }) => await listApps(platform))
  answerList(flags, apps, {
    Slug: 'slug',
    Name: 'name',
    Status: 'status',
    'Development client ID': 'clientIds.development',
    'Production client ID': 'clientIds.production',
    Scopes: 'scopes',
  })
}
