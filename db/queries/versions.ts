import {
  and,
  asc,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  max,
  ne,
  or,
  type SQL,
  sql,
  sum,
} from 'drizzle-orm'
import type { VersionStatus } from '../../src/domain/version.ts'
import { apps, users, versions } from '../tables/sqlite.ts'
import { type Connection, everyColumn, given, lazily, only } from './connection.ts'

export type Version = typeof versions.$inferSelect
/** What an upload brings, and what a second upload of the same draft replaces. */
export type VersionContent = Pick<
  Version,
  'notes' | 'manifest' | 'scopes' | 'artifactSha256' | 'artifactFilename' | 'artifactSizeBytes'
>
type Times = Partial<Pick<Version, 'submittedAt' | 'reviewedAt' | 'activatedAt' | 'rejection'>>

/** What waits for an operator, and since when. The status is written out, as the partial indexes have it. */
const waitingFor = {
  review: { status: sql`'submitted'`, since: versions.submittedAt },
  activation: { status: sql`'approved'`, since: versions.reviewedAt },
} as const
export type WaitingFor = keyof typeof waitingFor
/** A place in a queue: after the version of this ID, which has waited since this moment. */
export type QueuePlace = { readonly since: number; readonly id: string }

/** What a list of versions tells: all but the manifest and the notes, which can be megabytes each. */
const summaryColumns = {
  id: versions.id,
  number: versions.number,
  version: versions.version,
  status: versions.status,
  revision: versions.revision,
  createdAt: versions.createdAt,
  updatedAt: versions.updatedAt,
  submittedAt: versions.submittedAt,
  reviewedAt: versions.reviewedAt,
  activatedAt: versions.activatedAt,
}

/** Versions of apps; the app is part of every question, but for an operator's. */
export const versionQueries = (db: Connection) => {
  const insert = lazily(() => db.insert(versions).values(everyColumn(versions)).prepare())
  const byId = lazily(() =>
    db
      .select()
      .from(versions)
      .where(and(eq(versions.appId, given('appId')), eq(versions.id, given('id'))))
      .prepare(),
  )
  const byName = lazily(() =>
    db
      .select()
      .from(versions)
      .where(and(eq(versions.appId, given('appId')), eq(versions.version, given('version'))))
      .prepare(),
  )
  const active = lazily(() =>
    db
      .select()
      .from(versions)
      .where(and(eq(versions.appId, given('appId')), eq(versions.status, 'active')))
      .prepare(),
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
    insert: async (version: Version) => void (await insert().execute(version)),
    /** Never another app's: the app is part of the question. */
    byId: async (appId: string, id: string) => only(await byId().execute({ appId, id })),
    byName: async (appId: string, version: string) => only(await byName().execute({ appId, version })),
    active: async (appId: string) => only(await active().execute({ appId })),
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
    nextNumber: async (appId: string) =>
      ((
        await db
          .select({ last: max(versions.number) })
          .from(versions)
          .where(eq(versions.appId, appId))
      )[0]?.last ?? 0) + 1,
    /** Newest number first, below `beforeNumber`. */
    list: async (
      appId: string,
      status: VersionStatus | null,
      beforeNumber: number,
      limit: number,
    ): Promise<Version[]> =>
      await db
        .select()
        .from(versions)
        .where(
          and(
            eq(versions.appId, appId),
            lt(versions.number, beforeNumber),
            status === null ? undefined : eq(versions.status, status),
          ),
        )
        .orderBy(desc(versions.number))
        .limit(limit),
    /** What waits for an operator, of every app that is not deleted, longest first; without the manifests, which may be large. */
    queue: async (what: WaitingFor, after: QueuePlace, limit: number) => {
      const { status, since } = waitingFor[what]
      return await db
        .select({
          id: versions.id,
          version: versions.version,
          scopes: versions.scopes,
          since,
          slug: apps.slug,
          appName: apps.name,
          appStatus: apps.status,
          ownerEmail: users.email,
        })
        .from(versions)
        .innerJoin(apps, eq(apps.id, versions.appId))
        .innerJoin(users, eq(users.id, apps.ownerId))
        .where(
          and(
            eq(versions.status, status),
            isNull(apps.deletedAt),
            gte(since, after.since), // where the index begins
            or(gt(since, after.since), gt(versions.id, after.id)),
          ),
        )
        .orderBy(asc(since), asc(versions.id))
        .limit(limit)
    },
    /** One app's versions without their content, newest number first, below `beforeNumber`. */
    summaries: async (appId: string, status: VersionStatus | null, beforeNumber: number, limit: number) =>
      await db
        .select(summaryColumns)
        .from(versions)
        .where(
          and(
            eq(versions.appId, appId),
            lt(versions.number, beforeNumber),
            status === null ? undefined : eq(versions.status, status),
          ),
        )
        .orderBy(desc(versions.number))
        .limit(limit),
    /** One version of an app without its content. */
    summary: async (appId: string, id: string) =>
      only(
        await db
          .select(summaryColumns)
          .from(versions)
          .where(and(eq(versions.appId, appId), eq(versions.id, id))),
      ),
    previous: async (appId: string, number: number) =>
      await newest(eq(versions.appId, appId), lt(versions.number, number)),
    previousSuperseded: async (appId: string, number: number) =>
      await newest(eq(versions.appId, appId), lt(versions.number, number), eq(versions.status, 'superseded')),
    /** Replaces the content of a version that is still a draft; false when it no longer is. */
    replaceDraft: async (id: string, revision: number, content: VersionContent, now: number) =>
      (
        await db
          .update(versions)
          .set({ ...content, revision, updatedAt: now })
          .where(and(eq(versions.id, id), eq(versions.status, 'draft')))
          .returning({ id: versions.id })
      ).length === 1,
    /** Moves from one of the given statuses to another; false when the version is in none of them. */
    move: async (id: string, from: readonly VersionStatus[], to: VersionStatus, times: Times, now: number) =>
      (
        await db
          .update(versions)
          .set({ ...times, status: to, updatedAt: now })
          .where(and(eq(versions.id, id), inArray(versions.status, [...from])))
          .returning({ id: versions.id })
      ).length === 1,
  }
}
