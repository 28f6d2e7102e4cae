import { Argument, type Command } from 'commander'
import { generatedPassword, generatedPasswordBytes } from '../../domain/password.ts'
import { endUserAccess } from '../../operations/end-access.ts'
import { renameUser, setOperator, setUserEmail } from '../../operations/users/change-user.ts'
import { userAt } from '../../operations/users/find-user.ts'
import { confirmPassword, resetPassword } from '../../operations/users/passwords.ts'
import { asOperator, type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answerRecord, answerWithAdvice } from '../output.ts'
import { type PasswordFlags, passwordHelp, typedPassword, userRecord } from './user.ts'

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
