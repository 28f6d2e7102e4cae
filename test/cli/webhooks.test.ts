import { expect } from 'bun:test'
import { join } from 'node:path'
import { eventually } from '../support/crash.ts'
import { needs } from '../support/needs.ts'
import { onPostgres } from '../support/postgres.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts'
import { addApp, addCredential, addUser, type Desk, deskAt, isoTime, openDesk } from './support/run.ts'

const { afterAll, beforeAll, describe, test } = needs('openssl')

let desk: Desk
let receiver: Receiver
const env = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' }
/** For whatever calls the receiver. A process reads the certificate when it starts. */
let trusting: Readonly<Record<string, string>>
beforeAll(async () => {
  desk = await openDesk()
  await addUser(desk)
  await addApp(desk)
  receiver = await startReceiver()
  trusting = { ...env, NODE_EXTRA_CA_CERTS: receiver.authority }
})
afterAll(async () => await receiver.down())

const failedPing = (why: string) => ({
  code: 'command_failed',
  message: `The endpoint did not accept the ping. ${why}`,
})
const add = (url: string, kinds: string) =>
  ['endpoint', 'add', 'newsletter', '--environment', 'development', '--url', url, '--kinds', kinds] // prettier-ignore
const endpoint = async (kinds = 'credential.created') => await desk.json(add(receiver.url, kinds), { env })

describe('endpoint', () => {
  test('add prints the secret once, and list never does', async () => {
    const made = await endpoint('ping, install.created')
    expect(made).toEqual({
      id: expect.stringMatching(/^whk_[0-9a-f]{32}$/),
      app: 'newsletter',
      environment: 'development',
      url: receiver.url,
      kinds: ['install.created', 'ping'],
      status: 'enabled',
      reason: null,
      failingSince: null,
      createdAt: expect.stringMatching(isoTime),
      updatedAt: expect.stringMatching(isoTime),
      secret: expect.stringMatching(/^whsec_/),
    })
    const { stdout } = await desk.run(['endpoint', 'list', 'newsletter'])
    expect(stdout).toContain(made.id)
    expect(stdout).not.toContain('whsec_')
    expect((await desk.run(['audit', 'list', '--json'])).stdout).not.toContain(made.secret.slice(6))
  })

  test('add refuses an unknown kind, and a local address unless its network is allowed', async () => {
    const { exitCode, stdout, stderr } = await desk.run(add(receiver.url, 'ping'))
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toContain('an address that webhooks do not call')
    for (const [kinds, place] of [
      ['ping,nothing', 2],
      ['grant.revokd grant.revoked', 1],
    ] as const) {
      const unknown = await desk.run(add(receiver.url, kinds), { env })
      expect(unknown.exitCode).toBe(1)
      expect(unknown.stderr).toContain(`Kind ${place} in the list does not exist. There are: `)
    }
    const wrong = await desk.run(['endpoint', 'list', 'newsletter'], {
      env: { WEBHOOK_ALLOWED_NETWORKS: 'everything' },
    })
    expect(wrong.exitCode).not.toBe(0)
    expect(wrong.stderr).toContain('WEBHOOK_ALLOWED_NETWORKS')
  })

  test('ping checks the certificate even if the environment turns the check off', async () => {
    const { id } = await endpoint()
    const before = receiver.received.length
    const careless = { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    const { exitCode, stdout } = await desk.run(['endpoint', 'ping', id, '--json'], { env: careless })
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toEqual({ error: failedPing('The certificate is not valid for the host.') })
    expect(receiver.received).toHaveLength(before)
  })

  test('ping reports the result and exits 1 if the receiver refuses it', async () => {
    const { id } = await endpoint()
    receiver.behave(() => 200)
    expect(await desk.json(['endpoint', 'ping', id], { env: trusting })).toMatchObject({
      delivered: true,
      status: 200,
      error: null,
    })
    receiver.behave(() => 418)
    const { exitCode, stdout } = await desk.run(['endpoint', 'ping', id, '--json'], { env: trusting })
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toEqual({ error: failedPing('Answered 418. Its answer begins: answer 1') })
    receiver.behave(() => 200)
    const closed = await desk.run(['endpoint', 'ping', id, '--json']) // no network is allowed now
    expect(JSON.parse(closed.stdout).error.message).toContain('an address that is not allowed')
    const { data } = await desk.json(['endpoint', 'attempts', id])
    expect(data.map(({ status, error }: { status: unknown; error: unknown }) => [status, error])).toEqual([
      [null, 'address_refused'],
      [418, null],
      [200, null],
    ])
    expect(data[1]).toMatchObject({
      kind: 'ping',
      answer: expect.stringContaining('answer'),
      at: expect.stringMatching(isoTime),
    })
  })

  test('attempts prints the answer of a receiver without control characters', async () => {
    const { id } = await endpoint()
    receiver.behave((_, response) => {
      response.writeHead(500).end('\x1b[2Jgone\r\n\u202e')
      return 'by itself'
    })
    await desk.run(['endpoint', 'ping', id], { env: trusting })
    receiver.behave(() => 200)
    const { stdout } = await desk.run(['endpoint', 'attempts', id])
    expect(stdout).toContain('gone')
    expect(stdout).not.toContain('\x1b')
    expect(stdout).not.toContain('\u202e')
  })

  test('disable, enable, rotate, resend and remove change the endpoint as documented', async () => {
    const { id, secret } = await endpoint()
    expect(await desk.json(['endpoint', 'disable', id])).toMatchObject({ status: 'disabled', reason: 'by_hand' })
    expect(await desk.json(['endpoint', 'enable', id])).toMatchObject({ status: 'enabled', reason: null })
    const rotated = await desk.json(['endpoint', 'rotate', id, '--grace-hours', '1'])
    expect(rotated.secret).toMatch(/^whsec_/)
    expect(rotated.secret).not.toBe(secret)
    await addCredential(desk)
    expect(await desk.json(['endpoint', 'resend', id, '--failed'])).toEqual({ id, resent: 0 })
    expect(await desk.json(['endpoint', 'resend', id, '--since', '1h'])).toEqual({ id, resent: 1 })
    expect((await desk.run(['endpoint', 'resend', id, '--event', 'evt_none'])).exitCode).toBe(1)
    for (const flags of [[], ['--failed', '--since', '1h'], ['--since', 'yesterday']]) {
      expect((await desk.run(['endpoint', 'resend', id, ...flags])).exitCode).toBe(2)
    }
    expect(await desk.json(['endpoint', 'remove', id])).toMatchObject({ id })
    expect((await desk.run(['endpoint', 'remove', id])).exitCode).toBe(1)
  })

  test('a demo for this machine has endpoints on it, for commands and for the server; a demo for others has none', async () => {
    const demo = deskAt(join(temporaryFolder(), 'data', 'app-platform.db'))
    const seed = ['seed', '--webhook-url', receiver.url]
    const forOthers = { PUBLIC_URL: 'https://platform.example' }
    expect((await demo.run(seed, { env: forOthers })).exitCode).toBe(1)
    expect(JSON.parse((await demo.run(['user', 'list', '--json'])).stdout).data).toEqual([])
    const { webhook } = await demo.json(seed)
    const ping = ['endpoint', 'ping', webhook.id]
    expect((await demo.run(ping, { env: forOthers })).stderr).toContain('an address that is not allowed')
    expect(await demo.json(ping)).toMatchObject({ delivered: true })
    expect(webhook).toMatchObject({ app: 'newsletter', url: receiver.url })
    const before = receiver.received.length
    const server = await startServer({ database: demo.file })
    const told = await eventually(
      async () => receiver.received.slice(before),
      ({ length }) => length >= 2,
    )
    expect(await server.stop()).toBe(0)
    expect(told.map(({ type }) => type).slice(0, 2)).toEqual(['install.created', 'install.approved'])
    for (const call of told) expect(receiver.isSignedWith(call, webhook.secret)).toBe(true)
  })

  test.skipIf(onPostgres)(
    'restore revives no endpoint removed or disabled since the backup, and no rotated secret',
    async () => {
      const old = await openDesk()
      await addUser(old)
      await addApp(old)
      const made = async () => await old.json(add(receiver.url, 'ping'), { env })
      const [gone, disabled, rotated, kept] = [await made(), await made(), await made(), await made()]
      const backup = join(old.folder, 'copy.db')
      await old.json(['backup', backup])
      await old.json(['endpoint', 'remove', gone.id])
      await old.json(['endpoint', 'disable', disabled.id])
      await old.json(['endpoint', 'rotate', rotated.id, '--grace-hours', '0'])
      // The endpoint and its secret, the disabled one, and the old secret of the rotated one.
      expect((await old.json(['restore', backup])).carriedOver).toMatchObject({ webhooks: 4 })
      const { data } = await old.json(['endpoint', 'list', 'newsletter'])
      expect(data.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual([
        [disabled.id, 'disabled'],
        [rotated.id, 'enabled'],
        [kept.id, 'enabled'],
      ])
      receiver.behave(() => 200)
      const before = receiver.received.length
      // Its old secret has ended, and the new one came after the backup.
      const { stdout } = await old.run(['endpoint', 'ping', rotated.id, '--json'], { env: trusting })
      expect(JSON.parse(stdout)).toEqual({ error: failedPing('Not sent: no signing secret. Rotate the secret.') })
      await old.json(['endpoint', 'ping', kept.id], { env: trusting })
      const calls = receiver.received.slice(before)
      expect(calls.map((call) => receiver.isSignedWith(call, kept.secret))).toEqual([true])
    },
  )

  test('add --help lists every kind', async () => {
    const { stdout, exitCode } = await desk.run(['endpoint', 'add', '--help'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('grant.reuse_detected')
    expect(stdout).toContain('api_version.deprecated')
  })
})

test('an endpoint of the builder is registered without an app, and listed apart', async () => {
  const kinds = ['--kinds', 'install.approved,user.erased']
  const place = ['--url', 'https://93.184.215.14/hooks', ...kinds]
  const { id, app, secret } = await desk.json(['endpoint', 'add', '--builder', ...place])
  expect([app, secret]).toEqual([null, expect.stringContaining('whsec_')])
  const { data } = await desk.json(['endpoint', 'list', '--builder'])
  expect(data).toMatchObject([{ id, app: null, kinds: ['install.approved', 'user.erased'] }])
  for (const words of [
    ['add', 'some-app', '--builder', ...place],
    ['add', ...place],
    ['list', 'some-app', '--builder'],
  ]) {
    expect((await desk.run(['endpoint', ...words])).exitCode).toBe(2)
  }
  expect((await desk.run(['endpoint', 'remove', id])).exitCode).toBe(0)
})
