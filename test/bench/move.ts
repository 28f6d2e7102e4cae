import { SQL } from 'bun'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { importedTables } from '../../db/postgres/import.ts'
import { emptyPostgres } from '../support/postgres.ts'
import { removeTemporaryFolders, temporaryFolder } from '../support/temporary-folder.ts'
import { fill } from './fill.ts'
import { environment } from './report.ts'

/*
 * Moves a filled SQLite database into a temporary PostgreSQL server with the command that operators use, its checks included.
 * Usage: bun run bench:move [--live N]
 */

const { values } = parseArgs({ options: { live: { type: 'string', default: '200000' } } })
const live = Number(values.live)
if (!Number.isSafeInteger(live) || live < 1) throw new Error('--live takes a whole number from 1 on.')

const file = join(temporaryFolder(), 'app.db')
const { platform } = await fill(file, live)
await platform.database.close()
const url = await emptyPostgres('move')

const program = [process.execPath, join(import.meta.dir, '../../src/main.ts')]
const startedMs = performance.now()
const command = Bun.spawn([...program, 'move', '--database', file, '--to', url], {
  stdout: 'ignore',
  stderr: 'inherit',
})
const exitCode = await command.exited
const seconds = (performance.now() - startedMs) / 1000
if (exitCode !== 0) throw new Error(`move ended with ${exitCode}.`)

const sql = new SQL(url)
let rows = 0
for (const table of importedTables) {
  const [counted] = await sql.unsafe(`SELECT count(*)::int AS rows FROM ${table}`)
  rows += Number(counted.rows)
}
await sql.end()
removeTemporaryFolders()

const { date, machine, bun } = environment()
process.stdout.write(
  `${date}, ${machine}, Bun ${bun}. The move of ${rows.toLocaleString('en')} rows took ${seconds.toFixed(1)} s: ${Math.round(rows / seconds).toLocaleString('en')} rows per s, written, read back and compared.\n`,
)
process.exit(0)
