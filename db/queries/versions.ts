import {
  and,
  type AnyColumn,
  asc,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  max,
  ne,
  or,
  type SQL,
  sql,
  sum,
  count,
  notExists,
} from 'drizzle-orm'
import { alias, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Environment } from '../../src/domain/app.ts'
import { pick } from '../../src/domain/pick.ts'
import type { VersionStatus } from '../../src/domain/version.ts'
import { apps, liveChanges, rollbacks, users, versions, artifactChunks, artifacts } from '../tables/sqlite.ts'
import { changeOne, finder, inserter, removeOne } from './rows.ts'
import { type DrizzleConnection, given, only, everyColumn } from './connection.ts'
import { beside, countAmong, type ListOrder, type Place } from './places.ts'
import { lazyReader, lazyWriter } from './reader.ts'
import { contains } from './users.ts'

export type Version = typeof versions.$inferSelect
/** The columns that an upload sets, and that another upload of the same draft replaces. */
export type VersionContent = Pick<
  Version,
  | 'notes'
  | 'manifest'
  | 'scopes'
  | 'iconSha256'
  | 'iconPlace'
  | 'description'
  | 'artifactSha256'
  | 'artifactFilename'
  | 'artifactSizeBytes'
>
type Times = Partial<Pick<Version, 'submittedAt' | 'reviewedAt' | 'reviewedBy' | 'activatedAt' | 'rejection'>>

/** What waits for an operator, and since when. The status is a literal, as in the partial indexes, so that SQLite uses them. */
const waitingFor = {
  review: { status: sql`'submitted'`, since: versions.submittedAt },
  activation: { status: sql`'approved'`, since: versions.reviewedAt },
} as const
export type WaitingFor = keyof typeof waitingFor
/** A place in a queue: after the version of this ID, which has waited since this time. */
export type QueuePlace = { readonly since: number; readonly id: string }

/** Which decided versions are asked for. Null and an empty part match everything. */
export type DecidedQuestion = {
  readonly outcome: 'approved' | 'rejected' | null
  /** The ID of the operator who decided. */
  readonly by: string | null
  /** When it was decided: from this time on, and before that one. */
  readonly since: number | null
  readonly until: number | null
  /** Text in the name or the slug of the app. */
  readonly part: string
}

const reviewer = alias(users, 'reviewer')

/** A version in a list of every app. */
const listedColumns = {
  ...pick(versions, 'id', 'version', 'scopes'),
  appId: apps.id,
  slug: apps.slug,
  appName: apps.name,
  appStatus: apps.status,
  ownerEmail: users.email,
} as const

const isOfAppLike = (part: string): SQL | undefined =>
  part === '' ? undefined : or(contains(apps.slug, part), contains(apps.name, part))

const isDecidedAs = ({ outcome, by, since, until, part }: DecidedQuestion): SQL | undefined =>
  and(
    outcome === null ? undefined : (outcome === 'rejected' ? eq : ne)(versions.status, 'rejected'),
    by === null ? undefined : eq(versions.reviewedBy, by),
    since === null ? undefined : gte(versions.reviewedAt, since),
    until === null ? undefined : lt(versions.reviewedAt, until),
    isOfAppLike(part),
  )

/** A part of a list by time and, within one time, by ID. */
const besideTime = (time: SQLiteColumn, order: ListOrder, place: Place<QueuePlace>) => {
  const isBack = 'backFrom' in place
  const { since, id } = isBack ? place.backFrom : place
  const isUpwards = (order === 'ascending') !== isBack
  const [beyond, reaches, direction] = isUpwards ? ([gt, gte, asc] as const) : ([lt, lte, desc] as const)
  return {
    isBeside: and(
      reaches(time, since), // where the scan of the index starts
      or(beyond(time, since), beyond(versions.id, id)),
    ),
    order: [direction(time), direction(versions.id)],
  }
}

/** The columns for lists of versions: all but the manifest and the notes, which can be megabytes each. */
const summaryColumns = pick(
  versions,
  'id',
  'number',
  'version',
  'status',
  'revision',
  'createdAt',
  'updatedAt',
  'submittedAt',
  'reviewedAt',
  'activatedAt',
)

/** Versions of an app below the number, of one status or of all (null). */
const isListed = (appId: string, status: VersionStatus | null, beforeNumber: number) =>
  and(
    eq(versions.appId, appId),
    lt(versions.number, beforeNumber),
    status === null ? undefined : eq(versions.status, status),
  )

/** Which versions of an app are asked for. Null and an empty part match everything. */
export type VersionQuestion = {
  readonly status: VersionStatus | null
  /** Text in the name of the version. */
  readonly part?: string
  /** By number; the newest first without it. */
  readonly order?: ListOrder
}

const isSought = ({ status, part = '' }: VersionQuestion): SQL | undefined =>
  and(
    status === null ? undefined : eq(versions.status, status),
    part === '' ? undefined : contains(versions.version, part),
  )

/** The live version of an app and its development head, beside the app. */
export const live = alias(versions, 'live_version')
export const head = alias(versions, 'head_version')
/** The status is a literal, as in the partial index `versions_active`, so that SQLite uses it. */
export const isLiveOfApp = and(eq(live.appId, apps.id), eq(live.status, sql`'active'`))
export const isHeadOfApp = eq(head.id, apps.developmentVersionId)

/** The publisher as people who are signed in read it. `ownerName` is the name of the account that the app belongs to. */
export const publisherOr = (ownerName: AnyColumn) => sql<string>`coalesce(${apps.publisher}, ${ownerName})`

/** Versions of apps. The app is part of every query but an operator's, so that no app sees another's versions. */
export const versionQueries = (db: DrizzleConnection) => {
  const active = lazyReader(db, () =>
    db
      .select()
      .from(versions)
      .where(and(eq(versions.appId, given('appId')), eq(versions.status, 'active'))),
  )
  const newest = async (...conditions: (SQL | undefined)[]): Promise<Version | null> =>
    only(
      await db
        .select()
        .from(versions)
        .where(and(...conditions))
        .orderBy(desc(versions.number))
        .limit(1),
    )

  /** Read from the index `versions_by_app_artifact` alone. */
  const sumOfArtifacts = async (...conditions: (SQL | undefined)[]): Promise<number> => {
    const used = db
      .selectDistinct({ sha256: versions.artifactSha256, sizeBytes: versions.artifactSizeBytes })
      .from(versions)
      .where(and(isNotNull(versions.artifactSha256), ...conditions))
      .as('used')
    return (await db.select({ bytes: sum(used.sizeBytes).mapWith(Number) }).from(used))[0]?.bytes ?? 0
  }

  return {
    insert: inserter(db, versions),
    byId: finder(db, versions, 'appId', 'id'),
    byName: finder(db, versions, 'appId', 'version'),
    active: (appId: string) => active().first({ appId }),
    hasActive: (appId: string) => active().has({ appId }),
    /** Bytes of the artifacts that the app's versions use, each artifact once. */
    artifactBytes: async (appId: string) => await sumOfArtifacts(eq(versions.appId, appId)),
    /** The same, if the version (or a new one, for null) used this artifact. */
    artifactBytesWith: async (appId: string, versionId: string | null, sha256: Uint8Array, sizeBytes: number) =>
      sizeBytes +
      (await sumOfArtifacts(
        eq(versions.appId, appId),
        ne(versions.artifactSha256, sha256),
        versionId === null ? undefined : ne(versions.id, versionId),
      )),
    /** The number of a new version, which no other version of the app has had. */
    takeNumber: async (appId: string): Promise<number> => {
      const taken = await db
        .update(apps)
        .set({ lastVersionNumber: sql`${apps.lastVersionNumber} + 1` })
        .where(eq(apps.id, appId))
        .returning({ number: apps.lastVersionNumber })
      return taken[0]?.number ?? Number.NaN
    },
    /** Newest number first. */
    list: async (appId: string, status: VersionStatus | null, beforeNumber: number, limit: number) =>
      await db
        .select()
        .from(versions)
        .where(isListed(appId, status, beforeNumber))
        .orderBy(desc(versions.number))
        .limit(limit),
    /** Versions that wait for an operator, of every app that is not deleted, longest first. */
    queue: async (what: WaitingFor, place: Place<QueuePlace>, limit: number, part = '') => {
      const { status, since } = waitingFor[what]
      const { isBeside, order } = besideTime(since, 'ascending', place)
      return await db
        .select({ ...listedColumns, since })
        .from(versions)
        .innerJoin(apps, eq(apps.id, versions.appId))
        .innerJoin(users, eq(users.id, apps.ownerId))
        .where(and(eq(versions.status, status), isNull(apps.deletedAt), isBeside, isOfAppLike(part)))
        .orderBy(...order)
        .limit(limit)
    },
    /** Versions that were approved or rejected, of every app that is not deleted, the latest decision first. */
    decided: async (question: DecidedQuestion, place: Place<QueuePlace>, limit: number) => {
      const { isBeside, order } = besideTime(versions.reviewedAt, 'descending', place)
      return await db
        .select({ ...listedColumns, since: versions.reviewedAt, status: versions.status, by: reviewer.email })
        .from(versions)
        .innerJoin(apps, eq(apps.id, versions.appId))
        .innerJoin(users, eq(users.id, apps.ownerId))
        .leftJoin(reviewer, eq(reviewer.id, versions.reviewedBy))
        .where(and(isNotNull(versions.reviewedAt), isNull(apps.deletedAt), isBeside, isDecidedAs(question)))
        .orderBy(...order)
        .limit(limit)
    },
    /** How many versions of existing apps wait for an operator, counted up to a limit. */
    countInQueue: async (what: WaitingFor, most: number): Promise<number> => {
      const waiting = db
        .select({ id: versions.id })
        .from(versions)
        .innerJoin(apps, eq(apps.id, versions.appId))
        .where(and(eq(versions.status, waitingFor[what].status), isNull(apps.deletedAt)))
        .limit(most)
      return (await waiting).length
    },
    /** The versions that match, without their content, beside the number, in the order of their numbers. */
    summaries: async (appId: string, question: VersionQuestion, place: Place<number>, limit: number) => {
      const { isBeside, order } = beside(versions.number, question.order ?? 'descending', place)
      return await db
        .select(summaryColumns)
        .from(versions)
        .where(and(eq(versions.appId, appId), isBeside, isSought(question)))
        .orderBy(order)
        .limit(limit)
    },
    countFound: async (appId: string, question: VersionQuestion) =>
      await countAmong(db, versions, isSought(question), eq(versions.appId, appId)),
    /** One version of an app without its content. */
    summary: async (appId: string, id: string) =>
      only(
        await db
          .select(summaryColumns)
          .from(versions)
          .where(and(eq(versions.appId, appId), eq(versions.id, id))),
      ),
    /** The newest version of the app besides this one. */
    newestBut: async (appId: string, id: string) => await newest(eq(versions.appId, appId), ne(versions.id, id)),
    previous: async (appId: string, number: number) =>
      await newest(eq(versions.appId, appId), lt(versions.number, number)),
    /** Replaces the content of a version that is still a draft; false if it no longer is. */
    replaceDraft: async (id: string, revision: number, content: VersionContent, now: number) =>
      await changeOne(
        db,
        versions,
        { ...content, revision, updatedAt: now },
        eq(versions.id, id),
        eq(versions.status, 'draft'),
      ),
    /** How many versions the app has. */
    countOfApp: async (appId: string) => await db.$count(versions, eq(versions.appId, appId)),
    /** Removes a version that is still a draft; false if it no longer is. The ledger of rollbacks keeps its ID. */
    removeDraft: async (id: string) => await removeOne(db, versions, eq(versions.id, id), eq(versions.status, 'draft')),
    /** Moves from one of the given statuses to another; false if the version has none of them. */
    move: async (id: string, from: readonly VersionStatus[], to: VersionStatus, times: Times, now: number) =>
      await changeOne(
        db,
        versions,
        { ...times, status: to, updatedAt: now },
        eq(versions.id, id),
        inArray(versions.status, [...from]),
      ),
  }
}

export type Rollback = typeof rollbacks.$inferSelect

const from = alias(versions, 'from_version')
const to = alias(versions, 'to_version')

/** The ledger of rollbacks: rows are added and never changed. */
export const rollbackQueries = (db: DrizzleConnection) => ({
  insert: inserter(db, rollbacks),
  /** Rollbacks of an app beside the ID, newest first, with the names of the two versions; null for a draft that was removed. */
  pageOfApp: async (appId: string, place: Place, limit: number, environment: Environment | null = null) => {
    const { isBeside, order } = beside(rollbacks.id, 'descending', place)
    return await db
      .select({
        ...pick(rollbacks, 'id', 'environment', 'reason', 'createdAt'),
        from: from.version,
        to: to.version,
      })
      .from(rollbacks)
      .leftJoin(from, eq(from.id, rollbacks.fromVersionId))
      .leftJoin(to, eq(to.id, rollbacks.toVersionId))
      .where(
        and(
          eq(rollbacks.appId, appId),
          isBeside,
          environment === null ? undefined : eq(rollbacks.environment, environment),
        ),
      )
      .orderBy(order)
      .limit(limit)
  },
})

const now = alias(versions, 'live_now')
const next = alias(liveChanges, 'next_change')
const after = alias(versions, 'live_after')

/** The ledger of live versions: rows are added and never changed. */
export const liveChangeQueries = (db: DrizzleConnection) => ({
  /** Adds the version as the last one of its app. Of two at once, one fails on the key and runs again. */
  append: async ({ appId, ...change }: Omit<typeof liveChanges.$inferInsert, 'position'>) => {
    const last = await db
      .select({ position: max(liveChanges.position) })
      .from(liveChanges)
      .where(eq(liveChanges.appId, appId))
    await db.insert(liveChanges).values({ appId, position: (last[0]?.position ?? 0) + 1, ...change })
  },
  /** The IDs of an app's live versions, one after the other, the live one last. */
  versionIds: async (appId: string): Promise<string[]> => {
    const changes = db.select({ id: liveChanges.versionId }).from(liveChanges).where(eq(liveChanges.appId, appId))
    return (await changes.orderBy(asc(liveChanges.position))).map(({ id }) => id)
  },
  /** An app's live versions beside the position, newest first, each with what followed it and why. */
  pageOfApp: async (appId: string, place: Place<number>, limit: number) => {
    const { isBeside, order } = beside(liveChanges.position, 'descending', place)
    return await db
      .select({
        position: liveChanges.position,
        version: now.version,
        from: liveChanges.liveAt,
        until: next.liveAt,
        after: after.version,
        rollbackId: next.rollbackId,
        reason: rollbacks.reason,
      })
      .from(liveChanges)
      .innerJoin(now, eq(now.id, liveChanges.versionId))
      .leftJoin(next, and(eq(next.appId, liveChanges.appId), eq(next.position, sql`${liveChanges.position} + 1`)))
      .leftJoin(after, eq(after.id, next.versionId))
      .leftJoin(rollbacks, eq(rollbacks.id, next.rollbackId))
      .where(and(eq(liveChanges.appId, appId), isBeside))
      .orderBy(order)
      .limit(limit)
  },
})

const total = sql<number>`coalesce(sum(${artifacts.sizeBytes}), 0)`.mapWith(Number)

/** Uploaded files, stored once per SHA-256, in pieces. */
export const artifactQueries = (db: DrizzleConnection) => {
  const insertChunk = lazyWriter(db, () =>
    db
      .insert(artifactChunks)
      .values(everyColumn(artifactChunks))
      .onConflictDoUpdate({
        target: [artifactChunks.sha256, artifactChunks.position],
        set: { data: sql`excluded.data` },
        setWhere: ne(artifactChunks.data, sql`excluded.data`),
      }),
  )
  const chunk = lazyReader(db, () =>
    db
      .select({ data: artifactChunks.data })
      .from(artifactChunks)
      .where(and(eq(artifactChunks.sha256, given('sha256')), eq(artifactChunks.position, given('position')))),
  )

  return {
    find: finder(db, artifacts, 'sha256'),
    /** Records an artifact. The same content again renews its time. */
    insert: async ({ sha256, ...facts }: typeof artifacts.$inferSelect) =>
      void (await db
        .insert(artifacts)
        .values({ sha256, ...facts })
        .onConflictDoUpdate({ target: artifacts.sha256, set: facts })),
    /** Stores a piece. An existing one is written again only if it is damaged. */
    insertChunk: (piece: typeof artifactChunks.$inferSelect) => insertChunk().run(piece),
    chunk: (sha256: Uint8Array, position: number) => chunk().first({ sha256, position }),
    /** Number and size of all artifacts, used or not. */
    totals: async () => {
      const [found] = await db.select({ files: count(), bytes: total }).from(artifacts)
      return { files: found?.files ?? 0, bytes: found?.bytes ?? 0 }
    },
    /**
     * Apps by the bytes of their artifacts, the largest first, each artifact once. Null if more than `mostVersions` versions have
     * one, because it reads them all, from an index.
     */
    largestUses: async (limit: number, mostVersions: number) => {
      const hasArtifact = isNotNull(versions.artifactSha256)
      const beyond = db
        .select({ appId: versions.appId })
        .from(versions)
        .where(hasArtifact)
        .limit(1)
        .offset(mostVersions)
      if ((await beyond).length > 0) return null
      const { appId, artifactSha256: sha256, artifactSizeBytes } = versions
      const used = db.selectDistinct({ appId, sha256, artifactSizeBytes }).from(versions).where(hasArtifact).as('used')
      const bytes = sum(used.artifactSizeBytes).mapWith(Number)
      const largest = db
        .select({ appId: used.appId, bytes: bytes.as('bytes') })
        .from(used)
        .groupBy(used.appId)
        .orderBy(desc(bytes))
        .limit(limit)
        .as('largest')
      return await db
        .select({ id: apps.id, slug: apps.slug, name: apps.name, bytes: largest.bytes })
        .from(largest)
        .innerJoin(apps, eq(apps.id, largest.appId))
        .orderBy(desc(largest.bytes), asc(apps.slug))
    },
    /**
     * Removes this artifact if no version uses it, and only as it was stored at that time, if one is given. An upload that is just
     * about to use it finds it missing and asks for a repetition.
     */
    removeUnused: async (sha256: Uint8Array, storedAt?: number) => {
      const used = db.select({ id: versions.id }).from(versions).where(eq(versions.artifactSha256, sha256))
      const removed = await db
        .delete(artifacts)
        .where(
          and(
            eq(artifacts.sha256, sha256),
            storedAt === undefined ? undefined : eq(artifacts.createdAt, storedAt),
            notExists(used),
          ),
        )
        .returning({ sha256: artifacts.sha256 })
      if (removed.length > 0) await db.delete(artifactChunks).where(eq(artifactChunks.sha256, sha256))
    },
    /** Removes up to `limit` artifacts that were stored before the time and that no version uses. */
    purgeUnused: async (createdBefore: number, limit: number) => {
      const used = db.select({ id: versions.id }).from(versions).where(eq(versions.artifactSha256, artifacts.sha256))
      const unused = await db
        .select({ sha256: artifacts.sha256 })
        .from(artifacts)
        .where(and(lt(artifacts.createdAt, createdBefore), notExists(used)))
        .limit(limit)
      const hashes = unused.map((row) => row.sha256)
      if (hashes.length > 0) {
        await db.delete(artifacts).where(inArray(artifacts.sha256, hashes))
        await db.delete(artifactChunks).where(inArray(artifactChunks.sha256, hashes))
      }
      return hashes.length
    },
  }
}
