import { parseArgs } from 'node:util'
import { argv } from 'node:process'
import { managementPath } from '../../src/http/management.ts'
import { createServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { operator, trace } from '../support/operator.ts'
import { onPostgres } from '../support/postgres.ts'
import { removeTemporaryFolders } from '../support/temporary-folder.ts'
import { appToken, createWorld, endWorld } from '../support/world.ts'
import { markdownTable } from './markdown.ts'
import { favourSession, processorSecondsOf, residentBytesOf } from './processes.ts'
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

favourSession()
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

/** Milliseconds of calls, one at a time with a pause, until the signal. One that is refused for now is sent again. */
const latenciesOf = async (call: () => Promise<Response>, pauseMs: number, ended: AbortSignal) => {
  const latencies: number[] = []
  while (!ended.aborted) {
    const began = performance.now()
    let answer = await call()
    for (; answer.status === 503; answer = await call()) await answer.arrayBuffer()
    if (answer.status >= 300) throw new Error(`Meanwhile: ${answer.status} ${await answer.text()}`)
    await answer.arrayBuffer()
    latencies.push(performance.now() - began)
    await Bun.sleep(pauseMs)
  }
  return latencies.toSorted((one, other) => one - other)
}

const me = async () =>
  await fetch(`${server.url}/api/app-platform/me`, {
    headers: { Authorization: `Bearer ${token}`, 'X-Service-Api-Version': '2026-08' },
  })
let changes = 0
/** A change of the kind that runs after all others on both engines. */
const change = async () => {
  const body = { email: 'beside@builder.example', name: `Change ${(changes += 1)}` }
  return await fetch(`${server.url}${managementPath}/users/beside`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/** What a reader and a writer notice meanwhile, and the memory of the server. */
const observed = async (work: () => Promise<void>) => {
  const watch = new AbortController()
  const reads = latenciesOf(me, 2, watch.signal)
  const writes = latenciesOf(change, 20, watch.signal)
  let memory = 0
  const looking = setInterval(() => (memory = Math.max(memory, residentBytesOf(server.pid))), 20)
  const [began, usedBefore] = [performance.now(), processorSecondsOf(server.pid)]
  await work()
  const seconds = (performance.now() - began) / 1000
  const used = processorSecondsOf(server.pid) - usedBefore
  watch.abort()
  clearInterval(looking)
  const sorted = await reads
  return {
    seconds,
    used,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    most: sorted.at(-1) ?? 0,
    mostOfChange: (await writes).at(-1) ?? 0,
    memory: memory / 1e6,
  }
}

const found = environment()
process.stdout.write(`${found.date}  ${found.machine}, Bun ${found.bun}, ${onPostgres ? 'PostgreSQL' : 'SQLite'}\n`)
const table = markdownTable([
  'what',
  's',
  'per s',
  'CPU s',
  'p99 ms of GET /me',
  'longest ms',
  'longest ms of a change',
  'memory MB',
])
process.stdout.write(`${table.head}\n`)
const measure = async (title: string, count: number, work: () => Promise<void>): Promise<void> => {
  const { seconds, used, p99, most, mostOfChange, memory } = await observed(work).catch((error: unknown) => {
    process.stderr.write(`The server's log ends with:\n${server.log().slice(-4_000)}\n`)
    throw error
  })
  const figures = [
    seconds.toFixed(1),
    Math.round(count / seconds).toLocaleString('en'),
    used.toFixed(1),
    p99.toFixed(1),
    most.toFixed(0),
    mostOfChange.toFixed(0),
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
