import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { argv } from 'node:process'
import bunfig from '../bunfig.toml'
import { buildProgram } from '../src/build.ts'
import { type Skipped, skippedLine } from './support/needs.ts'
import { endWithoutPostgres, onPostgres, startCluster } from './support/postgres.ts'
import { removeTemporaryFolders, temporaryFolder } from './support/temporary-folder.ts'

/*
 * `bun run test [PATH…]` runs every test: first those of a plain `bun test` with the long ones of their kind, then those that need
 * more than this process, with servers in their own processes. Those of `test/tools/` run only when they are named. Against a binary all servers are in their own processes. At the end it prints one line about
 * tests that were skipped because a program is not installed.
 */

endWithoutPostgres()
const folder = temporaryFolder()
// Not in memory, where nothing may be executed in a container.
const programFolder = temporaryFolder(tmpdir())
for (const path of [folder, programFolder]) chmodSync(path, 0o711) // some tests start the program as another user
const skipped = join(folder, 'skipped.jsonl')
const isBinary = process.env['APP_PLATFORM_PROGRAM'] !== undefined

const root = join(import.meta.dir, '..')
/** Long tests run beside the inner ones here. */
const excluded = Array.from<string>(bunfig.test.pathIgnorePatterns).filter((glob) => !glob.includes('.long.'))
const isInner = (file: string): boolean => !excluded.some((glob) => new Bun.Glob(glob).match(file))
/** Tests of the tools run when they are named. */
const tools = argv.slice(2).some((word) => word.includes('tools')) ? [] : ['test/tools/**']
const all = [...new Bun.Glob('test/**/*.test.ts').scanSync(root)].filter(
  (file) => !tools.some((glob) => new Bun.Glob(glob).match(file)),
)
/** The files that the arguments name, as `bun test` reads them. */
const asked = all.filter((file) => {
  const names = argv.slice(2).filter((word) => !word.startsWith('-'))
  return names.length === 0 || names.some((name) => file.includes(name.replace(/^\.\//, '')))
})

const cluster = onPostgres ? startCluster() : null // one for all processes

/** Runs the asked files but those that these patterns exclude, and returns whether all tests have passed. */
const run = async (
  processes: number,
  exceptFor: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<boolean> => {
  const except = exceptFor.flatMap((pattern) => ['--path-ignore-patterns', pattern])
  // Each process loads a module once for all of its files.
  const words = ['test', `--parallel=${processes}`, '--no-isolate', '--timeout=300000', ...except, ...argv.slice(2)]
  const tests = Bun.spawn([process.execPath, ...words], {
    env: {
      ...process.env,
      ...env,
      TEST_SKIPPED_FILE: skipped,
      TEST_FOLDER: folder,
      TEST_POSTGRES_FOLDER: cluster?.folder,
    },
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  return (await tests.exited) === 0
}

const inner = isBinary ? [] : asked.filter(isInner)
const outcomes: boolean[] = []
const cores = cpus().length
if (inner.length > 0) outcomes.push(await run(cores + 1, excluded, {}))
if (inner.length < asked.length || asked.length === 0) {
  // The tests start the program some thousand times: the executable file does that with two thirds of the processor time of the source.
  const program: Readonly<Record<string, string>> = isBinary
    ? {}
    : { TEST_PROGRAM: (await buildProgram(join(programFolder, 'app-platform'))).file }
  // These wait for processes, browsers and clocks most of the time.
  outcomes.push(await run(2 * cores, ['', ...inner, ...tools], { TEST_SUITE: 'all', ...program }))
}
cluster?.stop()

const lines = existsSync(skipped) ? readFileSync(skipped, 'utf8').trim().split('\n') : []
const summary = skippedLine(lines.map((line): Skipped => JSON.parse(line)))
if (summary !== null) console.log(summary)
removeTemporaryFolders()
process.exit(outcomes.every(Boolean) ? 0 : 1)
