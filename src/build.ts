import { mkdirSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = join(import.meta.dir, '..')

/** Modules that start as a thread are entry points of their own (see db/sqlite/thread.ts). */
export const threadModules: readonly string[] = [...new Bun.Glob('db/sqlite/*-worker.ts').scanSync(root)].toSorted()

export type BuiltProgram = { readonly file: string; readonly commit: string; readonly bytes: number }

/**
 * Makes the whole program one executable file, for this kind of machine. The same commit gives the same bytes.
 * @throws AggregateError with what the bundler has to say
 */
export const buildProgram = async (file: string): Promise<BuiltProgram> => {
  const commit = await commitOf(root)
  mkdirSync(dirname(file), { recursive: true })
  await Bun.build({
    root,
    entrypoints: ['src/main.ts', ...threadModules].map((entry) => join(root, entry)),
    // Whoever starts the program somewhere does not mean the files that happen to lie there.
    compile: { outfile: file, autoloadDotenv: false, autoloadBunfig: false },
    // Parsed and compiled here, so that starting does not have to.
    bytecode: true,
    // What is imported on the way is loaded on the way: a command does without the server.
    splitting: true,
    format: 'esm',
    // Elysia reads the source of handlers: their names must stay.
    minify: { whitespace: true, syntax: true, identifiers: false },
    define: { BUILT_FROM_COMMIT: JSON.stringify(commit) },
  })
  return { file, commit, bytes: statSync(file).size }
}

/** The commit that is checked out, with a plus when something differs from it; `unknown` outside of a repository. */
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
