import { SQL } from 'bun'
import { createHash } from 'node:crypto'
import { chownSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { postgresMigrations } from '../../db/migrations/postgres.ts'
import { migratePostgres } from '../../db/postgres/commands.ts'
import { programAt } from './needs.ts'

/** `TEST_DATABASE=postgres` runs the tests on PostgreSQL instead of SQLite. */
export const onPostgres = process.env['TEST_DATABASE'] === 'postgres'

/** A server that is there already, of `test/run.ts`: the folder of its socket. */
const given = process.env['TEST_POSTGRES_FOLDER']

/** PostgreSQL refuses to run as root. */
const unprivileged = (): { readonly under: readonly string[]; readonly uid: number; readonly gid: number } | null => {
  if (process.getuid?.() !== 0) return null
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(Bun.spawnSync(['id', flag, 'nobody']).stdout.toString()))
  if (uid === undefined || gid === undefined) return null
  return { under: ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'], uid, gid }
}

/** In memory a sync costs nothing. Each database takes 8 MB. */
const roomyParent = (): string => {
  const inMemory = '/dev/shm'
  if (!existsSync(inMemory)) return tmpdir()
  const { bavail, bsize } = statfsSync(inMemory)
  return bavail * bsize > 4e9 ? inMemory : tmpdir()
}

export type Cluster = {
  readonly folder: string
  /** Over TCP, where it has a port. */
  url(database: string): string
  promote(): void
  stop(): void
}

type ClusterOptions = {
  /** Where it listens besides its socket. */
  readonly port?: number
  /** The port of the primary that it copies, and follows until it is promoted. */
  readonly follows?: number
}

/** A server in a temporary folder that other users of this machine cannot reach. Its order of texts is not that of bytes. */
export const startCluster = ({ port, follows }: ClusterOptions = {}): Cluster => {
  const bin = dirname(programAt('postgres'))
  const user = unprivileged()
  const folder = mkdtempSync(join(roomyParent(), 'app-platform-pg-'))
  if (user !== null) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const run = (program: string, ...args: readonly string[]) => {
    const { exitCode, stderr } = Bun.spawnSync([...(user?.under ?? []), join(bin, program), '-D', data, ...args], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '' },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    if (exitCode !== 0) throw new Error(`${program} failed: ${stderr.toString()}`)
  }
  const order = ['--locale=C', '--locale-provider=icu', '--icu-locale=en']
  if (follows === undefined) run('initdb', '--username=app', '--auth=trust', '--encoding=UTF8', '--no-sync', ...order)
  else run('pg_basebackup', '-R', '-c', 'fast', '--no-sync', '-h', '127.0.0.1', '-p', String(follows), '-U', 'app')
  const listening = port === undefined ? '-c listen_addresses=' : `-c listen_addresses=127.0.0.1 -p ${port}`
  const settings = `-k ${folder} ${listening} -c max_connections=400 -c shared_buffers=64MB`
  run('pg_ctl', 'start', '-w', '-l', join(folder, 'log'), '-o', settings)
  // A test runner that is killed runs no handlers; then the end of this pipe stops the server.
  const stop = `cat; ${[...(user?.under ?? []), join(bin, 'pg_ctl')].join(' ')} stop -m immediate -D ${data}; rm -rf ${folder}`
  const guard = Bun.spawn(['sh', '-c', stop], { stdin: 'pipe', stdout: 'ignore', stderr: 'ignore' })
  guard.unref()
  return {
    folder,
    url: (database) => `postgres://app@127.0.0.1:${port}/${database}`,
    promote: () => run('pg_ctl', 'promote', '-W'),
    stop: () => {
      run('pg_ctl', 'stop', '-m', 'immediate', '-w')
      guard.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A primary with the database `apps` and its synchronous standby, and the URL of both. */
export const startPair = async () => {
  const [one, two] = [freePort(), freePort()]
  const primary = startCluster({ port: one })
  const sql = new SQL({ url: primary.url('postgres'), max: 1 })
  await sql.unsafe('CREATE DATABASE apps')
  const standby = startCluster({ port: two, follows: one })
  await sql.unsafe("ALTER SYSTEM SET synchronous_standby_names = '*'")
  await sql.unsafe('SELECT pg_reload_conf()')
  await sql.close()
  return { primary, standby, url: `postgres://app@127.0.0.1:${one},127.0.0.1:${two}/apps` }
}

const freePort = (): number => {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  listener.stop(true)
  return listener.port
}

const urlIn = (folder: string, database: string): string => `postgres://app@localhost/${database}?host=${folder}`

let started: Cluster | null = null
let template: Promise<SQL> | null = null

/** Ends the server of this process, if it has started one. */
export const endPostgres = async (): Promise<void> => {
  await (await template)?.close({ timeout: 0 })
  template = null
  started?.stop()
  started = null
}
process.once('exit', () => started?.stop())

const exists = async (sql: SQL, name: string): Promise<boolean> =>
  (await sql.unsafe('SELECT 1 FROM pg_database WHERE datname = $1', [name])).length > 0

const templateName = `template_${process.pid}`

/** A connection that makes databases, once the template has been made: an empty one that is migrated. */
const maker = async (folder: string): Promise<SQL> => {
  const sql = new SQL({ url: 'postgres://localhost', username: 'app', path: folder, database: 'postgres', max: 1 })
  if (await exists(sql, templateName)) return sql // made for an earlier file of this process
  await sql.unsafe(`CREATE DATABASE ${templateName}`)
  await migratePostgres(urlIn(folder, templateName), postgresMigrations)
  return sql
}

/** Where tests keep the data that they would keep in this file: the file, or a database of its own, made on first use. */
export const databaseOf = async (file: string): Promise<string> =>
  onPostgres && !file.startsWith('postgres:') ? await postgresDatabase(file) : file

/** The PostgreSQL database of this name, whatever the tests run on: migrated and empty when it is asked for first. */
export const postgresDatabase = async (file: string): Promise<string> => {
  const folder = given ?? (started ??= startCluster()).folder
  const sql = await (template ??= maker(folder))
  const name = `t_${createHash('sha256').update(file).digest('hex').slice(0, 32)}`
  if (!(await exists(sql, name))) await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${templateName}`)
  return urlIn(folder, name)
}
