import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from 'bun:test'
import { accessSync, appendFileSync, constants, copyFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { lastingFolder } from './temporary-folder.ts'

/** A program that some tests need: its path or null, and the Debian packages that contain it, if any. */
type Program = { readonly find: () => string | null; readonly packages: string }

const which = (name: string): string | null => Bun.which(name, { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` })

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** The headless shell takes a third of the time. */
const chromiums = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const findChromium = (): string | null =>
  [process.env['CHROMIUM'] ?? chromiums].flat().find((path) => isExecutable(path)) ?? null

const debianPython = '/usr/bin/python3' // other Python installations do not have the Debian packages
const findPython = (...code: readonly string[]): string | null => {
  const isThere = isExecutable(debianPython) && Bun.spawnSync([debianPython, '-c', code.join('\n')]).exitCode === 0
  return isThere ? debianPython : null
}

const findFaketime = (): string | null =>
  [...new Bun.Glob('usr/lib/*/faketime/libfaketime.so.1').scanSync({ cwd: '/', absolute: true })][0] ?? null

/** Debian keeps the programs of each version in a folder of their own. */
const postgresOfDebian = (): readonly string[] =>
  [
    ...new Bun.Glob('usr/lib/postgresql/{15,16,17,18,19}/bin/postgres').scanSync({ cwd: '/', absolute: true }),
  ].toSorted()
/** It refuses to run as root, and setpriv lets it run as somebody else. */
const mayRunPostgres = (): boolean => process.getuid?.() !== 0 || which('setpriv') !== null
const findPostgres = (): string | null =>
  mayRunPostgres()
    ? ([process.env['POSTGRES'] ?? postgresOfDebian()].flat().findLast((path) => isExecutable(path)) ?? null)
    : null

/**
 * Installs the locked packages of this folder in a temporary one, and returns it. Here they would find our packages
 * and use them as their optional dependencies. Null without network.
 */
const installPackages =
  (source: string, ...words: readonly string[]) =>
  (): string | null => {
    const folder = lastingFolder()
    const from = join(import.meta.dir, '../..', source)
    for (const name of readdirSync(from)) copyFileSync(join(from, name), join(folder, name))
    const command = [process.execPath, 'install', '--frozen-lockfile', ...words]
    return Bun.spawnSync(command, { cwd: folder }).success ? folder : null
  }

const noExtras = ['--omit=peer', '--omit=optional']

const programs = {
  Chromium: { find: findChromium, packages: 'chromium-headless-shell fonts-liberation fonts-noto-color-emoji' },
  nginx: { find: () => which('nginx'), packages: 'nginx' },
  caddy: { find: () => which('caddy'), packages: 'caddy' },
  postgres: { find: findPostgres, packages: 'postgresql' },
  openssl: { find: () => which('openssl'), packages: 'openssl' },
  curl: { find: () => which('curl'), packages: 'curl' },
  node: { find: () => which('node'), packages: 'nodejs' },
  bash: { find: () => which('bash'), packages: 'bash' },
  zsh: { find: () => which('zsh'), packages: 'zsh' },
  fish: { find: () => which('fish'), packages: 'fish' },
  'systemd-analyze': { find: () => which('systemd-analyze'), packages: 'systemd' },
  promtool: { find: () => which('promtool'), packages: 'prometheus' },
  strace: { find: () => which('strace'), packages: 'strace' },
  setpriv: { find: () => which('setpriv'), packages: 'util-linux' },
  /** Only root may mount file systems. */
  'unshare as root': { find: () => (process.getuid?.() === 0 ? which('unshare') : null), packages: 'util-linux' },
  mkfifo: { find: () => which('mkfifo'), packages: 'coreutils' },
  script: { find: () => which('script'), packages: 'bsdutils' },
  faketime: { find: findFaketime, packages: 'faketime' },
  python3: { find: () => findPython(), packages: 'python3' },
  Authlib: { find: () => findPython('import authlib'), packages: 'python3-authlib' },
  'requests-oauthlib': { find: () => findPython('import requests_oauthlib'), packages: 'python3-requests-oauthlib' },
  'network for the packages of test/clients/stock': {
    find: installPackages('test/clients/stock', ...noExtras),
    packages: '',
  },
  'network for the packages of test/clients/generators': {
    find: installPackages('test/clients/generators', ...noExtras),
    packages: '',
  },
  'network for the packages of src/release/parts': {
    find: installPackages('src/release/parts', '--linker=hoisted', '--os=*', '--cpu=*'),
    packages: '',
  },
} as const satisfies Readonly<Record<string, Program>>

export type ProgramName = keyof typeof programs

export const isInstalled = (name: ProgramName): boolean => find(name) !== null

const found = new Map<ProgramName, string | null>()
const find = (name: ProgramName): string | null => {
  const known = found.get(name)
  if (known !== undefined) return known
  const path = programs[name].find()
  found.set(name, path)
  return path
}

/**
 * The path of a program, for tests that declared it with `needs`.
 * @throws Error with a sentence that says how to install it
 */
export const programAt = (name: ProgramName): string => {
  const path = find(name)
  if (path === null) throw new Error(whatIsMissing([name]))
  return path
}

const installing = (names: readonly ProgramName[]): string => {
  const packages = new Set(names.flatMap((name) => programs[name].packages.split(' ')).filter((name) => name !== ''))
  return packages.size === 0
    ? ''
    : ` Install with: apt-get install -y --no-install-recommends ${[...packages].join(' ')}`
}

export const whatIsMissing = (names: readonly ProgramName[]): string =>
  `This machine has no ${names.join(', ')}.${installing(names)}`

export type Skipped = { readonly tests: number; readonly programs: readonly ProgramName[] }
let skippedTests = 0
const missingPrograms = new Set<ProgramName>()

/** One line about all tests that were skipped because a program is missing; null if there are none. */
export const skippedLine = (parts: readonly Skipped[]): string | null => {
  const tests = parts.reduce((total, part) => total + part.tests, 0)
  const names = [...new Set(parts.flatMap((part) => part.programs))].toSorted()
  return tests === 0 ? null : `${tests} tests were skipped. ${whatIsMissing(names)}`
}

/** Prints that line after the last test, or leaves it to `test/run.ts`, in whose processes this is called after each file. */
export const tellSkipped = (): void => {
  const part: Skipped = { tests: skippedTests, programs: [...missingPrograms] }
  const line = skippedLine([part])
  const file = process.env['TEST_SKIPPED_FILE']
  if (line !== null && file !== undefined) appendFileSync(file, `${JSON.stringify(part)}\n`)
  else if (line !== null) console.log(line)
  skippedTests = 0
  missingPrograms.clear()
}

/** A replacement of `test` that counts its tests and changes their arguments, also after modifiers such as `each`. */
const standIn = (base: typeof test, counted: (tests: number) => void, change: (args: unknown[]) => unknown[]) => {
  const proxy: typeof test = new Proxy(base, {
    apply: (target, self, args) => {
      counted(1)
      Reflect.apply(target, self, change(args))
    },
    get: (target, key) => {
      if (key === 'if' || key === 'skipIf') return () => proxy
      if (key !== 'each') return Reflect.get(target, key)
      return (table: readonly unknown[]) =>
        (...args: unknown[]) => {
          counted(table.length)
          Reflect.apply(target.each(table), undefined, change(args))
        }
    },
  })
  return proxy
}

const bunTest = { afterAll, afterEach, beforeAll, beforeEach, describe, test }
const noHook: typeof beforeAll = () => undefined
const noHooks = { afterAll: noHook, afterEach: noHook, beforeAll: noHook, beforeEach: noHook }

/**
 * The functions of `bun:test` for tests that need these programs. If one of them is missing, the tests are skipped and
 * counted for the line at the end. With `CI=true` they fail.
 */
export const needs = (...names: readonly ProgramName[]): typeof bunTest => {
  const missing = names.filter((name) => find(name) === null)
  if (missing.length === 0) return bunTest
  if (process.env['CI'] === 'true') {
    const fail = () => {
      throw new Error(whatIsMissing(missing))
    }
    return {
      ...noHooks,
      describe,
      test: standIn(
        test,
        () => undefined,
        ([name]) => [name, fail],
      ),
    }
  }
  const count = (tests: number) => {
    skippedTests += tests
    for (const name of missing) missingPrograms.add(name)
  }
  return { ...noHooks, describe: describe.skip, test: standIn(test.skip, count, (args) => args) }
}
