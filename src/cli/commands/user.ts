import { type Command, InvalidArgumentError, Option } from 'commander'
import type { User } from '../../../db/database.ts'
import { generatedPassword, generatedPasswordBytes } from '../../domain/password.ts'
import { createUser } from '../../operations/users/create-user.ts'
import { listUsers } from '../../operations/users/find-user.ts'
import { type AppsChoice, type DisabledUser, setUserStatus } from '../../operations/users/set-user-status.ts'
import { asOperator, type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answerList, answerRecord, answerWithAdvice, UsageError } from '../output.ts'
import { readPassword } from '../prompt.ts'
import { addUserChangeCommands } from './user-change.ts'

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
