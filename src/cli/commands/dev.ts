import type { Command } from 'commander'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../config.ts'
import type { ConfigFlags } from '../../config/setting.ts'
import { system } from '../../operations/audit/event.ts'
import { demoCallbacks, demoWebhookSecrets, reopenDemo, seedDemo } from '../../operations/demo/seed-demo.ts'
import { localTrace } from '../../operations/platform.ts'
import { actAsOwnerOfFolder } from '../../runtime/identity.ts'
import { openWebhookSender } from '../../runtime/webhook-sender.ts'
import { createDemoReceiver, demoReceiverUrl, demoText, reopenedText } from '../dev/demo.ts'
import { placed } from '../operator-command.ts'
import { atDatabase, metricsText, serverCommand, serveUntil, signalToEnd } from './serve.ts'

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
      const receiver = createDemoReceiver(
        openWebhookSender(config.webhookNetworks, { callsThisMachine: true }),
        (line) => void process.stdout.write(line),
      )
      const server = await startPlatformServer(config, {
        webhooks: receiver.sender,
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
