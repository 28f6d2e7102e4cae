import { parseArgs } from 'node:util'
import { argv } from 'node:process'
import { managementPath } from '../../src/http/management.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { operator, trace } from '../support/operator.ts'
import { onPostgres } from '../support/postgres.ts'
import { removeTemporaryFolders } from '../support/temporary-folder.ts'
import { appToken, createWorld, endWorld } from '../support/world.ts'
import { markdownTable } from './markdown.ts'
import { residentBytesOf } from './processes.ts'
import { environment } from './report.ts'

/*
 * Sends the users and sites of a builder through the management API, one by one and by an import, and measures what other callers
 * notice. Usage: bun run bench:builder [--users N]; on PostgreSQL with TEST_DATABASE=postgres.
 */

const { values } = parseArgs({ args: argv.slice(2), options: { users: { type: 'string', default: '100000' } } })
const users = Number(values.users)
if (!Number.isSafeInteger(users) || users < 1) throw new Error('--users takes a whole number from 1 on.')
const sites = 2 * users
const inFlight = 16

const world = await createWorld({ ownProcess: true })
const { platform, app, server } = world
const rights = ['users:write', 'resources:write']
const { secret } = await createServiceKey(platform, trace, operator, {
  name: 'Builder',
  rights,
  networks: [],
  expiresInDays: null,
})
const token = await appToken(server.url, app.development)

const put = async (path: string, body: object): Promise<void> => {
  const answer = await fetch(`${server.url}${managementPath}${path}`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (answer.status >= 300) throw new Error(`PUT ${path}: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

/** Calls this many times with some in flight. */
const repeat = async (times: number, call: (index: number) => Promise<void>): Promise<void> => {
  let next = 0
  const line = async () => {
    while (next < times) {
      next += 1
      await call(next - 1)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, line))
}

const stateOf = (site: number, name: string) => ({
  ownerExternalId: `user-${Math.floor(site / 2)}`,
  name: `${name} ${site}`,
  slug: `site-${site}`,
  status: 'published',
})
const importAll = async (name: string, prune: boolean): Promise<void> => {
  const encoder = new TextEncoder()
  let site = 0
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => {
      const lines: string[] = []
      for (const end = Math.min(sites, site + 500); site < end; site += 1) {
        lines.push(JSON.stringify({ kind: 'site', externalId: `site-${site}`, ...stateOf(site, name) }))
      }
      if (lines.length > 0) controller.enqueue(encoder.encode(`${lines.join('\n')}\n`))
      else controller.close()
    },
  })
  const answer = await fetch(`${server.url}${managementPath}/resources/import${prune ? '?prune=true' : ''}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/x-ndjson' },
    body,
  })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`The import: ${answer.status} ${text}`)
}

/** GET /me meanwhile, one at a time with a pause, and the memory of the server. */
const observed = async (work: () => Promise<void>) => {
  const latencies: number[] = []
  let memory = 0
  const watch = new AbortController()
  const watching = (async () => {
    while (!watch.signal.aborted) {
      const began = performance.now()
      const answer = await fetch(`${server.url}/api/app-platform/me`, {
        headers: { Authorization: `Bearer ${token}`, 'X-Service-Api-Version': '2026-08' },
      })
      if (answer.status !== 200) throw new Error(`GET /me: ${answer.status}`)
      await answer.arrayBuffer()
      latencies.push(performance.now() - began)
      memory = Math.max(memory, residentBytesOf(server.pid))
      await Bun.sleep(2)
    }
  })()
  const began = performance.now()
  await work()
  const seconds = (performance.now() - began) / 1000
  watch.abort()
  await watching
  const sorted = latencies.toSorted((one, other) => one - other)
  return { seconds, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0, most: sorted.at(-1) ?? 0, memory: memory / 1e6 }
}

const found = environment()
process.stdout.write(`${found.date}  ${found.machine}, Bun ${found.bun}, ${onPostgres ? 'PostgreSQL' : 'SQLite'}\n`)
const table = markdownTable(['what', 's', 'per s', 'p99 ms of GET /me', 'longest ms', 'memory MB'])
process.stdout.write(`${table.head}\n`)
const measure = async (title: string, count: number, work: () => Promise<void>): Promise<void> => {
  const { seconds, p99, most, memory } = await observed(work).catch((error: unknown) => {
    process.stderr.write(`The server's log ends with:\n${server.log().slice(-4_000)}\n`)
    throw error
  })
  const figures = [
    seconds.toFixed(1),
    Math.round(count / seconds).toLocaleString('en'),
    p99.toFixed(1),
    most.toFixed(0),
    memory.toFixed(0),
  ]
  process.stdout.write(`${table.row([title, ...figures])}\n`)
}

const everyUser = async () =>
  await repeat(
    users,
    async (index) => await put(`/users/user-${index}`, { email: `user-${index}@builder.example`, name: 'A user' }),
  )
const everySite = async () =>
  await repeat(sites, async (index) => await put(`/resources/site/site-${index}`, stateOf(index, 'Site')))
await measure('users, one by one', users, everyUser)
await measure('the same again', users, everyUser)
await measure('one import with prune, all new', sites, async () => await importAll('Site', true))
await measure('the same file again', sites, async () => await importAll('Site', true))
await measure('one import that renames all', sites, async () => await importAll('Renamed', true))
await measure('sites, one by one', sites, everySite)
await measure('the same again', sites, everySite)
await endWorld(world)
removeTemporaryFolders()
