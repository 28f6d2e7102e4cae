import { type Command, Option } from 'commander'
import { type MemberRole, memberRoles } from '../../domain/member.ts'
import { mixedScripts } from '../../domain/name.ts'
import { issuable } from '../../domain/scope.ts'
import { endAppAccess } from '../../operations/end-access.ts'
import {
  setAppStatus,
  changeAppScopes,
  createApp,
  deleteApp,
  letSecretsRollBack,
  renameApp,
  setListed,
  setPublisher,
  undeleteApp,
  transferApp,
} from '../../operations/apps/apps.ts'
import { listApps, showApp } from '../../operations/apps/lists.ts'
import { addMember, changeMemberRole, listMembers, removeMember } from '../../operations/apps/members.ts'
import { userAt } from '../../operations/users/find-user.ts'
import { operatorCommands } from '../operator-command.ts'
import type { OperatorSession } from '../operator-session.ts'
import { listAnswer, recordAnswer } from '../output.ts'
import { adviceAfterTransfer } from './user.ts'

export const addAppCommands = (program: Command): void => {
  const app = program.command('app').description('Registered apps.')
  const operator = operatorCommands(app)
  operator('create', 'Register an app, with one client ID per environment and no secret yet.', create)
    .requiredOption('--owner <email>', 'the address of an active user')
    .requiredOption('--name <name>', 'the name that people see')
    .option('--publisher <name>', 'who publishes it, which everybody can read in the directory of apps')
    .requiredOption('--slug <slug>', '1 to 63 characters: a-z, 0-9, and hyphens inside')
    .requiredOption('--scopes <scopes>', 'the scopes it may ask for, separated by spaces')
    .addHelpText(
      'after',
      `\nScopes: ${issuable.join(' ')}\nNext: app-platform credential create <app> --environment development`,
    )
  operator('suspend <app>', 'Suspend an app: its credentials and tokens stop working.', async (session, slug: string) =>
    recordAnswer(await setAppStatus(...session, { slug, status: 'suspended' })),
  )
  operator(
    'activate <app>',
    'Activate a suspended app: tokens that have not expired work again.',
    async (session, slug: string) => recordAnswer(await setAppStatus(...session, { slug, status: 'active' })),
  )
  operator(
    'transfer <app>',
    'Give an app to another user. Tokens and grants stay valid.',
    async (session, slug: string, { to }: { readonly to: string }) =>
      recordAnswer(await transferApp(...session, { slug, email: to }), adviceAfterTransfer),
  ).requiredOption('--to <email>', 'the address of an active user')
  operator('end-access <app>', 'End every grant, session and token of an app at once.', endAccess).addHelpText(
    'after',
    '\nClient secrets stay: the app can ask for new tokens, and users have to consent again.',
  )
  operator('delete <app>', 'Delete an app: its access ends at once, and it is removed after 7 days.', remove)
    .option('--yes', 'for scripts that say so; nothing is asked')
    .addHelpText('after', '\nUntil then app undelete restores it. Its slug stays reserved until then.')
  operator('undelete <app>', 'Restore a deleted app, suspended, within 7 days.', undelete)
  operator(
    'set-scopes <app>',
    'Set the scopes that an app may ask for. What was issued keeps its scopes.',
    async (session, slug: string, { scopes }: { readonly scopes: string }) =>
      recordAnswer(await changeAppScopes(...session, { slug, scopes })),
  ).requiredOption('--scopes <scopes>', 'all of them, separated by spaces')
  operator(
    'rename <app>',
    'Change the name that people see. The slug stays.',
    async (session, slug: string, { name }: { readonly name: string }) =>
      recordAnswer(await renameApp(...session, { slug, name })),
  ).requiredOption('--name <name>', 'the new name')
  operator('show <app>', 'Show an app: its owner, versions and counts of installs.', async ([platform], slug: string) =>
    recordAnswer(await showApp(platform, slug)),
  )
  operator(
    'rollback-rule <app>',
    'Decide whether development secrets may roll back production of an app.',
    async (session, slug: string, { secrets }: { readonly secrets: 'allowed' | 'refused' }) =>
      recordAnswer(await letSecretsRollBack(...session, { slug, areAllowed: secrets === 'allowed' })),
  ).addOption(new Option('--secrets <rule>', 'they may, or not').choices(['allowed', 'refused']).makeOptionMandatory())
  operator(
    'publisher <app> [name]',
    'Say who publishes an app, which everybody can read in the directory of apps; without a name, nobody.',
    async (session, slug: string, publisher?: string) =>
      recordAnswer(await setPublisher(...session, { slug, publisher: publisher ?? '' })),
  )
  operator(
    'hide <app>',
    'Hide an app from the directory. It works, and people can install it by a link.',
    async (session, slug: string) => recordAnswer(await setListed(...session, { slug, isListed: false })),
  )
  operator('unhide <app>', 'Let the directory show a hidden app again.', async (session, slug: string) =>
    recordAnswer(await setListed(...session, { slug, isListed: true })),
  )
  operator('members <app>', 'List the members of an app.', async ([platform], slug: string) =>
    listAnswer(await listMembers(platform, slug), {
      Email: 'email',
      Name: 'name',
      Role: 'role',
      Publisher: 'isPublisher',
      Status: 'status',
    }),
  )
  addMemberCommands(app)
  operator('list', 'List every app, deleted ones too.', async ([platform]) =>
    listAnswer(await listApps(platform), {
      Slug: 'slug',
      Name: 'name',
      Status: 'status',
      Deleted: 'deletedAt',
      'Development client ID': 'clientIds.development',
      'Production client ID': 'clientIds.production',
      Scopes: 'scopes',
    }),
  )
}

const roleOption = () => new Option('--role <role>', 'what they may do').choices(memberRoles).makeOptionMandatory()

const addMemberCommands = (app: Command): void => {
  const operator = operatorCommands(app.command('member').description('Members of an app.'))
  operator(
    'add <app> <email>',
    'Make an active user a member of an app, without asking them.',
    async (session, slug: string, email: string, { role }: RoleFlag) =>
      recordAnswer(await addMember(...session, { slug, email, role })),
  ).addOption(roleOption())
  operator(
    'role <app> <email>',
    'Give a member another role.',
    async (session, slug: string, email: string, { role }: RoleFlag) =>
      recordAnswer(await changeMemberRole(...session, { slug, userId: (await userAt(session[0], email)).id, role })),
  ).addOption(roleOption())
  operator(
    'remove <app> <email>',
    'Remove a member: what they could do ends at once.',
    async (session, slug: string, email: string) =>
      recordAnswer(await removeMember(...session, { slug, userId: (await userAt(session[0], email)).id }), [
        'They may know client secrets. To replace one: app-platform credential rotate CLIENT_ID --grace-hours 0',
      ]),
  )
}

type RoleFlag = { readonly role: MemberRole }

type CreateFlags = Readonly<Record<'owner' | 'name' | 'slug' | 'scopes', string>> & { readonly publisher?: string }

const create = async (session: OperatorSession, { owner, ...asked }: CreateFlags) => {
  const app = await createApp(...session, { ownerEmail: owner, ...asked })
  const scripts = mixedScripts(app.name)
  if (scripts === null) return recordAnswer(app)
  const found = scripts.map(({ script, letters }) => `${script} (${letters.join(' ')})`).join(', ')
  return recordAnswer(app, [
    `The name mixes scripts: ${found}. Letters of different scripts can look the same: compare it with names it may imitate.`,
  ])
}

const endAccess = async (session: OperatorSession, slug: string) => {
  const { app, ended } = await endAppAccess(...session, slug)
  return recordAnswer({ ...app, ended }, [
    'Client secrets stay. To replace one: app-platform credential rotate CLIENT_ID --grace-hours 0',
    `To stop the app altogether: app-platform app suspend ${app.slug}`,
  ])
}

const remove = async (session: OperatorSession, slug: string) => {
  const { app, ended } = await deleteApp(...session, slug)
  return recordAnswer({ ...app, ended }, [`To bring it back within 7 days: app-platform app undelete ${app.slug}`])
}

const undelete = async (session: OperatorSession, slug: string) => {
  const app = await undeleteApp(...session, slug)
  return recordAnswer(app, [`It is suspended. To activate it: app-platform app activate ${app.slug}`])
}
