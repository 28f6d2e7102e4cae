// The end of an import: what its lines change is written, in one transaction.
import type { Queries, StagedResource, Resource, StagedLines } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { recordId } from '../../domain/identifier.ts'
import { resourceKinds } from '../../domain/resource.ts'
import { decide, guarded, type OpenChange, type Operation } from '../decide.ts'
import type { Platform } from '../platform.ts'
import { settleInstalls, type ToldPlace, totalOf } from './resources.ts'

/** An import whose lines are in the store, each right by itself. */
type StagedImport = {
  readonly key: string
  readonly parts: readonly Part[]
  readonly remembered: RememberedLines
  /** Epoch milliseconds: when it began. */
  readonly now: number
  /** With `prune`: the first ID that came after the beginning. A resource without a line is removed if its ID is an earlier one. */
  readonly prunesBefore: string | null
  /** When an import last changed anything, as of before the lines were matched. Null: none ever has. */
  readonly importedBefore: number | null
}

export type ImportedResources = {
  readonly created: number
  readonly updated: number
  readonly removed: number
  readonly installs: number
}

/** How often lines are matched, where other calls create or remove what they are about. */
const mostMatches = 4
/** Resources that are removed by one statement. */
const resourcesAtOnce = 500
/** Clocks of servers differ by less, and no transaction takes as long. */
const clockMarginMs = 120_000

/**
 * Merges the lines, in one transaction. A change of owner and a removal end the installs. If another call has meanwhile created or
 * removed what a line is about, the lines are matched again.
 * @throws invalid_request with the numbers of wrong lines; unavailable if that happens again and again
 */
export const mergeLines: Operation<StagedImport, ImportedResources> = async (platform, trace, actor, staged) => {
  let matched = staged
  for (let matches = 1; matches <= mostMatches; matches += 1) {
    if (matches > 1) matched = await matchAgain(platform, matched)
    const faults = contestedFaults(matched)
    if (faults.length > 0) throw wrongLines(faults)
    const work = writing(matched, await leftOut(platform, matched))
    const merged = await decide(platform, trace, { actor, kind: 'guarded', isLong: true }, work).catch(unlessOutdated)
    if (merged !== null) return merged
  }
  throw refuse('unavailable', { retryAfterSeconds: 1 })
}

/** Thrown in the transaction, to undo it: a line is not about the resource any more that was found for it. */
class MatchOutdated extends Error {}

const unlessOutdated = (error: unknown): null => {
  if (error instanceof MatchOutdated) return null
  throw error
}

const matchAgain = async (platform: Platform, staged: StagedImport): Promise<StagedImport> => {
  const importedBefore = await platform.database.queries.watermarks.find('imported')
  const parts: Part[] = []
  const remembered = rememberLines(staged.key)
  const faults: LineFault[] = []
  for (const { lines } of staged.parts) {
    const before = await platform.database.queries.stagedResources.read(lines)
    const freshIds = before.map(() => recordId('res_', platform.random.uuid(staged.now)))
    const matched = await platform.database.transaction(async (q) => {
      const rows = await matchLines(q, before, freshIds)
      for (const [index, { row }] of rows.entries()) {
        const known = before[index]
        if (row.change !== known?.change || row.resourceId !== known.resourceId) await q.stagedResources.correct(row)
      }
      return rows
    }, guarded)
    faults.push(...repeatedFaults(remembered, matched))
    parts.push(partOf(matched))
  }
  if (faults.length > 0) throw wrongLines(faults)
  return { ...staged, parts, remembered, importedBefore }
}

const takenSlug = 'slug: Another website or store of the owner has it.'

/** Lines whose slug another resource has and keeps. */
const contestedFaults = ({ parts, remembered, prunesBefore }: StagedImport): readonly LineFault[] =>
  parts.flatMap(({ contested }) =>
    contested.flatMap(({ line, holder: { id, externalId } }) => {
      const isPruned = !remembered.has(id) && externalId !== null && prunesBefore !== null && id < prunesBefore
      return isPruned || remembered.moves(id) ? [] : [lineFault(line, takenSlug)]
    }),
  )

/**
 * With `prune`: the builder's resources that no line is about, but for those that other calls have created since the import began,
 * which the file cannot know.
 */
const leftOut = async ({ database }: Platform, { remembered, prunesBefore }: StagedImport) => {
  const found: (readonly string[])[] = []
  if (prunesBefore === null) return found
  for (const kind of resourceKinds) {
    for (let after = '', isMore = true; isMore;) {
      const page = await database.queries.resources.sent(kind, after, resourcesAtOnce)
      const ids = page.map(({ id }) => id).filter((id) => id < prunesBefore && !remembered.has(id))
      if (ids.length > 0) found.push(ids)
      after = page.at(-1)?.externalId ?? ''
      isMore = page.length === resourcesAtOnce
    }
  }
  return found
}

/**
 * Writes in this order, so that it is right beside other transactions: an import that was merged meanwhile is noticed first. Resources
 * are changed, and so locked, before their installs are read. Owners are held by what refers to them when the erased are asked for.
 */
const writing =
  ({ parts, now, importedBefore }: StagedImport, removed: readonly (readonly string[])[]) =>
  async (change: OpenChange): Promise<ImportedResources | PlatformError> => {
    const { q, record } = change
    const { stagedResources } = q
    const result = { created: 0, updated: 0, removed: 0, installs: 0 }
    const isEmpty = removed.length === 0 && doing(parts, 'create', 'move', 'update').length === 0
    if (isEmpty) return result
    const mergedAt = Math.max(change.now, (importedBefore ?? 0) + 1)
    if (!(await q.watermarks.advance('imported', importedBefore, mergedAt))) throw new MatchOutdated()
    const losing: (readonly string[])[] = []
    const changed: string[] = []
    const gone = new Map<string, ToldPlace>() // as they were called before they are forgotten
    for (const ids of removed) {
      for (const place of await q.builderInstalls.openOn(ids)) gone.set(place.id, place)
      result.removed += await q.resources.forgetSent(ids, change.now)
    }
    for (const { lines } of doing(parts, 'move')) {
      await stagedResources.setAside(lines)
      losing.push(await stagedResources.handedOver(lines))
    }
    for (const { lines } of doing(parts, 'move')) {
      if (await stagedResources.meetsOther(lines)) throw new MatchOutdated()
    }
    for (const { lines, count } of doing(parts, 'move', 'update')) {
      if ((await stagedResources.change(lines, now)) !== count) throw new MatchOutdated()
      result.updated += count
      changed.push(...(await stagedResources.changedWithInstalls(lines)))
    }
    for (const { lines, count } of doing(parts, 'create')) {
      if ((await stagedResources.create(lines, now)) !== count) throw new MatchOutdated()
      result.created += count
    }
    const faults = await faultsOfErased(q, parts, now)
    if (faults.length > 0) throw wrongLines(faults)
    const open = async (lists: readonly (readonly string[])[]) => {
      const found: ToldPlace[] = []
      for (const ids of lists) found.push(...(await q.builderInstalls.openOn(ids)))
      return found
    }
    const nowGone = (await open(removed)).map((place) => gone.get(place.id) ?? place)
    const settled = await settleInstalls(change, { removed: nowGone, handedOver: await open(losing), changed })
    result.installs += totalOf(settled)
    if (Object.values(result).some((rows) => rows > 0)) await record({ action: 'resources.imported', detail: result })
    return result
  }

/** The parts that have such changes, and how many. */
const doing = (parts: readonly Part[], ...changes: readonly StagedResource['change'][]) =>
  parts.flatMap(({ lines, counts }) => {
    const count = changes.reduce((sum, change) => sum + counts[change], 0)
    return count === 0 ? [] : [{ lines, count }]
  })

/** Lines whose owners were erased since they were looked up. */
const faultsOfErased = async (q: Queries, parts: readonly Part[], now: number): Promise<readonly LineFault[]> => {
  const faults: LineFault[] = []
  const erased = await q.users.erasedSince(now - clockMarginMs)
  for (const { lines } of erased.length === 0 ? [] : parts) {
    const found = await q.stagedResources.ofOwners(lines, erased)
    faults.push(...found.map((line) => lineFault(line, 'The owner has been erased.')))
    if (faults.length >= mostFaults) break
  }
  return faults
}

// What the lines of an import do to the stored websites and stores, found out before the merge.

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

/** A line that is wrong, and why. */
export type LineFault = { readonly line: number; readonly message: string }
export const lineFault = (line: number, message: string): LineFault => ({ line, message })
/** So many wrong lines are told. */
export const mostFaults = 20

/** The refusal of a file with these faults, the first of them in words. */
export const wrongLines = (faults: readonly LineFault[]): PlatformError => {
  const told = faults.toSorted((one, other) => one.line - other.line).slice(0, mostFaults)
  const [first, ...others] = told
  const also = others.length === 0 ? '' : ` ${others.length} more: line ${others.map(({ line }) => line).join(', ')}.`
  const message = first === undefined ? 'The file is wrong.' : `Line ${first.line}: ${first.message}${also}`
  return refuse('invalid_request', { param: 'line', message, details: { lines: told } })
}

type ImportLine =
  | { readonly kind: 'line'; readonly number: number; readonly text: string }
  | { readonly kind: 'fault'; readonly number: number; readonly message: string }

/** A line takes a few hundred bytes. The bound keeps a file without line ends from being read into memory whole. */
const longestLineBytes = 64 * 1024
const lineFeed = 10

/**
 * The lines of a byte stream, numbered from 1. Blank lines are skipped. A line that is too long or not UTF-8 is a fault, and
 * nothing follows one that is too long.
 */
export async function* importLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ImportLine> {
  let number = 0
  let rest: Uint8Array = new Uint8Array()
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      number += 1
      yield* line(number, joined(rest, chunk.subarray(start, end)))
      rest = new Uint8Array()
      start = end + 1
    }
    rest = joined(rest, chunk.subarray(start))
    if (rest.length > longestLineBytes) return yield tooLong(number + 1)
  }
  yield* line(number + 1, rest)
}

const tooLong = (number: number): ImportLine => ({ kind: 'fault', number, message: 'The line is longer than 64 KiB.' })

function* line(number: number, bytes: Uint8Array): Generator<ImportLine> {
  if (bytes.length > longestLineBytes) return yield tooLong(number)
  const text = decoded(number, bytes)
  if (text === null) yield { kind: 'fault', number, message: 'This is not UTF-8.' }
  else if (text.trim() !== '') yield { kind: 'line', number, text }
}

/** A byte order mark is dropped at the start of the file and kept, and so refused, elsewhere. */
const firstDecoder = new TextDecoder('utf-8', { fatal: true })
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decoded = (number: number, bytes: Uint8Array): string | null => {
  try {
    return (number === 1 ? firstDecoder : decoder).decode(bytes)
  } catch {
    return null
  }
}

const joined = (first: Uint8Array, second: Uint8Array): Uint8Array =>
  first.length === 0 ? second : Buffer.concat([first, second])
