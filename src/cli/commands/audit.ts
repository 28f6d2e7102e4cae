import type { Command } from 'commander'
import type { AuditEvent } from '../../../db/database.ts'
import { listAuditEvents } from '../../operations/audit/lists.ts'
import { storedJson } from '../../operations/stored-json.ts'
import { limitOption, type Since, sinceOption } from '../flag-values.ts'
import { operatorCommands, type OperatorSession } from '../operator-command.ts'
import { listAnswer } from '../output.ts'

export const addAuditCommands = (program: Command): void => {
  const operator = operatorCommands(
    program.command('audit').description('The audit log: who did what, from where, and with what outcome.'),
  )
  operator('list', 'List the latest events, oldest first, including issued tokens.', list)
    .option('--app <slug>', 'only those of one app')
    .addOption(sinceOption('only those'))
    .addOption(limitOption(10_000, 100))
}

type ListFlags = { readonly app?: string; readonly since?: Since; readonly limit: number }

const list = async ([platform]: OperatorSession, { app, since, limit }: ListFlags) => {
  const start = since?.(platform.clock.now()) ?? 0
  const events = await listAuditEvents(platform, { slug: app ?? null, since: start, limit })
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
