import { expect, setDefaultTimeout } from 'bun:test'
import { freePort } from './clients/support/free-port.ts'
import { startNginx } from './cli/support/printed-proxy.ts'
import { call } from './support/call.ts'
import { eventually } from './support/crash.ts'
import { guide } from './support/documents.ts'
import { startGuideMachine } from './support/guide-machine.ts'
import { needs, programAt } from './support/needs.ts'
import { openAsOperator } from './support/operator.ts'
import { addApp, addUser, appToken } from './support/world.ts'

// The commands of the guides to PostgreSQL, executed.

setDefaultTimeout(240_000)

const isRoot = process.getuid?.() === 0
if (!isRoot) console.warn('The tests of the guides to PostgreSQL are skipped: their commands need root.')
const { test } = needs('postgres', 'nginx', 'openssl', 'bash')

/** An address that nothing else uses: tests of other folders may run at the same time. */
const network = `127.${1 + Math.floor(Math.random() * 250)}.${Math.floor(Math.random() * 250)}`

test.skipIf(!isRoot)('the guide to one server on one PostgreSQL does what it says', async () => {
  const text = await guide('operate/postgresql')
  const machine = await startGuideMachine(`${network}.10`, '', { publicUrl: 'https://apps.example.com', isLocal: true })
  try {
    expect(await machine.run(text, 'one')).toContain('you@example.com')
    const server = await machine.serve()
    expect((await call(server.url, 'GET', '~/readyz')).status).toBe(200)
    expect(await server.stop()).toBe(0)
  } finally {
    machine.stop()
  }
})

test.skipIf(!isRoot)(
  'the guide to two servers and a standby survives the loss of the primary, and no token is revived',
  async () => {
    const text = await guide('operate/high-availability')
    const publicUrl = `https://localhost:${freePort()}`
    const [first, second] = [`${network}.11`, `${network}.12`]
    const values = `ONE=${first} TWO=${second} PASSWORD=0123456789abcdef01234567`
    const two = await startGuideMachine(second, values, { publicUrl, isLocal: false })
    const one = await startGuideMachine(first, values, { publicUrl, isLocal: false, copiesTo: two })
    try {
      await one.run(text, 'certificates')
      await one.run(text, 'settings')
      await two.run(text, 'settings')
      await one.run(text, 'database')
      await two.run(text, 'standby')
      expect(await one.run(text, 'synchronous')).toEndWith('\nsync\n')
      await one.run(text, 'servers')
      await two.run(text, 'servers')
      const servers = await Promise.all([one.serve(), two.serve()])
      await one.run(text, 'nginx')
      const proxy = await startNginx([programAt('nginx')], one.read('/etc/nginx/conf.d/app-platform.conf'), publicUrl)

      const platform = await openAsOperator(servers[0].database)
      const app = await addApp(platform, await addUser(platform))
      await platform.database.close()
      const ask = async (path: string, options: RequestInit = {}) =>
        (
          await proxy.fetch(`/api/app-platform${path}`, {
            ...options,
            headers: { 'X-Service-Api-Version': '2026-08', ...options.headers },
          })
        ).status
      const statusOf = async (token: string) => await ask('/me', { headers: { Authorization: `Bearer ${token}` } })
      const issue = async () =>
        await ask('/token', {
          method: 'POST',
          body: JSON.stringify({ ...app.production, scope: 'site:read' }),
          headers: { 'Content-Type': 'application/json' },
        })
      const [kept, revoked] = [
        await appToken(servers[0].url, app.production),
        await appToken(servers[1].url, app.production),
      ]
      const before = servers.map((server) => server.log().length)
      for (let count = 0; count < 4; count += 1) expect(await statusOf(revoked)).toBe(200)
      await eventually(
        async () => servers.every((server, index) => server.log().length > (before[index] ?? 0)),
        (both) => both,
      )
      expect(
        (await call(servers[1].url, 'POST', '/oauth/revoke', { body: { ...app.production, token: revoked } })).status,
      ).toBe(200)

      one.kill()
      await two.run(text, 'promote')
      const answers: number[] = []
      const goesOn = async () => {
        answers.push(await statusOf(revoked))
        return await issue()
      }
      let issued = 0 // a busy machine takes longer
      for (let attempt = 0; attempt < 6 && issued !== 200; attempt += 1) {
        issued = await eventually(goesOn, (status) => status === 200)
      }
      expect(issued).toBe(200)
      expect(await statusOf(revoked)).toBe(401)
      expect(answers.filter((status) => status !== 401 && status !== 503)).toEqual([])
      expect(
        await eventually(
          async () => await statusOf(kept),
          (status) => status === 200,
        ),
      ).toBe(200)

      await one.run(text, 'rejoin')
      expect(await two.run(text, 'synchronous')).toEndWith('\nsync\n')
      expect(await issue()).toBe(200)
      await two.run(text, 'without')
      expect(await issue()).toBe(200)
      await proxy.stop()
      for (const server of servers) expect(await server.stop()).toBe(0)
    } finally {
      one.stop()
      two.stop()
    }
  },
)
