import type { User } from '../../../db/database.ts'
import type { CommonFlags } from '../operator-command.ts'
import { readPassword } from '../read-password.ts'
import { UsageError } from '../usage-error.ts'

/** A user without the hash of their password. */
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

/** Where a new password comes from. */
export type PasswordFlags = CommonFlags & {
  readonly passwordStdin?: boolean
  readonly generatePassword?: boolean
}

export const passwordHelp = '\nOne of --password-stdin and --generate-password is needed; a password is never a flag.'

/** The password on standard input; null when one is to be made. @throws UsageError unless exactly one was chosen */
export const typedPassword = async (flags: PasswordFlags): Promise<string | null> => {
  if ((flags.passwordStdin === true) === (flags.generatePassword === true)) {
    throw new UsageError('Give one of --password-stdin and --generate-password.')
  }
  return flags.passwordStdin === true ? await readPassword() : null
}
