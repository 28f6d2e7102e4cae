import { Database } from 'bun:sqlite'
import type { TimeKey } from '../../../src/domain/time-key.ts'
import type { Grant } from '../../../db/database.ts'
import { createCredential } from '../../../src/operations/credentials/credentials.ts'
import { exchangeInstallSessionCode, issueInstallSessionCode } from '../../../src/operations/embedding/embedding.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { addEndpoint } from '../../../src/operations/webhooks/endpoints.ts'
import { developmentCaller, sessionOf } from '../../operations/support/owner.ts'
import { askBeside } from '../../support/beside.ts'
import { addEmbeddedInstall, embedOrigin } from '../../support/embedding.ts'
import { addFamily } from '../../support/grant-family.ts'
import { operator, trace } from '../../support/operator.ts'
import { onPostgres } from '../../support/postgres.ts'
import { uploadVersion } from '../../support/version.ts'
import { addApp, addUser, type AppInWorld, type Login } from '../../support/world.ts'

/** A user with an app, and at least one of everything that a store keeps of both. */
export type Side = {
  readonly user: Login
  readonly app: AppInWorld
  readonly credential: string
  readonly sessions: readonly [string, string]
  readonly token: TimeKey
  readonly grants: readonly [Grant, Grant]
  readonly draft: string
  readonly install: string
  readonly code: string
  readonly endpoint: string
  readonly secret: string
  readonly position: number
}

/** Such a user and all of that; a webhook endpoint is one that nobody looks up. */
export const addSide = async (opened: Platform): Promise<Side> => {
  const platform: Platform = { ...opened, webhooks: { ...opened.webhooks, check: async () => null } }
  const q = platform.database.queries
  const user = await addUser(platform)
  const app = await addApp(platform, user)
  const place = { slug: app.slug, environment: 'development' } as const
  const hook = { ...place, url: 'https://hooks.example/', kinds: ['credential.created'] }
  const { id: endpoint } = await addEndpoint(platform, trace, operator, hook)
  const { id: credential } = await createCredential(platform, trace, operator, { ...place, label: null })
  const due = await q.webhookEvents.nextDue(endpoint, platform.clock.now())
  const [secret] = await q.webhookEndpoints.liveSecrets(endpoint, platform.clock.now())
  const install = await addEmbeddedInstall(platform, app, user)
  const [first, second] = [await sessionOf(platform, user), await sessionOf(platform, user)]
  const open = async () => (await issueInstallSessionCode(platform, trace, first, install)).code
  const exchange = { clientId: app.production.clientId, code: await open(), origin: embedOrigin(app) }
  await exchangeInstallSessionCode(platform, trace, exchange)
  return {
    user,
    app,
    credential,
    install,
    endpoint,
    sessions: [first.sessionKey, second.sessionKey],
    token: (await developmentCaller(platform, app)).tokenKey,
    grants: [await addFamily(platform, app, user, 1), await addFamily(platform, app, user, 2)],
    draft: (await uploadVersion(platform, app, { version: '2.0.0' })).id,
    code: (await open()).slice(5, 27),
    secret: secret?.id ?? '',
    position: due?.event.position ?? 0,
  }
}

type Row = Readonly<Record<string, unknown>>

/** The tables and their keys. */
const keysText = onPostgres
  ? `SELECT c.relname AS "table", coalesce(string_agg(a.attname, ' ' ORDER BY array_position(i.indkey::int[], a.attnum)), '') AS key
      FROM pg_class c LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' GROUP BY c.relname`
  : `SELECT s.name AS "table", (SELECT coalesce(group_concat(name, ' ' ORDER BY pk), '') FROM pragma_table_info(s.name) WHERE pk > 0) AS key
      FROM sqlite_schema s WHERE s.type = 'table'`

/** The rows of these tables, each with its table. On PostgreSQL each question takes a connection, so it is one. */
const rowsOf = async (file: string, tables: readonly string[]): Promise<readonly (readonly [string, Row])[]> => {
  if (!onPostgres) {
    using beside = new Database(file, { readonly: true })
    return tables.flatMap((table) =>
      beside
        .query<Row, []>(`SELECT * FROM ${table}`)
        .all()
        .map((row) => [table, row] as const),
    )
  }
  const texts = tables.map((table) => `SELECT '${table}' AS "table", row_to_json(t)::text AS row FROM ${table} t`)
  const found = await askBeside<{ table: string; row: string }>(file, texts.join(' UNION ALL '))
  return found.map(({ table, row }) => [table, JSON.parse(row)])
}

/** Every row of the database by its table and its key. */
export const rowsIn = async (file: string): Promise<ReadonlyMap<string, Row>> => {
  const keys = await askBeside<{ table: string; key: string }>(file, keysText)
  const keyOf = new Map(keys.map(({ table, key }) => [table, key.split(' ')]))
  const rows = await rowsOf(file, [...keyOf.keys()])
  return new Map(
    rows.map(([table, row]) => [[table, ...(keyOf.get(table) ?? []).map((column) => row[column])].join(' '), row]),
  )
}

/** The rows that changed, by table and key, each with the names of the changed columns. */
export const differences = (before: ReadonlyMap<string, Row>, after: ReadonlyMap<string, Row>): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])]
    .flatMap((key) => {
      const [was, is] = [before.get(key), after.get(key)]
      if (was === undefined || is === undefined) return [`${key}: ${was === undefined ? 'new' : 'gone'}`]
      const columns = Object.keys(was).filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]))
      return columns.length === 0 ? [] : [`${key}: ${columns.join(' ')}`]
    })
    .toSorted()
