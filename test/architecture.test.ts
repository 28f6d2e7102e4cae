import { Database as SQLite } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { createQueries } from '../db/queries/index.ts'
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const root = join(import.meta.dir, '..')
const files = (pattern: string) => [...new Bun.Glob(pattern).scanSync({ cwd: root })].toSorted()
const sources = [...files('src/**/*.{ts,tsx}'), ...files('db/**/*.ts')].filter((file) => !file.endsWith('.d.ts'))
const text = async (file: string) => await Bun.file(join(root, file)).text()
const withoutComments = (code: string) => code.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')

/** What a file imports or starts as a thread: packages by name, our own files by path from the root. Types count as well. */
const importsOf = async (file: string): Promise<string[]> => {
  const code = await text(file)
  const imported = [...code.matchAll(/(?:from\s+|import\s+|import\()'([^']+)'/g)].map(([, name = '']) => name)
  const threads = [...code.matchAll(/'([a-z-]+-worker\.ts)'/g)].map(([, name = '']) => `db/sqlite/${name}`)
  return [
    ...imported.map((name) => (name.startsWith('.') ? normalize(join(dirname(file), name)) : name)),
    ...threads, // startThread looks for them there
  ]
}

const layerOf = (file: string): string => (file.startsWith('db/') ? 'db' : (file.split('/')[1] ?? ''))
const doors = new Set(['http', 'pages', 'cli', 'jobs'])

/** What each layer may import of the program, in addition to itself. */
const allowed: Readonly<Record<string, (file: string) => boolean>> = {
  domain: () => false,
  guides: () => false,
  db: (file) => layerOf(file) === 'domain',
  runtime: (file) => layerOf(file) === 'domain',
  config: (file) => layerOf(file) === 'domain',
  operations: (file) => ['domain', 'runtime'].includes(layerOf(file)) || file === 'db/database.ts',
  http: (file) => ['domain', 'operations', 'runtime'].includes(layerOf(file)),
  pages: (file) => ['domain', 'guides', 'operations', 'runtime', 'http'].includes(layerOf(file)),
  jobs: (file) => ['domain', 'operations', 'runtime'].includes(layerOf(file)),
  client: (file) => layerOf(file) === 'domain' || file.startsWith('src/http/contract/'),
}

test('every layer imports only what lies below it', async () => {
  const faults: string[] = []
  for (const file of sources) {
    const layer = layerOf(file)
    const mayImport = allowed[layer]
    if (mayImport === undefined) continue
    for (const imported of await importsOf(file)) {
      const isOurs = imported.startsWith('src/') || imported.startsWith('db/')
      if (isOurs && layerOf(imported) !== layer && !mayImport(imported)) faults.push(`${file} imports ${imported}`)
    }
  }
  expect(faults).toEqual([])
})

test('the domain is pure: no packages but node:crypto, node:zlib, checksums of Bun, parsers of addresses and JSON, and codes of authenticator apps, no promises, no clock, no randomness', async () => {
  const faults: string[] = []
  const namesPromises = 'src/domain/awaitable.ts' // a type for every layer, which decides nothing
  for (const file of sources.filter((name) => layerOf(name) === 'domain' && name !== namesPromises)) {
    for (const imported of await importsOf(file)) {
      const mayImport =
        imported.startsWith('src/domain/') ||
        ['node:crypto', 'node:zlib', 'bun', 'ipaddr.js', 'jsonc-parser', 'otpauth'].includes(imported)
      if (!mayImport) faults.push(`${file} imports ${imported}`)
    }
    const code = withoutComments(await text(file))
    for (const impurity of [
      /\bPromise\b/,
      /\basync\b/,
      /\bDate\.now\b/,
      /\bMath\.random\b/,
      /\bgetRandomValues\b/,
      /\bBun\./,
    ]) {
      if (impurity.test(code)) faults.push(`${file} uses ${impurity.source}`)
    }
  }
  expect(faults).toEqual([])
})

test('only http and pages import Elysia, and only db imports drizzle and bun:sqlite', async () => {
  const faults: string[] = []
  for (const file of sources) {
    const layer = layerOf(file)
    for (const imported of await importsOf(file)) {
      const isElysia = imported === 'elysia' || imported.startsWith('@elysiajs/')
      const isSql = imported === 'bun:sqlite' || imported.startsWith('drizzle-orm')
      if (isElysia && layer !== 'http' && layer !== 'pages') faults.push(`${file} imports ${imported}`)
      if (isSql && layer !== 'db') faults.push(`${file} imports ${imported}`)
    }
  }
  expect(faults).toEqual([])
})

test('only the program itself imports a door', async () => {
  const faults: string[] = []
  for (const file of sources) {
    const layer = layerOf(file)
    if (layer === 'cli' || file === 'src/server.ts' || file === 'src/main.ts') continue
    for (const imported of await importsOf(file)) {
      const door = imported.startsWith('src/') ? layerOf(imported) : ''
      const isType = layer === 'client' // another test allows it only types
      if (doors.has(door) && door !== layer && !(layer === 'pages' && door === 'http') && !isType) {
        faults.push(`${file} imports ${imported}`)
      }
    }
  }
  expect(faults).toEqual([])
})

test('a door calls operations and never queries the store', async () => {
  const faults: string[] = []
  for (const file of sources.filter((name) => doors.has(layerOf(name)) || name === 'src/server.ts')) {
    const code = withoutComments(await text(file)).replaceAll(/^import .*/gm, '')
    for (const seam of [/\bqueries\b/, /\btransaction\b/])
      if (seam.test(code)) faults.push(`${file} uses ${seam.source}`)
  }
  expect(faults).toEqual([])
})

test('the client library is independent: it imports only types of the program, and runs outside Bun', async () => {
  const faults: string[] = []
  for (const file of sources.filter((name) => layerOf(name) === 'client')) {
    const code = await text(file)
    const imports = code.matchAll(/^(import|export)( type)?\b[^']*?\bfrom '([^']+)'/gm)
    for (const [, , isType, name = ''] of imports) {
      const isOwn = name.startsWith('./')
      if (!isOwn && isType === undefined && name !== 'node:buffer') faults.push(`${file} imports ${name}`)
    }
    if (/\bBun\.|'bun(:|')|import\(/.test(code)) faults.push(`${file} needs Bun`)
  }
  expect(faults).toEqual([])
})

/** Guides are kept as they were rendered. */
const keepsMarkup = 'src/pages/guides/guides.tsx'

test('only the pages contain markup, and all of it is escaped', async () => {
  const faults: string[] = []
  for (const file of sources) {
    const isPage = layerOf(file) === 'pages'
    if (file.endsWith('.tsx') && !isPage) faults.push(`${file} is markup`)
    for (const imported of await importsOf(file)) {
      if (imported.startsWith('preact') && !isPage) faults.push(`${file} imports ${imported}`)
    }
    // Nor may anything in it need what the Content-Security-Policy forbids.
    for (const forbidden of [/\bdangerouslySetInnerHTML\b/, /\sstyle=/, /\son[A-Za-z]+=[{"]/]) {
      if (file === keepsMarkup && forbidden.source.includes('InnerHTML')) continue
      if (file.endsWith('.tsx') && forbidden.test(await text(file))) faults.push(`${file} has ${forbidden.source}`)
    }
  }
  expect(faults).toEqual([])
})

/** The folder under src/pages; empty for what all pages share. */
const areaOf = (file: string): string => {
  const folder = file.startsWith('src/pages/') ? dirname(file).split('/')[2] : undefined
  return folder === undefined || ['assets', 'design'].includes(folder) ? '' : folder
}

test('an area of the pages imports what all pages share, and no other area, except that pages of an app are on the desk too', async () => {
  const faults: string[] = []
  for (const file of sources.filter((name) => layerOf(name) === 'pages' && name !== 'src/pages/pages.ts')) {
    for (const imported of await importsOf(file)) {
      const area = areaOf(imported)
      if (areaOf(file) === 'app' && area === 'desk') continue
      if (area !== '' && area !== areaOf(file)) faults.push(`${file} imports ${imported}`)
    }
  }
  expect(faults).toEqual([])
})

/** The text between the parenthesis that opens at this index and the one that closes it. */
const inParentheses = (code: string, open: number): string => {
  let depth = 0
  for (let at = open; at < code.length; at += 1) {
    if (code[at] === '(') depth += 1
    if (code[at] === ')' && --depth === 0) return code.slice(open, at)
  }
  return code.slice(open)
}

test('the body of a transaction does not count, log or read a clock, because it may run again', async () => {
  const faults: string[] = []
  for (const file of sources.filter((name) => layerOf(name) === 'operations')) {
    const code = withoutComments(await text(file))
    const bodies = [...code.matchAll(/\b(?:transaction|decide)(?:<[^>]*>)?\(/g)]
      .map((match) => inParentheses(code, match.index + match[0].length - 1))
      .filter((body) => /=>/.test(body))
    // What a body calls: functions that take the queries of a transaction.
    const called = code.split(/^(?=(?:export )?const )/m).filter((part) => /^[^{]*\(\s*q: Queries\b/.test(part))
    for (const body of [...bodies, ...called]) {
      const [impurity] = /\b(?:observe|refusals|log|metrics|clock|random)\.\w+/.exec(body) ?? []
      if (impurity !== undefined) faults.push(`${file} uses ${impurity}`)
    }
  }
  expect(faults).toEqual([])
})

test('only what was proved safe beside other transactions is guarded', async () => {
  const asking: string[] = []
  for (const file of sources.filter((name) => layerOf(name) === 'operations')) {
    if (/guarded|conditional/i.test(withoutComments(await text(file)))) asking.push(file)
  }
  expect(asking.map((file) => file.replace('src/operations/', ''))).toEqual([
    'authenticate.ts', // last uses
    'decide.ts', // recorded refusals
    'embedding/embedding.ts',
    'installs/installs.ts', // new ones, and moves by their owner
    'oauth/authorize.ts',
    'oauth/continue-grant.ts',
    'oauth/issue-app-token.ts',
    'oauth/revoke.ts',
    'refused-token.ts', // recorded refusals
    'resources/import-resources.ts', // lines of an import, before and after its merge
    'resources/merge-lines.ts',
    'resources/resources.ts', // single ones
    'sessions/handover.ts',
    'sessions/own-sessions.ts', // the end of one session
    'sessions/sign-in.ts',
    'webhooks/deliveries.ts', // results of calls
  ])
})

test('the address and the status of a user change in one place, with everything that follows', async () => {
  const changing: string[] = []
  for (const file of sources.filter((name) => layerOf(name) === 'operations')) {
    const code = withoutComments(await text(file))
    const calls = [...code.matchAll(/\busers\s*\.change\(/g)].map(({ index }) =>
      inParentheses(code, code.indexOf('(', index)),
    )
    if (calls.some((call) => !/^\([^,]+, \{ (?:externalId|isOperator)\b[^,}]*\}/.test(call))) changing.push(file)
  }
  expect(changing).toEqual(['src/operations/users/users.ts'])
})

test('no file imports itself through others, except for types', async () => {
  let edges: (readonly [importer: string, imported: string])[] = []
  for (const file of sources) {
    const types = [...(await text(file)).matchAll(/^(?:import|export) type [^']*'([^']+)'/gm)].map(
      ([, name = '']) => name,
    )
    const onlyTypes = new Set(types.map((name) => normalize(join(dirname(file), name))))
    const imported = (await importsOf(file)).filter((name) => sources.includes(name) && !onlyTypes.has(name))
    for (const name of imported) edges.push([file, name])
  }
  // An edge is in no cycle if nothing imports its importer, or if the imported file imports nothing. Drop those until none is left.
  for (let before = -1; before !== edges.length;) {
    before = edges.length
    const [importers, imported] = [new Set(edges.map(([from]) => from)), new Set(edges.map(([, to]) => to))]
    edges = edges.filter(([from, to]) => imported.has(from) && importers.has(to))
  }
  expect(edges.map(([from, to]) => `${from} imports ${to}`)).toEqual([])
})

test('only the settings read the environment', async () => {
  const faults: string[] = []
  for (const file of sources.filter((name) => name !== 'src/config.ts')) {
    if (/\bprocess\.env\b|\bBun\.env\b/.test(await text(file))) faults.push(file)
  }
  expect(faults).toEqual([])
})

test('no file is called utils, helpers or common', () => {
  expect(sources.filter((file) => /(^|\/)(utils?|helpers?|common|misc)(\.tsx?|\/)/.test(file))).toEqual([])
})

/** The index of the parenthesis that the one at `close` closes. */
const openingOf = (code: string, close: number): number => {
  for (let at = close, depth = 0; at >= 0; at -= 1) {
    if (code[at] === ')') depth += 1
    if (code[at] === '(') depth -= 1
    if (depth === 0) return at
  }
  return -1
}

test('a test awaits what it expects of a promise; otherwise it would pass before the promise settles', async () => {
  const faults: string[] = []
  for (const file of files('test/**/*.ts')) {
    const code = await text(file)
    for (const { index } of code.matchAll(/\)\s*\.(rejects|resolves)\b/g)) {
      const before = code.slice(0, openingOf(code, index))
      if (/(?<!\b(await|return)\s+)\bexpect$/.test(before)) faults.push(`${file}:${before.split('\n').length}`)
    }
  }
  expect(faults).toEqual([])
})

const { default: bunfig } = await import('../bunfig.toml')
const outer: readonly string[] = bunfig.test.pathIgnorePatterns
const isLong = (file: string): boolean => file.endsWith('.long.test.ts')
const isOuter = (file: string): boolean => outer.some((glob) => new Bun.Glob(glob).match(file))

test('a test that drives a browser says so, and does not run in a plain `bun test`', async () => {
  const faults: string[] = []
  for (const file of files('test/**/*.test.ts')) {
    if (!/\bopenBrowser\(|\bdecideInBrowser\(/.test(await text(file))) continue
    if (!(await text(file)).includes("'Chromium'")) faults.push(`${file} does not call needs('Chromium', …)`)
    if (!isOuter(file)) faults.push(`${file} is not among pathIgnorePatterns in bunfig.toml`)
  }
  expect(faults).toEqual([])
})

test('a plain `bun test` runs the tests of the domain, the operations, the queries and the doors', () => {
  const inner = files('test/**/*.test.ts').filter((file) => !isOuter(file))
  for (const folder of [
    'domain',
    'operations',
    'db/queries',
    'db/engine',
    'http',
    'flows',
    'pages',
    'jobs',
    'client',
  ]) {
    expect([folder, inner.some((file) => file.startsWith(`test/${folder}/`))]).toEqual([folder, true])
  }
  // Whole folders of them, so that a new file is among them, but for those that take too long.
  for (const folder of ['domain', 'operations', 'db/queries', 'http']) {
    expect(files(`test/${folder}/**/*.test.ts`).filter((file) => isOuter(file) && !isLong(file))).toEqual([])
  }
  // Of the flows, only those that wait for time to pass, repeat a call a thousand times or need a server in a process of its own
  // are kept for `bun run test`.
  expect(files('test/flows/**/*.test.ts').filter((file) => isOuter(file) && !isLong(file)).length).toBeLessThanOrEqual(
    6,
  )
})

test('every module is imported by a test, directly or through others', async () => {
  const reached = new Set<string>()
  const queue = files('test/**/*.test.ts')
  // Tests that spawn the program reach whatever the program imports.
  queue.push('src/main.ts')
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (reached.has(file) || !existsSync(join(root, file))) continue
    reached.add(file)
    if (/\.tsx?$/.test(file)) queue.push(...(await importsOf(file)))
  }
  expect(sources.filter((file) => !reached.has(file))).toEqual([])
})

test('every file that src/README.md names exists, and a path through the program has at most twelve files', async () => {
  const readme = await text('src/README.md')
  const [, ...paths] = (readme.split('## Five paths')[1]?.split('\n## ')[0] ?? '').split('\n### ')
  expect(paths).toHaveLength(5)
  for (const path of paths) {
    const named = [...path.matchAll(/^- `([^`]+)`/gm)].map(([, file = '']) => file)
    expect(named.length).toBeWithin(3, 13)
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([])
  }
})

/**
 * Files whose exported names may occur elsewhere: the client library is a package of its own, and the schemas of the
 * contract have the names of its fields.
 */
const sharesNames = (file: string): boolean => layerOf(file) === 'client' || file.startsWith('src/http/contract/')

/** The files that export each name. */
const exportedNames = async () => {
  const places = new Map<string, Set<string>>()
  for (const file of sources.filter((name) => !sharesNames(name))) {
    const exported = /^export (?:async )?(?:const|type|interface|class|function\*?) ([\w$]+)/gm
    for (const [, name = ''] of (await text(file)).matchAll(exported)) {
      places.set(name, new Set(places.get(name)).add(file))
    }
  }
  return places
}

test('an exported name means one thing in the whole program', async () => {
  expect([...(await exportedNames())].filter(([, among]) => among.size > 1)).toEqual([])
})

test('an exported name is used in another file', async () => {
  const users = new Map<string, number>()
  for (const file of [...sources, ...files('test/**/*.{ts,tsx}')]) {
    const words = new Set((await text(file)).match(/[\w$]+/g))
    for (const word of words) users.set(word, (users.get(word) ?? 0) + 1)
  }
  expect([...(await exportedNames()).keys()].filter((name) => users.get(name) === 1)).toEqual([])
})
test('every method of the queries is called', async () => {
  using database = new SQLite(':memory:')
  const callers = [...sources.filter((file) => !file.startsWith('db/queries/')), ...files('test/**/*.{ts,tsx}')]
  const texts = await Promise.all(callers.map(text))
  const all = texts.join('\n')
  const dead = Object.entries(createQueries(drizzle(database))).flatMap(([object, methods]) => {
    // A file may call one of the objects `q`.
    const renamed = texts
      .filter((each) => new RegExp(`const q = [\\w.]*queries\\.${object}$`, 'm').test(each))
      .join('\n')
    return Object.keys(methods)
      .filter((method) => !new RegExp(`\\b${object}\\s*\\.${method}\\b|\\b${object}\\['${method}'\\]`).test(all))
      .filter((method) => !new RegExp(`\\bq\\.${method}\\b`).test(renamed))
      .map((method) => `${object}.${method}`)
  })
  expect(dead).toEqual([])
})

const mostLinesOf = (file: string): number =>
  file.startsWith('db/tables/') ? 650 : /^(src\/pages|src\/cli|db)\//.test(file) ? 500 : 400

test('a file holds one story: at most 500 lines in pages, commands and the store, 400 elsewhere, 650 for the tables', async () => {
  const long: string[] = []
  for (const file of sources) {
    const lines = (await text(file)).split('\n').length - 1
    if (lines > mostLinesOf(file)) long.push(`${file} has ${lines}`)
  }
  expect(long).toEqual([])
})

test('nothing is stored in a WeakMap: what belongs to a request is in its Call', async () => {
  const faults: string[] = []
  for (const file of sources) if (/\bWeakMap\b/.test(withoutComments(await text(file)))) faults.push(file)
  expect(faults).toEqual([])
})
