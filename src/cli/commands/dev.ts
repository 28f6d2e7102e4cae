import type { Command } from 'commander'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../config.ts'
import type { ConfigFlags } from '../../config/setting.ts'
import { system } from '../../operations/audit/event.ts'
import { demoCallbacks, seedDemo } from '../../operations/demo/seed-demo.ts'
import { localTrace } from '../../operations/platform.ts'
import { openWebhookSender } from '../../runtime/webhook-sender.ts'
import { createDemoReceiver, demoReceiverUrl, demoText } from '../dev/demo.ts'
import { metricsText, serverCommand, serveUntil, signalToEnd } from './serve.ts'

export const addDevCommand = (program: Command): void => {
  serverCommand(
    program,
    'dev',
    'Serve a fresh demo, and print accounts, credentials and a walk through every endpoint to paste.',
    'an empty database to seed; by default one in a temporary folder, gone when this ends',
  ).action(async (flags: ConfigFlags) => {
    const database = flags.database ?? temporaryDatabase()
    const signal = signalToEnd()
    const config = readConfig({ ...flags, database })
    const { startPlatformServer } = await import('../../server.ts') // imported here, because no other command needs it
    const receiver = createDemoReceiver(
      openWebhookSender(config.webhookNetworks),
      (line) => void process.stdout.write(line),
    )
    const server = await startPlatformServer(config, { webhooks: receiver.sender, servesDemo: true })
    const { platform } = server
    await serveUntil(signal, server, async () => {
      const demo = await seedDemo(platform, localTrace(platform), system, demoReceiverUrl, demoCallbacks)
      process.stdout.write(demoText(platform.publicUrl, database, demo) + metricsText(server))
      if (demo.webhook !== null) receiver.open(demo.webhook.secret)
    })
  })
}

const temporaryDatabase = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'app-platform-demo-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'demo.db')
}
