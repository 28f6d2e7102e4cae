import type { App } from '../../../db/database.ts'
import { typedAppName } from '../../domain/name.ts'
import { formatScope, parseStoredScope } from '../../domain/scope.ts'
import { badInput, decide, type OpenChange, type Operation, refuseFault } from '../decide.ts'
import { type AppRecord, appRecord, findApp } from './app-record.ts'
import { readScopes } from './create-app.ts'

type NewAppName = { readonly slug: string; readonly name: string }

/**
 * Gives an app another name, which the consent page shows from now on. The slug stays.
 * @throws invalid_request for a name that cannot be shown, or an unknown slug
 */
export const renameApp: Operation<NewAppName, AppRecord> = async (platform, trace, actor, input) => {
  const { name, fault } = typedAppName(input.name, platform.platformName)
  refuseFault('name', fault)
  return await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const app = await findApp(q, input.slug)
    if (app.name === name) return await appRecord(q, app)
    await q.apps.change(app.id, { name }, now)
    const detail = { from: app.name, to: name }
    await record({ action: 'app.renamed', appId: app.id, target: app.id, detail })
    return await appRecord(q, { ...app, name, updatedAt: now })
  })
}

type NewAppScopes = { readonly slug: string; readonly scopes: string }

/**
 * Sets the scopes that an app may ask for. Issued tokens and existing grants keep their scopes: a withdrawn scope is only
 * refused in new token requests, consents and versions.
 * @throws invalid_request for scopes that cannot be registered, or an unknown slug
 */
export const changeAppScopes: Operation<NewAppScopes, AppRecord> = async (platform, trace, actor, input) => {
  const asked = readScopes(input.scopes)
  refuseFault('scopes', asked.fault)
  const scopes = formatScope(asked.scopes)
  return await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const app = await findApp(q, input.slug)
    if (app.scopes === scopes) return await appRecord(q, app)
    const before = parseStoredScope(app.scopes)
    const detail = {
      added: asked.scopes.filter((name) => !before.includes(name)),
      withdrawn: before.filter((name) => !asked.scopes.includes(name)),
    }
    await q.apps.change(app.id, { scopes }, now)
    await record({ action: 'app.scopes_changed', appId: app.id, target: app.id, detail })
    return await appRecord(q, { ...app, scopes, updatedAt: now })
  })
}

type NewAppStatus = { readonly slug: string; readonly status: App['status'] }

/**
 * Suspends or activates an app. While it is suspended, none of its credentials and tokens works. None is revoked, so
 * those that have not expired work again once it is active.
 * @throws invalid_request for an unknown slug or a deleted app; for one whose publisher was erased, until it has another
 */
export const setAppStatus: Operation<NewAppStatus, AppRecord> = async (platform, trace, actor, input) => {
  const isSuspension = input.status === 'suspended'
  return await decide(platform, trace, { actor, endsAccess: isSuspension }, async (change) => {
    const { q, now, record } = change
    const app = await findApp(q, input.slug)
    if (app.status === input.status) return await appRecord(q, app)
    if (isSuspension) {
      await suspendApp(change, app)
    } else {
      // Of a deleted app the publisher can be erased, and then it can be undeleted.
      if ((await q.users.byId(app.ownerId))?.erasedAt !== null) return badInput('app', ownerErased)
      await q.apps.change(app.id, { status: 'active' }, now)
      await record({ action: 'app.activated', appId: app.id, target: app.id })
    }
    return await appRecord(q, { ...app, status: input.status, updatedAt: now })
  })
}

const ownerErased = 'The publisher of this app was erased: transfer it to another user first.'

/** Suspends an active app inside a transaction. */
export const suspendApp = async ({ q, now, record }: OpenChange, app: App): Promise<void> => {
  await q.apps.change(app.id, { status: 'suspended' }, now)
  await record({ action: 'app.suspended', appId: app.id, target: app.id })
}
