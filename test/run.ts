import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { argv } from 'node:process'
import { bundle } from '../src/build.ts'
import { type Skipped, skippedLine } from './support/needs.ts'
import { endWithoutPostgres, onPostgres, startCluster } from './support/postgres.ts'
import { removeTemporaryFolders, temporaryFolder } from './support/temporary-folder.ts'

/*
 * `bun run test [PATH…]` runs every test, including those that bunfig.toml excludes from a plain `bun test`, with servers in
 * their own processes. At the end it prints one line about tests that were skipped because a program is not installed.
 */

endWithoutPostgres()
const folder = temporaryFolder()
chmodSync(folder, 0o711) // some tests start the program as another user
const skipped = join(folder, 'skipped.jsonl')

/** The source as few modules, as the build makes them, since the tests start the program some thousand times. */
const bundled = async (): Promise<string> => {
  const outdir = join(folder, 'program')
  // A module that starts a thread looks for it beside itself, under the name of its source.
  await Bun.build({ ...bundle(), outdir, naming: { entry: '[name].ts' }, target: 'bun', sourcemap: 'linked' })
  return join(outdir, 'main.ts')
}
const program = process.env['APP_PLATFORM_PROGRAM'] === undefined ? await bundled() : undefined
const cluster = onPostgres ? startCluster() : null // one for all processes
/** One more than the cores, because many tests wait for a process or a browser. */
const tests = Bun.spawn(
  [
    process.execPath,
    'test',
    `--parallel=${cpus().length + 1}`,
    '--no-isolate', // modules are loaded once for each process, and not once for each file
    '--timeout=120000',
    '--path-ignore-patterns',
    '',
    ...argv.slice(2),
  ],
  {
    env: {
      ...process.env,
      TEST_SUITE: 'all',
      TEST_SKIPPED_FILE: skipped,
      TEST_FOLDER: folder,
      TEST_PROGRAM: program,
      TEST_POSTGRES_FOLDER: cluster?.folder,
    },
    stdio: ['inherit', 'inherit', 'inherit'],
  },
)
const exitCode = await tests.exited
cluster?.stop()

const lines = existsSync(skipped) ? readFileSync(skipped, 'utf8').trim().split('\n') : []
const summary = skippedLine(lines.map((line): Skipped => JSON.parse(line)))
if (summary !== null) console.log(summary)
removeTemporaryFolders()
process.exit(exitCode)
