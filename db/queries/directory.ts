import { and, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import { pick } from '../../src/domain/pick.ts'
import { apps, users, versions } from '../tables/sqlite.ts'
import { type DrizzleConnection, given, only } from './connection.ts'
import { lookThrough, type SearchWindow } from './places.ts'
import { lazyReader } from './reader.ts'
import { contains } from './users.ts'
import { isLiveOfApp, live } from './versions.ts'

/** Apps that the directory has: active ones that no operator has hidden. The join with `live` leaves those with a live version. */
const isShown = and(eq(apps.status, 'active'), isNull(apps.deletedAt), eq(apps.isListed, true))

/** The owner's name is not public: nothing is found by it. */
const isNamed = (part: string): SQL | undefined =>
  part === ''
    ? undefined
    : or(
        contains(apps.name, part),
        contains(apps.slug, part),
        contains(apps.publisher, part),
        contains(live.description, part),
      )

/** What a list shows of an app. The manifest is not read. */
const shownColumns = {
  ...pick(apps, 'id', 'slug', 'name', 'status', 'publisher'),
  ...pick(live, 'iconSha256', 'description', 'scopes', 'version', 'activatedAt'),
  ownerName: users.name,
}

/** The directory of apps. */
export const directoryQueries = (db: DrizzleConnection) => {
  const icon = lazyReader(db, () =>
    db
      .select(pick(versions, 'artifactSha256', 'iconPlace'))
      .from(versions)
      .innerJoin(apps, eq(apps.id, versions.appId))
      .where(
        and(
          eq(versions.iconSha256, given('sha256', versions.iconSha256)),
          // A literal, as in the partial index `versions_by_icon`.
          eq(versions.status, sql`'active'`),
          eq(apps.status, 'active'),
        ),
      ),
  )
  return {
    /** Its apps by slug, with the text in their name, slug, publisher or description. The window and `searchedTo` are as for users. */
    search: async (part: string, window: SearchWindow) => {
      const { isWithin, order, searchedTo } = await lookThrough(db, apps.slug, 'ascending', window)
      const found = await db
        .select(shownColumns)
        .from(apps)
        .innerJoin(live, isLiveOfApp)
        .innerJoin(users, eq(users.id, apps.ownerId))
        .where(and(isWithin, isShown, isNamed(part)))
        .orderBy(order)
        .limit(window.limit)
      return { found, searchedTo }
    },
    /** One of them. */
    bySlug: async (slug: string) =>
      only(
        await db
          .select({ ...shownColumns, manifest: live.manifest })
          .from(apps)
          .innerJoin(live, isLiveOfApp)
          .innerJoin(users, eq(users.id, apps.ownerId))
          .where(and(eq(apps.slug, slug), isShown)),
      ),
    /** Where the icon of a live version of an active app is, by its content; null if there is none. */
    icon: (sha256: Uint8Array) => icon().first({ sha256 }),
  }
}
