import { eq, inArray } from 'drizzle-orm'
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

/** What people call the rows of these IDs, for pages that tell what happened. An ID without a row is left out. */
export const nameQueries = (db: DrizzleConnection) => ({
  users: async (ids: readonly string[]) =>
    await db
      .select({ id: users.id, name: users.name, email: users.email })
      .from(users)
      .where(inArray(users.id, [...ids])),
  apps: async (ids: readonly string[]) =>
    await db
      .select({ id: apps.id, name: apps.name, slug: apps.slug, deletedAt: apps.deletedAt })
      .from(apps)
      .where(inArray(apps.id, [...ids])),
  versions: async (ids: readonly string[]) =>
    await db
      .select({ id: versions.id, name: versions.version, appId: versions.appId })
      .from(versions)
      .where(inArray(versions.id, [...ids])),
  /** Secrets, by their labels. */
  credentials: async (ids: readonly string[]) =>
    await db
      .select({ id: credentials.id, name: credentials.label })
      .from(credentials)
      .where(inArray(credentials.id, [...ids])),
  /** Installs, by the website or store that they are on. */
  installs: async (ids: readonly string[]) =>
    await db
      .select({ id: installs.id, name: resources.name, kind: resources.kind, userId: installs.userId })
      .from(installs)
      .innerJoin(resources, eq(resources.id, installs.resourceId))
      .where(inArray(installs.id, [...ids])),
  /** Websites and stores. */
  resources: async (ids: readonly string[]) =>
    await db
      .select({ id: resources.id, name: resources.name })
      .from(resources)
      .where(inArray(resources.id, [...ids])),
  endpoints: async (ids: readonly string[]) =>
    await db
      .select({ id: webhookEndpoints.id, name: webhookEndpoints.url, appId: webhookEndpoints.appId })
      .from(webhookEndpoints)
      .where(inArray(webhookEndpoints.id, [...ids])),
  /** The apps of client IDs. */
  clients: async (ids: readonly string[]) =>
    await db
      .select({ id: clients.id, name: apps.name, slug: apps.slug, environment: clients.environment })
      .from(clients)
      .innerJoin(apps, eq(apps.id, clients.appId))
      .where(inArray(clients.id, [...ids])),
  serviceKeys: async (ids: readonly string[]) =>
    await db
      .select({ id: serviceKeys.id, name: serviceKeys.name })
      .from(serviceKeys)
      .where(inArray(serviceKeys.id, [...ids])),
})
