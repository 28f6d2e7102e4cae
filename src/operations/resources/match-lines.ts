// What the lines of an import do to the stored websites and stores, found out before the merge.

import type { Queries, Resource, StagedLines, StagedResource } from '../../../db/database.ts'
import { type LineFault, lineFault } from './import-lines.ts'

/** A line, and the other resource that has its slug now, if there is one. */
type MatchedLine = { readonly row: StagedResource; readonly holder: Resource | null }

/** Lines that are stored together. */
export type Part = {
  readonly lines: StagedLines
  /** How many lines do what. */
  readonly counts: Readonly<Record<StagedResource['change'], number>>
  /** Lines whose slug another resource has. */
  readonly contested: readonly { readonly line: number; readonly holder: Resource }[]
}

export const partOf = (matched: readonly MatchedLine[]): Part => {
  const counts = { create: 0, move: 0, update: 0, none: 0 }
  for (const { row } of matched) counts[row.change] += 1
  const contested = matched.flatMap(({ row: { line }, holder }) => (holder === null ? [] : [{ line, holder }]))
  const [first, last] = [matched[0]?.row, matched.at(-1)?.row]
  return { lines: { key: first?.importKey ?? '', first: first?.line ?? 0, last: last?.line ?? 0 }, counts, contested }
}

const idOf = ({ kind, externalId }: Pick<Resource, 'kind' | 'externalId'>): string => `${kind} ${externalId}`
const slugOf = ({ ownerId, kind, slug }: Pick<Resource, 'ownerId' | 'kind' | 'slug'>): string =>
  `${ownerId} ${kind} ${slug}`
const hasSameSlug = (row: StagedResource, known: Resource): boolean =>
  row.ownerId === known.ownerId && row.slug === known.slug

/**
 * Finds the stored resource that each line is about, and what it changes. A resource of an external ID is found by that, all others
 * by owner, kind and slug. Fresh IDs are for lines that turn out to create a resource.
 */
export const matchLines = async (
  { resources }: Queries,
  rows: readonly StagedResource[],
  freshIds: readonly string[] = [],
): Promise<readonly MatchedLine[]> => {
  const sent = await resources.byExternalIds(rows.filter(({ externalId }) => externalId !== null))
  const byId = new Map(sent.map((resource) => [idOf(resource), resource]))
  const sought = rows.filter((row) => {
    const known = byId.get(idOf(row))
    return known === undefined || !hasSameSlug(row, known)
  })
  const bySlug = new Map((await resources.bySlugs(sought)).map((resource) => [slugOf(resource), resource]))
  return rows.map((row, index) => {
    const namesake = bySlug.get(slugOf(row))
    const mayBeIt = row.externalId === null || namesake?.externalId === null
    const known = byId.get(idOf(row)) ?? (mayBeIt ? namesake : undefined)
    const holder = namesake === undefined || namesake.id === known?.id ? null : namesake
    const match = known === undefined ? asNew(row, freshIds[index]) : asKnown(row, known)
    return { row: { ...row, ...match }, holder }
  })
}

type Match = Pick<StagedResource, 'change' | 'resourceId'>

const asNew = ({ change, resourceId }: StagedResource, freshId: string | undefined): Match => ({
  change: 'create',
  resourceId: change === 'create' ? resourceId : (freshId ?? resourceId),
})

const asKnown = (row: StagedResource, known: Resource): Match => {
  const isMove = !hasSameSlug(row, known) || (row.externalId !== null && row.externalId !== known.externalId)
  return { change: isMove ? 'move' : isChanged(row, known) ? 'update' : 'none', resourceId: known.id }
}

const isChanged = (row: StagedResource, known: Resource): boolean =>
  row.name !== known.name ||
  row.status !== known.status ||
  (['createdAt', 'updatedAt', 'publishedAt'] as const).some((time) => row[time] !== null && row[time] !== known[time])

/** What is remembered of lines that were matched. */
export type RememberedLines = {
  /** Adds a line. False if an earlier one is about the same resource. */
  readonly add: (row: StagedResource) => boolean
  /** Whether a line is about this stored resource. */
  readonly has: (resourceId: string) => boolean
  /** Whether a line gives this stored resource another slug, owner or external ID. */
  readonly moves: (resourceId: string) => boolean
}

/**
 * Remembers 61 bits of a hash of what names a line, so that a large file takes little memory. Of the largest ones, one in half a
 * million could be refused wrongly; sent again, it would not, because the key of the import is hashed as well.
 */
export const rememberLines = (key: string): RememberedLines => {
  const [names, moved] = [createHashes(key), createHashes(key)]
  return {
    add: (row) => {
      if (row.change === 'move') moved.add(row.resourceId)
      // All names of the line are remembered, also if one of them is known already.
      const isSlugNew = names.add(slugOf(row))
      if (row.change !== 'create') return names.add(row.resourceId) && isSlugNew
      const isIdNew = row.externalId === null || names.add(idOf(row))
      return isIdNew && isSlugNew
    },
    has: names.has,
    moves: moved.has,
  }
}

/** Remembers the lines. Tells those about the same resource as an earlier one. */
export const repeatedFaults = (remembered: RememberedLines, matched: readonly MatchedLine[]): readonly LineFault[] =>
  matched.flatMap(({ row }) => (remembered.add(row) ? [] : [lineFault(row.line, repeatedLine)]))

const repeatedLine = 'An earlier line is about the same website or store.'

const createHashes = (key: string) => {
  const sets = Array.from({ length: 256 }, () => new Set<number>()) // small ones, which grow in no time
  const placeOf = (name: string) => {
    const hash = Bun.hash.wyhash(`${key} ${name}`)
    return { set: sets[Number(hash & 255n)], rest: Number(hash >> 11n) }
  }
  return {
    /** False if it was there. */
    add: (name: string): boolean => {
      const { set, rest } = placeOf(name)
      const size = set?.size
      return set?.add(rest).size !== size
    },
    has: (name: string): boolean => {
      const { set, rest } = placeOf(name)
      return set?.has(rest) === true
    },
  }
}
