import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { sharingReads } from '../../src/domain/awaitable.ts'
import { soughtPart } from '../../src/domain/entered-name.ts'
import { pick } from '../../src/domain/pick.ts'
import { apps, users, versions } from '../tables/sqlite.ts'
import { type DrizzleConnection, given, givenLimit, only } from './connection.ts'
import { beside, type SearchWindow } from './places.ts'
import { lazyReader, shapedReader } from './reader.ts'
import { isLiveOfApp, live } from './versions.ts'

/** Apps that the directory has: active ones that no operator has hidden. The join with `live` leaves those with a live version. */
const isShown = and(eq(apps.status, 'active'), isNull(apps.deletedAt), eq(apps.isListed, true))

/** Where a part of the list is; null: nothing of the kind is asked. */
type Side = { readonly after: string | null; readonly before: string | null }
type Edge = Side & { readonly rows: number; readonly one: number }
type Asked = Side & {
  /** The last slug that is looked at. */
  readonly until: string | null
}

/** What a list shows of an app. The manifest is not read. */
const shownColumns = {
  ...pick(apps, 'id', 'slug', 'name', 'status', 'publisher'),
  ...pick(live, 'iconSha256', 'description', 'scopes', 'version', 'activatedAt'),
  ownerName: users.name,
}

/** What an app is found by. The owner's name is not public: nothing is found by it. */
const soughtColumns = { ...pick(apps, 'slug', 'name', 'publisher'), ...pick(live, 'description') } as const

/** With ASCII letters in lower case: other searches ignore the case of these too. */
const lowered = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())

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
  const selectShown = () =>
    db.select(shownColumns).from(apps).innerJoin(live, isLiveOfApp).innerJoin(users, eq(users.id, apps.ownerId))
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
  const page = shapedReader(db, (isAsked: (name: keyof (Asked & { limit: number })) => boolean) => {
    const { isBeside, order, upTo } = sideOf(isAsked)
    return selectShown()
      .where(and(isBeside, isAsked('until') ? upTo(given('until')) : undefined, isShown))
      .orderBy(order)
      .limit(givenLimit('limit'))
  })
  const sought = shapedReader(db, (isAsked: (name: keyof Asked) => boolean) => {
    const { isBeside, order, upTo } = sideOf(isAsked)
    return db
      .select(soughtColumns)
      .from(apps)
      .innerJoin(live, isLiveOfApp)
      .where(and(isBeside, isAsked('until') ? upTo(given('until')) : undefined, isShown))
      .orderBy(order)
  })
  const edgeOf = async (side: Side, rows: number) => only(await edge({ ...side, rows: rows - 1, one: 1 }))?.slug ?? null

  /** The texts of a window. Reading them takes much longer than looking through them, so searches that come together share them. */
  const textsOf = sharingReads(async (side: Side, rows: number) => {
    const searchedTo = await edgeOf(side, rows)
    const texts = (await sought({ ...side, until: searchedTo })).map(({ slug, name, publisher, description }) => ({
      slug,
      text: lowered([slug, name, publisher, description].join('\n')), // the part has no line end
    }))
    return { texts, searchedTo }
  })
  const find = async (part: string, side: Side, { after, rows, limit }: SearchWindow) => {
    const { texts, searchedTo } = await textsOf(side, rows)
    const soughtText = lowered(soughtPart(part))
    const slugs: string[] = []
    for (const { slug, text } of texts) {
      if (slugs.length === limit) break
      if (text.includes(soughtText)) slugs.push(slug)
    }
    if (slugs.length === 0) return { found: [], searchedTo }
    return {
      found: await selectShown()
        .where(and(inArray(apps.slug, slugs), isShown))
        .orderBy(beside(apps.slug, 'ascending', after).order),
      // The last one may have been hidden since: the search goes on after it.
      searchedTo: slugs.length === limit ? (slugs.at(-1) ?? null) : searchedTo,
    }
  }
  return {
    /** Its apps by slug, with the text in their name, slug, publisher or description. The window and `searchedTo` are as for users. */
    search: async (part: string, window: SearchWindow) => {
      const { after: place, rows, limit } = window
      const side = typeof place === 'string' ? { after: place, before: null } : { after: null, before: place.backFrom }
      if (part !== '') return await find(part, side, window)
      const searchedTo = await edgeOf(side, rows)
      return { found: await page({ ...side, until: searchedTo, limit }), searchedTo }
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
