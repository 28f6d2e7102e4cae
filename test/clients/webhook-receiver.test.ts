import { expect } from 'bun:test'
import { join } from 'node:path'
import { pingEndpoint } from '../../src/operations/webhooks/deliveries.ts'
import { rotateWebhookSecret } from '../../src/operations/webhooks/endpoints.ts'
import { eventually } from '../support/crash.ts'
import { needs, programAt } from '../support/needs.ts'
import { operator, trace } from '../support/operator.ts'
import { receiverCertificates } from '../support/webhook-receiver.ts'
import { createWebhookWorld } from '../support/webhook-world.ts'
import { freePort } from './support/free-port.ts'

const runtimes = [
  { name: 'Node', words: () => [programAt('node'), '--input-type=module'], ...needs('openssl', 'node') },
  { name: 'Bun', words: () => [process.execPath], ...needs('openssl') },
] as const

for (const { name, words, test } of runtimes)
  test(`the webhook receiver of the guide accepts signed events only, on ${name}`, async () => {
    const { certificate, key } = await receiverCertificates()
    const port = await freePort()
    const world = await createWebhookWorld()
    const { platform } = world
    const { id, secret } = await world.endpoint(`https://127.0.0.1:${port}/webhooks`)
    // Unchanged, except for a free port.
    const file = join(import.meta.dir, 'webhook-receiver.mjs')
    const text = (await Bun.file(file).text()).replace('8443', String(port))
    const receiver = Bun.spawn([...words(), '-e', text], {
      cwd: import.meta.dir,
      env: { PATH: process.env['PATH'] ?? '', WEBHOOK_SECRET: secret, CERTIFICATE: certificate, KEY: key },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const ping = async () => await pingEndpoint(platform, trace, operator, id)
    expect(await eventually(ping, ({ error }) => error !== 'not_connected')).toMatchObject({
      delivered: true,
      status: 204,
    })
    await rotateWebhookSecret(platform, trace, operator, { id, graceHours: 1 })
    expect(await ping()).toMatchObject({ delivered: true, status: 204 })
    await rotateWebhookSecret(platform, trace, operator, { id, graceHours: 0 })
    await rotateWebhookSecret(platform, trace, operator, { id, graceHours: 0 })
    expect(await ping()).toMatchObject({ delivered: false, status: 400 })
    receiver.kill()
    expect((await new Response(receiver.stdout).text()).match(/^ping/gm)).toHaveLength(2)
    await platform.database.close()
  })
