import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { call } from '../support/call.ts'
import { eventually } from '../support/crash.ts'
import { patience, rounds } from '../support/proof.ts'
import { runProgram } from '../support/run-program.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { appToken } from '../support/world.ts'
import { openRaw, type RawConnection, sendRaw } from './support/raw-connection.ts'
import type { RawCase } from './support/raw-case.ts'
import { rawCorpus } from './support/raw-corpus.ts'

const idle = rounds(300)
const isLong = idle >= 5_000

const together = 3

const world = await worldOfFile()
const port = Number(new URL(world.server.url).port)
const token = await appToken(world.server.url, world.app.development)

/** Creates a version with this name, so that its row shows whether the request was carried out. */
const makesVersion = (version: string): string => {
  const body = JSON.stringify({ version })
  return [
    'POST /api/app-platform/versions HTTP/1.1',
    'Host: a',
    'X-Service-Api-Version: 2026-08',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n')
}

const madeVersions = async (): Promise<ReadonlySet<string>> => {
  const made = new Set<string>()
  let cursor: string | null = null
  do {
    const query: Record<string, string> = { limit: '100', ...(cursor === null ? {} : { cursor }) }
    const { body } = await call(world.server.url, 'GET', '/versions', { token, query })
    for (const { version } of body.data) made.add(version)
    cursor = body.nextCursor
  } while (cursor !== null)
  return made
}

/** Somebody else, on a connection of their own, is answered all the while. */
const expectBystanderServed = async (): Promise<void> => {
  const { status } = await call(world.server.url, 'GET', '/me', { token })
  expect(status).toBe(200)
}

const holds = ({ answers, closes }: RawCase, connection: RawConnection): boolean =>
  connection.statuses().length >= answers.length && (!closes || connection.isClosed())

for (const [about, cases] of Object.entries(rawCorpus)) {
  describe(about, () => {
    const seen = new Map<string, { readonly connection: RawConnection; readonly version: string }>()
    let made: ReadonlySet<string> = new Set()
    const isAnswered = async (one: RawCase) => {
      const connection = seen.get(one.what)?.connection
      return connection !== undefined && holds(one, connection)
    }
    beforeAll(async () => {
      const stem = Bun.hash(about) % 1_000_000n
      // Few at a time: with eight requests in one turn, answers leave together, and Bun may close a connection that errs first.
      for (let first = 0; first < cases.length; first += together) {
        const few = cases.slice(first, first + together)
        for (const [at, one] of few.entries()) {
          const version = `1.${stem}.${first + at}`
          seen.set(one.what, { connection: await sendRaw(port, one.bytes(makesVersion(version))), version })
        }
        await Promise.all(
          few.map(
            async (one) =>
              await eventually(
                () => isAnswered(one),
                (yes) => yes,
              ),
          ),
        )
      }
      await expectBystanderServed()
      await Bun.sleep(50) // for an answer too many
      made = await madeVersions()
    })
    afterAll(() => {
      for (const { connection } of seen.values()) connection.socket.destroy()
    })

    test.each(cases.map((one) => [one.what, one] as const))('%s', (_, { what, answers, closes, carriesOut }) => {
      const { connection, version } = seen.get(what) ?? {}
      expect({
        answers: connection?.statuses(),
        closes: connection?.isClosed(),
        carriesOut: made.has(version ?? ''),
      }).toEqual({ answers: [...answers], closes, carriesOut })
      expect(connection?.received()).not.toContain(token)
    })
  })
}

const healthCheck = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'

const openFiles = (): number => readdirSync(`/proc/${world.server.pid}/fd`).length

/** Everything that these connections used is released. */
const expectNoFilesLeft = async (before: number): Promise<void> => {
  expect(
    await eventually(
      async () => openFiles(),
      (now) => now <= before + 2,
    ),
  ).toBeLessThanOrEqual(before + 2)
}

const begun: Readonly<Record<string, string>> = {
  'nothing at all': '',
  'half a request line': 'GET /heal',
  'half a head': 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-A',
  'half a body':
    'POST /api/session HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"email"',
  'half a chunk':
    'POST /api/session HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"em',
  'a chunk of more than memory':
    'POST /api/session HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n100000002\r\n{}',
}

/** One byte more twice a second, for as long as anybody listens. */
const sendSlowly = async (bytes: string): Promise<RawConnection> => {
  const connection = await sendRaw(port, bytes)
  const { socket } = connection
  const timer = setInterval(() => {
    if (connection.isClosed()) clearInterval(timer)
    else socket.write(' ')
  }, 500)
  return connection
}

describe('connections that', () => {
  test.each(Object.entries(begun))(
    'send %s and break off disturb no other and leave nothing behind',
    async (_, bytes) => {
      const before = openFiles()
      const ways: readonly ((connection: RawConnection) => unknown)[] = [
        ({ socket }) => socket.destroy(),
        ({ socket }) => socket.resetAndDestroy(),
        ({ socket }) => socket.end(),
      ]
      const connections = await Promise.all(
        Array.from({ length: 30 }, async (_unused, at) => {
          const connection = await sendRaw(port, bytes)
          ways[at % ways.length]?.(connection)
          return connection
        }),
      )
      await expectBystanderServed()
      await expectNoFilesLeft(before)
      for (const { socket } of connections) socket.destroy()
    },
  )

  test('close their sending side after a whole request get the answer', async () => {
    const connection = await sendRaw(port, healthCheck)
    connection.socket.end()
    await eventually(
      async () => connection.isClosed(),
      (closed) => closed,
    )
    expect(connection.statuses()).toEqual([200])
  })

  test('send a request byte by byte get the answer, and others get theirs meanwhile', async () => {
    const connections = await Promise.all(Array.from({ length: 20 }, async () => await openRaw(port)))
    const bytes = makesVersion('2.0.0')
    for (let at = 0; at < bytes.length; at += 1) {
      for (const { socket } of connections) socket.write(bytes.slice(at, at + 1))
      if (at % 40 === 0) await expectBystanderServed()
    }
    await eventually(
      async () => connections.every((connection) => connection.statuses().length > 0),
      (all) => all,
    )
    const statuses = connections.flatMap((connection) => connection.statuses())
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 200)).toHaveLength(19)
    for (const { socket } of connections) socket.destroy()
  })

  test.if(isLong)(
    'send their head or body a byte now and then are closed without an answer, and others are answered meanwhile',
    async () => {
      const before = openFiles()
      const half = 'POST /api/app-platform/versions HTTP/1.1\r\nHost: a\r\nX-Service-Api-Version: 2026-08\r\n'
      const rest = `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n`
      const begins = [`${half}X-A: `, `${half}${rest}{"version":"3.0.0",`]
      const connections = await Promise.all(
        Array.from({ length: 40 }, async (_unused, at) => await sendSlowly(begins[at % begins.length] ?? '')),
      )
      const open = () => connections.filter((connection) => !connection.isClosed()).length
      for (let waited = 0; open() > 0 && waited < 400; waited += 1) {
        await expectBystanderServed()
        await Bun.sleep(200)
      }
      expect(open()).toBe(0)
      expect(connections.flatMap((connection) => connection.statuses())).toEqual([])
      for (const { socket } of connections) socket.destroy()
      await expectNoFilesLeft(before)
    },
    patience,
  )

  test(
    `are idle, ${idle} of them, do not keep others from answers, and give their file descriptors back`,
    async () => {
      const before = openFiles()
      const connections: RawConnection[] = []
      while (connections.length < idle) {
        const more = Math.min(1_000, idle - connections.length)
        // One that has been answered may wait longest.
        const opened = Array.from({ length: more }, async () => await sendRaw(port, healthCheck))
        connections.push(...(await Promise.all(opened)))
      }
      await eventually(
        async () => connections.every((connection) => connection.statuses().length === 1),
        (all) => all,
      )
      expect(openFiles()).toBeGreaterThanOrEqual(idle)
      for (let asked = 0; asked < 50; asked += 1) await expectBystanderServed()
      // At length, the server itself ends them, as soon as they have waited too long.
      if (isLong) while (connections.some((connection) => !connection.isClosed())) await Bun.sleep(500)
      for (const { socket } of connections) socket.destroy()
      await expectNoFilesLeft(before)
      await expectBystanderServed()
    },
    patience,
  )
})

test('the server is healthy after all of that', async () => {
  expect((await call(world.server.url, 'GET', '~/readyz')).body).toEqual({ status: 'ready' })
  expect(world.server.log()).not.toContain('"level":"error"')
  expect(await runProgram(['check', '--database', world.server.database])).toMatchObject({ code: 0 })
})
