import type { User } from '../../../db/database.ts'
import { emailFault, normalizeEmail } from '../../domain/user.ts'
import { recordId } from '../../domain/identifier.ts'
import { typedName } from '../../domain/entered-name.ts'
import { newPasswordFault } from '../../domain/password.ts'
import { badInput, decide, type Operation, refusalOfFaults } from '../decide.ts'
import { newUser } from './builder-users.ts'

const taken = 'A user with this email address already exists.'

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
  const { name, fault } = typedName(input.name)
  const faults = {
    email: email === null ? emailFault(input.email) : null,
    name: fault,
    password: newPasswordFault(input.password),
  }
  const refusal = refusalOfFaults(faults)
  if (email === null || refusal !== null) {
    // An address that is taken alone is refused in the transaction.
    const isTaken = email !== null && (await platform.database.queries.users.byEmail(email)) !== null
    throw (isTaken ? refusalOfFaults({ ...faults, email: taken }) : refusal) ?? badInput('email', taken)
  }
  const passwordHash = await platform.passwords.hash(input.password)
  const now = platform.clock.now()
  const id = recordId('usr_', platform.random.uuid(now))
  const facts = { id, externalId: null, email, name, pictureUrl: null, status: 'active' } as const
  const user: User = { ...newUser(facts, now), passwordHash, isOperator: input.isOperator }
  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    if ((await q.users.byEmail(email)) !== null) return badInput('email', taken)
    await q.users.insert(user)
    await record({ action: 'user.created', target: user.id, detail: { operator: input.isOperator } })
    return user
  })
}
