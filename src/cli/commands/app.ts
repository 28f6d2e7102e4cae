import type { Command } from 'commander'
import { mixedScripts } from '../../domain/name.ts'
import { endAppAccess } from '../../operations/end-access.ts'
import { setAppStatus } from '../../operations/apps/change-app.ts'
import { createApp } from '../../operations/apps/create-app.ts'
import { deleteApp, undeleteApp } from '../../operations/apps/delete-app.ts'
import { listApps } from '../../operations/apps/lists.ts'
import { transferApp } from '../../operations/apps/transfer-app.ts'
import { asOperator, type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answerList, answerRecord, answerWithAdvice } from '../output.ts'
import { adviceAfterTransfer } from './user.ts'

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
  operatorCommand(group, 'transfer <slug>', 'Give an app to another user. What was issued stays.')
    .requiredOption('--to <email>', 'the address of an active user')
    .action(transfer)
  operatorCommand(group, 'end-access <slug>', 'End every grant, session and token of an app at once.')
    .addHelpText('after', '\nClient secrets stay: the app can ask for new tokens, and users have to consent again.')
    .action(endAccess)
  operatorCommand(group, 'delete <slug>', 'Delete an app: its access ends at once, and it is removed after 7 days.')
    .addHelpText('after', '\nUntil then app undelete brings it back. Its slug and redirect URIs stay taken as long.')
    .action(remove)
  operatorCommand(group, 'undelete <slug>', 'Bring a deleted app back, suspended, within 7 days.').action(undelete)
  operatorCommand(group, 'list', 'List every app, deleted ones too.').action(list)
}

const create = async (flags: CreateFlags): Promise<void> => {
  const { owner, name, slug, scopes } = flags
  const app = await asOperator(
    flags,
    async ({ platform, trace, actor }) =>
      await createApp(platform, trace, actor, { ownerEmail: owner, name, slug, scopes }),
  )
  const scripts = mixedScripts(app.name)
  if (scripts === null) return answerRecord(flags, app)
  const found = scripts.map(({ script, letters }) => `${script} (${letters.join(' ')})`).join(', ')
  answerWithAdvice(flags, app, [
    `The name mixes scripts: ${found}. Letters of different scripts can look the same: compare it with names it may imitate.`,
  ])
}

const setStatus = async (slug: string, status: 'active' | 'suspended', flags: CommonFlags): Promise<void> => {
  const app = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await setAppStatus(platform, trace, actor, { slug, status }),
  )
  answerRecord(flags, app)
}

const transfer = async (slug: string, flags: CommonFlags & { readonly to: string }): Promise<void> => {
  const app = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await transferApp(platform, trace, actor, { slug, email: flags.to }),
  )
  answerWithAdvice(flags, app, adviceAfterTransfer)
}

const endAccess = async (slug: string, flags: CommonFlags): Promise<void> => {
  const { app, ended } = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await endAppAccess(platform, trace, actor, slug),
  )
  const advice = [
    'Client secrets stay. To replace one: app-platform credential rotate CLIENT_ID --grace-hours 0',
    `To stop the app altogether: app-platform app suspend ${app.slug}`,
  ]
  answerWithAdvice(flags, { ...app, ended }, advice)
}

const remove = async (slug: string, flags: CommonFlags): Promise<void> => {
  const { app, ended } = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await deleteApp(platform, trace, actor, slug),
  )
  const advice = [`To bring it back within 7 days: app-platform app undelete ${app.slug}`]
  answerWithAdvice(flags, { ...app, ended }, advice)
}

const undelete = async (slug: string, flags: CommonFlags): Promise<void> => {
  const app = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await undeleteApp(platform, trace, actor, slug),
  )
  answerWithAdvice(flags, app, [`It is suspended. To activate it: app-platform app activate ${app.slug}`])
}

const list = async (flags: CommonFlags): Promise<void> => {
  const apps = await asOperator(flags, async ({ platform }) => await listApps(platform))
  answerList(flags, apps, {
    Slug: 'slug',
    Name: 'name',
    Status: 'status',
    Deleted: 'deletedAt',
    'Development client ID': 'clientIds.development',
    'Production client ID': 'clientIds.production',
    Scopes: 'scopes',
  })
}
