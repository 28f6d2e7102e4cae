import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { PlatformError } from '../../../domain/errors.ts'
import type { Door } from '../../../http/door.ts'
import { approveAndActivate, moveVersion } from '../../../operations/versions/move-version.ts'
import { listQueue } from '../../../operations/versions/lists.ts'
import { readReview } from '../../../operations/versions/read-review.ts'
import type { VersionRecord } from '../../../operations/versions/version-record.ts'
import { artifactDownload, readSeen, seenField } from '../../version.ts'
import { formFields, forms } from '../../old-forms.ts'
import { listingOf, olderPath } from '../../listing.ts'
import { noticeOf } from '../../notice.ts'
import { outcomeOf } from '../../outcome.ts'
import { page, seeOther } from '../../page.ts'
import { operatorOnly, visitOf } from '../../visit.ts'
import { changeBy } from '../operator.ts'
import { deskPaths, reviewPath } from '../paths.ts'
import { notAsShown } from './not-as-shown.ts'
import { ManifestPage } from './manifest-page.tsx'
import { QueuePage } from './queue-page.tsx'
import { draftFault, draftFrom, emptyDraft, itemsOf, type RejectionDraft, withMoreRows } from './rejection-draft.ts'
import { ReviewPage } from './review-page.tsx'

const notices = {
  approved: 'The version is approved. It is not live yet.',
  published: 'The version is approved and live.',
  activated: 'The version is live.',
  rejected: 'The version is rejected. Its developer sees why.',
} as const

const reviewPattern = '/desk/reviews/:slug/:version'
type Shown = {
  readonly draft: RejectionDraft
  readonly error: PlatformError | null
  /** What the form was bound to, when it comes back. */
  readonly seen?: string
}
type Named = { readonly slug: string; readonly version: string }

/** Versions that wait for a decision, and the decisions. */
export const reviewRoutes = (door: Door) => new Elysia().use(reviewPages(door)).use(decisionForms(door))

const reviewPages = (door: Door) =>
  new Elysia()
    .use(operatorOnly(door))
    .get(deskPaths.reviews, async ({ request }) => {
      const [review, activation] = [await queueOf(door, request, 'review'), await queueOf(door, request, 'activation')]
      const notice = noticeOf(door, request, notices)
      return page(<QueuePage visit={visitOf(request)} notice={notice} review={review} activation={activation} />)
    })
    .get(
      reviewPattern,
      async ({ request, params }) => await showReview(door, request, params, { draft: emptyDraft, error: null }),
    )
    .get(`${reviewPattern}/artifact`, async ({ request, params }) => {
      const { version } = await readReview(door.platform, params.slug, params.version)
      return await artifactDownload(door, request, version)
    })
    .get(`${reviewPattern}/manifest`, async ({ request, params }) => {
      const review = await readReview(door.platform, params.slug, params.version)
      return page(<ManifestPage visit={visitOf(request)} review={review} />)
    })

const decisionForms = (door: Door) =>
  new Elysia()
    .use(operatorOnly(door))
    .use(forms(door, { lists: ['path', 'reason'] }))
    .post(
      `${reviewPattern}/approve`,
      async ({ request, params, body: { seen } }) => {
        const { platform, trace, actor } = changeBy(door, request)
        const move = { ...params, step: 'approve', rejection: null, seen: readSeen(seen) } as const
        const decided = moveVersion(platform, trace, actor, move)
        return await afterDecision(door, request, params, 'approved', decided, { draft: emptyDraft, seen })
      },
      { body: decision },
    )
    .post(
      `${reviewPattern}/publish`,
      async ({ request, params, body: { seen } }) => {
        const { platform, trace, actor } = changeBy(door, request)
        const decided = approveAndActivate(platform, trace, actor, { ...params, seen: readSeen(seen) })
        return await afterDecision(door, request, params, 'published', decided, { draft: emptyDraft, seen })
      },
      { body: decision },
    )
    .post(
      `${reviewPattern}/activate`,
      async ({ request, params, body: { seen } }) => {
        const { platform, trace, actor } = changeBy(door, request)
        const move = { ...params, step: 'activate', rejection: null, seen: readSeen(seen) } as const
        const decided = moveVersion(platform, trace, actor, move)
        return await afterDecision(door, request, params, 'activated', decided, { draft: emptyDraft, seen })
      },
      { body: decision },
    )
    .post(
      `${reviewPattern}/reject`,
      async ({ request, params, body: { seen, message, path, reason, intent } }) => {
        const draft = draftFrom(message, path, reason)
        const error = draftFault(draft)
        if (intent === 'rows')
          return await showReview(door, request, params, { draft: withMoreRows(draft), error: null, seen })
        if (error !== null) return await showReview(door, request, params, { draft, error, seen })
        const { platform, trace, actor } = changeBy(door, request)
        const rejection = { message: message.trim(), items: itemsOf(draft) }
        const move = { ...params, step: 'reject', rejection, seen: readSeen(seen) } as const
        const decided = moveVersion(platform, trace, actor, move)
        return await afterDecision(door, request, params, 'rejected', decided, { draft, seen })
      },
      { body: rejectionFields },
    )

const decision = formFields({ seen: Type.String() })
const rejectionFields = formFields({
  seen: Type.String(),
  message: Type.String(),
  path: Type.Array(Type.String()),
  reason: Type.Array(Type.String()),
  intent: Type.String(),
})

const queueOf = async (door: Door, request: Request, what: 'review' | 'activation') => {
  const list = `desk-${what}`
  const { data, nextCursor } = await listQueue(door.platform, what, listingOf(list, request, what))
  return { versions: data, moreHref: olderPath(deskPaths.reviews, list, nextCursor, {}, what) }
}

const showReview = async (
  door: Door,
  request: Request,
  { slug, version }: Named,
  { draft, error, seen }: Shown,
): Promise<Response> => {
  const review = await readReview(door.platform, slug, version)
  // What was typed is kept; what it was typed about must still be there.
  const isAsShown = seen === undefined || seen === seenField(review.seen)
  const refusal = isAsShown && error?.code !== 'version_not_eligible' ? error : notAsShown(review.version.status)
  const shown = { visit: visitOf(request), review, notice: noticeOf(door, request, notices), draft }
  return page(<ReviewPage {...shown} error={refusal} />, { refusal })
}

/** On to the version as it now is; or back to the form, with what was typed and why it was refused. */
const afterDecision = async (
  door: Door,
  request: Request,
  named: Named,
  done: keyof typeof notices,
  decided: Promise<VersionRecord>,
  again: { readonly draft: RejectionDraft; readonly seen: string },
): Promise<Response> => {
  const outcome = await outcomeOf(decided)
  return outcome.kind === 'done'
    ? seeOther(`${reviewPath(named.slug, named.version)}?done=${done}`)
    : await showReview(door, request, named, { ...again, error: outcome.error })
}
