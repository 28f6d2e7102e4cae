import type { Install } from '../../../db/database.ts'
import type { ResourceKind } from '../../domain/resource.ts'

/** An install as operators and owners see it. */
export type InstallRecord = Pick<
  Install,
  'id' | 'appId' | 'userId' | 'approval' | 'state' | 'createdAt' | 'updatedAt'
> & {
  readonly kind: ResourceKind
  readonly resource: string
}

/** The record of a row and of what it is on. */
export const installRecord = (row: Install, kind: ResourceKind, resourceSlug: string): InstallRecord => ({
  id: row.id,
  appId: row.appId,
  userId: row.userId,
  kind,
  resource: resourceSlug,
  approval: row.approval,
  state: row.state,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
})
