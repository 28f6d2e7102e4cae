import type { Command } from 'commander'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../config.ts'
import type { ConfigFlags } from '../../config/setting.ts'
import { system } from '../../operations/audit/event.ts'
import {
  demoCallbacks,
  type DemoCredentials,
  demoWebhookSecrets,
  reopenDemo,
  seedDemo,
} from '../../operations/demo/seed-demo.ts'
import { localTrace } from '../../operations/platform.ts'
import { actAsOwnerOfFolder } from '../../runtime/identity.ts'
import type { WebhookAnswer, WebhookMessage, WebhookSender } from '../../runtime/webhook-sender.ts'
import { placed } from '../operator-command.ts'
import { atDatabase, metricsText, serverCommand, serveUntil, signalToEnd } from './serve.ts'
import { Webhook } from 'standardwebhooks'
import walk from './walk.sh' with { type: 'text' }

export const addDevCommand = (program: Command): void => {
  serverCommand(
    program,
    'dev',
    'Serve a demo, and print accounts, credentials and a walk through every endpoint to paste.',
    'an empty database to seed, or one that this has seeded before; by default one in a temporary folder, gone when this ends',
  ).action(async function (this: Command, flags: ConfigFlags) {
    const database = flags.database ?? temporaryDatabase()
    const signal = signalToEnd()
    const config = readConfig({ ...flags, database })
    if (config.database.kind === 'sqlite') actAsOwnerOfFolder(config.database.path)
    await atDatabase(config, async () => {
      const { startPlatformServer } = await import('../../server.ts') // imported here, because no other command needs it
      const receiver = createDemoReceiver((line) => void process.stdout.write(line))
      const server = await startPlatformServer(config, {
        webhooks: receiver.before,
        servesDemo: true,
        createCommands: placed(this).root?.create ?? null,
      })
      const { platform } = server
      receiver.open(async () => await demoWebhookSecrets(platform, demoReceiverUrl))
      await serveUntil(signal, server, async () => {
        const session = [platform, localTrace(platform), system] as const
        const demo = await seedDemo(...session, demoReceiverUrl, demoCallbacks)
        const text =
          demo === null
            ? reopenedText(platform.publicUrl, database, await reopenDemo(...session, demoCallbacks))
            : demoText(platform.publicUrl, database, demo)
        process.stdout.write(text + metricsText(server))
      })
    })
  })
}

const temporaryDatabase = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'app-platform-demo-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'demo.db')
}

/** What a newcomer needs, in order: who can sign in, what to set, what to paste. */
const demoText = (url: string, database: string, demo: DemoCredentials): string => {
  const people = demo.users.map(
    ({ email, password, operator }) => `  ${email}  ${password}${operator ? '  (operator)' : ''}`,
  )
  const apps = demo.apps.flatMap(({ slug, development, production }) => [
    `  ${slug}, development: ${development.clientId}  ${development.clientSecret}`,
    `  ${slug}, production:  ${production.clientId}  ${production.clientSecret}`,
  ])
  return [
    `App Platform with a fresh demo is at ${url}; the guides are at ${url}/docs/guides.`,
    `Operator commands reach it with PUBLIC_URL=${url} and --database ${database}`,
    '',
    'Sign in as one of these (passwords are shown once):',
    ...people,
    '',
    'Client IDs and secrets (shown once):',
    ...apps,
    '',
    ...webhook(demo),
    '# ---- paste these lines into another terminal, then the walk below them ----',
    ...walkSettings(url, demo),
    '',
    walk,
  ].join('\n')
}

/** For a demo that was served before: its passwords and secrets were shown then. */
const reopenedText = (
  url: string,
  database: string,
  { emails, clientIds }: Awaited<ReturnType<typeof reopenDemo>>,
): string => {
  const file = `--database ${Bun.$.escape(database)}`
  return [
    `App Platform with the demo of ${database} is at ${url}; the guides are at ${url}/docs/guides.`,
    'Its passwords and secrets were shown when it was made, and still work. These print new ones, also while this runs:',
    '',
    ...emails.map((email) => `  app-platform user set-password ${email} --generate-password ${file}`),
    ...clientIds.map((clientId) => `  app-platform credential rotate ${clientId} ${file}`),
    '',
  ].join('\n')
}

const webhook = ({ webhook: endpoint }: DemoCredentials): string[] =>
  endpoint === null
    ? []
    : [
        `Webhooks: ${endpoint.url} receives the events of ${endpoint.app} in production. It stands for the app's backend`,
        'inside this program, and prints what it receives below the walk. Try its ping in the console.',
        '',
      ]

/** The app with the approved install, and the user who has it. */
const walkSettings = (url: string, demo: DemoCredentials): string[] => {
  const install = demo.installs.find(({ approval }) => approval === 'approved')
  const app = demo.apps.find(({ slug }) => slug === install?.app)
  const user = demo.users.find(({ email }) => email === install?.user)
  if (app === undefined || user === undefined) throw new Error('the demo has no approved install')
  return [
    `BASE=${url}`,
    `CLIENT_ID=${app.development.clientId}`,
    `CLIENT_SECRET=${app.development.clientSecret}`,
    `REDIRECT_URI=${app.development.redirectUri}`,
    `EMAIL=${user.email}`,
    `PASSWORD=${user.password}`,
  ]
}

/** A reserved name that does not resolve (RFC 2606): what is sent there stays in this program. */
const demoReceiverUrl = 'https://newsletter.example/webhooks'

/** Takes the place of an app's backend, which would need a host name and a certificate. It verifies and prints each delivery. */
const createDemoReceiver = (tell: (line: string) => void) => {
  const { promise: opened, resolve: open } = Promise.withResolvers<() => Promise<readonly Uint8Array[]>>()
  /** Delivers to the demo's receiver, and to all other addresses as usual. */
  const before = (usual: WebhookSender): WebhookSender => ({
    check: async (url) => (url === demoReceiverUrl ? null : await usual.check(url)),
    send: async (message) =>
      message.url === demoReceiverUrl ? receive(message, await (await opened)(), tell) : await usual.send(message),
  })
  return {
    before,
    /** Says where the secrets of its endpoint are. Deliveries wait until then, so it is called as soon as the server is there. */
    open,
  }
}

const receive = (
  { body, headers }: WebhookMessage,
  secrets: readonly Uint8Array[],
  tell: (line: string) => void,
): WebhookAnswer => {
  if (!secrets.some((secret) => isSigned(secret, body, headers))) return answered(401, 'The signature is wrong.')
  const { type, environment, data } = JSON.parse(body)
  tell(`# webhook ${headers['webhook-id']}: ${type} in ${environment}, verified: ${JSON.stringify(data)}\n`)
  return answered(204, '')
}

const isSigned = (secret: Uint8Array, body: string, headers: WebhookMessage['headers']): boolean => {
  try {
    new Webhook(secret, { format: 'raw' }).verify(body, { ...headers })
    return true
  } catch {
    return false
  }
}

const answered = (status: number, answer: string): WebhookAnswer => ({
  status,
  error: null,
  retryAfter: null,
  headers: {},
  answer,
  durationMs: 0,
})
