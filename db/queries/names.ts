import { eq, inArray, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { pick } from '../../src/domain/pick.ts'
import {
  apps,
  clients,
  credentials,
  installs,
  resources,
  serviceKeys,
  users,
  versions,
  webhookEndpoints,
} from '../tables/sqlite.ts'
import type { DrizzleConnection } from './connection.ts'

type Ids = readonly string[]

/** The rows of these IDs, each as a thing of this kind. */
const named = async <Kind extends string, Row extends { readonly name: string | null }>(
  kind: Kind,
  rows: { where(isOne: SQL): PromiseLike<Row[]> },
  id: SQLiteColumn,
  ids: Ids,
) => (await rows.where(inArray(id, [...ids]))).map((row) => Object.assign(row, { kind, name: row.name ?? '' }))

/** For each kind of thing what people call those of these IDs, and what leads to their pages. An ID without a row is left out. */
export const nameQueries = (db: DrizzleConnection) => {
  const { id: versionId, version, appId } = versions
  const ofVersions = () => db.select({ id: versionId, name: version, appId }).from(versions)
  const ofSecrets = () => db.select({ id: credentials.id, name: credentials.label }).from(credentials)
  const ofClients = () => db.select({ id: clients.id, name: apps.name, slug: apps.slug }).from(clients)
  const ofInstalls = () => db.select({ id: installs.id, name: resources.name }).from(installs)
  const ofEndpoints = () => db.select({ ...pick(webhookEndpoints, 'id', 'appId'), name: webhookEndpoints.url })
  return {
    user: (ids: Ids) => named('user', db.select(pick(users, 'id', 'name', 'email')).from(users), users.id, ids),
    app: (ids: Ids) => named('app', db.select(pick(apps, 'id', 'name', 'slug')).from(apps), apps.id, ids),
    /** The apps of client IDs. */
    client: (ids: Ids) => named('app', ofClients().innerJoin(apps, eq(apps.id, clients.appId)), clients.id, ids),
    version: (ids: Ids) => named('version', ofVersions(), versionId, ids),
    /** By its label. */
    secret: (ids: Ids) => named('secret', ofSecrets(), credentials.id, ids),
    /** By the website or store that it is on. */
    install: (ids: Ids) =>
      named('install', ofInstalls().innerJoin(resources, eq(resources.id, installs.resourceId)), installs.id, ids),
    /** Websites and stores. */
    resource: (ids: Ids) =>
      named('resource', db.select(pick(resources, 'id', 'name')).from(resources), resources.id, ids),
    /** Without an app it is the builder's. */
    endpoint: (ids: Ids) => named('endpoint', ofEndpoints().from(webhookEndpoints), webhookEndpoints.id, ids),
    service: (ids: Ids) =>
      named('service', db.select(pick(serviceKeys, 'id', 'name')).from(serviceKeys), serviceKeys.id, ids),
  }
}
