import type { Install } from '../../../db/database.ts'

/** An install as operators and owners see it. */
export type InstallRecord = Pick<Install, 'id' | 'appId' | 'userId' | 'approval' | 'state' | 'createdAt' | 'updatedAt'> & {
  readonly kind: 'site' | 'store'
  readonly resource: string
}

export const installRecord = (row: Install, kind: 'site' | 'store', resourceSlug: string): InstallRecord => ({
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
