import type { Command } from 'commander'
import type { WebhookResend } from '../../client/index.ts'
import {
  changing,
  credentialsHelp,
  developerCommand,
  type DeveloperFlags,
  tellOfWaiting,
} from '../developer/developer-command.ts'
import { limitOption, type Since, sinceOption } from '../flag-values.ts'
import { listAnswer, answer, recordAnswer } from '../output.ts'
import { openRemote } from '../remote.ts'
import { assertOneChoice, attemptColumns, pingAnswer } from './endpoint.ts'

const help = `
Endpoints of the development environment only. They are registered in the console, which shows their secrets once.
${credentialsHelp}

Examples:
  app-platform webhooks list
  app-platform webhooks ping whk_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d
  app-platform webhooks resend whk_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d --since 2h
`

export const addWebhooksCommands = (program: Command): void => {
  const group = program
    .command('webhooks')
    .description('Webhook endpoints of your app in development, on a server.')
    .addHelpText('after', help)
  developerCommand(group, 'list', 'List the endpoints, without their secrets.', list)
  developerCommand(group, 'ping <endpointId>', 'Send a ping now; exit 1 if the endpoint does not accept it.', ping)
  developerCommand(
    group,
    'attempts <endpointId>',
    'List the latest calls of an endpoint, newest first.',
    attempts,
  ).addOption(limitOption(1000, 50))
  developerCommand(group, 'resend <endpointId>', 'Send events again that were meant for an endpoint.', resend)
    .option('--event <eventId>', 'this one')
    .addOption(sinceOption('all'))
    .option('--failed', 'all that failed for good, except pings')
    .hook('preAction', (command) => assertOneChoice(command.opts()))
}

const open = async (signal: AbortSignal, flags: DeveloperFlags) =>
  (await openRemote(flags, { signal, onRepeat: tellOfWaiting })).client.webhooks

const list = async (signal: AbortSignal, flags: DeveloperFlags): Promise<void> => {
  const { data } = await (await open(signal, flags)).list({ signal })
  const columns = { ID: 'id', Status: 'status', Reason: 'reason', URL: 'url', Kinds: 'kinds', Created: 'createdAt' }
  const none = 'There are no webhook endpoints in development. Add one in the console.'
  answer(flags, data.length === 0 ? { value: { data }, text: none } : listAnswer(data, columns))
}

const ping = async (signal: AbortSignal, id: string, flags: DeveloperFlags): Promise<void> => {
  const webhooks = await open(signal, flags)
  answer(
    flags,
    pingAnswer(await changing(signal, doubtOf('the ping', id), async () => await webhooks.ping(id, { signal }))),
  )
}

type AttemptFlags = DeveloperFlags & { readonly limit: number }

const attempts = async (signal: AbortSignal, id: string, flags: AttemptFlags): Promise<void> => {
  const webhooks = await open(signal, flags)
  const data = []
  for await (const attempt of webhooks.allAttempts(id, { signal })) {
    if (data.push(attempt) === flags.limit) break
  }
  answer(flags, listAnswer(data, attemptColumns))
}

type ResendFlags = DeveloperFlags & { readonly event?: string; readonly since?: Since; readonly failed?: boolean }

const resend = async (signal: AbortSignal, id: string, flags: ResendFlags): Promise<void> => {
  const webhooks = await open(signal, flags)
  const send = async () => await webhooks.resend(id, choiceOf(flags), { signal })
  answer(flags, recordAnswer(await changing(signal, doubtOf('the resend', id), send)))
}

const doubtOf = (what: string, id: string): string =>
  `It is not known whether ${what} was made: see app-platform webhooks attempts ${id}.`

const choiceOf = ({ event, since }: ResendFlags): WebhookResend => {
  if (event !== undefined) return { event }
  return since === undefined ? { failed: true } : { since: new Date(since(Date.now())).toISOString() }
}
