import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { call } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { createWorld, endWorld } from '../support/world.ts'
import { issue, ready } from './server-calls.ts'

const limit = 128
/** `exit` keeps the shell from becoming the program, so that it is the program's parent. */
const limited = ['sh', '-c', `ulimit -n ${limit}; "$@"; exit $?`, 'sh']

/** Whether the log has this event about descriptors. */
const isSaid = (event: string) => (log: string) =>
  log.split('\n').some((line) => line.includes(`"event":"${event}"`) && line.includes('too_few_descriptors'))

/** Connections that ask nothing. */
const openIdle = (url: string, count: number): readonly Socket[] => {
  const { hostname, port } = new URL(url)
  return Array.from({ length: count }, () => connect(Number(port), hostname).on('error', () => {}))
}

/** More than a checkpoint's worth of pages, by another program, so that the server needs no connection for it. */
const writeMuch = (file: string): void => {
  using other = new Database(file, { readwrite: true, create: false })
  other.run('PRAGMA foreign_keys = OFF')
  other.run('PRAGMA wal_autocheckpoint = 0')
  other.run('PRAGMA busy_timeout = 5000')
  const insert = other.prepare('INSERT INTO artifact_chunks (sha256, position, data) VALUES (randomblob(32), 0, ?)')
  other.run('BEGIN IMMEDIATE')
  for (let index = 0; index < 80; index += 1) insert.run(new Uint8Array(262_144).fill(index))
  other.run('COMMIT')
  insert.finalize()
}

test.skipIf(process.platform !== 'linux')(
  'a server without a free file descriptor says so in its log, checkpoints its WAL, and does everything again once some are free',
  async () => {
    const world = await createWorld({ under: limited })
    const { server } = world
    const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length
    expect((await issue(world)).status).toBe(200)
    const before = statSync(server.database).size

    const idle = openIdle(server.url, limit + 20)
    expect(
      await eventually(
        async () => descriptors(),
        (open) => open === limit,
      ),
    ).toBe(limit)
    expect(await eventually(async () => server.log(), isSaid('condition.began'))).toContain('LimitNOFILE')
    writeMuch(server.database)
    const copied = await eventually(
      async () => statSync(server.database).size,
      (size) => size > before + 20_000_000,
    )
    expect(copied).toBeGreaterThan(before + 20_000_000)
    for (const socket of idle) socket.destroy()

    const again = await eventually(
      async () => await ready(world).catch(() => null),
      (answer) => answer?.status === 200,
    )
    expect(again?.status).toBe(200)
    expect((await issue(world)).status).toBe(200)
    expect(await eventually(async () => server.log(), isSaid('condition.ended'))).toContain('condition.ended')
    expect((await call(server.url, 'GET', '~/metrics')).text).toContain('app_platform_database_writable 1')
    expect(server.log()).not.toContain('database.stopped')
    await endWorld(world)
  },
)
