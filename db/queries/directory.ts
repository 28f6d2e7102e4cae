import { and, eq, isNull, or, sql } from 'drizzle-orm'
import { pick } from '../../src/domain/pick.ts'
import { apps, users, versions } from '../tables/sqlite.ts'
import { type DrizzleConnection, given, givenLimit, only } from './connection.ts'
import { beside, type SearchWindow } from './places.ts'
import { lazyReader, shapedReader } from './reader.ts'
import { isLike, patternOf } from './users.ts'
import { isLiveOfApp, live } from './versions.ts'

/** Apps that the directory has: active ones that no operator has hidden. The join with `live` leaves those with a live version. */
const isShown = and(eq(apps.status, 'active'), isNull(apps.deletedAt), eq(apps.isListed, true))

/**
 * The owner's name is not public: nothing is found by it. The index `apps_in_directory` has all columns of `apps` that a search reads, so
 * that it reads nothing else of what it does not find.
 */
const isNamed = or(
  ...[apps.name, apps.slug, apps.publisher, apps.description].map((column) => isLike(column, given('pattern'))),
)

/** Where a part of the list is and what it is to contain; null: nothing of the kind is asked. */
type Side = { readonly after: string | null; readonly before: string | null }
type Edge = Side & { readonly rows: number; readonly one: number }
type Asked = Side & {
  /** The last slug that is looked at. */
  readonly until: string | null
  readonly pattern: string | null
  readonly limit: number
}

/** What a list shows of an app. The manifest is not read. */
const shownColumns = {
  ...pick(apps, 'id', 'slug', 'name', 'status', 'publisher', 'description'),
  ...pick(live, 'iconSha256', 'scopes', 'version', 'activatedAt'),
  ownerName: users.name,
}

const sideOf = (isAsked: (name: keyof Side) => boolean) =>
  beside(apps.slug, 'ascending', isAsked('after') ? given('after') : { backFrom: given('before') })

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
  /** The slug up to which a search looks. */
  const edge = shapedReader(db, (isAsked: (name: keyof Edge) => boolean) => {
    const { isBeside, order } = sideOf(isAsked)
    return db
      .select(pick(apps, 'slug'))
      .from(apps)
      .where(isBeside)
      .orderBy(order)
      .limit(givenLimit('one'))
      .offset(givenLimit('rows'))
  })
  const page = shapedReader(db, (isAsked: (name: keyof Asked) => boolean) => {
    const { isBeside, order, upTo } = sideOf(isAsked)
    return db
      .select(shownColumns)
      .from(apps)
      .innerJoin(live, isLiveOfApp)
      .innerJoin(users, eq(users.id, apps.ownerId))
      .where(
        and(
          isBeside,
          isAsked('until') ? upTo(given('until')) : undefined,
          isShown,
          isAsked('pattern') ? isNamed : undefined,
        ),
      )
      .orderBy(order)
      .limit(givenLimit('limit'))
  })
  return {
    /** Its apps by slug, with the text in their name, slug, publisher or description. The window and `searchedTo` are as for users. */
    search: async (part: string, { after: place, rows, limit }: SearchWindow) => {
      const side = typeof place === 'string' ? { after: place, before: null } : { after: null, before: place.backFrom }
      const last = only(await edge({ ...side, rows: rows - 1, one: 1 }))
      const searchedTo = last?.slug ?? null
      const pattern = part === '' ? null : patternOf(part)
      return { found: await page({ ...side, until: searchedTo, pattern, limit }), searchedTo }
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
