import { and, type AnyColumn, asc, count, desc, eq, gt, isNull, or, sql, type SQL, ne } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { pick } from '../../src/domain/pick.ts'
import { apps, installs, resources, users } from '../tables/sqlite.ts'
import { changeOne, inserter } from './rows.ts'
import { type DrizzleConnection, given, givenLimit } from './connection.ts'
import {
  beside,
  countedRows,
  hitCounts,
  hitOf,
  listOrderOf,
  lookThrough,
  type Place,
  type SearchWindow,
  type TimeOrder,
} from './places.ts'
import { lazyReader, shapedReader } from './reader.ts'
import { contains } from './users.ts'
import { head, isHeadOfApp, isLiveOfApp, live, publisherOr } from './versions.ts'
import type { Environment } from '../../src/domain/app.ts'
import { notServing } from '../../src/domain/install.ts'
import type { ResourceKind } from '../../src/domain/resource.ts'

export type Install = typeof installs.$inferSelect
type State = Pick<Install, 'approval' | 'state'>

/** A literal, as in the partial index `installs_open`: SQLite uses that index only if the condition is the same. */
export const isOpen = or(eq(installs.approval, sql`'pending'`), eq(installs.state, sql`'active'`))

/** Those of a person that wait or are in use, and all others. */
const isOfOwn = { open: isOpen, ended: and(ne(installs.approval, 'pending'), eq(installs.state, 'inactive')) } as const
export type OwnStatus = keyof typeof isOfOwn

const publishers = alias(users, 'publishers')

/** Whether a manifest names a page to show in a frame. Only opening the app reads the manifest and checks that page. */
const namesFrame = (manifest: AnyColumn) => contains(manifest, '"embedUrl":').mapWith(Boolean)

export const inUse = { approval: 'approved', state: 'active' } as const
/** Not with `or`, for which SQLite reads an index twice. */
export const servesEnvironment = ne(installs.environment, given('without', installs.environment))

/** Installs of an app of a user that are `inUse` and serve an environment. */
export const liveInstalls = (db: DrizzleConnection, condition?: SQL) =>
  db
    .select({ id: installs.id })
    .from(installs)
    .where(
      and(
        eq(installs.appId, given('appId', installs.appId)),
        eq(installs.userId, given('userId', installs.userId)),
        eq(installs.approval, given('approval', installs.approval)),
        eq(installs.state, given('state', installs.state)),
        servesEnvironment,
        condition,
      ),
    )

/** Installs of apps on websites and stores. */
export const installQueries = (db: DrizzleConnection) => {
  /** How many installs of existing apps meet the condition, counted up to a limit. */
  const countUpTo = async (most: number, condition: SQL | undefined): Promise<number> => {
    const ids = db.select({ id: installs.id }).from(installs).innerJoin(apps, eq(apps.id, installs.appId))
    return (await ids.where(and(condition, isNull(apps.deletedAt))).limit(most)).length
  }
  const hasLive = lazyReader(db, () => liveInstalls(db).limit(givenLimit('limit')))
  const open = lazyReader(db, () =>
    db
      .select({ id: installs.id })
      .from(installs)
      .where(and(eq(installs.appId, given('appId')), eq(installs.resourceId, given('resourceId')), isOpen)),
  )

  const find = lazyReader(
    db,
    () =>
      db
        .select({
          install: installs,
          kind: resources.kind,
          resourceSlug: resources.slug,
          resourceExternalId: resources.externalId,
        })
        .from(installs)
        .innerJoin(resources, eq(resources.id, installs.resourceId))
        .where(eq(installs.id, given('id'))),
    { locks: installs }, // or a change of its scopes could follow its end
  )

  /** Installs with the names of their app, user and place. */
  const described = () =>
    db
      .select({
        install: installs,
        kind: resources.kind,
        resourceSlug: resources.slug,
        app: apps.slug,
        appName: apps.name,
        appStatus: apps.status,
        iconSha256: live.iconSha256,
        user: users.email,
      })
      .from(installs)
      .innerJoin(resources, eq(resources.id, installs.resourceId))
      .innerJoin(apps, eq(apps.id, installs.appId))
      .innerJoin(users, eq(users.id, installs.userId))
      .leftJoin(live, isLiveOfApp)

  const askedByApp = shapedReader(
    db,
    (isAsked: (name: keyof AskedPage) => boolean) => {
      const askedIs = (column: AnyColumn, name: keyof AskedPage) =>
        isAsked(name) ? eq(column, given(name, column)) : undefined
      return db
        .select({ install: installs, kind: resources.kind, ...pick(resources, 'externalId', 'name', 'slug') })
        .from(installs)
        .innerJoin(resources, eq(resources.id, installs.resourceId))
        .where(
          and(
            eq(installs.appId, given('appId', installs.appId)),
            askedIs(installs.userId, 'userId') ?? eq(installs.approval, sql`'approved'`),
            eq(installs.environment, given('environment', installs.environment)),
            askedIs(installs.state, 'state'),
            askedIs(resources.kind, 'kind'),
            askedIs(resources.externalId, 'externalId'),
            askedIs(installs.id, 'id') ?? gt(installs.id, given('after', installs.id)),
          ),
        )
        .orderBy(asc(installs.id))
        .limit(givenLimit('limit'))
    },
    { isShared: true },
  )

  return {
    insert: inserter(db, installs),
    /** The install with its website or store. */
    find: (id: string) => find().first({ id }),
    /** Every install, of one app or of all (null), oldest first, with the names of its app, user and place. */
    list: async (appId: string | null) =>
      await described()
        .where(appId === null ? undefined : eq(installs.appId, appId))
        .orderBy(asc(installs.id)),
    /** One install with the names of its app, user and place. */
    describe: async (id: string) => (await described().where(eq(installs.id, id)))[0] ?? null,
    /**
     * Installs that match, among the next rows of the window, in the order of their IDs, which is that of their requests, with
     * the names of app, user and place. `searchedTo` is the ID of the last one that was read, or null at the end.
     */
    search: async (asked: Partial<InstallFilter>, order: TimeOrder, window: SearchWindow) => {
      const question = { ...everyInstall, ...asked }
      const look = await lookThrough(db, installs.id, listOrderOf(order), window, installScope(question))
      const found = await described()
        .where(and(look.isWithin, hasRow(question), hasNames(question)))
        .orderBy(look.order)
        .limit(window.limit)
      return { found, searchedTo: look.searchedTo }
    },
    /** How many installs there are in each state among those that match but for their status. */
    countStates: async (asked: Partial<InstallFilter>): Promise<StateCounts> => {
      const question = { ...everyInstall, ...asked, status: null }
      const columns = { approval: installs.approval, state: installs.state }
      const newest = { scope: installScope(question), order: desc(installs.id), rows: countedRows + 1 }
      // Only a search for text needs the names, whose rows cost more to read than the installs themselves.
      const among =
        hasNames(question) === undefined
          ? db
              .select({ ...columns, hit: hitOf(hasRow(question)) })
              .from(installs)
              .where(newest.scope)
          : db
              .select({ ...columns, hit: hitOf(and(hasRow(question), hasNames(question))) })
              .from(installs)
              .innerJoin(resources, eq(resources.id, installs.resourceId))
              .innerJoin(apps, eq(apps.id, installs.appId))
              .innerJoin(users, eq(users.id, installs.userId))
              .where(newest.scope)
      const read = among.orderBy(newest.order).limit(newest.rows).as('among')
      const rows = await db
        .select({ approval: read.approval, state: read.state, ...hitCounts(read.hit) })
        .from(read)
        .groupBy(read.approval, read.state)
      return {
        states: rows.map(({ approval, state, hits }) => ({ approval, state, count: hits })),
        exact: rows.reduce((sum, row) => sum + row.rows, 0) <= countedRows,
      }
    },
    /** Installs of an app that match, without anything that identifies the user or the place. */
    searchOfApp: async (appId: string, question: AppInstallFilter, by: TimeOrder, window: SearchWindow) => {
      const asked = { ...everyInstall, ...question, appId }
      const look = await lookThrough(db, installs.id, listOrderOf(by), window, installScope(asked))
      const found = await db
        .select({
          id: installs.id,
          kind: resources.kind,
          ...pick(installs, 'environment', 'approval', 'state', 'createdAt', 'updatedAt'),
        })
        .from(installs)
        .innerJoin(resources, eq(resources.id, installs.resourceId))
        .where(and(look.isWithin, hasRow(asked), hasNames(asked)))
        .orderBy(look.order)
        .limit(window.limit)
      return { found, searchedTo: look.searchedTo }
    },
    /**
     * Installs of a user beside the place, without those of deleted apps: the app, its publisher, the place, and the
     * scopes of the version that a frame opens (null if there is none).
     */
    pageOfUser: async (
      userId: string,
      place: Place,
      limit: number,
      status: OwnStatus | null = null,
      by: TimeOrder = 'newest',
    ) => {
      const { isBeside, order } = beside(installs.id, listOrderOf(by), place)
      return await db
        .select({
          install: installs,
          kind: resources.kind,
          resourceSlug: resources.slug,
          resourceName: resources.name,
          app: apps.slug,
          appName: apps.name,
          appStatus: apps.status,
          publisher: publisherOr(publishers.name),
          iconSha256: live.iconSha256,
          liveScopes: live.scopes,
          headScopes: head.scopes,
          liveIsFramed: namesFrame(live.manifest),
          headIsFramed: namesFrame(head.manifest),
        })
        .from(installs)
        .innerJoin(resources, eq(resources.id, installs.resourceId))
        .innerJoin(apps, eq(apps.id, installs.appId))
        .innerJoin(publishers, eq(publishers.id, apps.ownerId))
        .leftJoin(live, isLiveOfApp)
        .leftJoin(head, isHeadOfApp)
        .where(
          and(
            eq(installs.userId, userId),
            isBeside,
            isNull(apps.deletedAt),
            status === null ? undefined : isOfOwn[status],
          ),
        )
        .orderBy(order)
        .limit(limit)
    },
    /** What an app may list of its installs, after an ID, in the order of their IDs, with the website or store. */
    pageForApp: (asked: AskedByApp, after: string, limit: number) => askedByApp({ ...asked, after, limit }),
    /** How many installs of existing apps wait for an operator, counted up to a limit; those after an ID, or all. */
    countPending: async (most: number, after = '') =>
      await countUpTo(most, and(eq(installs.approval, sql`'pending'`), gt(installs.id, after))),
    /** How many installs of an app there are in each state. */
    countsOfApp: async (appId: string) =>
      await db
        .select({ approval: installs.approval, state: installs.state, count: count() })
        .from(installs)
        .where(eq(installs.appId, appId))
        .groupBy(installs.approval, installs.state),
    /** The install of an app on a website or store that is undecided or in use. There is never more than one. */
    findOpen: (appId: string, resourceId: string) => open().first({ appId, resourceId }),
    /** The websites and stores of a user on which the app has an install that is undecided or in use. */
    openPlaces: async (appId: string, userId: string) =>
      await db
        .select({ kind: resources.kind, slug: resources.slug })
        .from(installs)
        .innerJoin(resources, eq(resources.id, installs.resourceId))
        .where(and(eq(installs.appId, appId), eq(installs.userId, userId), isOpen)),
    /** The installs of a user that are undecided or in use, of apps that are not deleted: which app in which environment, and where. */
    openOfUser: async (userId: string) =>
      await db
        .select({
          ...pick(installs, 'id', 'appId', 'environment', 'approval', 'state'),
          isFramed: namesFrame(live.manifest),
        })
        .from(installs)
        .innerJoin(apps, eq(apps.id, installs.appId))
        .leftJoin(live, isLiveOfApp)
        .where(and(eq(installs.userId, userId), isNull(apps.deletedAt), isOpen))
        .orderBy(asc(installs.id)),
    /** How many installs of a user have ended, counted up to a limit, without those of deleted apps. */
    countEndedOfUser: async (userId: string, most: number) =>
      await countUpTo(most, and(eq(installs.userId, userId), isOfOwn.ended)),
    /** Whether the user has an approved and active install of the app, on any website or store, that serves this environment. */
    hasLive: (appId: string, userId: string, environment: Environment) =>
      hasLive().has({ appId, userId, without: notServing(environment), ...inUse, limit: 1 }),
    setScopes: async (id: string, scopes: string, now: number) =>
      void (await db.update(installs).set({ scopes, updatedAt: now }).where(eq(installs.id, id))),
    /** Moves from one state to another; false if the install is not in that state. */
    move: async (id: string, from: State, to: State, now: number) =>
      await changeOne(
        db,
        installs,
        { ...to, updatedAt: now },
        eq(installs.id, id),
        eq(installs.approval, from.approval),
        eq(installs.state, from.state),
      ),
  }
}

/** A literal, as in the partial index `installs_pending`: SQLite uses that index only if the condition is the same. */
const isPending = eq(installs.approval, sql`'pending'`)

/** What an operator or a developer calls the state of an install. */
type InstallStatus = 'waiting' | 'active' | 'deactivated' | 'rejected' | 'withdrawn'

/** Which installs are asked for. Null and an empty part match everything. */
export type InstallFilter = {
  readonly appId: string | null
  readonly userId: string | null
  readonly status: InstallStatus | null
  readonly kind: ResourceKind | null
  readonly environment: Environment | null
  /** Text in the slug or name of the app, the address of the user, or the slug of the place. */
  readonly part: string
}
const everyInstall: InstallFilter = {
  appId: null,
  userId: null,
  status: null,
  kind: null,
  environment: null,
  part: '',
}
export type AppInstallFilter = Pick<InstallFilter, 'status' | 'kind' | 'environment'>

/** Which of its installs an app asks for. */
export type AskedByApp = Pick<Install, 'appId' | 'environment'> & {
  /** Null for an app that asks for itself: of everybody's installs it sees those that an operator approved. */
  readonly userId: string | null
  /** Null for every install, or the only one. */
  readonly id: string | null
  readonly kind: ResourceKind | null
  readonly state: Install['state'] | null
  /** The builder's own ID of the website or store. */
  readonly externalId: string | null
}

type AskedPage = AskedByApp & { readonly after: string; readonly limit: number }

export type StateCounts = {
  readonly states: readonly (Pick<typeof installs.$inferSelect, 'approval' | 'state'> & { readonly count: number })[]
  /** Whether all installs were counted; otherwise there may be more. */
  readonly exact: boolean
}

const ofStatus = {
  waiting: isPending,
  active: eq(installs.state, 'active'),
  deactivated: and(eq(installs.approval, 'approved'), eq(installs.state, 'inactive')),
  rejected: eq(installs.approval, 'rejected'),
  withdrawn: eq(installs.approval, 'withdrawn'),
} as const satisfies Record<InstallStatus, SQL | undefined>
/** The installs among which a search looks: an index has those of an app, of a user, and those that wait. */
const installScope = ({ appId, userId, status }: InstallFilter): SQL | undefined =>
  and(
    appId === null ? undefined : eq(installs.appId, appId),
    userId === null ? undefined : eq(installs.userId, userId),
    status === 'waiting' ? isPending : undefined,
  )

/** Nobody can decide on what waits of a deleted app: neither a list nor a count has it. */
const isDecidable = or(
  ne(installs.approval, sql`'pending'`),
  sql`EXISTS (SELECT 1 FROM ${apps} WHERE ${apps.id} = ${installs.appId} AND ${apps.deletedAt} IS NULL)`,
)

/** What the row of an install says itself. */
const hasRow = ({ status, environment }: InstallFilter): SQL | undefined =>
  and(
    isDecidable,
    status === null ? undefined : ofStatus[status],
    environment === null ? undefined : eq(installs.environment, environment),
  )

/** What the rows of its app, user and place say. Undefined if nothing of the kind is asked: then a count need not read them. */
const hasNames = ({ kind, part }: InstallFilter): SQL | undefined =>
  and(
    kind === null ? undefined : eq(resources.kind, kind),
    part === ''
      ? undefined
      : or(
          contains(apps.slug, part),
          contains(apps.name, part),
          contains(users.email, part),
          contains(resources.slug, part),
        ),
  )
