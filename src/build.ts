import { mkdirSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = join(import.meta.dir, '..')

/** Modules that run as threads are separate entry points (see db/sqlite/thread.ts). */
export const threadModules: readonly string[] = [...new Bun.Glob('db/sqlite/*-worker.ts').scanSync(root)].toSorted()

/**
 * Builds the whole program as one executable file for this kind of machine. The same commit gives the same bytes.
 * @throws AggregateError with the messages of the bundler
 */
export const buildProgram = async (file: string) => {
  const commit = await commitOf(root)
  mkdirSync(dirname(file), { recursive: true })
  await Bun.build({
    root,
    entrypoints: ['src/main.ts', ...threadModules].map((entry) => join(root, entry)),
    // Settings files that happen to be in the current folder are not read.
    compile: { outfile: file, autoloadDotenv: false, autoloadBunfig: false },
    // Parsed and compiled at build time, so that the program starts faster.
    bytecode: true,
    // Dynamic imports stay dynamic, so that a command does not load the server.
    splitting: true,
    format: 'esm',
    // Elysia reads the source of handlers, so identifiers must stay.
    minify: { whitespace: true, syntax: true, identifiers: false },
    define: { BUILT_FROM_COMMIT: JSON.stringify(commit) },
  })
  return { file, commit, bytes: statSync(file).size }
}

/** The current commit, with a plus if files differ from it; `unknown` outside of a repository. */
const commitOf = async (folder: string): Promise<string> => {
  const git = async (...words: readonly string[]) => (await Bun.$`git -C ${folder} ${words}`.quiet().nothrow()).text()
  const commit = (await git('rev-parse', '--short=12', 'HEAD')).trim()
  if (commit === '') return 'unknown'
  const changed = await git('status', '--porcelain', '--', 'src', 'db', 'package.json', 'bun.lock')
  return changed === '' ? commit : `${commit}+`
}

if (import.meta.main) {
  const { file, commit, bytes } = await buildProgram(join(root, 'dist/app-platform'))
  process.stdout.write(`${relative('.', file)}  ${(bytes / 1e6).toFixed(1)} MB  commit ${commit}\n`)
}
