import {
  and,
  asc,
  count,
  eq,
  exists,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  notExists,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { alias, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { installs, resources, stagedResources as staged, users } from '../tables/sqlite.ts'
import type { DrizzleConnection } from './connection.ts'
import { isOpen } from './installs.ts'
import { inserter } from './reader.ts'

export type StagedResource = typeof staged.$inferSelect

/** So many lines by one statement: one that changes more may take longer than a statement on PostgreSQL may take. */
const linesAtOnce = 10_000
/** So many faults are told. */
const mostFaults = 20

const others = alias(staged, 'others')

/** What a known resource would become. */
const after = {
  externalId: sql`coalesce(${staged.externalId}, ${resources.externalId})`,
  createdAt: sql`coalesce(${staged.createdAt}, ${resources.createdAt})`,
  /** Of a published one it is kept, and of a new one it is now. */
  publishedAt: (now: number) => sql`coalesce(${staged.publishedAt},
    case when ${staged.status} = 'draft' then null else ${resources.publishedAt} end,
    case when ${staged.status} = 'published' then ${now} end)`,
}
const isChanged = or(
  ne(staged.ownerId, resources.ownerId),
  ne(staged.name, resources.name),
  ne(staged.slug, resources.slug),
  ne(staged.status, resources.status),
  sql`coalesce(${staged.externalId}, '') not in ('', coalesce(${resources.externalId}, ''))`,
  sql`coalesce(${staged.createdAt}, ${resources.createdAt}) <> ${resources.createdAt}`,
  sql`coalesce(${staged.updatedAt}, ${resources.updatedAt}) <> ${resources.updatedAt}`,
  sql`coalesce(${staged.publishedAt}, ${resources.publishedAt}, 0) <> coalesce(${resources.publishedAt}, 0)`,
)

const of = (key: string) => eq(staged.importKey, key)
/** Calls `change` for some lines after the others, up to the last. */
const inParts = async (lastLine: number, change: (lines: SQL | undefined) => Promise<unknown>): Promise<void> => {
  for (let line = 0; line < lastLine; line += linesAtOnce) {
    await change(and(gt(staged.line, line), lte(staged.line, line + linesAtOnce)))
  }
}

const numbersOf = (rows: readonly { readonly line: number }[]): readonly number[] => rows.map(({ line }) => line)

/** Imports of websites and stores: their lines, and what becomes of them in one transaction. */
export const stagedResourceQueries = (db: DrizzleConnection) => {
  /** Resources of the builder that no line is about. */
  const isLeftOut = (key: string) =>
    and(
      isNotNull(resources.externalId),
      isNull(resources.deletedAt),
      notExists(
        db
          .select({ line: staged.line })
          .from(staged)
          .where(and(of(key), eq(staged.knownId, resources.id))),
      ),
    )
  const known = (key: string) =>
    db
      .select({ of: count() })
      .from(staged)
      .innerJoin(resources, eq(resources.id, staged.knownId))
      .where(and(of(key), isChanged))

  return {
    insert: inserter(db, staged),
    /** Corrects which stored resource each line is about, where that has changed since it was staged. */
    match: async (key: string, lastLine: number): Promise<void> => {
      const byExternalId = db
        .select({ id: resources.id })
        .from(resources)
        .where(and(eq(resources.kind, staged.kind), eq(resources.externalId, staged.externalId)))
      const bySlug = db
        .select({ id: resources.id })
        .from(resources)
        .where(
          and(
            eq(resources.ownerId, staged.ownerId),
            eq(resources.kind, staged.kind),
            eq(resources.slug, staged.slug),
            isNull(resources.deletedAt),
            or(isNull(staged.externalId), isNull(resources.externalId)),
          ),
        )
      const found = sql`coalesce((${byExternalId}), (${bySlug}))`
      await db.gatherStatistics?.(staged, resources, users)
      await inParts(
        lastLine,
        async (lines) =>
          await db
            .update(staged)
            .set({ knownId: found })
            .where(and(of(key), lines, sql`${staged.knownId} is distinct from ${found}`)),
      )
    },
    /** Lines about the same resource as an earlier line. */
    repeated: async (key: string): Promise<readonly number[]> => {
      const linesBy = (condition: SQL | undefined, ...same: readonly SQLiteColumn[]) =>
        db
          .select({ line: sql<number>`max(${staged.line})` })
          .from(staged)
          .where(and(of(key), condition))
          .groupBy(...same)
          .having(sql`count(*) > 1`)
          .limit(mostFaults)
      const found = [
        await linesBy(isNotNull(staged.knownId), staged.knownId),
        await linesBy(isNotNull(staged.externalId), staged.kind, staged.externalId),
        await linesBy(undefined, staged.ownerId, staged.kind, staged.slug),
      ]
      return [...new Set(found.flatMap(numbersOf))].toSorted((one, other) => one - other)
    },
    /** Lines whose slug another resource of the owner has and keeps. */
    withTakenSlug: async (key: string, prunes: boolean): Promise<readonly number[]> =>
      numbersOf(
        await db
          .select({ line: staged.line })
          .from(staged)
          .innerJoin(
            resources,
            and(
              eq(resources.ownerId, staged.ownerId),
              eq(resources.kind, staged.kind),
              eq(resources.slug, staged.slug),
            ),
          )
          .where(
            and(
              of(key),
              sql`${resources.id} <> coalesce(${staged.knownId}, '')`,
              notExists(
                db
                  .select({ line: others.line })
                  .from(others)
                  .where(and(eq(others.importKey, key), eq(others.knownId, resources.id))),
              ),
              prunes ? isNull(resources.externalId) : undefined,
            ),
          )
          .orderBy(asc(staged.line))
          .limit(mostFaults),
      ),
    /** Lines whose owner has been erased. */
    withoutOwner: async (key: string): Promise<readonly number[]> =>
      numbersOf(
        await db
          .select({ line: staged.line })
          .from(staged)
          .innerJoin(users, eq(users.id, staged.ownerId))
          .where(and(of(key), isNotNull(users.erasedAt)))
          .limit(mostFaults), // in no order: PostgreSQL would look up the owner of every line in turn
      ).toSorted((one, other) => one - other),
    /** Resources with open installs that get another owner, or with `prunes` are left out. */
    endingInstalls: async (key: string, prunes: boolean): Promise<readonly string[]> => {
      const hasInstalls = exists(
        db
          .select({ id: installs.id })
          .from(installs)
          .where(and(eq(installs.resourceId, resources.id), isOpen)),
      )
      const moved = await db
        .select({ id: resources.id })
        .from(resources)
        .innerJoin(staged, eq(staged.knownId, resources.id))
        .where(and(of(key), ne(staged.ownerId, resources.ownerId), hasInstalls))
      const leftOut = prunes
        ? await db
            .select({ id: resources.id })
            .from(resources)
            .where(and(isLeftOut(key), hasInstalls))
        : []
      return [...moved, ...leftOut].map(({ id }) => id)
    },
    /** How many resources `prune`, `change` and `create` would touch. */
    counts: async (key: string, prunes: boolean) => {
      const [created] = await db
        .select({ of: count() })
        .from(staged)
        .where(and(of(key), isNull(staged.knownId)))
      const [updated] = await known(key)
      const [removed] = prunes ? await db.select({ of: count() }).from(resources).where(isLeftOut(key)) : []
      return { created: created?.of ?? 0, updated: updated?.of ?? 0, removed: removed?.of ?? 0 }
    },
    /** Forgets what no line is about, as `forget` of one resource does. */
    prune: async (key: string, now: number): Promise<void> =>
      void (await db
        .update(resources)
        .set({
          name: '',
          slug: sql`${resources.id}`,
          status: 'archived',
          externalId: null,
          deletedAt: now,
          updatedAt: now,
        })
        .where(isLeftOut(key))),
    /** Changes what is known and differs. Slugs are set aside first, because two resources may exchange theirs. */
    change: async (key: string, lastLine: number, now: number): Promise<void> => {
      const moves = or(ne(staged.slug, resources.slug), ne(staged.ownerId, resources.ownerId))
      const moving = db
        .select({ id: staged.knownId })
        .from(staged)
        .innerJoin(resources, eq(resources.id, staged.knownId))
        .where(and(of(key), moves))
      await db
        .update(resources)
        .set({ slug: sql`${resources.id}` })
        .where(inArray(resources.id, moving))
      await inParts(lastLine, async (lines) =>
        db
          .update(resources)
          .set({
            ownerId: sql`${staged.ownerId}`,
            externalId: after.externalId,
            name: sql`${staged.name}`,
            slug: sql`${staged.slug}`,
            status: sql`${staged.status}`,
            createdAt: after.createdAt,
            updatedAt: sql`coalesce(${staged.updatedAt}, ${now})`,
            publishedAt: after.publishedAt(now),
          })
          .from(staged)
          .where(and(eq(resources.id, staged.knownId), of(key), lines, isChanged)),
      )
    },
    create: async (key: string, lastLine: number, now: number): Promise<void> =>
      await inParts(lastLine, async (lines) =>
        db.insert(resources).select(
          db
            .select({
              id: sql<string>`${staged.newId}`.as('id'),
              ownerId: sql<string>`${staged.ownerId}`.as('owner_id'),
              kind: sql<'site' | 'store'>`${staged.kind}`.as('kind'),
              name: sql<string>`${staged.name}`.as('name'),
              slug: sql<string>`${staged.slug}`.as('slug'),
              status: sql<'draft'>`${staged.status}`.as('status'),
              createdAt: sql<number>`${staged.newCreatedAt}`.as('created_at'),
              updatedAt: sql<number>`coalesce(${staged.updatedAt}, ${now})`.as('updated_at'),
              publishedAt:
                sql<number>`coalesce(${staged.publishedAt}, case when ${staged.status} = 'published' then ${now} end)`.as(
                  'published_at',
                ),
              externalId: sql<string>`${staged.externalId}`.as('external_id'),
              deletedAt: sql<number>`null`.as('deleted_at'),
            })
            .from(staged)
            .where(and(of(key), lines, isNull(staged.knownId)))
            .orderBy(asc(staged.line)),
        ),
      ),
    /** Removes up to `limit` lines of the import, and returns how many. */
    forget: async (key: string, limit: number): Promise<number> => await removeLines(db, of(key), limit),
    /** The same for imports that began before the key. */
    purge: async (before: string, limit: number): Promise<number> =>
      await removeLines(db, lt(staged.importKey, before), limit),
  }
}

/** Lines have no key of one column, so they are named by import and number. */
const removeLines = async (db: DrizzleConnection, condition: SQL, limit: number): Promise<number> => {
  const [first] = await db
    .select({ key: staged.importKey, line: staged.line })
    .from(staged)
    .where(condition)
    .orderBy(asc(staged.importKey), asc(staged.line))
    .limit(1)
  if (first === undefined) return 0
  const some = and(eq(staged.importKey, first.key), lt(staged.line, first.line + limit))
  return (await db.delete(staged).where(some).returning({ line: staged.line })).length
}
