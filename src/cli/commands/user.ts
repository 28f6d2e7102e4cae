import type { Command } from 'commander'
import type { User } from '../../../db/database.ts'
import { generatedPassword, generatedPasswordBytes } from '../../domain/generated-password.ts'
import { confirmPassword } from '../../operations/users/confirm-password.ts'
import { createUser } from '../../operations/users/create-user.ts'
import { listUsers } from '../../operations/users/list-users.ts'
import { setUserStatus } from '../../operations/users/set-user-status.ts'
import { asOperator } from '../as-operator.ts'
import { type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answerList, answerRecord } from '../output.ts'
import { readPassword } from '../read-password.ts'
import { UsageError } from '../usage-error.ts'

type CreateFlags = CommonFlags & {
  readonly email: string
  readonly name: string
  readonly passwordStdin?: boolean
  readonly generatePassword?: boolean
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
    .addHelpText('after', '\nOne of --password-stdin and --generate-password is needed; a password is never a flag.')
    .action(create)
  operatorCommand(group, 'disable <email>', 'Disable a user: sessions end, grants stop working.').action(
    async (email: string, flags: CommonFlags) => await setStatus(email, 'disabled', flags),
  )
  operatorCommand(group, 'enable <email>', 'Enable a disabled user: grants that have not expired work again.').action(
    async (email: string, flags: CommonFlags) => await setStatus(email, 'active', flags),
  )
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
  operatorCommand(group, 'list', 'List every user.').action(list)
}

const create = async (flags: CreateFlags): Promise<void> => {
  if ((flags.passwordStdin === true) === (flags.generatePassword === true)) {
    throw new UsageError('Give one of --password-stdin and --generate-password.')
  }
  const typed = flags.passwordStdin === true ? await readPassword() : null
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

const setStatus = async (email: string, status: User['status'], flags: CommonFlags): Promise<void> => {
  const user = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await setUserStatus(platform, trace, actor, { email, status }),
  )
  answerRecord(flags, userRecord(user))
}

const confirm = async (email: string, flags: CommonFlags): Promise<void> => {
  const user = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await confirmPassword(platform, trace, actor, email),
  )
  answerRecord(flags, userRecord(user))
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

/** A user without the hash of their password. */
const userRecord = ({ id, email, name, isOperator, status, passwordSuspendedAt, createdAt, updatedAt }: User) => ({
  id,
  email,
  name,
  operator: isOperator,
  status,
  passwordSuspendedAt,
  createdAt,
  updatedAt,
})
