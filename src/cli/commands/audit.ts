import type { Command } from 'commander'
import type { AuditEvent } from '../../../db/database.ts'
import { listAuditEvents } from '../../operations/audit/lists.ts'
import { storedJson } from '../../operations/stored-json.ts'
import { readSince, type Since, startOf, wholeNumberFlag } from '../flag-values.ts'
import { asOperator, type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answerList } from '../output.ts'

type ListFlags = CommonFlags & { readonly app?: string; readonly since?: Since; readonly limit: number }

export const addAuditCommands = (program: Command): void => {
  const group = program
    .command('audit')
    .description('What happened: who did what to what, from where, with what outcome.')
  operatorCommand(group, 'list', 'List the latest events, oldest first, issued tokens among them.')
    .option('--app <slug>', 'only those of one app')
    .option(
      '--since <time>',
      'only those since a time such as 2026-08-01T12:00:00Z, or since 30m, 24h or 7d ago',
      readSince,
    )
    .option('--limit <number>', 'how many at most, 1 to 10000', wholeNumberFlag(1, 10_000), 100)
    .action(list)
}

const list = async (flags: ListFlags): Promise<void> => {
  const events = await asOperator(flags, async ({ platform }) => {
    const since = flags.since === undefined ? 0 : startOf(flags.since, platform.clock.now())
    return await listAuditEvents(platform, { slug: flags.app ?? null, since, limit: flags.limit })
  })
  answerList(flags, events.map(eventRecord), {
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

const eventRecord = ({ actorKind, actorId, detail, ...event }: AuditEvent) => {
  const told = detail === null ? null : storedJson<unknown>(detail)
  return { ...event, actor: { kind: actorKind, id: actorId }, detail: told }
}
