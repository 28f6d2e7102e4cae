import type { App, Queries } from '../../../db/database.ts'
import { environments } from '../../domain/app.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { clientId, recordId } from '../../domain/identifier.ts'
import type { Quotas } from '../../domain/limits.ts'
import { isSlug, typedAppName } from '../../domain/name.ts'
import { formatScope, parseScope, type ScopeName } from '../../domain/scope.ts'
import { badInput, decide, type Operation, refusalOfFaults } from '../decide.ts'
import { findUser } from '../users/find-user.ts'
import { type AppRecord, appRecord } from './app-record.ts'

type NewApp = {
  readonly ownerEmail: string
  readonly name: string
  readonly slug: string
  readonly scopes: string
}

/**
 * Registers an app for an active user. It has a client ID in each environment and no secret yet.
 * @throws invalid_request, quota_exceeded
 */
export const createApp: Operation<NewApp, AppRecord> = async (platform, trace, actor, input) => {
  const { name, fault } = typedAppName(input.name, platform.platformName)
  const asked = readScopes(input.scopes)
  const faults = { name: fault, slug: slugFault(input.slug), scopes: asked.fault }
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
    const owner = await findUser(q, input.ownerEmail)
    if (owner === null || owner.status !== 'active')
      return badInput('owner', 'There is no active user with this address.')
    const overQuota = await refusalIfQuotaFull(q, platform.quotas, owner.id)
    if (overQuota !== null) return overQuota
    if ((await q.apps.bySlug(input.slug)) !== null) return badInput('slug', slugTaken)
    const app: App = {
      id,
      ownerId: owner.id,
      name,
      slug: input.slug,
      status: 'active',
      scopes: formatScope(asked.scopes),
      developmentVersionId: null,
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
  if (!isSlug(slug)) return 'A slug has 1 to 63 characters: a-z, 0-9, and hyphens inside.'
  // The console's page for a new app has this path.
  return slug === 'new' ? 'This slug is reserved.' : null
}

const slugTaken = 'This slug is taken.'

/**
 * The refusal when `more` apps would exceed the account's quota (QUOTA_APPS); null when they fit. Deleted apps do not count until
 * there are as many: with their artifacts they are stored for 7 more days. `added` are new to the
 * account. Call it in the transaction that gives the account the apps.
 */
export const refusalIfQuotaFull = async (
  q: Queries,
  quotas: Quotas,
  ownerId: string,
  more = 1,
  added = more,
): Promise<PlatformError | null> => {
  const { live, all } = await q.apps.countOwnedBy(ownerId)
  if (live + more <= quotas.apps && all + added <= 2 * quotas.apps) return null
  const most = `An account can have at most ${quotas.apps} apps`
  const message =
    live + more > quotas.apps
      ? `${most}: an operator can delete or transfer one, or raise QUOTA_APPS.`
      : `${most}, and as many that were deleted in the last 7 days. Wait until some of them are removed.`
  return refuse('quota_exceeded', { param: 'owner', details: { maximum: quotas.apps }, message })
}

/** The scopes that an app asks to register, or why they cannot be registered. */
export const readScopes = (text: string): { readonly scopes: readonly ScopeName[]; readonly fault: string | null } => {
  if (text.trim() === '') return { scopes: [], fault: 'Choose at least one scope.' }
  const parsed = parseScope(text)
  return parsed.kind === 'scopes' ? { scopes: parsed.scopes, fault: null } : { scopes: [], fault: parsed.message }
}
