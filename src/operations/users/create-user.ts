import type { User } from '../../../db/database.ts'
import { normalizeEmail } from '../../domain/user.ts'
import { recordId } from '../../domain/identifier.ts'
import { personNameFault } from '../../domain/name.ts'
import { newPasswordFault } from '../../domain/password.ts'
import { badInput, decideAt, type Operation, refuseFault } from '../decision.ts'

type NewUser = {
  readonly email: string
  readonly name: string
  readonly password: string
  readonly isOperator: boolean
}

/**
 * Creates a user. Only a bcrypt hash of the password is stored.
 * @throws invalid_request for a malformed field or an address that is taken
 */
export const createUser: Operation<NewUser, User> = async (platform, trace, actor, input) => {
  const email = normalizeEmail(input.email)
  if (email === null) throw badInput('email', 'The email address is malformed.')
  refuseFault('name', personNameFault(input.name))
  refuseFault('password', newPasswordFault(input.password))
  const passwordHash = await platform.passwords.hash(input.password)
  const now = platform.clock.now()
  const user: User = {
    id: recordId('usr_', platform.random.uuid(now)),
    email,
    name: input.name,
    pictureUrl: null,
    passwordHash,
    isOperator: input.isOperator,
    status: 'active',
    passwordSuspendedAt: null,
    externalId: null,
    createdAt: now,
    updatedAt: now,
  }
  return await decideAt(platform, trace, actor, now, async ({ q, record }) => {
    if ((await q.users.byEmail(email)) !== null) return badInput('email', 'This email address has a user already.')
    await q.users.insert(user)
    await record({ action: 'user.created', target: user.id, detail: { operator: input.isOperator } })
    return user
  })
}
