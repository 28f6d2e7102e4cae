import { Database } from 'bun:sqlite'
import type { TimeKey } from '../../../src/domain/time-key.ts'
import type { Grant } from '../../../db/database.ts'
import { createCredential } from '../../../src/operations/credentials/change-credentials.ts'
import { exchangeInstallSessionCode } from '../../../src/operations/embedding/exchange-install-session-code.ts'
import { issueInstallSessionCode } from '../../../src/operations/embedding/issue-install-session-code.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { addEndpoint } from '../../../src/operations/webhooks/add-endpoint.ts'
import { developmentCaller, sessionOf } from '../../operations/support/owner.ts'
import { addEmbeddedInstall, embedOrigin } from '../../support/embedding.ts'
import { addFamily } from '../../support/grant-family.ts'
import { operator, trace } from '../../support/operator.ts'
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

/** Every row of the file by its table and its key. */
export const rowsIn = (file: string): ReadonlyMap<string, Row> => {
  using database = new Database(file, { readonly: true })
  const tables = database.query<{ name: string }, []>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()
  const rows = tables.flatMap(({ name }) => {
    const columns = database.query<{ name: string; pk: number }, []>(`PRAGMA table_info(${name})`).all()
    const key = columns.filter(({ pk }) => pk > 0).map((column) => column.name)
    const all = database.query<Row, []>(`SELECT * FROM ${name}`).all()
    return all.map((row) => [[name, ...key.map((column) => row[column])].join(' '), row] as const)
  })
  return new Map(rows)
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
