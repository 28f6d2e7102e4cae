import type { Command } from 'commander'
import type { Environment } from '../../domain/app.ts'
import { webhookKinds } from '../../domain/webhook-event.ts'
import { addEndpoint } from '../../operations/webhooks/add-endpoint.ts'
import { listAttempts, pingEndpoint } from '../../operations/webhooks/deliveries.ts'
import { listEndpoints, removeEndpoint, setEndpointStatus } from '../../operations/webhooks/endpoints.ts'
import { type ResendChoice, resendEvents } from '../../operations/webhooks/resend-events.ts'
import { rotateWebhookSecret, webhookGraceHours } from '../../operations/webhooks/secrets.ts'
import { readSince, type Since, startOf, wholeNumberFlag } from '../flag-values.ts'
import { asOperator, type CommonFlags, environmentOption, operatorCommand } from '../operator-command.ts'
import { answerList, answerRecord, UsageError } from '../output.ts'

const kindList = `
The kinds are
${webhookKinds.map((kind) => `  ${kind}`).join('\n')}`

/** Webhook endpoints. These commands only record what is to be sent; a running server sends it. */
export const addWebhookCommands = (program: Command): void => {
  const group = program.command('webhook').description('Webhooks: endpoints of apps that are told what happens.')
  operatorCommand(group, 'add <slug>', 'Register an endpoint of an app and print its secret, this once.')
    .addOption(environmentOption())
    .requiredOption('--url <url>', 'where to: HTTPS, and not a private or reserved address')
    .requiredOption('--kinds <kinds>', 'kinds of events, with commas between')
    .addHelpText('after', kindList)
    .action(add)
  operatorCommand(group, 'list <slug>', 'List the endpoints of an app, without their secrets.').action(list)
  operatorCommand(group, 'enable <endpointId>', 'Send to an endpoint again, also what has waited for it.').action(
    setStatus('enabled'),
  )
  operatorCommand(group, 'disable <endpointId>', 'Send nothing to an endpoint; events wait for up to 30 days.').action(
    setStatus('disabled'),
  )
  operatorCommand(group, 'remove <endpointId>', 'Remove an endpoint, its secrets and what waits for it.').action(remove)
  operatorCommand(group, 'rotate <endpointId>', 'Give an endpoint a new secret and print it, this once.')
    .option(
      '--grace-hours <hours>',
      `how long the old one goes on signing as well, 0 to ${webhookGraceHours.maximum}`,
      wholeNumberFlag(0, webhookGraceHours.maximum),
      webhookGraceHours.default,
    )
    .action(rotate)
  operatorCommand(group, 'ping <endpointId>', 'Send an endpoint a ping now; exit 1 when it does not take it.').action(
    ping,
  )
  operatorCommand(group, 'attempts <endpointId>', 'List the latest calls of an endpoint, newest first.')
    .option('--limit <number>', 'how many at most, 1 to 1000', wholeNumberFlag(1, 1000), 50)
    .action(attempts)
  operatorCommand(group, 'resend <endpointId>', 'Send events again that were meant for an endpoint.')
    .option('--event <eventId>', 'this one')
    .option('--since <time>', 'all since a time such as 2026-08-01T12:00:00Z, or since 30m, 24h or 7d ago', readSince)
    .option('--failed', 'all that were given up, but no pings')
    .action(resend)
}

type AddFlags = CommonFlags & { readonly environment: Environment; readonly url: string; readonly kinds: string }

const add = async (slug: string, { environment, url, kinds, ...flags }: AddFlags): Promise<void> => {
  const input = { slug, environment, url, kinds: kinds.split(',').map((kind) => kind.trim()) }
  answerRecord(
    flags,
    await asOperator(flags, async ({ platform, trace, actor }) => await addEndpoint(platform, trace, actor, input)),
  )
}

const list = async (slug: string, flags: CommonFlags): Promise<void> => {
  const endpoints = await asOperator(flags, async ({ platform }) => await listEndpoints(platform, slug))
  answerList(flags, endpoints, {
    ID: 'id',
    Environment: 'environment',
    Status: 'status',
    Reason: 'reason',
    URL: 'url',
    Kinds: 'kinds',
    Created: 'createdAt',
  })
}

const setStatus =
  (status: 'enabled' | 'disabled') =>
  async (id: string, flags: CommonFlags): Promise<void> =>
    answerRecord(
      flags,
      await asOperator(
        flags,
        async ({ platform, trace, actor }) => await setEndpointStatus(platform, trace, actor, { id, status }),
      ),
    )

const remove = async (id: string, flags: CommonFlags): Promise<void> =>
  answerRecord(
    flags,
    await asOperator(flags, async ({ platform, trace, actor }) => await removeEndpoint(platform, trace, actor, id)),
  )

const rotate = async (id: string, flags: CommonFlags & { readonly graceHours: number }): Promise<void> => {
  const input = { id, graceHours: flags.graceHours }
  answerRecord(
    flags,
    await asOperator(
      flags,
      async ({ platform, trace, actor }) => await rotateWebhookSecret(platform, trace, actor, input),
    ),
  )
}

const ping = async (id: string, flags: CommonFlags): Promise<void> => {
  const result = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await pingEndpoint(platform, trace, actor, id),
  )
  answerRecord(flags, result)
  if (!result.delivered) process.exitCode = 1
}

const attempts = async (id: string, flags: CommonFlags & { readonly limit: number }): Promise<void> => {
  const page = { limit: flags.limit, cursor: null }
  const { data } = await asOperator(flags, async ({ platform }) => await listAttempts(platform, id, page))
  answerList(flags, data, {
    Time: 'at',
    Event: 'eventId',
    Kind: 'kind',
    Status: 'status',
    Error: 'error',
    Milliseconds: 'durationMs',
    Answer: 'answer',
  })
}

type ResendFlags = CommonFlags & { readonly event?: string; readonly since?: Since; readonly failed?: boolean }

const resend = async (id: string, flags: ResendFlags): Promise<void> => {
  const chosen = [flags.event, flags.since, flags.failed].filter((flag) => flag !== undefined)
  if (chosen.length !== 1) throw new UsageError('Say which events: one of --event, --since and --failed.')
  answerRecord(
    flags,
    await asOperator(flags, async ({ platform, trace, actor }) => {
      const choice = choiceOf(flags, platform.clock.now())
      return await resendEvents(platform, trace, actor, { id, choice })
    }),
  )
}

const choiceOf = ({ event, since }: ResendFlags, now: number): ResendChoice => {
  if (event !== undefined) return { kind: 'one', eventId: event }
  return since === undefined ? { kind: 'failed' } : { kind: 'since', at: startOf(since, now) }
}
