import type { App, Queries, User } from '../../../db/database.ts'
import { environments, isUndeletable } from '../../domain/app.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { clientId, recordId } from '../../domain/identifier.ts'
import type { Quotas } from '../../domain/limits.ts'
import { slugFormFault, typedAppName } from '../../domain/name.ts'
import { readScopeNames, type ScopeName, parseStoredScope, scopeWords } from '../../domain/scope.ts'
import { checkingFirst } from '../acting-as.ts'
import type { AuditFacts } from '../audit/event.ts'
import { badInput, decide, type Operation, refusalOfFaults, type OpenChange, refuseFault } from '../decide.ts'
import type { Platform } from '../platform.ts'
import { findUser, noUserAt, personOf } from '../users/find-user.ts'
import { type AppRecord, appRecord, findApp, findAnyApp } from './app-record.ts'
import { type AppWithoutAccess, endIssued } from '../end-access.ts'
import { registration } from '../scopes/scopes.ts'

type NewApp = ({ readonly ownerEmail: string } | { readonly ownerId: string }) & {
  readonly name: string
  readonly slug: string
  readonly scopes: string
  /** The name that everybody reads as that of its publisher; empty or omitted for none. */
  readonly publisher?: string | undefined
}

/**
 * Registers an app for an active user. It has a client ID in each environment and no secret yet.
 * @throws invalid_request, quota_exceeded, scope_not_available
 */
export const createApp: Operation<NewApp, AppRecord> = async (platform, trace, actor, input) => {
  const { name, fault } = typedAppName(input.name, platform.platformName)
  const asked = readScopes(input.scopes)
  const published = typedPublisher(platform, input.publisher ?? '')
  const faults = { name: fault, publisher: published.fault, slug: slugFault(input.slug), scopes: asked.fault }
  if (Object.values(faults).some((fault) => fault !== null)) {
    // A slug that is taken alone is refused in the transaction.
    const isTaken = faults.slug === null && (await platform.database.queries.apps.bySlug(input.slug)) !== null
    throw refusalOfFaults({ ...faults, ...(isTaken ? { slug: slugTaken } : {}) })
  }
  const now = platform.clock.now()
  const id = recordId('app_', platform.random.uuid(now))
  const clients = environments.map((environment) => ({
    id: clientId(environment, platform.random.bytes(16)),
    appId: id,
    environment,
    createdAt: now,
  }))

  return await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    const owner = await personOf(q, 'ownerId' in input ? { userId: input.ownerId } : { email: input.ownerEmail })
    if (owner instanceof PlatformError || owner.status !== 'active')
      return badInput('owner', 'There is no active user with this address.')
    const overQuota = await refusalIfQuotaFull(q, platform.quotas, owner.id)
    if (overQuota !== null) return overQuota
    if ((await q.apps.bySlug(input.slug)) !== null) return badInput('slug', slugTaken)
    const registered = await registration(q, null, asked.scopes)
    if (registered instanceof PlatformError) return registered
    const app: App = {
      id,
      ownerId: owner.id,
      name,
      slug: input.slug,
      status: 'active',
      ...registered,
      givenScopes: '',
      lostScopes: null,
      developmentVersionId: null,
      lastVersionNumber: 0,
      secretsRollBack: true,
      publisher: published.publisher,
      isListed: true,
      description: null,
      deletedAt: null,
      createdAt: now,
      updatedAt: now,
    }
    await q.apps.insert(app)
    for (const client of clients) await q.apps.insertClient(client)
    const detail = { ownerId: owner.id, scopes: app.scopes }
    await record({ action: 'app.created', appId: id, target: id, detail })
    return await appRecord(q, app)
  })
}

const slugFault = (slug: string): string | null => {
  const fault = slugFormFault(slug)
  if (fault !== null) return fault
  // The console's page for a new app has this path.
  return slug === 'new' ? 'This slug is reserved.' : null
}

const slugTaken = 'This slug is taken.'

/**
 * The refusal when `more` apps would exceed the account's quota (QUOTA_APPS); null when they fit. Deleted apps do not count until
 * there are as many: with their artifacts they are stored for 7 more days. `added` are new to the
 * account. Call it in the transaction that gives the account the apps.
 */
const refusalIfQuotaFull = async (q: Queries, quotas: Quotas, ownerId: string, more = 1, added = more) => {
  const { live, all } = await q.apps.countOwnedBy(ownerId)
  if (live + more <= quotas.apps && all + added <= 2 * quotas.apps) return null
  const most = quotas.apps === 0 ? 'No account can have an app' : `An account can have at most ${quotas.apps} apps`
  const message =
    live + more > quotas.apps
      ? `${most}: an operator can delete or transfer one, or raise QUOTA_APPS.`
      : `${most}, and as many that were deleted in the last 7 days. Wait until some of them are removed.`
  return refuse('quota_exceeded', { param: 'owner', details: { maximum: quotas.apps }, message })
}

/** The scopes that an app asks to register, or why they cannot be registered. */
const readScopes = (text: string): { readonly scopes: readonly ScopeName[]; readonly fault: string | null } => {
  if (text.trim() === '') return { scopes: [], fault: 'Choose at least one scope.' }
  const parsed = readScopeNames(scopeWords(text))
  return parsed.kind === 'scopes' ? { scopes: parsed.scopes, fault: null } : { scopes: [], fault: parsed.message }
}

/** Gives an app these values and records it, unless it has them. Answers with the app as it is then. */
const changeApp = async (
  { q, now, record }: OpenChange,
  app: App,
  to: Parameters<Queries['apps']['change']>[1],
  told: Pick<AuditFacts, 'action' | 'detail'>,
): Promise<App> => {
  const after = { ...app, ...to }
  if (Bun.deepEquals(after, app)) return app
  await q.apps.change(app.id, to, now)
  await record({ ...told, appId: app.id, target: app.id })
  return { ...after, updatedAt: now }
}

type NewAppName = { readonly slug: string; readonly name: string }

/**
 * Gives an app another name, which the consent page shows from now on. The slug stays.
 * @throws invalid_request for a name that cannot be shown, or an unknown slug
 */
export const renameApp: Operation<NewAppName, AppRecord> = async (platform, trace, actor, input) => {
  const { name, fault } = typedAppName(input.name, platform.platformName)
  refuseFault('name', fault)
  return await decide(platform, trace, { actor }, async (change) => {
    const app = await findApp(change.q, input.slug)
    const detail = { from: app.name, to: name }
    return await appRecord(change.q, await changeApp(change, app, { name }, { action: 'app.renamed', detail }))
  })
}

/** A publisher as a person has typed it; null for none. An app must not look as if the platform had published it. */
const typedPublisher = ({ platformName }: Platform, text: string) => {
  if (text.trim() === '') return { publisher: null, fault: null }
  const { name, fault } = typedAppName(text, platformName, 'A publisher')
  return { publisher: name, fault }
}

type NewPublisher = { readonly slug: string; readonly publisher: string }

/**
 * Sets the name that everybody reads as that of the publisher of an app. Without one, it is not said to people who are not signed in.
 * @throws invalid_request for a name that cannot be shown, or an unknown slug
 */
export const setPublisher: Operation<NewPublisher, AppRecord> = async (platform, trace, actor, input) => {
  const { publisher, fault } = typedPublisher(platform, input.publisher)
  refuseFault('publisher', fault)
  return await decide(platform, trace, { actor }, async (change) => {
    const app = await findApp(change.q, input.slug)
    const told = { action: 'app.publisher_changed', detail: { from: app.publisher, to: publisher } } as const
    return await appRecord(change.q, await changeApp(change, app, { publisher }, told))
  })
}

type Listing = { readonly slug: string; readonly isListed: boolean }

/**
 * Hides an app from the directory, or shows it there again. It still works, and people can install it by a link.
 * @throws invalid_request for an unknown slug
 */
export const setListed: Operation<Listing, AppRecord> = async (platform, trace, actor, { slug, isListed }) =>
  await decide(platform, trace, { actor }, async (change) => {
    const app = await findApp(change.q, slug)
    const action = isListed ? 'app.listed' : 'app.hidden'
    return await appRecord(change.q, await changeApp(change, app, { isListed }, { action }))
  })

type NewAppScopes = { readonly slug: string; readonly scopes: string }

/**
 * Sets the scopes that an app may ask for. Issued tokens and existing grants keep their scopes: a withdrawn scope is only
 * refused in new token requests, consents and versions.
 * @throws invalid_request for scopes that do not exist, or an unknown slug; scope_not_available for a restricted one that the app was not given
 */
export const changeAppScopes: Operation<NewAppScopes, AppRecord> = async (platform, trace, actor, input) => {
  const asked = readScopes(input.scopes)
  refuseFault('scopes', asked.fault)
  return await decide(platform, trace, { actor }, async (change) => {
    const { q } = change
    const app = await findApp(q, input.slug)
    const registered = await registration(q, app, asked.scopes)
    if (registered instanceof PlatformError) return registered
    if (app.scopes === registered.scopes) return await appRecord(q, app)
    const before = parseStoredScope(app.scopes)
    const detail = {
      added: asked.scopes.filter((name) => !before.includes(name)),
      withdrawn: before.filter((name) => !asked.scopes.includes(name)),
    }
    return await appRecord(q, await changeApp(change, app, registered, { action: 'app.scopes_changed', detail }))
  })
}

type RollbackRule = { readonly slug: string; readonly areAllowed: boolean }

/**
 * Decides whether development secrets may roll back production of an app. Members can do so in the console either way.
 * @throws invalid_request for an unknown slug
 */
export const letSecretsRollBack: Operation<RollbackRule, AppRecord & Pick<App, 'secretsRollBack'>> = async (
  platform,
  trace,
  actor,
  { slug, areAllowed: secretsRollBack },
) =>
  await decide(platform, trace, { actor, endsAccess: !secretsRollBack }, async (change) => {
    const app = await findApp(change.q, slug)
    const action = secretsRollBack ? 'app.rollback_allowed' : 'app.rollback_refused'
    return {
      ...(await appRecord(change.q, await changeApp(change, app, { secretsRollBack }, { action }))),
      secretsRollBack,
    }
  })

type NewAppStatus = { readonly slug: string; readonly status: App['status'] }

/**
 * Suspends or activates an app. While it is suspended, none of its credentials and tokens works. None is revoked, so
 * those that have not expired work again once it is active.
 * @throws invalid_request for an unknown slug or a deleted app; for one whose publisher was erased, until it has another
 */
export const setAppStatus: Operation<NewAppStatus, AppRecord> = async (platform, trace, actor, input) => {
  const isSuspension = input.status === 'suspended'
  return await decide(platform, trace, { actor, endsAccess: isSuspension }, async (change) => {
    const { q } = change
    const app = await findApp(q, input.slug)
    if (isSuspension) return await appRecord(q, await suspendApp(change, app))
    if (app.status === 'active') return await appRecord(q, app)
    // Of a deleted app the publisher can be erased, and then it can be undeleted.
    if ((await q.users.byId(app.ownerId))?.erasedAt !== null) return badInput('app', ownerErased)
    return await appRecord(q, await changeApp(change, app, { status: 'active' }, { action: 'app.activated' }))
  })
}

const ownerErased = 'The publisher of this app was erased: transfer it to another user first.'

/** Suspends an app inside a transaction. */
export const suspendApp = async (change: OpenChange, app: App): Promise<App> =>
  await changeApp(change, app, { status: 'suspended' }, { action: 'app.suspended' })

type AppTransfer = { readonly slug: string; readonly email: string }

/**
 * Gives an app to another active user. Its secrets stay valid, and the previous owner may still know them.
 * @throws invalid_request for an unknown slug or address, a disabled user, or a deleted app; quota_exceeded
 */
export const transferApp: Operation<AppTransfer, AppRecord> = async (platform, trace, actor, input) => {
  return await decide(platform, trace, { actor }, async (change) => {
    const { q } = change
    const app = await findApp(q, input.slug)
    const heir = await findHeir(q, platform.quotas, { email: input.email, ownerId: app.ownerId, apps: 1 })
    if (heir instanceof PlatformError) return heir
    return await appRecord(q, await transferTo(change, app, heir))
  })
}

/** The active user with this address, who is not the owner and whose quota has room for `apps` more, or the refusal. */
export const findHeir = async (
  q: Queries,
  quotas: Quotas,
  { email, ownerId, apps }: { readonly email: string; readonly ownerId: string; readonly apps: number },
): Promise<User | PlatformError> => {
  const heir = await findUser(q, email)
  if (heir === null) return noUserAt(email, 'to')
  if (heir.status !== 'active' || heir.id === ownerId) {
    return badInput('to', `${heir.email} cannot own this: the new owner must be another user, and active.`)
  }
  return (await refusalIfQuotaFull(q, quotas, heir.id, apps)) ?? heir
}

/** Changes the owner inside a transaction that has found the heir with `findHeir`. What the previous owner offered ends, and every offer of the app. */
export const transferTo = async (change: OpenChange, app: App, heir: User): Promise<App> => {
  const { q, now } = change
  const told = { action: 'app.transferred', detail: { from: app.ownerId, to: heir.id } } as const
  const given = await changeApp(change, app, { ownerId: heir.id, publisher: null }, told) // who does not publish under that name
  await q.appMembers.end(app.id, heir.id, now) // whose membership is in the row of the app from now on
  await q.appInvitations.endAll(app.id, { by: app.ownerId }, now)
  await q.appInvitations.endOffers(app.id, now) // or an older one would take the app from its new owner
  return given
}

/**
 * Deletes an app. It is suspended and hidden at once and its webhooks stop; then everything issued for it ends. It can be
 * undeleted for 7 days; after that the purge removes it. If the deletion was interrupted, repeat it to end the rest.
 * @throws invalid_request for an unknown slug
 */
export const deleteApp: Operation<string, AppWithoutAccess> = async (platform, trace, actor, slug) => {
  const app = await decide(platform, trace, { actor, endsAccess: true }, async ({ q, now, record }) => {
    const found = await findAnyApp(q, slug)
    if (found.deletedAt !== null) return await appRecord(q, found)
    await q.apps.setDeleted(found.id, now, now)
    const detail = { slug: found.slug, status: found.status }
    await record({ action: 'app.deleted', appId: found.id, target: found.id, detail })
    return await appRecord(q, { ...found, status: 'suspended', deletedAt: now, updatedAt: now })
  })
  return { app, ended: await endIssued(whileDeleted(platform, app.id), trace, actor, { kind: 'app', appId: app.id }) }
}

/** The platform whose every transaction refuses unless the app is deleted: what is issued after it was brought back must not end. */
const whileDeleted = (platform: Platform, appId: string): Platform =>
  checkingFirst(platform, () => ({
    each: async (q) => ((await q.apps.byId(appId))?.deletedAt === null ? badInput('app', notDeleted) : null),
  }))

const notDeleted = 'This app is not deleted.'

/**
 * Undeletes an app; it stays suspended. Everything that was issued for it stays ended, and is ended here first if the
 * deletion was interrupted.
 * @throws invalid_request for an unknown slug, an app that is not deleted, or was deleted more than 7 days ago;
 *   quota_exceeded
 */
export const undeleteApp: Operation<string, AppRecord> = async (platform, trace, actor, slug) => {
  const { id, deletedAt } = await findAnyApp(platform.database.queries, slug)
  if (deletedAt === null) throw badInput('app', notDeleted)
  await endIssued(whileDeleted(platform, id), trace, actor, { kind: 'app', appId: id })
  return await decide(platform, trace, { actor }, async ({ q, now, record }) => {
    const app = await findAnyApp(q, slug)
    if (app.deletedAt === null) return badInput('app', notDeleted)
    if (!isUndeletable(app.deletedAt, now)) return badInput('app', tooLate)
    const overQuota = await refusalIfQuotaFull(q, platform.quotas, app.ownerId, 1, 0)
    if (overQuota !== null) return overQuota
    await q.apps.setDeleted(app.id, null, now)
    await record({ action: 'app.undeleted', appId: app.id, target: app.id })
    return await appRecord(q, { ...app, deletedAt: null, updatedAt: now })
  })
}

const tooLate = 'This app was deleted more than 7 days ago and cannot be brought back.'
