import { recordId } from '../../domain/identifier.ts'
import { isWellFormedText } from '../../domain/text.ts'
import { mayWriteAbout, reviewMessageLimits, type ReviewSide } from '../../domain/version.ts'
import { refuse } from '../../domain/errors.ts'
import { findApp } from '../apps/app-record.ts'
import { badInput, decide, type Operation } from '../decide.ts'
import type { Platform } from '../platform.ts'
import { createInflateRaw } from 'node:zlib'
import { inTurns } from '../../domain/awaitable.ts'
import { listArchive, type ListedArchive, type ListedFile } from '../../domain/archive.ts'
import { type ComparedFile, comparedFiles, textOfBeginning } from '../../domain/archive-difference.ts'
import { readArtifact } from '../artifacts/artifacts.ts'
import type { Review } from './lists.ts'
import type { VersionRecord } from './version-record.ts'

type NewMessage = {
  readonly slug: string
  readonly version: string
  readonly side: ReviewSide
  readonly text: string
}

/**
 * An operator asks something about a version, or a member of its app answers. Members write once they have been asked.
 * @throws invalid_request for a text that is empty or too long, and beyond the number that a version may have; version_not_found;
 *   version_not_eligible once it is decided
 */
export const writeReviewMessage: Operation<NewMessage, void> = async (platform, trace, actor, input) => {
  const text = input.text.trim()
  if (text === '') throw badInput('text', 'Write something.')
  if (text.length > reviewMessageLimits.text || !isWellFormedText(text)) {
    throw badInput('text', `Write at most ${reviewMessageLimits.text} characters.`)
  }
  const now = platform.clock.now()
  const id = recordId('msg_', platform.random.uuid(now))
  const authorId = 'id' in actor ? actor.id : ''
  await decide(platform, trace, { actor, now }, async ({ q, record }) => {
    const app = await findApp(q, input.slug)
    const version = await q.versions.byName(app.id, input.version)
    if (version === null) return refuse('version_not_found')
    const { status } = version
    const earlier = await q.reviewMessages.ofVersion(version.id)
    const isAsked = input.side === 'operators' || earlier.some(({ side }) => side === 'operators')
    if (!mayWriteAbout[input.side].includes(status) || !isAsked) {
      return refuse('version_not_eligible', { message: isDecided, details: { status } })
    }
    if (earlier.length >= reviewMessageLimits.ofVersion) {
      return badInput('text', `A version can have at most ${reviewMessageLimits.ofVersion} questions and answers.`)
    }
    const { side } = input
    await q.reviewMessages.insert({ id, appId: app.id, versionId: version.id, authorId, side, text, createdAt: now })
    await record({
      action: side === 'operators' ? 'version.asked' : 'version.answered',
      appId: app.id,
      target: version.id,
    })
    return undefined
  })
}

const isDecided = 'Nothing can be written about this version now. Nothing was sent.'

/** What was asked and answered about a version, the oldest first. */
export const listReviewMessages = async ({ database }: Platform, versionId: string) =>
  await database.queries.reviewMessages.ofVersion(versionId)

export type ReviewMessage = Awaited<ReturnType<typeof listReviewMessages>>[number]

/** What an operator sees of the files in the archive of a version. */
export type ReviewFiles =
  | {
      readonly kind: 'files'
      readonly files: readonly ComparedFile[]
      readonly hasOtherBeginning: boolean
      /** The live version that they are compared with; null if it has no archive that can be read, or none is live. */
      readonly comparedWith: string | null
    }
  | Exclude<ListedArchive, { readonly kind: 'files' }>
  | { readonly kind: 'no file' }

/**
 * The files in the archive of a version, with what became of each since the live one. Nothing is unpacked.
 * @throws as `readArtifact`
 */
export const listReviewFiles = async (platform: Platform, { version, live }: Review): Promise<ReviewFiles> => {
  const after = await archiveOf(platform, version)
  if (after.kind !== 'files') return after
  const before = live === null || live.id === version.id ? null : await archiveOf(platform, live)
  const isCompared = before?.kind === 'files'
  const files = await inTurns(comparedFiles(isCompared ? before.files : [], after.files))
  return {
    kind: 'files',
    files,
    hasOtherBeginning: after.hasOtherBeginning,
    comparedWith: isCompared ? (live?.version ?? null) : null,
  }
}

const archiveOf = async (
  platform: Platform,
  { artifact }: VersionRecord,
): Promise<ListedArchive | { kind: 'no file' }> =>
  artifact === null
    ? { kind: 'no file' }
    : await inTurns(listArchive(await readArtifact(platform, Buffer.from(artifact.sha256, 'hex'))))

/** So much of a file is shown. */
export const shownBytes = 64 * 1024

export type ShownFile =
  | { readonly kind: 'text'; readonly text: string; readonly isCut: boolean }
  /** Not text in UTF-8, packed in a way that is not read here, or damaged. */
  | { readonly kind: 'not text' | 'unknown packing' | 'damaged' }

/**
 * The beginning of a file in the archive of a version, as text; null if there is no such file. Unpacking stops at `shownBytes`, whatever
 * size the archive claims.
 * @throws as `readArtifact`
 */
export const readReviewFile = async (
  platform: Platform,
  version: VersionRecord,
  path: string,
): Promise<ShownFile | null> => {
  const archive = await archiveOf(platform, version)
  const file = archive.kind === 'files' ? archive.files.find((one) => one.path === path) : undefined
  if (file === undefined) return null
  const beginning = await beginningOf(file)
  if (typeof beginning === 'string') return { kind: beginning }
  const isCut = beginning.length > shownBytes
  const text = textOfBeginning(beginning.subarray(0, shownBytes), isCut)
  return text === null ? { kind: 'not text' } : { kind: 'text', text, isCut }
}

/** A little more than what is shown, or the whole file if it is shorter. */
const beginningOf = async ({ packed, packing }: ListedFile): Promise<Uint8Array | 'unknown packing' | 'damaged'> => {
  if (packing === 'unknown') return 'unknown packing'
  if (packing === 'none') return packed.subarray(0, shownBytes + 1)
  const inflating = createInflateRaw()
  inflating.end(packed)
  const pieces: Uint8Array[] = []
  let unpacked = 0
  try {
    for await (const piece of inflating) {
      pieces.push(piece)
      unpacked += piece.length
      if (unpacked > shownBytes) break // and nothing more is unpacked
    }
  } catch {
    return 'damaged'
  }
  return Buffer.concat(pieces)
}
