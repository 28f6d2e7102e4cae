import type { StagedResource } from '../../../db/database.ts'
import { type RowKey, recordId, rowKey } from '../../domain/identifier.ts'
import { type OwnerName, readResource, type ResourceLine } from '../../domain/resource.ts'
import { PlatformError, refuse } from '../../domain/errors.ts'
import { badInput, decideAt, type Operation } from '../decision.ts'
import type { Platform } from '../platform.ts'
import { findUser } from '../users/find-user.ts'
import { endInstallsOn } from './builder-resources.ts'
import { importLines, type LineFault, lineFault } from './import-lines.ts'

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
export type ImportedResources = {
  readonly created: number
  readonly updated: number
  readonly removed: number
  readonly installs: number
}

/** An import whose lines are in the store, each right by itself. */
type StagedImport = {
  readonly key: RowKey
  readonly lines: number
  readonly lastLine: number
  /** Epoch milliseconds: when it began. */
  readonly now: number
}

const linesPerProgress = 1_000
const linesAtOnce = 500
/** So many wrong lines are told. */
const mostFaults = 20

/**
 * Makes a file of websites and stores true: creates, changes and removes them. The lines are first read into the store and checked
 * one by one, which takes little memory whatever the size of the file, and then merged in one transaction. However that ends,
 * they are removed; after a crash by the purge.
 * @throws invalid_request with the numbers of wrong lines, and then nothing has changed
 */
export const importResources: Operation<ImportOrder, ImportedResources> = async (
  platform,
  trace,
  actor,
  { prunes, unchecked = platform, ...file },
) => {
  const now = platform.clock.now()
  const key = rowKey(platform.random.uuid(now))
  try {
    const read = await stageLines(platform, { key, now }, file)
    return await mergeLines(platform, trace, actor, { staged: { key, now, ...read }, prunes })
  } finally {
    await dropLines(unchecked, key)
  }
}

const stageLines = async (
  platform: Platform,
  { key, now }: { readonly key: RowKey; readonly now: number },
  { chunks, progress, isOfBuilder }: ImportFile,
) => {
  const faults: LineFault[] = []
  const idOfOwner = rememberOwners(platform)
  let batch: StagedResource[] = []
  let lines = 0
  let lastLine = 0
  const store = async () => {
    const rows = await Promise.all(batch.map(async (row) => ({ ...row, knownId: await knownTo(platform, row) })))
    batch = []
    await platform.database.transaction(async ({ stagedResources }) => {
      await Promise.all(rows.map((row) => stagedResources.insert(row)))
    })
  }
  for await (const line of importLines(chunks)) {
    const read = line.kind === 'line' ? readResource(line.text, isOfBuilder) : line
    const ownerId = read.kind === 'resource' ? await idOfOwner(read.resource.owner) : null
    if (read.kind === 'fault') faults.push({ line: line.number, message: read.message })
    else if (ownerId === null) faults.push({ line: line.number, message: unknownOwner(read.resource.owner) })
    else if (faults.length === 0)
      batch.push(rowOf(read.resource, { key, line: line.number, ownerId, now, newId: newId(platform, now) }))
    if (faults.length === mostFaults) break
    lines += 1
    lastLine = line.number
    if (batch.length === linesAtOnce) await store()
    if (lines % linesPerProgress === 0) progress(lines)
  }
  if (faults.length > 0) throw wrongLines(faults)
  if (batch.length > 0) await store()
  progress(lines)
  return { lines, lastLine }
}

const newId = (platform: Platform, now: number): string => recordId('res_', platform.random.uuid(now))

type Place = {
  readonly key: RowKey
  readonly line: number
  readonly ownerId: string
  readonly newId: string
  readonly now: number
}

const rowOf = (stated: ResourceLine, { key, line, ownerId, newId: fresh, now }: Place): StagedResource => {
  const { kind, externalId, name, slug, status, createdAt, updatedAt } = stated
  const publishedAt = stated.publishedAt
  const latest = Math.min(now, updatedAt ?? now, publishedAt ?? now)
  return {
    importKey: key,
    line,
    newId: fresh,
    knownId: null,
    ownerId,
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

/** The refusal of a file with these faults, the first of them in words. */
const wrongLines = (faults: readonly LineFault[]): PlatformError => {
  const [first, ...others] = faults
  const also = others.length === 0 ? '' : ` ${others.length} more: line ${others.map(({ line }) => line).join(', ')}.`
  const message = first === undefined ? 'The file is wrong.' : `Line ${first.line}: ${first.message}${also}`
  return refuse('invalid_request', { param: 'line', message, details: { lines: faults } })
}

/** The stored resource that a line is about, as `match` finds it again in the transaction of the merge. */
const knownTo = async (
  { database }: Platform,
  { kind, externalId, ownerId, slug }: StagedResource,
): Promise<string | null> => {
  const q = database.queries.resources
  const named = externalId === null ? null : await q.byExternalId(kind, externalId)
  if (named !== null) return named.id
  const namesake = await q.find(ownerId, kind, slug)
  const isIt = namesake !== null && namesake.deletedAt === null && (externalId === null || namesake.externalId === null)
  return isIt ? namesake.id : null
}

/** Looks up each owner once. IDs of users stay right; whether one was erased meanwhile is asked at the end. */
const rememberOwners = (platform: Platform) => {
  const known = new Map<string, string>()
  const q = platform.database.queries
  return async ({ by, text }: OwnerName): Promise<string | null> => {
    const name = `${by} ${text}`
    const remembered = known.get(name)
    if (remembered !== undefined) return remembered
    const user = by === 'email' ? await findUser(q, text) : await q.users.byExternalId(text)
    if (user !== null) known.set(name, user.id)
    return user?.id ?? null
  }
}

/**
 * Merges the lines, in one transaction. Websites and stores of an external ID are identified by it, all others by owner, kind and
 * slug. The same file again changes nothing. A change of owner and a removal end the installs.
 */
const mergeLines: Operation<{ staged: StagedImport; prunes: boolean }, ImportedResources> = async (
  platform,
  trace,
  actor,
  { staged, prunes },
) => {
  const { key, lines, lastLine, now } = staged
  if (prunes && lines === 0) throw badInput('line', 'The file is empty: with prune, it would remove everything.')
  return await decideAt(platform, trace, actor, platform.clock.now(), async (change) => {
    const { q, record } = change
    const { stagedResources } = q
    await stagedResources.match(key, lastLine)
    const faults = [
      ...(await stagedResources.withoutOwner(key)).map((line) => lineFault(line, 'The owner has been erased.')),
      ...(await stagedResources.repeated(key)).map((line) =>
        lineFault(line, 'An earlier line is about the same website or store.'),
      ),
      ...(await stagedResources.withTakenSlug(key, prunes)).map((line) =>
        lineFault(line, 'slug: Another website or store of the owner has it.'),
      ),
    ]
    if (faults.length > 0) return wrongLines(faults)
    const counts = await stagedResources.counts(key, prunes)
    let installs = 0
    for (const id of await stagedResources.endingInstalls(key, prunes)) installs += await endInstallsOn(change, id)
    if (counts.removed > 0) await stagedResources.prune(key, change.now)
    if (counts.updated > 0) await stagedResources.change(key, lastLine, now)
    if (counts.created > 0) await stagedResources.create(key, lastLine, now)
    const result = { ...counts, installs }
    if (Object.values(counts).some((rows) => rows > 0)) await record({ action: 'resources.imported', detail: result })
    return result
  })
}

/** Removes the lines of an import, a few at a time, because others write meanwhile. If that fails, the purge does it. */
const dropLines = async ({ database }: Platform, key: RowKey): Promise<void> => {
  const drop = async () =>
    await database.transaction(async ({ stagedResources }) => await stagedResources.forget(key, linesAtOnce))
  try {
    for (let removed = linesAtOnce; removed > 0;) removed = await drop()
  } catch {
    // The file is merged, or refused with its own reason.
  }
}
