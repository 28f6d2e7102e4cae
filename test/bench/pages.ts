import { siteScript, siteStylesheet, favicon } from '../../src/pages/assets.ts'
import { createStockedWorld } from '../pages/support/stocked-world.ts'
import { siteMap, type Who } from '../pages/support/site-map.ts'
import { endWorld, type Login, signIn } from '../support/world.ts'
import { sessionCookieOf } from '../support/cookie.ts'
import { directoryFigures } from './directory.ts'

// What each page costs: bytes as they are sent, and the time until the whole answer is there, over HTTP on this machine.

/** The most that a first visit may send, and the longest that a page may take. */
const limits = { bytes: 60_000, ms: 50 } as const
/** The longest that 99 of 100 answers of the directory may take while many ask. */
const directoryP99Ms = 50
const rounds = Math.max(1, Number(process.argv[2] ?? 20))

const world = await createStockedWorld()
const { url } = world.server
const cookieOf = async (login: Login): Promise<string> => sessionCookieOf(url, await signIn(url, login))
const cookies: Readonly<Record<Who, string>> = {
  visitor: '',
  user: await cookieOf(world.user),
  operator: await cookieOf(world.operator),
}

const ask = async (path: string, cookie: string) => {
  const headers = { accept: 'text/html', 'accept-encoding': 'gzip', 'sec-fetch-site': 'same-origin', cookie }
  const startedAt = performance.now()
  const response = await fetch(url + path, { headers, redirect: 'manual', decompress: false })
  const { byteLength } = await response.arrayBuffer()
  return { status: response.status, bytes: byteLength, ms: performance.now() - startedAt }
}

const files = await Promise.all(
  [siteStylesheet, siteScript, favicon].map(async ({ path }) => (await ask(path, '')).bytes),
)
const shared = files.reduce((sum, bytes) => sum + bytes, 0)

type Measured = Awaited<ReturnType<typeof ask>> & {
  readonly path: string
  readonly cookie: string
  readonly times: number[]
}

const measured: Measured[] = []
for (const { who, paths, leadsOn, isDownload } of siteMap) {
  if (leadsOn === true || isDownload === true) continue
  for (const path of paths(world)) {
    measured.push({ path, cookie: cookies[who], times: [], ...(await ask(path, cookies[who])) })
  }
}
// In turns, so that what else runs on the machine does not fall on a single page.
for (let round = 0; round < rounds; round += 1) {
  for (const { path, cookie, times } of measured) times.push((await ask(path, cookie)).ms)
}
await endWorld(world)

const results = measured.map(({ path, status, bytes, times }) => {
  const sorted = times.toSorted((one, other) => one - other)
  return { path, status, bytes, median: sorted[Math.floor(rounds / 2)] ?? 0, most: sorted.at(-1) ?? 0 }
})

const slowest = results.toSorted((one, other) => other.median - one.median)
const largest = results.toSorted((one, other) => other.bytes - one.bytes)
const line = ({ path, status, bytes, median, most }: (typeof results)[number]): string =>
  [
    status,
    String(bytes).padStart(7),
    median.toFixed(1).padStart(6),
    most.toFixed(1).padStart(6),
    path.slice(0, 90),
  ].join(' ')
console.log(`Style sheet, script and icon: ${shared} bytes (${files.join(' + ')})`)
console.log(`${results.length} pages, ${rounds} times each: status, bytes, median and longest time in ms`)
for (const result of slowest) console.log(line(result))
const visit = shared + (largest[0]?.bytes ?? 0)
const median = slowest[0]?.median ?? 0
console.log(`The largest first visit sends ${visit} bytes (at most ${limits.bytes}).`)
console.log(`The slowest page takes ${median.toFixed(1)} ms at the median (at most ${limits.ms}).`)
const refused = results.filter(({ status }) => status !== 200)

const directory = await directoryFigures()
console.log('The directory of 1,000 apps, 32 connections: answers per s, p50 and p99 in ms, µs of processor')
for (const { path, rate, p50Ms, p99Ms, microseconds } of directory) {
  const figures = [Math.round(rate), p50Ms.toFixed(1), p99Ms.toFixed(1), Math.round(microseconds)]
  console.log([...figures.map((figure) => String(figure).padStart(6)), path].join(' '))
}
const late = directory.filter(({ p99Ms }) => p99Ms > directoryP99Ms)
console.log(`${late.length} of its paths have a p99 above ${directoryP99Ms} ms.`)
if (visit > limits.bytes || median > limits.ms || refused.length > 0 || late.length > 0) process.exitCode = 1
process.exit()
