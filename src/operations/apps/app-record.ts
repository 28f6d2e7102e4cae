import type { App, Client } from '../../../db/database.ts'
import type { Environment } from '../../domain/app.ts'
import { parseStoredScope, type ScopeName } from '../../domain/scope.ts'

/** An app as its owner and the operator see it. */
export type AppRecord = {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly status: App['status']
  readonly scopes: readonly ScopeName[]
  readonly ownerId: string
  readonly clientIds: Readonly<Record<Environment, string>>
  /** When it was deleted; null when it is not. */
  readonly deletedAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

/**
 * The record of a row and its clients.
 * @throws Error when an environment has none: an app is made with both
 */
export const appRecord = (app: App, clients: readonly Client[]): AppRecord => ({
  id: app.id,
  slug: app.slug,
  name: app.name,
  status: app.status,
  scopes: parseStoredScope(app.scopes),
  ownerId: app.ownerId,
  clientIds: { development: clientIdOf(clients, 'development'), production: clientIdOf(clients, 'production') },
  deletedAt: app.deletedAt,
  createdAt: app.createdAt,
  updatedAt: app.updatedAt,
})

const clientIdOf = (clients: readonly Client[], environment: Environment): string => {
  const client = clients.find((candidate) => candidate.environment === environment)
  if (client === undefined) throw new Error('an app has no client in one of its environments')
  return client.id
}
