// Installs as the builder sees and decides them.

import type { Install } from '../../../db/database.ts'
import { refuse } from '../../domain/errors.ts'
import { installSteps, type InstallStep } from '../../domain/install.ts'
import type { Actor } from '../audit/event.ts'
import { beyondEveryId, pageOf, type PageRequest } from '../page.ts'
import type { Platform, Trace } from '../platform.ts'
import { moveInstall } from './move-install.ts'
import { pick } from '../../domain/pick.ts'

type Asked = { readonly approval: Install['approval'] | null; readonly userExternalId: string | null }

/** Installs of apps that are not deleted, newest first. */
export const listBuilderInstalls = async ({ database }: Platform, asked: Asked, page: PageRequest) => {
  const q = database.queries
  const user = asked.userExternalId === null ? null : await q.users.byExternalId(asked.userExternalId)
  if (asked.userExternalId !== null && user === null) return { data: [], nextCursor: null }
  const of = { approval: asked.approval, userId: user?.id ?? null }
  const rows = await q.builderInstalls.forBuilder(of, page.cursor ?? beyondEveryId, page.limit + 1)
  return pageOf(rows.map(builderInstall), page.limit, ({ id }) => id)
}

type Row = Awaited<ReturnType<Platform['database']['queries']['builderInstalls']['forBuilder']>>[number]

/** An install as the builder sees it. */
export type BuilderInstall = ReturnType<typeof builderInstall>

const builderInstall = ({ install, app, ...place }: Row) => ({
  id: install.id,
  appId: install.appId,
  app: app.slug,
  appName: app.name,
  environment: install.environment,
  ...place,
  scope: install.scopes,
  ...pick(install, 'approval', 'state', 'createdAt', 'updatedAt'),
})

/**
 * Takes a step of an install for the builder.
 * @throws record_not_found, version_not_eligible when the install is not in the state in which the step starts
 */
export const moveBuilderInstall = async (
  platform: Platform,
  trace: Trace,
  actor: Actor,
  { id, step }: { readonly id: string; readonly step: Exclude<InstallStep, 'withdraw'> },
): Promise<BuilderInstall> => {
  const { installs, builderInstalls } = platform.database.queries
  const before = await installs.find(id)
  if (before === null) throw refuse('record_not_found', { param: 'id' })
  if (!isTaken(before.install, step)) {
    const { from } = installSteps[step]
    const { approval, state } = before.install
    if (approval !== from.approval || state !== from.state)
      throw refuse('version_not_eligible', { message: otherState })
    await moveInstall(platform, trace, actor, { id, step })
  }
  const [row] = await builderInstalls.forBuilder({ id }, beyondEveryId, 1)
  if (row === undefined) throw refuse('record_not_found', { param: 'id' })
  return builderInstall(row)
}

const otherState = 'The state of the install does not allow this.'

/** A repeated call changes nothing. */
const isTaken = ({ approval, state }: Install, step: 'approve' | 'reject' | 'deactivate'): boolean => {
  switch (step) {
    case 'approve':
      return approval === 'approved' && state === 'active'
    case 'reject':
      return approval === 'rejected'
    default:
      return approval === 'approved' && state === 'inactive'
  }
}
