import { Database } from 'bun:sqlite'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServingProcess, startServing } from '../../bench/processes.ts'
import type { Contender } from './contender.ts'
import { addCodes, addTokens, setUp } from './glewlwyd-fill.ts'

/** As Debian's package makes a new SQLite file. */
const schema = '/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3'
const modules = '/usr/lib/glewlwyd'

/**
 * Debian's glewlwyd with its OpenID Connect plugin, the one whose refresh tokens rotate; null where it is not installed.
 * How durable it is cannot be set: it is SQLite's default, which is FULL, and the WAL that the file was made with.
 */
export const findGlewlwyd = (): Contender | null => {
  const program = Bun.which('glewlwyd')
  return program === null || !existsSync(schema) ? null : glewlwyd(program)
}

const glewlwyd = (program: string): Contender => ({
  name: `glewlwyd ${Bun.spawnSync([program, '--version']).stdout.toString().trim()}`,
  paths: { token: '/api/oidc/token', introspect: '/api/oidc/introspect', who: '/api/oidc/userinfo' },
  codesPerSecond: 500,
  keepsTokensAs: 'SHA-512',
  prepare: async (folder, live) => {
    const databaseFile = join(folder, 'glewlwyd.db')
    const { material, cookies } = await makeFile(program, databaseFile, live)
    let port = 0
    return {
      material,
      database: databaseFile,
      codes: async (count) => await addCodes(port, cookies, count),
      start: async () => {
        const server = await start(program, folder, databaseFile)
        port = server.port
        return server
      },
      startExecutable: null,
      close: async () => {},
    }
  },
})

/** It is filled by its own endpoints, which takes long where every commit is synced: in memory, where there is such a folder. */
const makeFile = async (program: string, databaseFile: string, live: number) => {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'glewlwyd-'))
  try {
    const file = join(folder, 'glewlwyd.db')
    onFile(file, 'PRAGMA journal_mode = WAL', await Bun.file(schema).text())
    const server = await start(program, folder, file)
    const cookies = await setUp(server.port)
    const material = await addTokens(server.port, cookies, live)
    await server.stop()
    onFile(file, 'PRAGMA wal_checkpoint(TRUNCATE)')
    copyFileSync(file, databaseFile)
    return { material, cookies }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const onFile = (file: string, ...statements: readonly string[]): void => {
  const database = new Database(file)
  for (const statement of statements) database.run(statement)
  database.close()
}

/** It says nothing on standard output, and listens on no port of its own choice. */
const start = async (program: string, folder: string, databaseFile: string): Promise<ServingProcess> => {
  const port = await freePort()
  const configuration = join(folder, 'glewlwyd.conf')
  await Bun.write(configuration, configurationOf(port, databaseFile))
  const script = `echo '{"url":"http://127.0.0.1:${port}"}'; exec "$0" "--config-file=$1"`
  const server = await startServing({
    command: ['/bin/sh', '-c', script, program, configuration],
    log: join(folder, 'glewlwyd.log'),
  })
  while (!(await listens(port))) await Bun.sleep(2)
  // Now and then it crashes as it ends. How it ends is not compared, and the WAL keeps what it had committed.
  return { ...server, stop: async () => await server.stop().catch(() => undefined) }
}

const configurationOf = (port: number, databaseFile: string): string => `
port = ${port}
bind_address = "127.0.0.1"
external_url = "http://localhost:${port}/"
login_url = "login.html"
api_prefix = "api"
log_mode = "console"
log_level = "ERROR"
cookie_secure = 0
hash_algorithm = "SHA512"
user_module_path = "${modules}/user"
client_module_path = "${modules}/client"
user_auth_scheme_module_path = "${modules}/scheme"
plugin_module_path = "${modules}/plugin"
database = { type = "sqlite3"; path = "${databaseFile}"; };
`

const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== 'object' || address === null) throw new Error('There is no free port.')
  return address.port
}

const listens = async (port: number): Promise<boolean> =>
  await fetch(`http://127.0.0.1:${port}/api/oidc/jwks`).then(
    () => true,
    () => false,
  )
