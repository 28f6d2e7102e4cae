import type { VersionStatus, VersionStep } from '../../../src/domain/version.ts'
import { listRollbacks } from '../../../src/operations/versions/lists.ts'
import { moveVersion } from '../../../src/operations/versions/move-version.ts'
import { call } from '../../support/call.ts'
import { operator, trace } from '../../support/operator.ts'
import type { World } from '../../support/world.ts'
import { freshApp, type RealApp } from './lifecycle-world.ts'

export const take = async (
  { platform, slug }: RealApp,
  version: string,
  ...steps: readonly VersionStep[]
): Promise<void> => {
  for (const step of steps) {
    const rejection = step === 'reject' ? { message: 'No.', items: [] } : null
    await moveVersion(platform, trace, operator, { slug, version, step, rejection })
  }
}

export const create = async (app: RealApp, version: string, notes = 'First') =>
  await call(app.url, 'POST', '/versions', { token: app.token, body: { version, notes } })

export const rollBack = async (
  app: RealApp,
  version: string,
  environment: 'development' | 'production' = 'production',
) => await call(app.url, 'POST', '/versions/rollback', { token: app.token, body: { version, environment } })

/** How 1.0.0 comes to each status. */
const ways = {
  draft: [],
  submitted: ['submit'],
  approved: ['submit', 'approve'],
  rejected: ['submit', 'reject'],
  active: ['submit', 'approve', 'activate'],
  superseded: ['submit', 'approve', 'activate'],
} as const satisfies Record<VersionStatus, readonly VersionStep[]>

/** A fresh app whose version 1.0.0 is in this status. Something else is live then only where it has to be. */
export const appWith = async (world: World, status: VersionStatus): Promise<RealApp> => {
  const app = await freshApp(world)
  await create(app, '1.0.0')
  await take(app, '1.0.0', ...ways[status])
  if (status !== 'superseded') return app
  await create(app, '2.0.0')
  await take(app, '2.0.0', 'submit', 'approve', 'activate')
  return app
}

/** Everything that a step could change: versions, head, ledger and audit events of versions. */
export const everything = async ({ platform, id }: RealApp) => {
  const q = platform.database.queries
  const events = await q.audit.list({ appId: id, since: 0, limit: 1000 })
  return {
    app: await q.apps.byId(id),
    versions: await q.versions.list(id, null, Number.MAX_SAFE_INTEGER, 100),
    ledger: (await listRollbacks(platform, id, { limit: 1_000, cursor: null })).data,
    trail: events.filter(({ action, outcome }) => action.startsWith('version.') && outcome === 'done'),
  }
}

export const rowOf = async ({ platform, id }: RealApp, version = '1.0.0') => {
  const row = await platform.database.queries.versions.byName(id, version)
  if (row === null) throw new Error(`there is no version ${version}`)
  return row
}
