import { expect, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import { parseAddress } from '../../../db/postgres/address.ts'
import { Link } from '../../../db/postgres/link.ts'
import { runHere } from '../../cli/support/run.ts'
import { askPostgres } from '../../support/beside.ts'
import { needs } from '../../support/needs.ts'
import { openAsOperator } from '../../support/operator.ts'
import { onPostgres, postgresDatabase } from '../../support/postgres.ts'
import { runProgram } from '../../support/run-program.ts'
import { startServer } from '../../support/running-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addApp, addUser, appToken } from '../../support/world.ts'

setDefaultTimeout(120_000)

const { test } = needs('postgres')

/** An empty database. */
const emptyDatabase = async (name: string): Promise<string> => {
  const url = await postgresDatabase('session-settings')
  await askPostgres(url, `CREATE DATABASE ${name}`, [])
  return url.replace(/\/t_\w+\?/, `/${name}?`)
}
const nameIn = (url: string): string => /\/(t?_?\w+)\?/.exec(url)?.[1] ?? ''
const alter = async (url: string, settings: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, value] of Object.entries(settings)) {
    await askPostgres(url, `ALTER DATABASE ${nameIn(url)} SET ${name} = '${value.replaceAll("'", "''")}'`, [])
  }
}

/** What PostgreSQL calls the settings of how statements behave and values are written. */
const categories = [
  'Client Connection Defaults / Statement Behavior',
  'Client Connection Defaults / Locale and Formatting',
  'Version and Platform Compatibility / Previous PostgreSQL Versions',
  'Version and Platform Compatibility / Other Platforms and Clients',
]

/** Left as they are set: the operator's own choice, or nothing that a statement of ours depends on. */
const leftAlone = new Set([
  'search_path', // where the tables are; a wrong one is refused
  'default_transaction_read_only', // keeps the program from changing anything, and says so
  'default_transaction_deferrable', // of serializable transactions
  'synchronize_seqscans', // an order that nobody asked for
  'transaction_isolation', // of one transaction, like the next two
  'transaction_read_only',
  'transaction_deferrable',
  'default_tablespace',
  'temp_tablespaces',
  'default_table_access_method',
  'default_toast_compression',
  'vacuum_freeze_min_age',
  'vacuum_freeze_table_age',
  'vacuum_multixact_freeze_min_age',
  'vacuum_multixact_freeze_table_age',
  'vacuum_failsafe_age',
  'vacuum_multixact_failsafe_age',
  'gin_pending_list_limit',
  'gin_fuzzy_search_limit',
  'check_function_bodies', // there are no functions
  'createrole_self_grant',
  'client_min_messages', // notices, which nobody reads
  'xmlbinary',
  'xmloption',
  'default_text_search_config',
  'timezone_abbreviations',
  'lc_monetary',
  'lc_numeric',
  'lc_time',
  'backslash_quote', // only in E'' texts
  'escape_string_warning',
  'lo_compat_privileges',
  'event_triggers',
  'restrict_nonsystem_relation_kind',
  'transaction_timeout', // refused with its own sentence
])

type Setting = {
  readonly name: string
  readonly vartype: string
  readonly enumvals: string | null
  readonly boot: string
}

/** Another value than that with which PostgreSQL comes. */
const others: Readonly<Record<string, string>> = {
  client_encoding: 'LATIN1',
  DateStyle: 'SQL, DMY',
  TimeZone: 'Asia/Kathmandu',
  extra_float_digits: '-15',
  statement_timeout: '7s',
  lock_timeout: '7s',
  idle_in_transaction_session_timeout: '7s',
  idle_session_timeout: '7s',
}
const otherOf = ({ name, vartype, enumvals, boot }: Setting): string => {
  if (vartype === 'bool') return boot === 'on' ? 'off' : 'on'
  const [one, two] = enumvals?.split(',') ?? []
  return others[name] ?? (one === boot ? two : one) ?? ''
}

const settingsOf = async (link: Link, names: readonly string[]) =>
  Object.fromEntries(
    (await link.send(`SELECT name, setting FROM pg_settings WHERE name IN ('${names.join("', '")}')`, [])).rows,
  )
const linkTo = async (url: string): Promise<Link> => {
  const address = parseAddress(url)
  const [host] = address.hosts
  if (host === undefined) throw new Error('no host')
  return await Link.open(address, host, {}, () => undefined)
}

/** Settings that a role may set for itself, and that change what a statement or a value means. */
const meaningful = async (url: string): Promise<readonly Setting[]> =>
  (
    await askPostgres<Setting>(
      url,
      `SELECT name, vartype, array_to_string(enumvals, ',') AS enumvals, boot_val AS boot FROM pg_settings
       WHERE context = 'user' AND category IN ('${categories.join("', '")}') ORDER BY name`,
      [],
    )
  ).filter(({ name }) => !leftAlone.has(name))

test('a session means the same, whatever its database has set for those that begin', async () => {
  const url = await emptyDatabase('session_meaning')
  const settings = await meaningful(url)
  const names = settings.map(({ name }) => name)
  expect(names).toContain('array_nulls')
  const before = await linkTo(url)
  const usual = await settingsOf(before, names)
  before.close()
  await alter(url, Object.fromEntries(settings.map((each) => [each.name, otherOf(each)])))
  const after = await linkTo(url)
  expect(
    await settingsOf(after, names),
    'Add a new setting to sessionSettings, or to those that are left alone.',
  ).toEqual(usual)
  after.close()
})

const odd = {
  array_nulls: 'off',
  bytea_output: 'escape',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  quote_all_identifiers: 'on',
  DateStyle: 'SQL, DMY',
  TimeZone: 'Asia/Kathmandu',
}

test.skipIf(onPostgres)('a move, a check and a server work on a database with odd settings', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const platform = await openAsOperator(file)
  const app = await addApp(platform, await addUser(platform))
  await platform.database.close()
  const url = await emptyDatabase('session_odd')
  await alter(url, odd)
  expect(await runProgram(['move', '--to', url, '--database', file])).toMatchObject({ code: 0, stderr: '' })
  expect(await runProgram(['check', '--database', url])).toMatchObject({ code: 0 })
  const server = await startServer({ database: url, ownProcess: true })
  expect(await appToken(server.url, app.development)).toMatch(/^apat_/)
  await server.stop()
})

const migrate = async (url: string) => {
  const { exitCode, stdout, stderr } = await runHere(['migrate'], { env: { DATABASE_URL: url } })
  return { code: exitCode, text: stdout + stderr }
}

test.each([
  ['session_replication_role', 'replica'],
  ['zero_damaged_pages', 'on'],
  ['ignore_checksum_failure', 'on'],
])('%s=%s, with which damage would go unnoticed, is refused', async (name, value) => {
  const url = await emptyDatabase(`session_${name}`)
  await alter(url, { [name]: value })
  expect(await migrate(url)).toEqual({
    code: 1,
    text: expect.stringMatching(new RegExp(`^error: [^\\n]*${name}=${value}, [^\\n]*RESET ${name}\\.\\n$`)),
  })
})

test('what keeps the tables from being made is named: a search_path, a schema, a name that something else has', async () => {
  const system = await emptyDatabase('session_system')
  await askPostgres(system, 'ALTER DATABASE session_system SET search_path = pg_catalog, public', [])
  const closed = await emptyDatabase('session_closed')
  await askPostgres(closed, 'REVOKE ALL ON SCHEMA public FROM PUBLIC', [])
  await askPostgres(closed, 'ALTER SCHEMA public OWNER TO app', [])
  await askPostgres(closed, 'CREATE ROLE session_guest LOGIN', [])
  await askPostgres(closed, 'GRANT CONNECT, CREATE ON DATABASE session_closed TO session_guest', [])
  const refusals: [string, string][] = [
    [system, 'The schema pg_catalog is of PostgreSQL itself, and the search_path of the user of DATABASE_URL'],
    [closed.replace('app@', 'session_guest@'), 'run GRANT USAGE, CREATE ON SCHEMA public TO "session_guest"'],
  ]
  for (const made of ['VIEW users AS SELECT 1 AS id', 'SEQUENCE webhook_events', "TYPE apps AS ENUM ('a')"]) {
    const url = await emptyDatabase(`session_taken_${refusals.length}`)
    await askPostgres(url, `CREATE ${made}`, [])
    refusals.push([url, 'has tables that are not of this program: use an empty one'])
  }
  for (const [url, part] of refusals) {
    const { code, text } = await migrate(url)
    expect(text).toContain(part)
    expect(text).toMatch(/^error: [^\n]+\n$/)
    expect(code).toBe(1)
  }
})
