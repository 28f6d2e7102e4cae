import type { Queries } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { checkingFirst } from '../acting-as.ts'
import { CountedRefusal, decide, type Operation, settle } from '../decide.ts'
import type { Platform } from '../platform.ts'
import { findUser } from '../users/find-user.ts'

/** A command of operators that a service key runs. */
type KeyCommand = {
  /** One of the table of commands, without its arguments, which may name people. */
  readonly name: string
  /** What could name a person or an app. */
  readonly values: readonly string[]
  readonly sparing: 'nobody' | 'operators' | 'operators and their apps'
}

/**
 * Records that a service key runs a command, before it runs. The result is the platform for the command: every transaction refuses if
 * a value is the address of an operator, or, for a change of who has an app, names an app of one.
 * @throws operator_protected, and invalid_token for a key that has ended meanwhile
 */
export const beginCommand: Operation<KeyCommand, Platform> = async (
  platform,
  trace,
  actor,
  { name, values, sparing },
) => {
  const refusalIn = async (q: Queries) =>
    sparing === 'nobody' ? null : await refusalForOperators(q, values, sparing === 'operators and their apps')
  await decide(platform, trace, { actor }, async ({ q, record }) => {
    const refusal = await refusalIn(q)
    const detail = { command: name }
    await record({ action: 'command.run', detail, ...(refusal !== null && { refusedWith: refusal.code }) })
    return refusal ?? undefined
  })
  return sparing === 'nobody' ? platform : checkingFirst(platform, () => ({ each: refusalIn }))
}

const refusalForOperators = async (q: Queries, values: readonly string[], sparesApps: boolean) => {
  for (const value of values) {
    if ((await findUser(q, value))?.isOperator === true) return refuse('operator_protected')
    const app = sparesApps ? ((await q.apps.bySlug(value)) ?? (await q.apps.byId(value))) : null
    const owner = app === null ? null : await q.users.byId(app.ownerId)
    if (owner?.isOperator === true) return refuse('operator_protected')
  }
  return null
}

/** The refusal of a command that no service key may run; null for the name of one that does not exist. @throws right_missing */
export const refuseCommand: Operation<string | null, never> = async (platform, trace, actor, name) => {
  const error = refuse('right_missing', { message: onlyThere })
  const detail = { command: name ?? 'unknown' }
  return await settle(platform, trace, new CountedRefusal(error, { actor, action: 'command.run', detail }))
}

const onlyThere = 'No service key may run this command: run it on the machine of the server.'
