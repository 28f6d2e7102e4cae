import { join } from 'node:path'
import { parseIpNetwork } from '../../src/domain/ip-address.ts'
import { type WebhookWorker, startWebhookWorker } from '../../src/jobs/deliver-webhooks.ts'
import type { Environment } from '../../src/domain/app.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { addEndpoint, type NewEndpointRecord } from '../../src/operations/webhooks/endpoints.ts'
import { createWebhookSender, type Resolve } from '../../src/runtime/webhook-sender.ts'
import { openAsOperator, operator, trace } from './operator.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { receiverCertificates } from './webhook-receiver.ts'
import { addApp, addUser, type AppInWorld, type Login } from './world.ts'

export const networks = (...texts: readonly string[]) => texts.map(parseIpNetwork).filter((network) => network !== null)

type WorldOptions = {
  readonly allowed?: readonly string[]
  readonly resolve?: Resolve
  readonly timeoutMs?: number
}

/** A platform in this process that may call receivers on the loopback address, and whose clock the test moves. */
export type WebhookWorld = {
  readonly platform: Platform
  readonly file: string
  readonly owner: Login
  readonly app: AppInWorld
  /** The failures of the worker. */
  readonly failures: unknown[]
  /** Advances the clock of the platform only. */
  pass(milliseconds: number): void
  endpoint(
    url: string,
    kinds?: readonly string[],
    app?: AppInWorld,
    environment?: Environment,
  ): Promise<NewEndpointRecord>
  work(options?: { readonly parallel: number }): WebhookWorker
}

export const createWebhookWorld = async (options: WorldOptions = {}): Promise<WebhookWorld> => {
  const file = join(temporaryFolder(), 'webhooks.db')
  const opened = await openAsOperator(file)
  const { authority } = await receiverCertificates()
  const failures: unknown[] = []
  let offset = 0
  const platform: Platform = {
    ...opened,
    clock: { ...opened.clock, now: () => opened.clock.now() + offset },
    webhooks: createWebhookSender({
      resolve: options.resolve ?? (async () => []),
      allowed: networks(...(options.allowed ?? ['127.0.0.0/8'])),
      timeoutMs: options.timeoutMs ?? 5_000,
      authority: await Bun.file(authority).text(),
    }),
  }
  const owner = await addUser(platform)
  const app = await addApp(platform, owner)
  return {
    platform,
    file,
    owner,
    app,
    failures,
    pass: (milliseconds) => void (offset += milliseconds),
    endpoint: async (url, kinds = ['credential.created'], { slug } = app, environment = 'development') =>
      await addEndpoint(platform, trace, operator, { slug, environment, url, kinds }),
    work: (options) =>
      startWebhookWorker(platform, {
        done: () => undefined,
        tried: () => undefined,
        failed: (cause) => failures.push(cause),
        periodMs: 10,
        ...options,
      }),
  }
}
