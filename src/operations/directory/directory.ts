// The directory of apps, which everybody can read: active apps with a live version that no operator has hidden.
import { createHash } from 'node:crypto'
import type { Queries, Version } from '../../../db/database.ts'
import { iconLimits, iconTypeOf, type IconType, shownIcon } from '../../domain/app-icon.ts'
import type { ArchivedPlace } from '../../domain/archive.ts'
import { refuse } from '../../domain/errors.ts'
import { appFactsIn } from '../../domain/manifest.ts'
import { pick } from '../../domain/pick.ts'
import { parseStoredScope } from '../../domain/scope.ts'
import { artifactLimits } from '../../domain/version.ts'
import { canBeFound, emptyPage, type PageRequest, searchPage } from '../page.ts'
import type { Platform } from '../platform.ts'
import { storedJson } from '../stored-json.ts'

type Row = Awaited<ReturnType<Queries['directory']['search']>>['found'][number]

/** To whom the directory is shown. The name of an account is not public, so only people who are signed in read it as the publisher. */
type Reader = 'everybody' | 'signed in'

const listedApp = (row: Row, reader: Reader) => ({
  ...pick(row, 'id', 'slug', 'name', 'description', 'version'),
  publisher: row.publisher ?? (reader === 'signed in' ? row.ownerName : null),
  icon: shownIcon(row),
  scopes: parseStoredScope(row.scopes),
  /** When the live version became live. */
  liveSince: row.activatedAt ?? 0,
})

/** An app in the directory. */
export type ListedApp = ReturnType<typeof listedApp>

/** The apps of the directory by slug, with the text in their name, slug, publisher or description. */
export const listDirectory = async (
  { database: { queries: q } }: Platform,
  reader: Reader,
  page: PageRequest,
  part = '',
) => {
  if (!canBeFound(part)) return emptyPage
  const found = await searchPage(
    page,
    '',
    (window) => q.directory.search(part, window),
    ({ slug }) => slug,
  )
  return { ...found, data: found.data.map((row) => listedApp(row, reader)) }
}

/** One app of the directory, with the addresses that its live version names. @throws route_not_found */
export const readListedApp = async ({ database }: Platform, reader: Reader, slug: string) => {
  const row = await database.queries.directory.bySlug(slug)
  if (row === null) throw refuse('route_not_found')
  return { ...listedApp(row, reader), facts: appFactsIn(storedJson(row.manifest)) }
}

type Icon = { readonly type: IconType; readonly bytes: Uint8Array<ArrayBuffer> }

/** The icon with this content, if a live version of an active app has it. @throws route_not_found */
export const readIconOfLive = async (platform: Platform, sha256: Uint8Array): Promise<Icon> => {
  const { queries: q } = platform.database
  const found = await q.directory.icon(sha256)
  return await readIcon(q, { artifactSha256: null, iconPlace: null, ...found, iconSha256: sha256 })
}

/** The icon of a version, live or not, for its review. @throws route_not_found if it has none */
export const readIconOfVersion = async ({ database }: Platform, appId: string, id: string): Promise<Icon> => {
  const { queries: q } = database
  const found = await q.versions.byId(appId, id)
  if (found === null) throw refuse('route_not_found')
  return await readIcon(q, found)
}

type IconFields = Pick<Version, 'artifactSha256' | 'iconPlace' | 'iconSha256'>

const readIcon = async (q: Queries, { artifactSha256, iconPlace, iconSha256 }: IconFields): Promise<Icon> => {
  if (artifactSha256 === null || iconPlace === null || iconSha256 === null) throw refuse('route_not_found')
  const bytes = await iconAt(q, artifactSha256, storedJson<ArchivedPlace>(iconPlace))
  const type = bytes === null ? null : iconTypeOf(bytes)
  if (bytes === null || type === null || !createHash('sha256').update(bytes).digest().equals(iconSha256)) {
    throw new Error('an icon differs from the one that was uploaded')
  }
  return { type, bytes }
}

/** Reads only those pieces of the artifact that have the icon. */
const iconAt = async (q: Queries, artifactSha256: Uint8Array, place: ArchivedPlace) => {
  const { chunkBytes } = artifactLimits
  const first = Math.floor(place.offset / chunkBytes)
  const pieces: Uint8Array[] = []
  for (let position = first; position * chunkBytes < place.offset + place.packedBytes; position += 1) {
    const piece = await q.artifacts.chunk(artifactSha256, position)
    if (piece === null) return null
    pieces.push(piece.data)
  }
  const start = place.offset - first * chunkBytes
  const packed = Buffer.concat(pieces).subarray(start, start + place.packedBytes)
  const { unpackedAgain } = await import('../../domain/archive.ts') // of the start it would take 5 ms, for node:zlib
  const unpacked = unpackedAgain(packed, place, iconLimits.bytes)
  return unpacked === null ? null : new Uint8Array(unpacked)
}
