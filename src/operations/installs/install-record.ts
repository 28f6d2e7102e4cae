import type { Install } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { pick } from '../../domain/pick.ts'
import type { ResourceKind } from '../../domain/resource.ts'
import { parseStoredScope } from '../../domain/scope.ts'
import type { Rule } from '../acting-as.ts'

/** An install as operators and owners see it. */
export type InstallRecord = ReturnType<typeof installRecord>

/** The record of an install and of the website or store that it is on. The scopes are those that its owner agreed to. */
export const installRecord = (row: Install, kind: ResourceKind, resource: string) => ({
  ...pick(row, 'id', 'appId', 'userId', 'environment'),
  scopes: parseStoredScope(row.scopes),
  kind,
  resource,
  ...pick(row, 'approval', 'state', 'createdAt', 'updatedAt'),
})

/** The install belongs to this user. For anyone else it does not exist. */
export const ownsInstall =
  (userId: string, id: string): Rule =>
  async (q) =>
    (await q.installs.find(id))?.install.userId === userId ? null : refuse('route_not_found')
