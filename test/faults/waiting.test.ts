import { Database } from 'bun:sqlite'
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Answer, call, codeOf } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { needs } from '../support/needs.ts'
import { isLong, patience, percentile, rounds } from '../support/proof.ts'
import { runProgram } from '../support/run-program.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { appToken, createWorld, endWorld, type World } from '../support/world.ts'
import { straceWorks } from './power-loss/recording.ts'

setDefaultTimeout(patience)
const seconds = rounds(1)

const issue = async ({ server, app }: World): Promise<Answer> =>
  await call(server.url, 'POST', '/token', { body: { ...app.development, scope: 'site:read' } })

/** Reads one after the other until the work is done; gives how long each took to be answered, of which none may fail. */
const readsDuring = async ({ server }: World, token: string, work: Promise<unknown>): Promise<readonly number[]> => {
  const state = { isDone: false }
  const done = work.finally(() => (state.isDone = true))
  const milliseconds: number[] = []
  while (!state.isDone) {
    const began = performance.now()
    expect((await call(server.url, 'GET', '/me', { token })).status).toBe(200)
    milliseconds.push(performance.now() - began)
    expect((await call(server.url, 'GET', '~/healthz')).status).toBe(200)
  }
  await done
  return milliseconds
}

const tell = (beside: string, reads: readonly number[]): void => {
  if (!isLong) return
  const [median, most] = [0.5, 1].map((part) => percentile(reads, part))
  console.log(`  ${reads.length} reads beside ${beside}: answered after ${median} ms at the median, ${most} ms at most`)
}

/** Enough for the WAL to be copied into the database. */
const uploadMuch = async ({ server, app }: World): Promise<void> => {
  const token = await appToken(server.url, app.development)
  for (let part = 0; part < 3; part += 1) {
    const bytes = Buffer.alloc(9 * 1024 * 1024, `part ${part}`)
    const artifact = { filename: 'app.zip', contentBase64: bytes.toString('base64') }
    const body = { version: `1.0.${part}`, artifact }
    expect((await call(server.url, 'POST', '/versions', { token, body })).status).toBe(201)
  }
}

const traceable = straceWorks()
needs('strace').test.skipIf(!traceable)(
  'while the disk takes its time to sync, reads are answered before the write that waits for it',
  async () => {
    const database = join(temporaryFolder(), 'app-platform.db')
    // Whatever stops the event loop stops the reads as well: then at most the one under way is answered before the write.
    const delay = 'inject=fsync,fdatasync:delay_enter=400000'
    const paths = ['', '-wal', '.acknowledged'].flatMap((part) => ['-P', database + part])
    const log = `${database}.strace`
    const under = [
      'strace',
      '-f',
      '-y',
      '-qqq',
      '-o',
      log,
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
    const besideIssue = await readsDuring(world, token, issued)
    expect(besideIssue.length).toBeGreaterThan(0)
    tell('a token that waits for its sync of 400 ms', besideIssue)
    expect((await issued).status).toBe(200)
    const doomed = (await issued).body.accessToken
    const revoked = call(server.url, 'POST', '/oauth/revoke', { token: doomed, body: {} })
    expect((await readsDuring(world, token, revoked)).length).toBeGreaterThan(0)
    expect((await revoked).status).toBe(200)
    expect((await call(server.url, 'GET', '/me', { token: doomed })).status).toBe(401)
    if (isLong) {
      tell(
        'uploads, and the copying of the WAL with a sync of each file',
        await readsDuring(world, token, uploadMuch(world)),
      )
      expect(readFileSync(log, 'utf8')).toContain(`<${database}>`)
    }
    expect(await server.stop()).toBe(0)
  },
)

test(`a lock that another process holds for ${seconds} s stops no read; writes wait or get 503 with a time to retry, and work again after it`, async () => {
  const world = await createWorld()
  const token = await appToken(world.server.url, world.app.development)
  const holder = new Database(world.server.database, { readwrite: true, create: false })
  holder.run('PRAGMA busy_timeout = 5000')
  holder.run('BEGIN IMMEDIATE')
  const writes = Promise.all(Array.from({ length: 20 }, async () => await issue(world)))
  const reads = await readsDuring(world, token, Bun.sleep(seconds * 1_000))
  expect(reads.length).toBeGreaterThan(0)
  tell(`a lock of ${seconds} s`, reads)
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
  'the server does not start on a read-only disk and says so in one line; once it is writable, everything is there (needs root)',
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

const me = async (url: string, token: string): Promise<number> => (await call(url, 'GET', '/me', { token })).status

/** A disk of its own in a file, which can be made read-only while files on it are open, as the kernel does after an error. */
const makeDisk = (): { readonly folder: string; readonly image: string } | null => {
  const image = join(temporaryFolder(), 'disk')
  writeFileSync(image, '')
  truncateSync(image, 24 * 1024 * 1024)
  const made = Bun.which('mkfs.ext4') !== null && Bun.spawnSync(['mkfs.ext4', '-q', image]).exitCode === 0
  const folder = temporaryFolder()
  return made && mount('-o', 'loop', image, folder) ? { folder, image } : null
}
const disk = mayMount ? makeDisk() : null
if (disk === null)
  console.warn('A disk that turns read-only under the server is skipped: it needs root, loop devices and mkfs.ext4.')
afterAll(() => void (disk !== null && unmount(disk.folder)))

const hasStopped = (log: string) => log.includes('"event":"database.stopped"')

test.skipIf(disk === null)(
  'a disk that becomes read-only under the server stops writes but not reads, is logged, and after remounting has everything acknowledged',
  async () => {
    if (disk === null) throw new Error('the disk could not be mounted')
    const { folder, image } = disk
    const world = await createWorld({ database: join(folder, 'data', 'app-platform.db') })
    const { server, app } = world
    const token = await appToken(server.url, app.development)
    const doomed = await appToken(server.url, app.development)
    expect((await call(server.url, 'POST', '/oauth/revoke', { token: doomed, body: {} })).status).toBe(200)
    await world.platform.database.close()
    expect(mount('-o', 'remount,abort', folder)).toBe(true)

    const refused = await issue(world)
    expect([refused.status, codeOf(refused)]).toEqual([503, 'unavailable'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const revoked = await call(server.url, 'POST', '/oauth/revoke', { token, body: {} })
    expect(revoked.status).toBe(503)
    expect([await me(server.url, token), await me(server.url, doomed)]).toEqual([200, 401])
    expect((await call(server.url, 'GET', '~/healthz')).status).toBe(200)
    expect((await call(server.url, 'GET', '~/readyz')).status).toBe(503)
    expect(await server.ended).toBe(1)
    expect(await eventually(async () => server.log(), hasStopped)).toSatisfy(hasStopped)

    // A copy, as of a disk that is put into another machine: a process with mounts of its own may still hold the old one.
    const copy = join(temporaryFolder(), 'disk')
    copyFileSync(image, copy)
    expect(unmount(folder).exitCode).toBe(0)
    expect(mount('-o', 'loop', copy, folder)).toBe(true)
    const again = await startServer({ database: server.database })
    expect([await me(again.url, token), await me(again.url, doomed)]).toEqual([200, 401])
    expect(await again.stop()).toBe(0)
  },
)
