import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import type { User } from '../../../db/database.ts'
import { generatedPassword, generatedPasswordBytes } from '../../domain/password.ts'
import { createUser } from '../../operations/users/create-user.ts'
import { listUsers, userAt } from '../../operations/users/find-user.ts'
import { type AppsChoice, type DisabledUser, setUserStatus } from '../../operations/users/set-user-status.ts'
import { asOperator, type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answerList, answerRecord, answerWithAdvice, UsageError } from '../output.ts'
import { readPassword } from '../prompt.ts'
import { endUserAccess } from '../../operations/end-access.ts'
import { renameUser, setOperator, setUserEmail } from '../../operations/users/change-user.ts'
import { confirmPassword, resetPassword } from '../../operations/users/passwords.ts'

type CreateFlags = PasswordFlags & {
  readonly email: string
  readonly name: string
  readonly operator?: boolean
}

export const addUserCommands = (program: Command): void => {
  const group = program.command('user').description('People who sign in: owners of apps and their users.')
  operatorCommand(group, 'create', 'Create a user.')
    .requiredOption('--email <address>', 'the address to sign in with')
    .requiredOption('--name <name>', 'the name that people see')
    .option('--password-stdin', 'read the password from standard input')
    .option('--generate-password', 'make a strong password and print it once')
    .option('--operator', 'may review versions and installs')
    .addHelpText('after', passwordHelp)
    .action(create)
  addUserStatusCommands(group)
  addUserChangeCommands(group)
  operatorCommand(group, 'list', 'List every user.').action(list)
}

const create = async (flags: CreateFlags): Promise<void> => {
  const typed = await typedPassword(flags)
  const { email, name } = flags
  const record = await asOperator(flags, async ({ platform, trace, actor }) => {
    const password = typed ?? generatedPassword(platform.random.bytes(generatedPasswordBytes))
    const user = await createUser(platform, trace, actor, {
      email,
      name,
      password,
      isOperator: flags.operator === true,
    })
    return typed === null ? { ...userRecord(user), password } : userRecord(user)
  })
  answerRecord(flags, record)
}

const list = async (flags: CommonFlags): Promise<void> => {
  const users = await asOperator(flags, async ({ platform }) => await listUsers(platform))
  answerList(flags, users.map(userRecord), {
    Email: 'email',
    Name: 'name',
    Status: 'status',
    Operator: 'operator',
    'Password suspended': 'passwordSuspendedAt',
    Created: 'createdAt',
    ID: 'id',
  })
}

/** A user without the password hash. */
export const userRecord = ({
  id,
  email,
  name,
  isOperator,
  status,
  passwordSuspendedAt,
  createdAt,
  updatedAt,
}: User) => ({
  id,
  email,
  name,
  operator: isOperator,
  status,
  passwordSuspendedAt,
  createdAt,
  updatedAt,
})

/** The source of a new password. */
export type PasswordFlags = CommonFlags & {
  readonly passwordStdin?: boolean
  readonly generatePassword?: boolean
}

export const passwordHelp = '\nOne of --password-stdin and --generate-password is needed; a password is never a flag.'

/** The password on standard input; null if one is to be generated. @throws UsageError unless exactly one was chosen */
export const typedPassword = async (flags: PasswordFlags): Promise<string | null> => {
  if ((flags.passwordStdin === true) === (flags.generatePassword === true)) {
    throw new UsageError('Give one of --password-stdin and --generate-password.')
  }
  return flags.passwordStdin === true ? await readPassword() : null
}

type DisableFlags = CommonFlags & { readonly apps: AppsChoice }

/** Commands that disable or enable a user, and decide what happens to their apps. */
export const addUserStatusCommands = (group: Command): void => {
  operatorCommand(group, 'disable <email>', 'Disable a user: sessions end, grants stop, their apps are suspended.')
    .addOption(
      new Option('--apps <choice>', 'what happens to their apps: suspend, keep or transfer:EMAIL')
        .choices(['suspend', 'keep', 'transfer:'])
        .argParser(readChoice)
        .default({ kind: 'suspend' }, 'suspend'),
    )
    .addHelpText('after', consequences)
    .action(disable)
  operatorCommand(group, 'enable <email>', 'Enable a disabled user: grants that have not expired work again.')
    .addHelpText('after', '\nNo app is activated by that: see app activate.')
    .action(enable)
}

const consequences = `
All of it is decided in one step. suspend: none of their apps works until app activate. keep: the apps go on
without an active owner. transfer:EMAIL: another active user owns them from now on; their secrets stay as they are.
A user who is disabled already can be disabled again with another choice.`

const readChoice = (text: string): AppsChoice => {
  if (text === 'suspend' || text === 'keep') return { kind: text }
  const email = /^transfer:(.+)$/.exec(text)?.[1]
  if (email === undefined) throw new InvalidArgumentError('Give suspend, keep or transfer:EMAIL.')
  return { kind: 'transfer', email }
}

const disable = async (email: string, flags: DisableFlags): Promise<void> => {
  const { apps } = flags
  const disabled = await asOperator(
    flags,
    async ({ platform, trace, actor }) =>
      await setUserStatus(platform, trace, actor, { email, status: 'disabled', apps }),
  )
  const { user, ended, stopped } = disabled
  answerWithAdvice(flags, { ...userRecord(user), ended, stopped, apps: disabled.apps }, adviceAfterDisabling(disabled))
}

const adviceAfterDisabling = ({ user, stopped, apps }: DisabledUser): readonly string[] => [
  ...(stopped.grants === 0
    ? []
    : [`Grants work again when the user is enabled. To end them: app-platform user end-access ${user.email}`]),
  ...(apps.suspended.length === 0
    ? []
    : ['Suspended apps stay suspended when the user is enabled. To activate one: app-platform app activate SLUG']),
  ...(apps.kept.length === 0
    ? []
    : ['Kept apps work without an active owner. To hand one over: app-platform app transfer SLUG --to EMAIL']),
  ...(apps.transferred.length === 0 ? [] : adviceAfterTransfer),
]

/** The previous owner knows the secrets. */
export const adviceAfterTransfer: readonly string[] = [
  'The previous owner may know the client secrets. To replace one: app-platform credential rotate CLIENT_ID --grace-hours 0',
  'Tokens and grants stay. To end them: app-platform app end-access SLUG',
]

const enable = async (email: string, flags: CommonFlags): Promise<void> => {
  const { user, apps } = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await setUserStatus(platform, trace, actor, { email, status: 'active' }),
  )
  const { suspended } = apps
  const advice = suspended.map((slug) => `Still suspended. To activate it: app-platform app activate ${slug}`)
  answerWithAdvice(flags, { ...userRecord(user), apps: { suspended } }, advice)
}

/** Commands that change a user: password, name, email address, operator rights, and ending what was issued. */
export const addUserChangeCommands = (group: Command): void => {
  operatorCommand(group, 'set-password <email>', 'Give a user a new password: the old one and all sessions end.')
    .option('--password-stdin', 'read the password from standard input')
    .option('--generate-password', 'make a strong password and print it once')
    .addHelpText('after', passwordHelp)
    .action(setPassword)
  operatorCommand(
    group,
    'confirm-password <email>',
    'Let the password of an operator work again that a recovery has suspended.',
  )
    .addHelpText(
      'after',
      '\nThe data may be older than the last change of that password, and of the rights of that operator: confirm it only' +
        '\nwhen both are still meant to be.',
    )
    .action(confirm)
  operatorCommand(group, 'rename <email>', 'Change the name that people see.')
    .requiredOption('--name <name>', 'the new name')
    .action(rename)
  operatorCommand(group, 'set-email <email>', 'Change the address that a user signs in with. Sessions stay.')
    .requiredOption('--to <address>', 'the new address')
    .action(setEmail)
  operatorCommand(group, 'set-operator <email>', 'Make a user an operator, or take that away.')
    .addArgument(new Argument('<on|off>', 'the last operator cannot be turned off').choices(['on', 'off']))
    .action(changeOperator)
  operatorCommand(group, 'end-access <email>', 'End all sessions of a user and all that they have allowed to apps.')
    .addHelpText('after', '\nThe password stays: see set-password. Their own apps are not touched: see app end-access.')
    .action(endAccess)
}

const setPassword = async (email: string, flags: PasswordFlags): Promise<void> => {
  const typed = await typedPassword(flags)
  const record = await asOperator(flags, async ({ platform, trace, actor }) => {
    const password = typed ?? generatedPassword(platform.random.bytes(generatedPasswordBytes))
    const { id: userId } = await userAt(platform, email)
    const { user, endedSessions } = await resetPassword(platform, trace, actor, { userId, password })
    const ended = { sessions: endedSessions }
    return typed === null ? { ...userRecord(user), ended, password } : { ...userRecord(user), ended }
  })
  answerRecord(flags, record)
}

const confirm = async (email: string, flags: CommonFlags): Promise<void> => {
  const user = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await confirmPassword(platform, trace, actor, email),
  )
  answerRecord(flags, userRecord(user))
}

const rename = async (email: string, flags: CommonFlags & { readonly name: string }): Promise<void> => {
  const { name } = flags
  const user = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await renameUser(platform, trace, actor, { email, name }),
  )
  answerRecord(flags, userRecord(user))
}

const setEmail = async (email: string, flags: CommonFlags & { readonly to: string }): Promise<void> => {
  const { to } = flags
  const user = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await setUserEmail(platform, trace, actor, { email, to }),
  )
  answerRecord(flags, userRecord(user))
}

const changeOperator = async (email: string, state: 'on' | 'off', flags: CommonFlags): Promise<void> => {
  const user = await asOperator(flags, async ({ platform, trace, actor }) => {
    const { id: userId } = await userAt(platform, email)
    return await setOperator(platform, trace, actor, { userId, isOperator: state === 'on' })
  })
  answerRecord(flags, userRecord(user))
}

const endAccess = async (email: string, flags: CommonFlags): Promise<void> => {
  const { user, apps, ended } = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await endUserAccess(platform, trace, actor, email),
  )
  const advice = [
    `The password still works. To replace it: app-platform user set-password ${user.email} --generate-password`,
    ...apps.map(({ slug }) => `Their own app was not touched. To end its access: app-platform app end-access ${slug}`),
  ]
  answerWithAdvice(flags, { ...userRecord(user), ended }, advice)
}
