import type { App, Queries, User } from '../../../db/database.ts'
import { PlatformError } from '../../domain/errors.ts'
import { maximumLifetimes } from '../../domain/lifetimes.ts'
import { timeKeyAt } from '../../domain/time-key.ts'
import { suspendApp, findHeir, transferTo } from '../apps/apps.ts'
import { decide, type OpenChange, type Operation } from '../decide.ts'
import { changeUser, refusalIfLastOperator, type UserEnded } from './users.ts'
import { personOf, type Whom } from './find-user.ts'

/** What happens to the apps of a user who is disabled. */
export type AppsChoice =
  { readonly kind: 'suspend' } | { readonly kind: 'keep' } | { readonly kind: 'transfer'; readonly email: string }

type Input = Whom & {
  readonly status: User['status']
  /** Of a user who is disabled. */
  readonly apps?: AppsChoice
}

/** `ended` has what was ended, and `stopped` what does not work while the user is disabled or the app is suspended. */
export type DisabledUser = {
  readonly user: User
  readonly ended: UserEnded['ended']
  readonly stopped: UserEnded['stopped'] & { readonly appTokens: number }
  /** The slugs of the user's apps; `suspended` by this call or before. */
  readonly apps: ReturnType<typeof placesOf>
}

/**
 * Disables or enables a user. Disabling ends the user's sessions and links. Grants stop working at once but are not revoked, so they
 * work again once the user is enabled. The same transaction suspends the user's apps, unless the choice is to keep or
 * transfer them. Enabling a user activates no app.
 * @throws invalid_request for an unknown address, the last operator, or a new owner who cannot own the apps; quota_exceeded
 */
export const setUserStatus: Operation<Input, DisabledUser> = async (platform, trace, actor, input) => {
  if (input.status === 'active') {
    return await decide(platform, trace, { actor }, async (change) => await enable(change, input))
  }
  const choice = input.apps ?? { kind: 'suspend' }
  return await decide(platform, trace, { actor, endsAccess: true }, async (change) => {
    const { q, now } = change
    const user = await personOf(q, input)
    if (user instanceof PlatformError) return user
    const canSignIn = user.isOperator && user.status === 'active'
    const last = canSignIn ? await refusalIfLastOperator(q, user.id) : null
    if (last !== null) return last
    const apps = await q.apps.listOwnedBy(user.id)
    const heir =
      choice.kind === 'transfer'
        ? await findHeir(q, platform.quotas, { email: choice.email, ownerId: user.id, apps: apps.length })
        : null
    if (heir instanceof PlatformError) return heir
    const left = placesOf(apps, choice.kind)
    const active = apps.filter(({ status }) => status === 'active')
    const appTokens = await countAppTokens(q, choice.kind === 'suspend' ? active : [], now)
    const { suspended, kept, transferred } = left
    const counts = { suspended: suspended.length, kept: kept.length, transferred: transferred.length }
    const about = { apps: { apps: choice.kind, ...counts, appTokens } }
    const changed = await changeUser(change, user, { status: 'disabled' }, about)
    // Each app that changes gets its own audit row.
    if (choice.kind === 'suspend') for (const app of active) await suspendApp(change, app)
    if (heir !== null) for (const app of apps) await transferTo(change, app, heir)
    return { ...changed, stopped: { ...changed.stopped, appTokens }, apps: left }
  })
}

const enable = async (change: OpenChange, whom: Whom): Promise<DisabledUser | PlatformError> => {
  const user = await personOf(change.q, whom)
  if (user instanceof PlatformError) return user
  const changed = await changeUser(change, user, { status: 'active' })
  const apps = placesOf(await change.q.apps.listOwnedBy(user.id), 'keep')
  return { ...changed, stopped: { ...changed.stopped, appTokens: 0 }, apps }
}

/** The slugs of the apps after the choice. */
const placesOf = (apps: readonly App[], choice: AppsChoice['kind']) => {
  const slugsOf = (status: App['status']) => apps.filter((app) => app.status === status).map(({ slug }) => slug)
  if (choice === 'transfer') return { suspended: [], kept: [], transferred: apps.map(({ slug }) => slug) }
  if (choice === 'suspend') return { suspended: apps.map(({ slug }) => slug), kept: [], transferred: [] }
  return { suspended: slugsOf('suspended'), kept: slugsOf('active'), transferred: [] }
}

/** How many tokens of these apps work. */
const countAppTokens = async (q: Queries, apps: readonly App[], now: number): Promise<number> => {
  const since = timeKeyAt(now - maximumLifetimes.appToken * 1000)
  const ids = apps.map(({ id }) => id)
  return ids.length === 0 ? 0 : await q.access.countAppTokens(ids, since, now)
}
