import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { type Answer, call, codeOf } from '../support/call.ts'
import { patience, rounds } from '../support/proof.ts'
import { runProgram } from '../support/run-program.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { appToken, createWorld, endWorld, type World } from '../support/world.ts'
import { straceWorks } from './power-loss/recording.ts'

setDefaultTimeout(patience)
const seconds = rounds(1)

const issue = async ({ server, app }: World): Promise<Answer> =>
  await call(server.url, 'POST', '/token', { body: { ...app.development, scope: 'site:read' } })

/** Reads one after the other until the work is done; gives how many were answered, of which none may fail. */
const readsDuring = async ({ server }: World, token: string, work: Promise<unknown>): Promise<number> => {
  const state = { isDone: false }
  const done = work.finally(() => (state.isDone = true))
  let reads = 0
  for (; !state.isDone; reads += 1) {
    expect((await call(server.url, 'GET', '/me', { token })).status).toBe(200)
    expect((await call(server.url, 'GET', '~/healthz')).status).toBe(200)
  }
  await done
  return reads
}

const traceable = straceWorks()
test.skipIf(!traceable)(
  'while the disk takes its time to sync, reads are answered before the write that waits for it',
  async () => {
    const database = join(temporaryFolder(), 'app-platform.db')
    // Whatever stops the event loop stops the reads as well: then at most the one under way is answered before the write.
    const delay = 'inject=fsync,fdatasync:delay_enter=400000'
    const paths = ['', '-wal', '.acknowledged'].flatMap((part) => ['-P', database + part])
    const under = [
      'strace',
      '-f',
      '-qqq',
      '-o',
      '/dev/null',
      '--seccomp-bpf',
      ...paths,
      '-e',
      'trace=fsync,fdatasync',
      '-e',
      delay,
    ]
    const prepared = await createWorld({ database })
    await endWorld(prepared)
    const server = await startServer({ database, under })
    const world = { ...prepared, server }
    const token = await appToken(server.url, prepared.app.development)

    const issued = issue(world)
    expect(await readsDuring(world, token, issued)).toBeGreaterThan(3)
    expect((await issued).status).toBe(200)
    const doomed = (await issued).body.accessToken
    const revoked = call(server.url, 'POST', '/oauth/revoke', { token: doomed, body: {} })
    expect(await readsDuring(world, token, revoked)).toBeGreaterThan(3)
    expect((await revoked).status).toBe(200)
    expect((await call(server.url, 'GET', '/me', { token: doomed })).status).toBe(401)
    expect(await server.stop()).toBe(0)
  },
)

test(`a lock that another process holds for ${seconds} s stops no read; writes wait, or are told when to come back, and go on after it`, async () => {
  const world = await createWorld()
  const token = await appToken(world.server.url, world.app.development)
  const holder = new Database(world.server.database, { readwrite: true, create: false })
  holder.run('BEGIN IMMEDIATE')
  const writes = Promise.all(Array.from({ length: 20 }, async () => await issue(world)))
  expect(await readsDuring(world, token, Bun.sleep(seconds * 1_000))).toBeGreaterThan(seconds)
  holder.run('ROLLBACK')
  holder.close()

  for (const answer of await writes) {
    if (answer.status === 200) continue
    expect([answer.status, codeOf(answer)]).toEqual([503, 'unavailable'])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  expect((await issue(world)).status).toBe(200)
  await endWorld(world)
})

const mount = (...args: readonly string[]): boolean =>
  Bun.spawnSync(['mount', ...args], { stderr: 'ignore' }).exitCode === 0
const mountDisk = (): string | null => {
  const folder = temporaryFolder()
  return mount('-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', folder) ? folder : null
}
const unmount = (folder: string) => Bun.spawnSync(['umount', '-l', folder], { stderr: 'ignore' })
const mayMount = (() => {
  const folder = process.platform === 'linux' && process.getuid?.() === 0 ? mountDisk() : null
  if (folder !== null) unmount(folder)
  return folder !== null
})()

test.skipIf(!mayMount)(
  'on a disk that became read-only the server does not start and says so in one line; made writable, all is there (needs root)',
  async () => {
    const folder = mountDisk()
    if (folder === null) throw new Error('the disk could not be mounted')
    try {
      const world = await createWorld({ database: join(folder, 'app-platform.db') })
      const token = await appToken(world.server.url, world.app.development)
      await world.platform.database.close()
      await world.server.kill()
      expect(mount('-o', 'remount,ro', folder)).toBe(true)
      const { code, stdout, stderr } = await runProgram(['serve', '--port', '0', '--database', world.server.database])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr.trim().split('\n')).toHaveLength(1)
      expect(stderr).not.toMatch(/^\s+at |SQLITE_|node_modules|Error:/m)
      expect(stderr).toContain('read-only')

      expect(mount('-o', 'remount,rw', folder)).toBe(true)
      const server = await startServer({ database: world.server.database })
      expect((await call(server.url, 'GET', '/me', { token })).status).toBe(200)
      expect(await server.stop()).toBe(0)
    } finally {
      unmount(folder)
    }
  },
)
