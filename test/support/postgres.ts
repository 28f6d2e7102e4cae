import { SQL } from 'bun'
import { createHash } from 'node:crypto'
import { appendFileSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { postgresMigrations } from '../../db/migrations/index.ts'
import { migratePostgres } from '../../db/postgres/commands.ts'
import { isInstalled, programAt, whatIsMissing } from './needs.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** `TEST_DATABASE=postgres` runs the tests on PostgreSQL instead of SQLite. */
export const onPostgres = process.env['TEST_DATABASE'] === 'postgres'

/** Ends this process with one line if its tests are to run on PostgreSQL and there is none. With `CI=true` they fail. */
export const endWithoutPostgres = (): void => {
  if (!onPostgres || isInstalled('postgres')) return
  console.log(`All tests were skipped. ${whatIsMissing(['postgres'])}`)
  process.exit(process.env['CI'] === 'true' ? 1 : 0)
}

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

const copying = (from: number) => ['-R', '-c', 'fast', '--no-sync', '-h', '127.0.0.1', '-p', String(from), '-U', 'app']

export type Cluster = {
  readonly folder: string
  /** Over TCP, where it has a port. */
  url(database: string): string
  promote(): void
  /** Sends a signal to its processes: to all of them, or to all but the first one, which starts the others. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT', to?: 'all' | 'backends'): readonly number[]
  kill(): Promise<void>
  /** Starts it again with its data, after it was killed. */
  start(): Promise<void>
  /** Kills it, and starts it as a standby of that primary: with a copy of it, or with a copy of what differs. */
  follow(primary: Cluster, by: 'pg_basebackup' | 'pg_rewind'): Promise<void>
  stop(): void
}

type ClusterOptions = {
  /** Where it listens besides its socket. */
  readonly port?: number
  /** The port of the primary that it copies, and follows until it is promoted. */
  readonly follows?: number
  /** As arguments, such as `-c fsync=off`. */
  readonly settings?: string
}

/** A server in a temporary folder that other users of this machine cannot reach. Its order of texts is not that of bytes. */
export const startCluster = ({ port, follows, settings: added = '' }: ClusterOptions = {}): Cluster => {
  const bin = dirname(programAt('postgres'))
  const user = unprivileged()
  const folder = mkdtempSync(join(roomyParent(), 'app-platform-pg-'))
  if (user !== null) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const command = (program: string) => [...(user?.under ?? []), join(bin, program), '-D', data]
  const quietly = { cwd: folder, env: { PATH: process.env['PATH'] ?? '' }, stdout: 'ignore', stderr: 'pipe' } as const
  const run = (program: string, ...args: readonly string[]) => {
    const { exitCode, stderr } = Bun.spawnSync([...command(program), ...args], quietly)
    if (exitCode !== 0) throw new Error(`${program} failed: ${stderr.toString()}`)
  }
  /** The same, while the work of this process goes on. */
  const runBeside = async (program: string, ...args: readonly string[]) => {
    const child = Bun.spawn([...command(program), ...args], quietly)
    const said = await child.stderr.text()
    const log = readFileSync(join(folder, 'log'), 'utf8').slice(-1_000)
    if ((await child.exited) !== 0) throw new Error(`${program} failed: ${said} The server wrote: ${log}`)
  }
  const order = ['--locale=C', '--locale-provider=icu', '--icu-locale=en', '--data-checksums']
  if (follows === undefined) {
    run('initdb', '--username=app', '--auth=trust', '--encoding=UTF8', '--no-sync', ...order)
    appendFileSync(join(data, 'postgresql.conf'), 'wal_keep_size = 256MB\n') // in the file, for pg_rewind
  } else run('pg_basebackup', ...copying(follows))
  const listening = port === undefined ? '-c listen_addresses=' : `-c listen_addresses=127.0.0.1 -p ${port}`
  const settings = `-k ${folder} ${listening} -c max_connections=400 -c shared_buffers=64MB ${added}`
  const starting = ['start', '-w', '-l', join(folder, 'log'), '-o', settings]
  run('pg_ctl', ...starting)
  // A test runner that is killed runs no handlers; then the end of this pipe stops the server, also a frozen one.
  const thaw = `p=$(head -1 ${data}/postmaster.pid) && kill -CONT $p $(cat /proc/$p/task/$p/children)`
  const stop = `cat; ${thaw}; ${command('pg_ctl').join(' ')} stop -m immediate; rm -rf ${folder}`
  const guard = Bun.spawn(['sh', '-c', stop], { stdin: 'pipe', stdout: 'ignore', stderr: 'ignore' })
  guard.unref()

  const record = join(data, 'postmaster.pid')
  /** The first one starts the others. */
  const processes = (): readonly number[] => {
    const first = existsSync(record) ? Number(readFileSync(record, 'utf8').split('\n')[0]) : 0
    if (!isAlive(first)) return []
    const others = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim().split(' ').filter(Boolean)
    return [first, ...others.map(Number)].filter(isAlive)
  }
  const cluster: Cluster = {
    folder,
    url: (database) => `postgres://app@127.0.0.1:${port}/${database}`,
    promote: () => run('pg_ctl', 'promote', '-W'),
    signal: (name, to = 'all') => {
      const [first] = processes()
      if (to === 'all' && first !== undefined) process.kill(first, 'SIGSTOP') // so that it starts no others meanwhile
      const signalled = processes().slice(to === 'all' ? 0 : 1)
      for (const pid of signalled) {
        try {
          process.kill(pid, name)
        } catch {
          // It has ended by itself, such as a session whose client has left.
        }
      }
      return signalled
    },
    kill: async () => {
      const killed = cluster.signal('SIGKILL')
      // PostgreSQL takes one that has ended, and that init has not waited for yet, for a running one.
      while (killed.some((pid) => existsSync(`/proc/${pid}`))) await Bun.sleep(10)
    },
    start: async () => {
      await runBeside('pg_ctl', ...starting)
    },
    follow: async (primary, by) => {
      await cluster.kill()
      if (by === 'pg_rewind') {
        await askOnce(primary.url('postgres'), 'CHECKPOINT') // or pg_rewind would not notice the promotion
        await runBeside('pg_rewind', '-R', '--no-sync', `--source-server=${primary.url('postgres')}`)
      } else {
        rmSync(data, { recursive: true, force: true })
        await runBeside('pg_basebackup', ...copying(Number(new URL(primary.url('postgres')).port)))
      }
      await cluster.start()
    },
    stop: () => {
      cluster.signal('SIGCONT')
      if (processes().length > 0) run('pg_ctl', 'stop', '-m', 'immediate', '-w')
      guard.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return cluster
}

/** Whether this process may mount disks. */
export const mayMount = process.platform === 'linux' && process.getuid?.() === 0

/** A tablespace of this cluster on a disk of its own, which is small. `end` unmounts it, after the cluster was stopped. */
export const addSmallDisk = async (cluster: Cluster, name: string) => {
  const { uid, gid } = statSync(cluster.folder)
  const folder = temporaryFolder()
  const options = `size=48m,mode=700,uid=${uid},gid=${gid}`
  const { exitCode, stderr } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder])
  if (exitCode !== 0) throw new Error(`No disk: ${stderr.toString()}`)
  await askOnce(cluster.url('postgres'), `CREATE TABLESPACE ${name} LOCATION '${folder}'`)
  return { folder, end: () => void Bun.spawnSync(['umount', '-l', folder]) }
}

/** Makes a table there, unless there is one, and fills the disk of this database with it. */
export const fillDisk = async (url: string): Promise<void> => {
  await askOnce(url, 'CREATE TABLE IF NOT EXISTS ballast (a text) WITH (autovacuum_enabled = off)')
  // The last pages that are free are too few for many rows at once.
  for (const rows of [100_000, 1_000, 100, 10, 1]) {
    const fill = `INSERT INTO ballast SELECT repeat('x', 1900) FROM generate_series(1, ${rows})`
    let error: unknown
    while (error === undefined) error = await askOnce(url, fill).then(noError, asIs)
    if (!(error instanceof SQL.PostgresError && error.errno === '53100')) throw error
  }
}
const noError = () => undefined
const asIs = (error: unknown) => error

const isAlive = (pid: number): boolean => {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

const askOnce = async (url: string, text: string): Promise<readonly Record<string, unknown>[]> => {
  const sql = new SQL({ url, max: 1 })
  try {
    return await sql.unsafe(text)
  } finally {
    await sql.close()
  }
}

/** From now on the primary confirms no commit before its standby has it. */
export const waitForStandby = async (primary: Cluster): Promise<void> => {
  const url = primary.url('postgres')
  await askOnce(url, "ALTER SYSTEM SET synchronous_standby_names = '*'")
  await askOnce(url, 'SELECT pg_reload_conf()')
  const text = `SELECT 1 FROM pg_stat_replication
    WHERE sync_state = 'sync' AND flush_lsn >= pg_current_wal_insert_lsn()`
  while ((await askOnce(url, text)).length === 0) await Bun.sleep(50)
}

/** A primary with the database `apps` and its synchronous standby, and the URL of both. */
export const startPair = async () => {
  const [one, two] = [freePort(), freePort()]
  const primary = startCluster({ port: one })
  await askOnce(primary.url('postgres'), 'CREATE DATABASE apps')
  const standby = startCluster({ port: two, follows: one })
  await waitForStandby(primary)
  return { primary, standby, url: `postgres://app@127.0.0.1:${one},127.0.0.1:${two}/apps` }
}

export const freePort = (): number => {
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
  // On a busy machine a commit may take longer than a server waits for one.
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await migratePostgres(urlIn(folder, templateName), postgresMigrations).catch(
      (error: unknown) => error,
    )
    if (!(outcome instanceof Error)) break
    if (attempt === 10) throw outcome
  }
  // A copy of the template is another database, which the first start would refuse.
  const inTemplate = new SQL({
    url: 'postgres://localhost',
    username: 'app',
    path: folder,
    database: templateName,
    max: 1,
  })
  await inTemplate.unsafe('UPDATE origin SET planned_at = 0')
  await inTemplate.close()
  return sql
}

/** Where tests keep the data that they would keep in this file: the file, or a database of its own, made on first use. */
export const databaseOf = async (file: string): Promise<string> =>
  onPostgres && !file.startsWith('postgres:') ? await postgresDatabase(file) : file

/** A new PostgreSQL database without tables. */
export const emptyPostgres = async (name: string): Promise<string> => {
  const folder = given ?? (started ??= startCluster()).folder
  const sql = await (template ??= maker(folder))
  const database = `e_${createHash('sha256').update(name).digest('hex').slice(0, 32)}`
  await sql.unsafe(`CREATE DATABASE ${database}`)
  return urlIn(folder, database)
}

/** The PostgreSQL database of this name, whatever the tests run on: migrated and empty when it is asked for first. */
export const postgresDatabase = async (file: string): Promise<string> => {
  const folder = given ?? (started ??= startCluster()).folder
  const sql = await (template ??= maker(folder))
  const name = `t_${createHash('sha256').update(file).digest('hex').slice(0, 32)}`
  if (!(await exists(sql, name))) await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${templateName}`)
  return urlIn(folder, name)
}
