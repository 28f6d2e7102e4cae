import { recordId } from '../../domain/identifier.ts'
import { isWellFormedText } from '../../domain/text.ts'
import { mayWriteAbout, reviewMessageLimits, type ReviewSide } from '../../domain/version.ts'
import { refuse } from '../../domain/errors.ts'
import { findApp } from '../apps/app-record.ts'
import { badInput, decide, type Operation } from '../decide.ts'
import type { Platform } from '../platform.ts'

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
