import { mkdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { maximumHeaderBytes } from './domain/limits.ts'

const root = join(import.meta.dir, '..')

/** Modules that run as threads are separate entry points (see db/sqlite/thread.ts). */
export const threadModules: readonly string[] = [...new Bun.Glob('db/sqlite/*-worker.ts').scanSync(root)].toSorted()

/** Another kind of machine, by the name that Bun has for it, and what the file for it contains of that machine's own code. */
type Machine = {
  readonly target: Bun.Build.CompileTarget
  /** Bun for that machine: an executable file. */
  readonly runtime: string
  /** The native module of `@node-rs/bcrypt`. */
  readonly bcrypt: string
}

/**
 * Puts one native module in the place of the loader of `@node-rs/bcrypt`, which tries those of all machines while it runs. The
 * bundler would embed what is installed here, also in a file for another machine.
 */
const withBcrypt = (module: string): Bun.BunPlugin => ({
  name: 'one native module of bcrypt',
  setup: (build) => {
    build.onLoad({ filter: /@node-rs[/\\]bcrypt[/\\]binding\.js$/ }, () => ({
      contents: `module.exports = require(${JSON.stringify(module)})`,
      loader: 'js',
    }))
  },
})

/** The native module that this machine can load. @throws Error if none is installed */
const bcryptHere = (): string => {
  const load = createRequire(import.meta.url)
  const folders = `node_modules/@node-rs/bcrypt-${process.platform}-${process.arch}*/*.node`
  for (const file of new Bun.Glob(folders).scanSync(root)) {
    try {
      load(join(root, file))
      return join(root, file)
    } catch {
      // It is for another C library.
    }
  }
  throw new Error('No native module of @node-rs/bcrypt for this machine is installed: run bun install.')
}

/** What the bundler makes of the whole program, for a machine's native module of bcrypt; by default for this machine. */
export const bundle = (bcrypt: string = bcryptHere()) => ({
  root,
  entrypoints: ['src/main.ts', ...threadModules].map((entry) => join(root, entry)),
  plugins: [withBcrypt(bcrypt)],
  // Dynamic imports stay dynamic, so that a command does not load the server.
  splitting: true,
})

/**
 * Builds the whole program as one executable file, for this kind of machine unless another is given. The same commit gives the
 * same bytes.
 * @throws AggregateError with the messages of the bundler
 */
export const buildProgram = async (file: string, machine: Machine | null = null) => {
  const { commit } = await currentCommit()
  mkdirSync(dirname(file), { recursive: true })
  await Bun.build({
    ...bundle(machine?.bcrypt),
    // Settings files that happen to be in the current folder are not read.
    compile: {
      outfile: file,
      autoloadDotenv: false,
      autoloadBunfig: false,
      execArgv: [`--max-http-header-size=${maximumHeaderBytes}`], // src/http/server.ts
      ...(machine === null ? {} : { target: machine.target, executablePath: machine.runtime }),
    },
    // Parsed and compiled at build time, so that the program starts faster.
    bytecode: true,
    format: 'esm',
    // Elysia reads the source of handlers, so identifiers must stay.
    minify: { whitespace: true, syntax: true, identifiers: false },
    define: { BUILT_FROM_COMMIT: JSON.stringify(commit) },
  })
  return { file, commit, bytes: statSync(file).size }
}

const git = async (...words: readonly string[]): Promise<string> =>
  (await Bun.$`git -C ${root} ${words}`.quiet().nothrow()).text()

/** The current commit, with a plus if files differ from it, and its time; `unknown` outside of a repository. */
export const currentCommit = async (): Promise<{ readonly commit: string; readonly at: Date }> => {
  const [commit = '', at = ''] = (await git('log', '-1', '--abbrev=12', '--format=%h %cI')).trim().split(' ')
  if (commit === '') return { commit: 'unknown', at: new Date(0) }
  const changed = await git('status', '--porcelain', '--', 'src', 'db', 'package.json', 'bun.lock')
  return { commit: changed === '' ? commit : `${commit}+`, at: new Date(at) }
}

if (import.meta.main) {
  const { file, commit, bytes } = await buildProgram(join(root, 'dist/app-platform'))
  process.stdout.write(`${relative('.', file)}  ${(bytes / 1e6).toFixed(1)} MB  commit ${commit}\n`)
}
