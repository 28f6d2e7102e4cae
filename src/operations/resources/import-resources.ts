import type { Queries, StagedLines, StagedResource } from '../../../db/database.ts'
import { type RowKey, recordId, rowKey } from '../../domain/identifier.ts'
import { type OwnerName, readResource, type ResourceLine } from '../../domain/resource.ts'
import { normalizeEmail } from '../../domain/user.ts'
import { badInput, guarded, type Operation } from '../decide.ts'
import type { Platform } from '../platform.ts'
import {
  importLines,
  type LineFault,
  lineFault,
  mostFaults,
  wrongLines,
  matchLines,
  type Part,
  partOf,
  type RememberedLines,
  rememberLines,
  repeatedFaults,
  type ImportedResources,
  mergeLines,
} from './merge-lines.ts'

type ImportFile = {
  /** The file: one JSON object per line, UTF-8. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Called from time to time with the number of lines read so far. */
  readonly progress: (lines: number) => void
  /** Whether each line must name itself and its owner by the builder's own IDs. */
  readonly isOfBuilder: boolean
}
type ImportOrder = ImportFile & {
  /** Whether websites and stores of the builder that no line is about are removed. */
  readonly prunes: boolean
  /** The platform of a caller that may lose its rights meanwhile, without their check: it removes the lines all the same. */
  readonly unchecked?: Platform
}

const linesPerProgress = 1_000
const linesAtOnce = 500

/**
 * Makes a file of websites and stores true: creates, changes and removes them. The lines are first read into the store, checked
 * one by one and compared with what is stored, which takes little memory whatever the size of the file. Only what differs is then
 * written, in one transaction. However that ends, the lines are removed; after a crash by the purge.
 * @throws invalid_request with the numbers of wrong lines, and then nothing has changed; unavailable if other calls have created or
 *   removed the same websites and stores again and again
 */
export const importResources: Operation<ImportOrder, ImportedResources> = async (
  platform,
  trace,
  actor,
  { prunes, unchecked = platform, ...file },
) => {
  const now = platform.clock.now()
  const key = rowKey(platform.random.uuid(now))
  const prunesBefore = prunes ? newId(platform, now) : null
  const importedBefore = await platform.database.queries.watermarks.find('imported')
  const remembered = rememberLines(key)
  const stored: StagedLines[] = []
  try {
    const parts = await stageLines(platform, { key, now, remembered, stored }, file)
    if (prunes && parts.length === 0) {
      throw badInput('line', 'The file is empty: with prune, it would remove everything.')
    }
    return await mergeLines(platform, trace, actor, { key, parts, remembered, now, prunesBefore, importedBefore })
  } finally {
    await dropLines(unchecked, stored)
  }
}

/** Of an import. */
type Place = {
  readonly key: RowKey
  /** Epoch milliseconds: when it began. */
  readonly now: number
  readonly remembered: RememberedLines
  /** Lines that may be in the store are added here. */
  readonly stored: StagedLines[]
}
type ReadLine = { readonly line: number; readonly resource: ResourceLine }

const stageLines = async (platform: Platform, place: Place, file: ImportFile): Promise<readonly Part[]> => {
  const faults: LineFault[] = []
  const parts: Part[] = []
  const store = async (batch: readonly ReadLine[]): Promise<void> => {
    const rows = batch.map(({ line, resource }) =>
      rowOf(resource, { ...place, line, resourceId: newId(platform, place.now) }),
    )
    const isKept = faults.length === 0
    if (isKept) place.stored.push({ key: place.key, first: batch[0]?.line ?? 0, last: batch.at(-1)?.line ?? 0 })
    const { unowned, matched } = await platform.database.transaction(async (q) => {
      const idOfOwner = await ownersOf(q, batch)
      const owned = rows.flatMap((row, index) => {
        const ownerId = idOfOwner(batch[index])
        return ownerId === undefined ? [] : [{ ...row, ownerId }]
      })
      const found = await matchLines(q, owned)
      if (isKept) await q.stagedResources.insert(found.map(({ row }) => row))
      return { unowned: batch.filter((line) => idOfOwner(line) === undefined), matched: found }
    }, guarded)
    for (const { line, resource } of unowned) faults.push(lineFault(line, unknownOwner(resource.owner)))
    faults.push(...repeatedFaults(place.remembered, matched))
    parts.push(partOf(matched))
  }
  let batch: ReadLine[] = []
  let lines = 0
  let storing = Promise.resolve()
  try {
    for await (const line of importLines(file.chunks)) {
      const read = line.kind === 'line' ? readResource(line.text, file.isOfBuilder) : line
      if (read.kind === 'fault') faults.push(lineFault(line.number, read.message))
      else batch.push({ line: line.number, resource: read.resource })
      if (faults.length >= mostFaults) break
      lines += 1
      if (lines % linesPerProgress === 0) file.progress(lines)
      if (batch.length < linesAtOnce) continue
      await storing // goes on while the next lines are read
      storing = store(batch)
      batch = []
    }
  } finally {
    await Promise.allSettled([storing]) // or it would store lines after they were removed
  }
  await storing
  if (batch.length > 0) await store(batch)
  if (faults.length > 0) throw wrongLines(faults)
  file.progress(lines)
  return parts
}

const newId = (platform: Platform, now: number): string => recordId('res_', platform.random.uuid(now))

type Row = Pick<Place, 'key' | 'now'> & Pick<StagedResource, 'line' | 'resourceId'>

/** Before its owner is known. */
const rowOf = (stated: ResourceLine, { key: importKey, line, resourceId, now }: Row) => {
  const { kind, externalId, name, slug, status, createdAt, updatedAt, publishedAt } = stated
  const latest = Math.min(now, updatedAt ?? now, publishedAt ?? now)
  return {
    importKey,
    line,
    change: 'create' as const,
    resourceId,
    kind,
    externalId,
    name,
    slug,
    status,
    createdAt,
    updatedAt,
    publishedAt,
    newCreatedAt: createdAt ?? latest,
  }
}

const unknownOwner = ({ by }: OwnerName): string =>
  by === 'email'
    ? 'owner: There is no user with this address.'
    : 'ownerExternalId: There is no user with this external ID.'

/** Gives the IDs of the owners, which stay right; whether one was erased meanwhile is asked in the merge. */
const ownersOf = async ({ users }: Queries, batch: readonly ReadLine[]) => {
  const names = { email: new Set<string>(), externalId: new Set<string>() }
  for (const { resource } of batch) names[resource.owner.by].add(storedName(resource.owner))
  const byEmail = await users.byEmails([...names.email].map((email) => ({ email })))
  const byExternalId = await users.byExternalIds([...names.externalId].map((externalId) => ({ externalId })))
  const ids = {
    email: new Map(byEmail.map(({ id, email }) => [email, id])),
    externalId: new Map(byExternalId.map(({ id, externalId }) => [externalId, id])),
  }
  return (line: ReadLine | undefined) =>
    line === undefined ? undefined : ids[line.resource.owner.by].get(storedName(line.resource.owner))
}

/** Nobody has a malformed address. */
const storedName = ({ by, text }: OwnerName): string => (by === 'email' ? (normalizeEmail(text) ?? '') : text)

/** Removes the lines of an import, a few at a time, because others write meanwhile. If that fails, the purge does it. */
const dropLines = async (platform: Platform, stored: readonly StagedLines[]): Promise<void> => {
  try {
    for (const lines of stored) {
      await platform.database.transaction(async (q) => await q.stagedResources.forget(lines), guarded)
    }
  } catch {
    // The file is merged, or refused with its own reason.
  }
}
