import type { Command } from 'commander'
import type { AuditEvent } from '../../../db/database.ts'
import { auditActions, namesAction } from '../../domain/audit-action.ts'
import { listAuditEvents } from '../../operations/audit/read-audit.ts'
import { storedJson } from '../../operations/stored-json.ts'
import { addAppFlag, type AppFlag, limitOption, namedApp, type Since, sinceOption } from '../flag-values.ts'
import { operatorCommands } from '../operator-command.ts'
import type { OperatorSession } from '../operator-session.ts'
import { listAnswer, UsageError } from '../output.ts'

export const addAuditCommands = (program: Command): void => {
  const operator = operatorCommands(
    program.command('audit').description('The audit log: who did what, from where, and with what outcome.'),
  )
  addAppFlag(
    operator('list [app]', 'List the latest events of an app or of all, oldest first, including issued tokens.', list),
  )
    .option('--person <email>', 'only what this person has done: an address, or the ID of a user or a client')
    .option('--action <action>', 'only this action, such as user.created, or the part before its dot')
    .addOption(sinceOption('only those'))
    .addOption(limitOption(10_000, 100))
}

type ListFlags = AppFlag & {
  readonly person?: string
  readonly action?: string
  readonly since?: Since
  readonly limit: number
}

const list = async ([platform]: OperatorSession, app: string | undefined, flags: ListFlags) => {
  const { since, limit } = flags
  const start = since?.(platform.clock.now()) ?? 0
  const { person = null, action = null } = flags
  const asked = { slug: namedApp(app, flags), actor: person, action, since: start, limit }
  const events = await listAuditEvents(platform, asked)
  // An older program may have written other actions, so an unknown one is refused only where it would look as if nothing happened.
  if (events.length === 0 && action !== null && !auditActions.some((known) => namesAction(action, known))) {
    throw new UsageError('There is no action of this name. Without --action, the list shows what actions are called.')
  }
  return listAnswer(events.map(eventRecord), {
    Time: 'at',
    Action: 'action',
    Outcome: 'outcome',
    Reason: 'reason',
    Actor: 'actor.kind',
    'Actor ID': 'actor.id',
    Target: 'target',
    'Request ID': 'requestId',
  })
}

const eventRecord = ({ actorKind, actorId, detail, ...event }: AuditEvent) => ({
  ...event,
  actor: { kind: actorKind, id: actorId },
  detail: detail === null ? null : storedJson<unknown>(detail),
})
