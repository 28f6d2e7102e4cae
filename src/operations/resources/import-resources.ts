import type { Resource } from '../../../db/database.ts'
import { recordId } from '../../domain/identifier.ts'
import { readResource, type StatedResource } from '../../domain/resource.ts'
import { badInput, decideAt, type Operation } from '../decision.ts'
import type { Platform } from '../platform.ts'
import { findUser } from '../users/find-user.ts'

type ResourceImport = {
  /** The file: one JSON object per line, UTF-8. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** Called from time to time with the number of lines read so far. */
  readonly progress: (lines: number) => void
}
type ImportedResources = { readonly created: number; readonly updated: number }

/**
 * All lines are held in memory until the last one is checked. Storing this many takes a few seconds, in which a server on
 * the same database answers reads and lets writes wait or retry.
 */
const mostLines = 500_000
const linesPerProgress = 1_000

/**
 * Creates or updates websites and stores, identified by owner, kind and slug. All lines are checked before the first is
 * stored, and all are stored in one transaction.
 * @throws invalid_request with the number of the first wrong line
 */
export const importResources: Operation<ResourceImport, ImportedResources> = async (platform, trace, actor, input) => {
  const { chunks, progress } = input
  const now = platform.clock.now()
  const staged: StagedResource[] = []
  const ownerIdOf = rememberOwners(platform)
  for await (const { number, text } of importLines(chunks)) {
    const read = readResource(text)
    if (read.kind === 'fault') throw lineFault(number, read.message)
    const ownerId = await ownerIdOf(read.resource.owner)
    if (ownerId === null) throw lineFault(number, 'owner: There is no user with this address.')
    if (staged.length === mostLines) throw lineFault(number, 'A file has at most 500,000 resources; split it.')
    staged.push({ ...read.resource, id: recordId('res_', platform.random.uuid(now)), ownerId })
    if (staged.length % linesPerProgress === 0) progress(staged.length)
  }
  progress(staged.length)

  return await decideAt(platform, trace, actor, now, async ({ q, record }) => {
    let created = 0
    for (const batch of batchesOf(staged)) {
      const found = await Promise.all(batch.map(({ ownerId, kind, slug }) => q.resources.find(ownerId, kind, slug)))
      const stored = batch.map((stated, index) => {
        const before = found[index] ?? null
        if (before !== null) return q.resources.update(before.id, changeOf(stated, before, now))
        created += 1
        return q.resources.insert(newRow(stated, now))
      })
      await Promise.all(stored)
    }
    const result = { created, updated: staged.length - created }
    if (staged.length > 0) await record({ action: 'resources.imported', detail: result })
    return result
  })
}

const largestBatch = 500

/** So many resources at once, because PostgreSQL answers them in one round trip. A batch has no resource twice. */
const batchesOf = function* (staged: readonly StagedResource[]): Generator<StagedResource[]> {
  let batch: StagedResource[] = []
  let keys = new Set<string>()
  for (const stated of staged) {
    const key = `${stated.ownerId} ${stated.kind} ${stated.slug}`
    if (batch.length === largestBatch || keys.has(key)) {
      yield batch
      batch = []
      keys = new Set()
    }
    batch.push(stated)
    keys.add(key)
  }
  if (batch.length > 0) yield batch
}

/** A resource of the file with its new ID and the ID of its owner. */
type StagedResource = StatedResource & { readonly id: string; readonly ownerId: string }

const newRow = (stated: StagedResource, now: number): Resource => {
  const { id, ownerId, kind, name, slug, status } = stated
  const updatedAt = stated.updatedAt ?? now
  const publishedAt = stated.publishedAt ?? (status === 'published' ? now : null)
  const createdAt = stated.createdAt ?? Math.min(now, updatedAt, publishedAt ?? now)
  return { id, ownerId, kind, name, slug, status, createdAt, updatedAt, publishedAt, externalId: null, deletedAt: null }
}

/** Times that the line omits keep their stored value. A resource that is published for the first time gets the present. */
const changeOf = (stated: StagedResource, before: Resource, now: number) => {
  const { name, status } = stated
  const kept = status === 'draft' ? null : before.publishedAt
  return {
    name,
    status,
    createdAt: stated.createdAt ?? before.createdAt,
    updatedAt: stated.updatedAt ?? now,
    publishedAt: stated.publishedAt ?? kept ?? (status === 'published' ? now : null),
  }
}

/** Looks up each address once. Users are never deleted, so an ID stays right. */
const rememberOwners = (platform: Platform) => {
  const known = new Map<string, string>()
  return async (address: string): Promise<string | null> => {
    const remembered = known.get(address)
    if (remembered !== undefined) return remembered
    const user = await findUser(platform.database.queries, address)
    if (user !== null) known.set(address, user.id)
    return user?.id ?? null
  }
}

type ImportLine = { readonly number: number; readonly text: string }

/** A line takes a few hundred bytes. The bound keeps a file without line ends from being read into memory whole. */
const longestLineBytes = 64 * 1024
const lineFeed = 10

/**
 * The lines of a byte stream, numbered from 1. Blank lines are skipped.
 * @throws invalid_request with the number of a line that is too long or not UTF-8
 */
async function* importLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ImportLine> {
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
    if (rest.length > longestLineBytes) throw lineFault(number + 1, 'The line is longer than 64 KiB.')
  }
  yield* line(number + 1, rest)
}

const lineFault = (number: number, sentence: string) => badInput('line', `line ${number}: ${sentence}`)

function* line(number: number, bytes: Uint8Array): Generator<ImportLine> {
  if (bytes.length > longestLineBytes) throw lineFault(number, 'The line is longer than 64 KiB.')
  const text = decode(number, bytes)
  if (text.trim() !== '') yield { number, text }
}

const decode = (number: number, bytes: Uint8Array): string => {
  try {
    // A byte order mark is dropped at the start of the file and refused elsewhere.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: number > 1 }).decode(bytes)
  } catch {
    throw lineFault(number, 'This is not UTF-8.')
  }
}

const joined = (first: Uint8Array, second: Uint8Array): Uint8Array =>
  first.length === 0 ? second : Buffer.concat([first, second])
