import { and, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { ResourceKind } from '../../src/domain/resource.ts'
import { apps, installs, resources, users } from '../tables/sqlite.ts'
import { contains } from './users.ts'

/** A literal, as in the partial index `installs_pending`: SQLite uses that index only if the condition is the same. */
const isPending = eq(installs.approval, sql`'pending'`)

/** What an operator or a developer calls the state of an install. */
export type InstallStatus = 'waiting' | 'active' | 'deactivated' | 'rejected' | 'withdrawn'

/** Which installs are asked for. Null and an empty part match everything. */
export type InstallFilter = {
  readonly appId: string | null
  readonly userId: string | null
  readonly status: InstallStatus | null
  readonly kind: ResourceKind | null
  /** Text in the slug or name of the app, the address of the user, or the slug of the place. */
  readonly part: string
}
export type AppInstallFilter = Pick<InstallFilter, 'status' | 'kind'>

export type StateCounts = {
  readonly states: readonly (Pick<typeof installs.$inferSelect, 'approval' | 'state'> & { readonly count: number })[]
  /** Whether all installs were counted; otherwise there may be more. */
  readonly exact: boolean
}

export const isOfStatus = (status: InstallStatus | null): SQL | undefined => {
  switch (status) {
    case null:
      return undefined
    case 'waiting':
      return isPending
    case 'active':
      return eq(installs.state, 'active')
    case 'deactivated':
      return and(eq(installs.approval, 'approved'), eq(installs.state, 'inactive'))
    case 'rejected':
    case 'withdrawn':
      return eq(installs.approval, status)
    default:
      return status satisfies never
  }
}

export const isOfKind = (kind: ResourceKind | null): SQL | undefined =>
  kind === null ? undefined : eq(resources.kind, kind)

/** The installs among which a search looks: an index has those of an app, of a user, and those that wait. */
export const installScope = ({ appId, userId, status }: InstallFilter): SQL | undefined =>
  and(
    appId === null ? undefined : eq(installs.appId, appId),
    userId === null ? undefined : eq(installs.userId, userId),
    status === 'waiting' ? isPending : undefined,
  )

export const isInstallAsked = ({ status, kind, part }: InstallFilter): SQL | undefined =>
  and(
    isOfStatus(status),
    status === 'waiting' ? isNull(apps.deletedAt) : undefined, // nobody can decide on the others
    isOfKind(kind),
    part === ''
      ? undefined
      : or(
          contains(apps.slug, part),
          contains(apps.name, part),
          contains(users.email, part),
          contains(resources.slug, part),
        ),
  )
