import { describe, expect, test } from 'bun:test'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { linkUser } from '../../src/operations/users/users.ts'
import { type Answer, call } from '../support/call.ts'
import { auditEvents } from '../support/audit-events.ts'
import { eventually } from '../support/crash.ts'
import { operator, trace } from '../support/operator.ts'
import { runProgram } from '../support/run-program.ts'
import { type RunningServer, startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, appToken, createWorld, endWorld, grantTokens, type World } from '../support/world.ts'
import { expectUnavailable, issue, me, ready } from './server-calls.ts'
import { faultsIn } from '../support/database-file.ts'

/** A small disk of its own, for who may mount one. */
const mountSmallDisk = (): string | null => {
  const folder = temporaryFolder()
  const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=6m,mode=700', 'tmpfs', folder], {
    stderr: 'ignore',
  })
  return mounted.exitCode === 0 ? folder : null
}
const fillUp = (ballast: string) => {
  writeFileSync(ballast, '')
  expect(Bun.spawnSync(['dd', 'if=/dev/zero', `of=${ballast}`, 'bs=4096'], { stderr: 'ignore' }).exitCode).not.toBe(0)
}
const linesWith = ({ log }: RunningServer, text: string): readonly string[] =>
  log()
    .split('\n')
    .filter((line) => line.includes(text))

const unmount = (folder: string) => Bun.spawnSync(['umount', '-l', folder], { stderr: 'ignore' })
const maySmallDisk = (() => {
  const folder = process.platform === 'linux' && process.getuid?.() === 0 ? mountSmallDisk() : null
  if (folder !== null) unmount(folder)
  return folder !== null
})()

const onSmallDisk = async (work: (folder: string) => Promise<void>) => {
  const folder = mountSmallDisk()
  if (folder === null) throw new Error('the disk could not be mounted')
  try {
    await work(folder)
  } finally {
    unmount(folder)
  }
}

describe('a full disk', () => {
  test.skipIf(!maySmallDisk)(
    'stops writes but not reads, loses nothing acknowledged, and writes work again when there is room (needs root, to mount a small disk)',
    async () => {
      await onSmallDisk(async (folder) => {
        const world = await createWorld({ database: join(folder, 'app-platform.db') })
        const token = await appToken(world.server.url, world.app.development)
        const grant = await grantTokens(world)
        const managing = await appToken(world.server.url, world.app.development)
        const ballast = join(folder, 'ballast')
        const acknowledged: string[] = [token]
        const versions: string[] = []
        writeFileSync(ballast, Buffer.alloc(700_000))

        let refused: Answer | null = null
        for (let index = 0; refused === null && index < 400; index += 1) {
          const manifest = { filler: 'x'.repeat(20_000) }
          const [made, issued] = await Promise.all([
            call(world.server.url, 'POST', '/versions', {
              token: managing,
              body: { version: `1.0.${index}`, manifest },
            }),
            issue(world),
          ])
          if (made.status === 201) versions.push(made.body.version)
          if (issued.status === 200) acknowledged.push(issued.body.accessToken)
          refused = [made, issued].find(({ status }) => status >= 400) ?? null
        }
        if (refused === null) throw new Error('the disk never was full')
        expectUnavailable(refused)
        expect((await ready(world)).status).toBe(503)
        expect(await me(world, token)).toBe(200)
        expect((await call(world.server.url, 'GET', '/oauth/me', { token: grant.accessToken })).status).toBe(200)

        rmSync(ballast)
        expect(
          (
            await eventually(
              async () => await ready(world),
              ({ status }) => status === 200,
            )
          ).status,
        ).toBe(200)
        const after = await issue(world)
        expect(after.status).toBe(200)
        acknowledged.push(after.body.accessToken)
        await world.server.kill()
        const server = await startServer({ database: world.server.database })
        const again: World = { ...world, server }
        expect(new Set(await Promise.all(acknowledged.map(async (each) => await me(again, each))))).toEqual(
          new Set([200]),
        )
        const found = await Promise.all(
          versions.map(async (version) => await world.platform.database.queries.versions.byName(world.app.id, version)),
        )
        expect(found).not.toContain(null)
        expect(await faultsIn(world.server.database)).toEqual([])
        await endWorld(again)
      })
    },
  )

  test.skipIf(!maySmallDisk)(
    'is logged, and access can still be ended in the reserved room (needs root, to mount a small disk)',
    async () => {
      await onSmallDisk(async (folder) => {
        const world = await createWorld({ database: join(folder, 'app-platform.db') })
        const { server, app, platform, user } = world
        const { clientId } = (await addApp(platform, user)).development
        const [exposed] = await platform.database.queries.credentials.listByClient(clientId)
        const tokens = await Promise.all(
          Array.from({ length: 40 }, async () => await appToken(server.url, app.development)),
        )
        const ballast = join(folder, 'ballast')
        fillUp(ballast)

        const half = tokens.length / 2
        const revokeAs = async (body: object) => await call(server.url, 'POST', '/oauth/revoke', { body })
        const stranger = { clientId, clientSecret: 'guessed', token: 'unknown' }
        for (const [index, token] of tokens.entries()) {
          if (index === half)
            await eventually(
              async () => await issue(world),
              ({ status }) => status === 503,
            )
          if (index >= half) expectUnavailable(await revokeAs(stranger))
          expect((await call(server.url, 'POST', '/oauth/revoke', { token, body: {} })).status).toBe(200)
        }
        expectUnavailable(await issue(world))
        const revoked = await runProgram(['credential', 'revoke', exposed?.id ?? '', '--database', server.database])
        expect(revoked.code).toBe(0)
        const lines = await eventually(
          async () => linesWith(server, '"condition.began","kind":"disk_full"'),
          ({ length }) => length > 0,
        )
        expect(lines).toHaveLength(1)
        expect(lines[0]).toMatch(/is full, as df -h \S+ shows: make room\./)
        await server.kill()

        const still = await startServer({ database: server.database })
        expect((await call(still.url, 'GET', '~/readyz')).status).toBe(503)
        for (const token of tokens) expect((await call(still.url, 'GET', '/me', { token })).status).toBe(401)
        rmSync(ballast)
        const { status } = await eventually(
          async () => await ready({ ...world, server: still }),
          ({ status }) => status === 200,
        )
        expect(status).toBe(200)
        const ended = await eventually(
          async () => linesWith(still, '"condition.ended","kind":"disk_full"'),
          ({ length }) => length > 0,
        )
        expect(ended).toHaveLength(1)
        await endWorld({ ...world, server: still })
      })
    },
  )

  test.skipIf(!maySmallDisk)(
    'keeps commands from using what is left for ending access, and each of them says what is full and what to do',
    async () => {
      await onSmallDisk(async (folder) => {
        const world = await createWorld({ database: join(folder, 'app-platform.db') })
        const { server, user, app } = world
        const { database } = server
        const ballast = join(folder, 'ballast')
        fillUp(ballast)
        await eventually(
          async () => await issue(world),
          ({ status }) => status === 503,
        )
        const other = temporaryFolder()
        const on = async (...words: readonly string[]) => await runProgram([...words, '--database', database])
        const before = await auditEvents(world.platform)
        for (const words of [
          ['user', 'invite', 'new@example.com', '--name', 'New'],
          ['app', 'create', '--owner', user.email, '--name', 'More', '--slug', 'more', '--scopes', 'profile:read'],
          ['credential', 'create', app.slug, '--environment', 'development'],
          ['backup', join(folder, 'copy.db')],
        ]) {
          const { code, stdout, stderr } = await on(...words)
          expect([words[0], code, stdout]).toEqual([words[0], 1, ''])
          expect(stderr).toMatch(
            /^error: [^\n]+ is full, as df -h \S+ shows: make room\.[^\n]+access can be ended[^\n]+\n$/,
          )
        }
        expect(existsSync(join(folder, 'copy.db'))).toBe(false)
        expect(await auditEvents(world.platform)).toEqual(before)
        expect(await on('backup', join(other, 'copy.db'))).toMatchObject({ code: 0 }) // on another disk
        for (const words of [
          ['app', 'suspend', app.slug],
          ['user', 'disable', user.email, '--apps', 'keep'],
        ]) {
          expect(await on(...words)).toMatchObject({ code: 0, stderr: '' })
        }
        rmSync(ballast)
        await eventually(
          async () => await ready(world),
          ({ status }) => status === 200,
        )
        expect(await on('user', 'invite', 'new@example.com', '--name', 'New')).toMatchObject({ code: 0 })
        expect(await on('backup', join(folder, 'copy.db'))).toMatchObject({ code: 0 })
        await endWorld(world)
      })
    },
  )

  test.skipIf(!maySmallDisk)(
    'refuses an import that no longer fits, which then changes and prunes nothing (needs root, to mount a small disk)',
    async () => {
      await onSmallDisk(async (folder) => {
        const world = await createWorld({ database: join(folder, 'app-platform.db') })
        const { platform, user } = world
        const rights = ['resources:write']
        const key = { name: 'Builder', rights, networks: [], expiresInDays: null }
        const { secret } = await createServiceKey(platform, trace, operator, key)
        await linkUser(platform, trace, operator, { email: user.email, externalId: 'ada' })
        const send = async (count: number) =>
          await fetch(`${world.server.url}/api/management/resources/import?prune=true`, {
            method: 'POST',
            headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/x-ndjson' },
            body: Array.from({ length: count }, (_, index) => {
              const named = { externalId: `${count}-${index}`, slug: `${count}-${index}`, name: `Site ${count}` }
              return JSON.stringify({ ...named, kind: 'site', ownerExternalId: 'ada', status: 'draft' })
            }).join('\n'),
          })
        const stored = async () => await platform.database.queries.resources.list(user.id, 'site', '', 100)
        expect((await send(2)).status).toBe(200)
        const before = await stored()
        const ballast = join(folder, 'ballast')
        fillUp(ballast)
        expect((await send(10_000)).status).toBe(503)
        rmSync(ballast)
        expect(await stored()).toEqual(before)
        await eventually(
          async () => await ready(world),
          ({ status }) => status === 200,
        )
        expect(await (await send(3)).json()).toEqual({ created: 3, updated: 0, removed: 2, installs: 0 })
        await endWorld(world)
      })
    },
  )

  test.skipIf(!maySmallDisk)(
    'that stays full does not keep the server from stopping, and the next one has everything acknowledged',
    async () => {
      await onSmallDisk(async (folder) => {
        const world = await createWorld({ database: join(folder, 'app-platform.db') })
        const token = await appToken(world.server.url, world.app.development)
        await world.platform.database.close()
        const ballast = join(folder, 'ballast')
        fillUp(ballast)
        const refused = await eventually(
          async () => await issue(world),
          ({ status }) => status === 503,
        )
        expectUnavailable(refused)
        await world.server.stop()
        rmSync(ballast)

        const server = await startServer({ database: world.server.database })
        expect((await call(server.url, 'GET', '/me', { token })).status).toBe(200)
        expect(await server.stop()).toBe(0)
      })
    },
  )

  test.skipIf(!maySmallDisk)(
    'does not keep a stopped server from starting, or a command from ending access: that room is reserved too',
    async () => {
      await onSmallDisk(async (folder) => {
        const world = await createWorld({ database: join(folder, 'app-platform.db') })
        const { database } = world.server
        const token = await appToken(world.server.url, world.app.development)
        await world.platform.database.close()
        await world.server.stop()
        fillUp(join(folder, 'ballast'))
        const disabled = await runProgram([
          'user',
          'disable',
          world.user.email,
          '--apps',
          'keep',
          '--database',
          database,
        ])
        expect(disabled).toMatchObject({ code: 0, stderr: '' })

        const server = await startServer({ database })
        expect((await call(server.url, 'POST', '/oauth/revoke', { token, body: {} })).status).toBe(200)
        expectUnavailable(await issue({ ...world, server }))
        await server.kill()
      })
    },
  )
})
