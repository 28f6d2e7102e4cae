// The end of an import: what its lines change is written, in one transaction.

import type { Queries, StagedResource } from '../../../db/database.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { recordId } from '../../domain/identifier.ts'
import { resourceKinds } from '../../domain/resource.ts'
import { decide, guarded, type OpenChange, type Operation } from '../decide.ts'
import type { Platform } from '../platform.ts'
import { endInstallsOn, totalOf } from './builder-resources.ts'
import { type LineFault, lineFault, mostFaults, wrongLines } from './import-lines.ts'
import { matchLines, type Part, partOf, type RememberedLines, rememberLines, repeatedFaults } from './match-lines.ts'

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
const leftOut = async (
  { database }: Platform,
  { remembered, prunesBefore }: StagedImport,
): Promise<readonly (readonly string[])[]> => {
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
    const losing: (readonly string[])[] = [...removed]
    for (const ids of removed) result.removed += await q.resources.forgetSent(ids, change.now)
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
    }
    for (const { lines, count } of doing(parts, 'create')) {
      if ((await stagedResources.create(lines, now)) !== count) throw new MatchOutdated()
      result.created += count
    }
    const faults = await faultsOfErased(q, parts, now)
    if (faults.length > 0) throw wrongLines(faults)
    const withInstalls: string[] = []
    for (const resourceIds of losing) withInstalls.push(...(await q.builderInstalls.openOn(resourceIds)))
    result.installs += totalOf(await endInstallsOn(change, withInstalls))
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
