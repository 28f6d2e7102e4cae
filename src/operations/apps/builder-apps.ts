// Apps of users as the builder hands them over or deletes them, before it erases a person. A service key never reaches those of operators.
import type { App, Queries, User } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { pick } from '../../domain/pick.ts'
import { checkingFirst } from '../acting-as.ts'
import { decide, type Operation } from '../decide.ts'
import type { Platform } from '../platform.ts'
import { ordinaryUser } from '../users/users.ts'
import { deleteApp, findHeir, transferTo } from './apps.ts'

/** An app as the builder sees it. */
type BuilderApp = ReturnType<typeof builderApp>

const builderApp = (app: App, owner: Pick<User, 'externalId'>) => ({
  ...pick(app, 'id', 'slug', 'name', 'status'),
  ownerExternalId: owner.externalId,
  ...pick(app, 'createdAt', 'deletedAt'),
})

/** The apps that belong to a user, by slug. @throws record_not_found for an unknown user */
export const listBuilderApps = async ({ database: { queries: q } }: Platform, ownerExternalId: string) => {
  const owner = await q.users.byExternalId(ownerExternalId)
  if (owner === null) throw refuse('record_not_found', { param: 'ownerExternalId' })
  return (await q.apps.listOwnedBy(owner.id)).map((app) => builderApp(app, owner))
}

/** An app that is not deleted, with its owner, who is no operator. */
const ordinaryApp = async (q: Queries, slug: string) => {
  const app = await q.apps.bySlug(slug)
  if (app === null || app.deletedAt !== null) return refuse('record_not_found', { param: 'app' })
  const owner = await q.users.byId(app.ownerId)
  if (owner === null) return refuse('record_not_found', { param: 'app' })
  return owner.isOperator ? refuse('operator_protected') : { app, owner }
}

/**
 * Gives the app to another active user. Repeated, it changes nothing.
 * @throws record_not_found, operator_protected if either of them is an operator, invalid_request for a disabled user, quota_exceeded
 */
export const transferBuilderApp: Operation<
  { readonly slug: string; readonly toExternalId: string },
  BuilderApp
> = async (platform, trace, actor, { slug, toExternalId }) =>
  await decide(platform, trace, { actor }, async (change) => {
    const { q } = change
    const found = await ordinaryApp(q, slug)
    if (found instanceof PlatformError) return found
    const to = await ordinaryUser(q, toExternalId)
    if (to instanceof PlatformError) {
      return to.code === 'record_not_found' ? refuse('record_not_found', { param: 'toExternalId' }) : to
    }
    const { app } = found
    if (to.id === app.ownerId) return builderApp(app, to)
    const heir = await findHeir(q, platform.quotas, { email: to.email, ownerId: app.ownerId, apps: 1 })
    if (heir instanceof PlatformError) return heir
    return builderApp(await transferTo(change, app, heir), heir)
  })

/** Deletes the app and ends all that was issued for it. @throws record_not_found, operator_protected */
export const deleteBuilderApp: Operation<string, BuilderApp> = async (platform, trace, actor, slug) => {
  const first = async (q: Queries) => {
    const found = await ordinaryApp(q, slug)
    return found instanceof PlatformError ? found : null
  }
  const refusal = await first(platform.database.queries)
  if (refusal !== null) throw refusal
  const sparing = checkingFirst(platform, () => ({ each: async () => null, first }))
  const { app } = await deleteApp(sparing, trace, actor, slug)
  const { queries: q } = platform.database
  const [row, owner] = [await q.apps.byId(app.id), await q.users.byId(app.ownerId)]
  if (row === null || owner === null) throw refuse('record_not_found', { param: 'app' })
  return builderApp(row, owner)
}
