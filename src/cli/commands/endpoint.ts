import { type Command, Option } from 'commander'
import type { Environment } from '../../domain/app.ts'
import { environments } from '../../domain/app.ts'
import { outcomeInWords } from '../../domain/webhook-delivery.ts'
import { builderKinds, webhookKinds } from '../../domain/webhook-event.ts'
import {
  addEndpoint,
  listBuilderEndpoints,
  listEndpoints,
  removeEndpoint,
  setEndpointStatus,
  rotateWebhookSecret,
} from '../../operations/webhooks/endpoints.ts'
import { listAttempts, pingEndpoint, type ResendChoice, resendEvents } from '../../operations/webhooks/deliveries.ts'
import {
  addAppFlag,
  type AppFlag,
  graceHoursOption,
  limitOption,
  requiredApp,
  type Since,
  sinceOption,
  listedWords,
} from '../flag-values.ts'
import { operatorCommands } from '../operator-command.ts'
import type { OperatorSession } from '../operator-session.ts'
import { type Answer, CommandFailed, listAnswer, recordAnswer, UsageError } from '../output.ts'

const kindList = `
The kinds are
${webhookKinds.map((kind) => `  ${kind}`).join('\n')}
of an app, and with --builder
${builderKinds.map((kind) => `  ${kind}`).join('\n')}`

/** Webhook endpoints. These commands only record what is to be sent; a running server sends it. */
export const addEndpointCommands = (program: Command): void => {
  const operator = operatorCommands(
    program
      .command('endpoint')
      .description('Webhook endpoints: they receive the events of an app, or of all for the builder.'),
  )
  operator(
    'add [app]',
    'Register an endpoint of an app, or with --builder of the builder, and print its secret once.',
    add,
  )
    .option('--builder', 'for the builder itself: it hears of installs, grants, apps, versions and users')
    .addOption(new Option('--environment <environment>', 'the environment of the app').choices(environments))
    .requiredOption('--url <url>', 'where to: HTTPS, and not a private or reserved address')
    .requiredOption('--kinds <kinds>', 'kinds of events, separated by commas')
    .addHelpText('after', kindList)
  addAppFlag(
    operator('list [app]', 'List the endpoints of an app or of the builder, without their secrets.', list).option(
      '--builder',
      'those of the builder',
    ),
  )
  operator('enable <endpointId>', 'Enable an endpoint, and send the events that waited.', async (session, id: string) =>
    recordAnswer(await setEndpointStatus(...session, { id, status: 'enabled' })),
  )
  operator(
    'disable <endpointId>',
    'Disable an endpoint; its events wait for up to 30 days.',
    async (session, id: string) => recordAnswer(await setEndpointStatus(...session, { id, status: 'disabled' })),
  )
  operator(
    'remove <endpointId>',
    'Remove an endpoint, its secrets and its waiting events.',
    async (session, id: string) => recordAnswer(await removeEndpoint(...session, id)),
  )
  operator(
    'rotate <endpointId>',
    'Give an endpoint a new secret and print it once.',
    async (session, id: string, { graceHours }: { readonly graceHours: number }) =>
      recordAnswer(await rotateWebhookSecret(...session, { id, graceHours })),
  ).addOption(graceHoursOption('how long the old secret signs as well'))
  operator('ping <endpointId>', 'Send an endpoint a ping now; exit 1 if it does not accept it.', ping)
  operator('attempts <endpointId>', 'List the latest calls of an endpoint, newest first.', attempts).addOption(
    limitOption(1000, 50),
  )
  operator('resend <endpointId>', 'Send events again that were meant for an endpoint.', resend)
    .option('--event <eventId>', 'this one')
    .addOption(sinceOption('all'))
    .option('--failed', 'all that failed for good, except pings')
    .hook('preAction', (command) => assertOneChoice(command.opts()))
}

type BuilderFlag = { readonly builder?: boolean }
type AddFlags = BuilderFlag & { readonly environment?: Environment; readonly url: string; readonly kinds: string }

const add = async (session: OperatorSession, app: string | undefined, flags: AddFlags) => {
  const { builder = false, environment, url, kinds } = flags
  if (builder ? app !== undefined || environment !== undefined : app === undefined || environment === undefined) {
    throw new UsageError('Name an app and --environment, or say --builder alone.')
  }
  const input = {
    slug: app ?? null,
    environment: environment ?? 'production',
    url,
    kinds: listedWords(kinds),
  }
  return recordAnswer(await addEndpoint(...session, input))
}

const list = async ([platform]: OperatorSession, app: string | undefined, flags: AppFlag & BuilderFlag) => {
  const isOfBuilder = flags.builder === true
  if (isOfBuilder && (app ?? flags.app) !== undefined) throw new UsageError('Name an app, or say --builder.')
  const found = isOfBuilder
    ? await listBuilderEndpoints(platform)
    : await listEndpoints(platform, requiredApp(app, flags))
  return listAnswer(found, {
    ID: 'id',
    Environment: 'environment',
    Status: 'status',
    Reason: 'reason',
    URL: 'url',
    Kinds: 'kinds',
    Created: 'createdAt',
  })
}

const ping = async (session: OperatorSession, id: string) => {
  return pingAnswer(await pingEndpoint(...session, id))
}

type Ping = Awaited<ReturnType<typeof pingEndpoint>>

/** @throws CommandFailed if the endpoint did not accept it */
export const pingAnswer = (result: Ping): Answer => {
  if (result.delivered) return recordAnswer(result)
  const { answer } = result
  const sentences = [`The endpoint did not accept the ping. ${outcomeInWords(result).replace(/\.?$/, '.')}`]
  throw new CommandFailed(answer === '' ? sentences : [...sentences, `Its answer begins: ${answer}`])
}

const attempts = async ([platform]: OperatorSession, id: string, { limit }: { readonly limit: number }) => {
  const { data } = await listAttempts(platform, id, { limit, cursor: null })
  return listAnswer(data, attemptColumns)
}

export const attemptColumns = {
  Time: 'at',
  Event: 'eventId',
  Kind: 'kind',
  Status: 'status',
  Error: 'error',
  Milliseconds: 'durationMs',
  Answer: 'answer',
} as const

type ResendFlags = { readonly event?: string; readonly since?: Since; readonly failed?: boolean }

/** @throws UsageError */
export const assertOneChoice = ({ event, since, failed }: ResendFlags): void => {
  const chosen = [event, since, failed].filter((flag) => flag !== undefined)
  if (chosen.length !== 1) throw new UsageError('Say which events: one of --event, --since and --failed.')
}

const resend = async (session: OperatorSession, id: string, flags: ResendFlags) => {
  const [{ clock }] = session
  return recordAnswer(await resendEvents(...session, { id, choice: choiceOf(flags, clock.now()) }))
}

const choiceOf = ({ event, since }: ResendFlags, now: number): ResendChoice => {
  if (event !== undefined) return { kind: 'one', eventId: event }
  return since === undefined ? { kind: 'failed' } : { kind: 'since', at: since(now) }
}
