import type { Queries } from '../../../db/database.ts'
import type { AppStatus } from '../../domain/app.ts'
import { parseStoredScope, type ScopeName } from '../../domain/scope.ts'
import { beyondEveryId, type Page, pageOf, type PageRequest } from '../page.ts'
import type { Platform } from '../platform.ts'
import type { SessionCaller } from '../authenticate.ts'
import { type InstallRecord, installRecord } from './install-record.ts'

/** An install as its owner sees it. */
export type OwnInstall = InstallRecord & {
  readonly appName: string
  readonly app: string
  readonly appStatus: AppStatus
  readonly publisher: string
  readonly resourceName: string
  /** What the version that opens asks for now; null when there is none. */
  readonly asked: readonly ScopeName[] | null
}

type Row = Awaited<ReturnType<Queries['installs']['pageOfUser']>>[number]

/** The caller's installs, newest first, those that are over too. */
export const listOwnInstalls = async (
  platform: Platform,
  caller: SessionCaller,
  { limit, cursor }: PageRequest,
): Promise<Page<OwnInstall>> => {
  const rows = await platform.database.queries.installs.pageOfUser(caller.user.id, cursor ?? beyondEveryId, limit + 1)
  return pageOf(rows.map(ownInstall), limit, ({ id }) => id)
}

const ownInstall = (row: Row): OwnInstall => {
  const asked = row.install.environment === 'production' ? row.liveScopes : row.headScopes
  return {
    ...installRecord(row.install, row.kind, row.resourceSlug),
    app: row.app,
    appName: row.appName,
    appStatus: row.appStatus,
    publisher: row.publisher,
    resourceName: row.resourceName,
    asked: asked === null ? null : parseStoredScope(asked),
  }
}
