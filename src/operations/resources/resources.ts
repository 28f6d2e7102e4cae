// Websites and stores as the builder sends them, one at a time.
import type { Queries, Resource } from '../../../db/database.ts'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import { environmentOfClient, recordId } from '../../domain/identifier.ts'
import { statedName } from '../../domain/entered-name.ts'
import { isSlug, slugFormFault } from '../../domain/name.ts'
import { pick } from '../../domain/pick.ts'
import type { ResourceKind, ResourceStatus } from '../../domain/resource.ts'
import { badInput, decide, type OpenChange, type Operation, refuseFault } from '../decide.ts'
import { installRequired, toldOf } from '../installs/installs.ts'
import { pageOf, type PageRequest, searchPage, strangeCursor } from '../page.ts'
import type { Platform } from '../platform.ts'
import { refuseStrangeId } from '../users/users.ts'
import { andThen } from '../../domain/awaitable.ts'
import type { ScopeName } from '../../domain/scope.ts'
import type { EmbeddedCaller, UserCaller } from '../authenticate.ts'

/** A website or store as the builder sees it. */
type BuilderResource = ReturnType<typeof builderResource>

const builderResource = (row: Resource, ownerExternalId: string | null) => ({
  kind: row.kind,
  externalId: row.externalId,
  ownerExternalId,
  ...pick(row, 'name', 'slug', 'status', 'createdAt', 'updatedAt', 'publishedAt'),
})

type Named = { readonly kind: ResourceKind; readonly externalId: string }

type StatedResource = Named & {
  readonly ownerExternalId: string
  readonly name: string
  readonly slug: string
  readonly status: ResourceStatus
  /** Epoch milliseconds; null: now, or as stored. */
  readonly createdAt: number | null
  readonly updatedAt: number | null
}

/**
 * Creates the website or store of this external ID, or replaces what is stored. Repeated, it changes nothing. One that was
 * imported without an external ID is recognised by owner, kind and slug. A change of owner ends the installs on it.
 * @throws invalid_request, slug_taken
 */
export const putBuilderResource: Operation<
  StatedResource,
  { readonly resource: BuilderResource; readonly created: boolean }
> = async (platform, trace, actor, stated) => {
  refuseStrangeId('externalId', stated.externalId)
  refuseFault('slug', slugFormFault(stated.slug))
  const { createdAt, updatedAt } = stated
  if (createdAt !== null && updatedAt !== null && updatedAt < createdAt) {
    throw badInput('updatedAt', 'updatedAt is before createdAt.')
  }
  const now = platform.clock.now()
  const id = recordId('res_', platform.random.uuid(now))
  return await decide(platform, trace, { actor, now, kind: 'guarded' }, async (change) => {
    const { q, record } = change
    const owner = await q.users.byExternalId(stated.ownerExternalId)
    if (owner === null) return badInput('ownerExternalId', 'There is no user with this external ID.')
    const known = await q.resources.byExternalId(stated.kind, stated.externalId)
    const namesake = await q.resources.find(owner.id, stated.kind, stated.slug)
    const before = known ?? (namesake?.externalId === null ? namesake : null)
    if (namesake !== null && namesake.id !== before?.id) return refuse('slug_taken', { param: 'slug' })
    const after = rowOf(stated, before, { id, ownerId: owner.id, now })
    if (before === null) {
      await q.resources.insert(after)
      await record({ action: 'resource.created', target: id, detail: { kind: stated.kind } })
    } else if (isChanged(before, after, stated)) {
      await q.resources.replace(after)
      const isKept = before.ownerId === after.ownerId
      const settled = await settleInstalls(change, isKept ? { changed: [after.id] } : { handedOver: [before] })
      const installs = settled.get(before.id) ?? 0
      await record({ action: 'resource.changed', target: before.id, detail: { kind: stated.kind, installs } })
    }
    const resource = builderResource(
      before === null || isChanged(before, after, stated) ? after : before,
      owner.externalId,
    )
    return { resource, created: before === null }
  })
}

const rowOf = (
  stated: StatedResource,
  before: Resource | null,
  { id, ownerId, now }: { readonly id: string; readonly ownerId: string; readonly now: number },
): Resource => {
  const { kind, externalId, slug, status } = stated
  const name = statedName(stated.name, slug)
  // What is not stated gives way, so that no record was changed before it was made.
  const createdAt = stated.createdAt ?? Math.min(before?.createdAt ?? now, stated.updatedAt ?? Infinity)
  const updatedAt = stated.updatedAt ?? Math.max(now, createdAt)
  const kept = status === 'draft' ? null : (before?.publishedAt ?? null)
  const publishedAt = kept ?? (status === 'published' ? updatedAt : null)
  return {
    id: before?.id ?? id,
    ownerId,
    kind,
    externalId,
    name,
    slug,
    status,
    createdAt,
    updatedAt,
    publishedAt,
    deletedAt: null,
  }
}

const compared = ['ownerId', 'externalId', 'name', 'slug', 'status', 'createdAt', 'deletedAt'] as const
const isChanged = (before: Resource, after: Resource, { updatedAt }: StatedResource): boolean =>
  compared.some((field) => before[field] !== after[field]) || (updatedAt ?? before.updatedAt) !== before.updatedAt

/** A website or store as events name it. */
export type ToldPlace = Pick<Resource, 'id' | 'kind' | 'externalId'>

const placesAtOnce = 1_000

/** What has happened to websites and stores. */
type Fates = {
  readonly removed?: readonly ToldPlace[]
  /** They have got another owner. */
  readonly handedOver?: readonly ToldPlace[]
  /** IDs of those that have changed for their owner. */
  readonly changed?: readonly string[]
}

/**
 * Ends every install on websites and stores that were removed or handed over, undecided ones too, and tells the apps that work there
 * or on changed ones. Returns how many installs have ended on each.
 */
export const settleInstalls = async ({ q, now, record, tell }: OpenChange, fates: Fates) => {
  const { removed = [], handedOver = [], changed = [] } = fates
  const counts = new Map<string, number>()
  const news: { readonly appId: string; readonly write: () => Promise<void> }[] = []
  for (const place of [...removed, ...handedOver]) {
    const ended = await q.builderInstalls.endOn(place.id, now)
    counts.set(place.id, ended.length)
    for (const { id, appId, environment, was, userId } of ended) {
      const action = `install.${was === 'pending' ? 'withdrawn' : 'deactivated'}` as const
      const told = toldOf(userId, place)
      const isGone = was !== 'pending' && removed.includes(place)
      const gone = { kind: 'resource.removed', data: { installId: id, ...told } } as const
      const write = async () => {
        await record({ action, appId, environment, target: id, told })
        if (isGone) await tell({ appId, environment }, gone)
      }
      news.push({ appId, write })
    }
  }
  for (let start = 0; start < changed.length; start += placesAtOnce) {
    const live = await q.builderInstalls.liveOn(changed.slice(start, start + placesAtOnce))
    for (const { id, appId, environment, userId, ...place } of live) {
      const data = { installId: id, ...toldOf(userId, place) }
      news.push({ appId, write: async () => await tell({ appId, environment }, { kind: 'resource.updated', data }) })
    }
  }
  // After all rows, and in one order: an event that is announced locks the client of its app.
  for (const { write } of news.toSorted((a, b) => (a.appId < b.appId ? -1 : 1))) await write()
  return counts
}

/**
 * Removes a website or store: its installs end, its name and slug are forgotten, and only its ID stays for the audit log.
 * @throws record_not_found
 */
export const deleteBuilderResource: Operation<Named, { readonly installs: number }> = async (
  platform,
  trace,
  actor,
  { kind, externalId },
) =>
  await decide(platform, trace, { actor, kind: 'guarded', endsAccess: true }, async (change) => {
    const found = await change.q.resources.byExternalId(kind, externalId)
    return found === null ? unknownResource() : { installs: await removeResources(change, [found]) }
  })

export const unknownResource = (): PlatformError => refuse('record_not_found', { param: 'externalId' })

export const totalOf = (counts: ReadonlyMap<string, number>): number =>
  counts.values().reduce((sum, count) => sum + count, 0)

/** Removes these. Returns how many installs ended. */
export const removeResources = async (change: OpenChange, rows: readonly Resource[]): Promise<number> => {
  const { q, now, record } = change
  for (const { id } of rows) await q.resources.forget(id, now) // first: no install can come to it from then on
  const ended = await settleInstalls(change, { removed: rows })
  for (const { id, kind } of rows) {
    await record({ action: 'resource.deleted', target: id, detail: { kind, installs: ended.get(id) } })
  }
  return totalOf(ended)
}

/** The website or store of an external ID; null if there is none. */
export const findBuilderResource = async (
  { database }: Platform,
  { kind, externalId }: Named,
): Promise<BuilderResource | null> => {
  const q = database.queries
  const row = await q.resources.byExternalId(kind, externalId)
  return row === null ? null : builderResource(row, await ownerOf(q, row))
}

const ownerOf = async (q: Queries, { ownerId }: Resource): Promise<string | null> =>
  (await q.users.byId(ownerId))?.externalId ?? null

/** Which websites or stores the builder asks for. Null matches everything. */
type AskedByBuilder = {
  readonly kind: ResourceKind
  readonly ownerExternalId: string | null
  readonly slug: string | null
  readonly status: ResourceStatus | null
}

/** Those that match, oldest first, also those that the builder did not send. A page can have fewer than there are, or none, and go on. @throws invalid_request */
export const listManagedResources = async (
  { database: { queries: q } }: Platform,
  { ownerExternalId, ...asked }: AskedByBuilder,
  page: PageRequest,
) => {
  refuseStrangeId('ownerExternalId', ownerExternalId)
  if (asked.slug !== null) refuseFault('slug', slugFormFault(asked.slug))
  const owner = ownerExternalId === null ? null : await q.users.byExternalId(ownerExternalId)
  if (ownerExternalId !== null && owner === null) return { data: [], nextCursor: null }
  const { data, nextCursor } = await searchPage(
    page,
    '',
    (window) => q.resources.search({ ...asked, ownerId: owner?.id ?? null }, window),
    ({ resource }) => resource.id,
  )
  return { data: data.map(({ resource, ownerExternalId }) => builderResource(resource, ownerExternalId)), nextCursor }
}

/** The scope that each kind needs (contract section 4). */
export const scopeToRead = { site: 'site:read', store: 'store:read' } as const satisfies Record<ResourceKind, ScopeName>

/** Which of them are asked for. */
type AskedResources = {
  readonly kind: ResourceKind
  /** Null for all. */
  readonly status: ResourceStatus | null
  /** Whether only those are asked for on which the calling app is in use. */
  readonly isInstalled: boolean
}

/**
 * The signed-in user's own websites or stores, by slug. The query reads no page bodies, orders, customer or payment data
 * (spec section 2).
 * @throws insufficient_scope, install_required, invalid_request for a cursor that this list did not return
 */
export const listResources = (
  platform: Platform,
  caller: UserCaller | EmbeddedCaller,
  { kind, status, isInstalled: onlyInstalled }: AskedResources,
  page: PageRequest,
) => {
  if (page.cursor !== null && !isSlug(page.cursor)) throw strangeCursor()
  const needed = scopeToRead[kind]
  if (!caller.scopes.includes(needed)) throw refuse('insufficient_scope', { details: { scope: needed } })
  const q = platform.database.queries
  const { appId } = caller
  const environment = environmentOfClient(caller.clientId)
  const ownerId = caller.user.id
  const [isInstalled, after, limit] = [onlyInstalled || null, page.cursor ?? '', page.limit + 1] as const
  const asked = { ownerId, kind, status, isInstalled, appId, environment, after, limit }
  const read = () => andThen(q.resources.listForApp(asked), (rows) => pageOf(rows, page.limit, ({ slug }) => slug))
  return andThen(read(), (found) => {
    if (found.data.length > 0) return found
    // Without an install, or without anything to show. What was approved between these reads is read again.
    return andThen(q.installs.hasLive(appId, ownerId, environment), (isInUse) =>
      isInUse ? read() : refused(installRequired(platform, caller)),
    )
  })
}

const refused = async (refusal: Promise<PlatformError>): Promise<never> => {
  throw await refusal
}
