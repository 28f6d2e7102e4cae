import type { Command } from 'commander'
import { generatedPassword, generatedPasswordBytes } from '../../domain/password.ts'
import { createUser } from '../../operations/users/create-user.ts'
import { listUsers } from '../../operations/users/find-user.ts'
import { asOperator } from '../as-operator.ts'
import { type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answerList, answerRecord } from '../output.ts'
import { addUserChangeCommands } from './user-change.ts'
import { type PasswordFlags, passwordHelp, typedPassword, userRecord } from './user-record.ts'
import { addUserStatusCommands } from './user-status.ts'

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
