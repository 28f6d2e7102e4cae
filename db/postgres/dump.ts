/*
 * Backups of a PostgreSQL database: dumps by pg_dump in its custom format, each one private file. A dump is complete under its name, or
 * not there at all. The command line and the server make and check them here.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { beginCopy, isDump } from '../backup.ts'
import type { BackupMaker } from '../backups.ts'
import { type BackupNames, namesForDumps } from '../backup-folder.ts'
import { DatabaseUnusable } from '../database.ts'
import { temporarily } from '../sqlite/temporary.ts'
import { type Address, parseAddress } from './address.ts'
import { inSentences } from './commands.ts'
import { importedTables } from './import.ts'
import { Primary } from './primary.ts'
import { assertServer } from './check.ts'

type DumpOptions = { readonly url: string; readonly to: string; readonly replace: boolean }

/**
 * Dumps the database into a private file beside running servers, also one with an outdated schema.
 * @throws DatabaseUnusable if PostgreSQL or pg_dump refuses, if pg_dump is not there, or `to` exists and may not be replaced
 */
export const dumpPostgres = async ({ url, to, replace }: DumpOptions): Promise<void> => {
  const { address, place } = await reached(url)
  using copy = beginCopy(to, { replace })
  const { exitCode, errors } = await finished(['pg_dump', ...dumpFlags, `--file=${copy.file}`], address)
  if (exitCode !== 0) throw failed(place, errors)
  copy.keep()
}

/** How the dumps of the database of this URL are named in a folder. */
export const namesOfDumps = (url: string): BackupNames => namesForDumps(parseAddress(url).database)

/** How a server dumps its database. The password in the URL may change meanwhile. */
export const dumpBackups = (url: () => string): BackupMaker => ({
  names: namesOfDumps(url()),
  make: async (to) => {
    await dumpPostgres({ url: url(), to, replace: false })
    return await checkDump(to)
  },
  check: checkDump,
})

/** Dumps the database to a stream. Nobody can check what was sent. @throws DatabaseUnusable as `dumpPostgres` does */
export const streamDump = async (url: string, send: (dump: ReadableStream<Uint8Array>) => Promise<void>) => {
  const { address, place } = await reached(url)
  using program = started(['pg_dump', ...dumpFlags], address)
  const { child } = program
  const errors = new Response(child.stderr).text()
  await send(child.stdout)
  if ((await child.exited) !== 0) throw failed(place, await errors)
}

/** Custom format: compressed, and pg_restore can check it and restore single tables. */
const dumpFlags = ['--format=custom', '--no-password', '--lock-wait-timeout=60s']

/**
 * What is wrong with a dump, in plain sentences. pg_restore reads its list, and then all of it, as for a restore, without a server.
 * @throws DatabaseUnusable if pg_restore is not there
 */
export const checkDump = async (file: string): Promise<readonly string[]> => {
  if (!isDump(file))
    return [`${file} is not a dump of PostgreSQL in the custom format: make one with app-platform backup.`]
  const list = await finished(['pg_restore', '--list', file])
  if (list.exitCode !== 0) return [damaged(file, list.errors)]
  const entries = list.output.split('\n')
  // `3442; 0 16388 TABLE DATA public users owner`
  const named = (kind: string) => new Set(entries.map((entry) => new RegExp(` ${kind} \\S+ (\\S+) `).exec(entry)?.[1]))
  if (!named('TABLE').has('schema_migrations'))
    return [`${file} is a dump of another database: it has no tables of this program.`]
  const withRows = named('TABLE DATA')
  const missing = importedTables.filter((table) => !withRows.has(table))
  if (missing.length > 0) return [`${file} has no rows of ${missing.join(', ')}: make a dump of the whole database.`]
  // The list is at the beginning. Only the data shows that the end is there, and that it can be unpacked.
  const all = await finished(['pg_restore', '--file=/dev/null', file])
  return all.exitCode === 0 ? [] : [damaged(file, all.errors)]
}

const damaged = (file: string, errors: string): string =>
  `${file} is damaged, so it cannot be restored: ${lastLine(errors)}. Make another dump with app-platform backup.`

/** Connects, so that what is wrong with PostgreSQL is said as by all commands. @throws DatabaseUnusable */
const reached = async (url: string) => {
  const address = parseAddress(url)
  const primary = new Primary(address)
  await inSentences(primary, async () => {
    const { link } = await primary.connect()
    await assertServer(link, primary).finally(() => link.close())
  })
  return { address, place: primary.place }
}

/** How libpq connects (its environment variables), so that no argument has the password. A standby may lack what was acknowledged. */
const environmentOf = ({ hosts, user, password, database, tls }: Address, authority: string | null) => ({
  PGHOST: hosts.map(({ host, socket }) => socket ?? host).join(','),
  PGPORT: hosts.map(({ port }) => port).join(','),
  PGUSER: user,
  ...(password === '' ? {} : { PGPASSWORD: password }),
  PGDATABASE: database,
  PGSSLMODE: tls,
  ...(authority === null ? {} : { PGSSLROOTCERT: authority }),
  PGTARGETSESSIONATTRS: 'read-write',
  PGCONNECT_TIMEOUT: '10',
})

/**
 * The file of the authorities whom this program trusts, so that libpq trusts the same. It does not know those of NODE_EXTRA_CA_CERTS, and
 * those of the system only from release 16 on.
 */
const authorityOf = ({ tls, authority }: Address) => {
  if (tls === 'disable' || authority !== null) return { path: authority, ...temporarily(() => undefined) }
  const folder = mkdtempSync(join(tmpdir(), 'app-platform-authorities-'))
  const gone = temporarily(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'authorities.pem')
  writeFileSync(path, getCACertificates('default').join('\n'))
  return { path, ...gone }
}

/**
 * Runs a program of PostgreSQL in English, because its words are read, with only what it needs of the environment. Disposed of, it is
 * ended: it would wait for a reader that has stopped.
 */
const started = ([name = '', ...words]: readonly string[], address: Address | null = null) => {
  const program = Bun.which(name)
  if (program === null) {
    throw new DatabaseUnusable(
      'unsupported',
      `${name} is not installed on this machine: install the client programs of PostgreSQL, such as by apt-get install postgresql-client.`,
    )
  }
  const trusted = address === null ? null : authorityOf(address)
  const way = address === null || trusted === null ? {} : environmentOf(address, trusted.path)
  const child = Bun.spawn([program, ...words], {
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', ...way },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const end = () => {
    child.kill()
    trusted?.[Symbol.dispose]()
  }
  return { ...temporarily(end), child }
}

const finished = async (command: readonly string[], address: Address | null = null) => {
  using program = started(command, address)
  const { child } = program
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { output, errors, exitCode }
}

const failed = (place: string, errors: string): DatabaseUnusable =>
  new DatabaseUnusable(
    'unreachable',
    /server version mismatch/.test(errors)
      ? `The pg_dump of this machine is older than PostgreSQL at ${place}: install the client programs of that version, such as by apt-get install postgresql-client-18.`
      : `pg_dump failed for PostgreSQL at ${place}: ${lastLine(errors)}. Nothing was kept.`,
  )

/** `pg_dump: error: …`: the last line that says what was wrong, without its end. */
const lastLine = (errors: string): string => {
  const lines = errors.split('\n').map((line) => line.trim())
  const line =
    lines.findLast((each) => each.includes('error:')) ?? lines.findLast((each) => each !== '') ?? 'it said nothing'
  return line.replace(/^pg_\w+: (error: )?/, '').replace(/\.$/, '')
}
